"""Asking a service over HTTP: waiting, retries, and jobs that outlive a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from affectlab._words import shown
from affectlab.errors import InputError, MissingDependencyError
from affectlab.evaluation import Response, classify_outcome
from affectlab.models.raters._api import ApiRequest, ExpressionApi, UnexpectedReplyError
from affectlab.models.raters._rater import FaceAnswer, Judged, Notes
from affectlab.stimuli.taxonomy._server_address import without_key

if TYPE_CHECKING:
    import httpx
    from PIL import Image

__all__ = ["Service"]

_LONGEST_PAUSE = 120.0
_CLOSED = frozenset({401, 403})
"""Statuses that are the same for every picture."""
_GONE = frozenset({404, 410})
_SAID = 200


class _Way(Protocol):
    """How to ask; see :func:`affectlab.models.raters.api_rater`."""

    @property
    def url(self) -> str: ...
    @property
    def retries(self) -> int: ...
    @property
    def pause(self) -> float: ...
    @property
    def timeout(self) -> float: ...
    @property
    def longest(self) -> float: ...
    @property
    def per_second(self) -> float | None: ...
    @property
    def wait(self) -> Callable[[float], None]: ...


class Service:
    """One service, asked about one picture after the other, from any number of threads."""

    def __init__(self, api: ExpressionApi, way: _Way, key: Callable[[], str]) -> None:
        self._api = api
        self._way = way
        self._find_key = key
        self._key = ""
        self._client: httpx.Client | None = None
        self._lock = Lock()
        self._next = 0.0

    def ask(self, picture: Image.Image, notes: Notes) -> Judged:
        """Ask about one picture until there is an answer; goes on with a job that was noted."""
        retries = 0
        started = time.monotonic()
        noted = self._noted(notes)
        request = noted or self._api.submit(self._api.encode(picture))
        while True:
            if time.monotonic() - started > self._way.longest:
                said = f"no answer after {self._way.longest:g} s; it is asked for again later"
                return FaceAnswer("transport", problem=said, retries=retries)
            if request.wait:
                self._way.wait(request.wait)
            reply, trouble, tried = self._send(request)
            retries += tried
            if reply is None:
                return FaceAnswer("transport", problem=trouble, retries=retries)
            if request is noted and reply.status_code in _GONE:
                # The job of an earlier run is no longer there: it is handed in again.
                request = self._api.submit(self._api.encode(picture))
                continue
            read = self._read(request, reply, retries)
            if not isinstance(read, ApiRequest):
                return read
            if read.resumable and (read.step, read.path) != (request.step, request.path):
                notes.keep({"method": read.method, "path": read.path, "step": read.step})
            request = read

    def _noted(self, notes: Notes) -> ApiRequest | None:
        if notes.state is None:
            return None
        return ApiRequest(notes.state["method"], notes.state["path"], notes.state["step"])

    def _connection(self) -> httpx.Client:
        """Connect when the first picture is sent; threads share the connections."""
        try:
            import httpx
        except ImportError:
            raise MissingDependencyError(
                "services are asked with httpx, which is not installed; install it with: "
                "pip install httpx"
            ) from None
        with self._lock:
            if self._client is None:
                self._key = self._find_key()
                self._client = httpx.Client(
                    headers=dict(self._api.headers(self._key)),
                    timeout=self._way.timeout,
                    # A redirect would carry the key to another address.
                    follow_redirects=False,
                )
            return self._client

    def close(self) -> None:
        """Close the connections; the next picture opens them again, with the key of then."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _turn(self) -> None:
        """Wait for the next request that the service allows."""
        if self._way.per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + 1 / self._way.per_second
        if at > now:
            self._way.wait(at - now)

    def _send(self, request: ApiRequest) -> tuple[httpx.Response | None, str, int]:
        """Send a request, again where the transport fails: reply, or trouble, and retries."""
        client = self._connection()
        import httpx

        # A part without a file name is a field; its type is said, as services ask for it.
        body: list[Any] = [(field, (None, text, kind)) for field, text, kind in request.parts]
        body += [(field, (name, content, kind)) for field, name, content, kind in request.files]
        trouble = ""
        for attempt in range(self._way.retries + 1):
            asked: float | None = None
            self._turn()
            try:
                reply = client.request(
                    request.method, f"{self._way.url}{request.path}", files=body or None
                )
            except httpx.TransportError as problem:
                trouble = without_key(f"{type(problem).__name__}: {problem}", self._key)
            else:
                if classify_outcome(Response(http_status=reply.status_code)) != "transport":
                    return reply, "", attempt
                trouble = f"status {reply.status_code}: {self._said(reply)}"
                asked = _asked_for(reply)
            if attempt < self._way.retries:
                own = self._way.pause * 2**attempt
                self._way.wait(min(own if asked is None else asked, _LONGEST_PAUSE))
        tried = self._way.retries + 1
        return None, f"{tried} times tried; {shown(trouble, 2 * _SAID)}", self._way.retries

    def _read(
        self, request: ApiRequest, reply: httpx.Response, retries: int
    ) -> Judged | ApiRequest:
        if reply.status_code in _CLOSED:
            raise InputError(
                f"face rater {self._api.name!r}: {self._way.url} answers {reply.status_code}: "
                f"{self._said(reply)}; check the key in {self._api.key_variable} and what it allows"
            )
        if not reply.is_success:
            told = f"status {reply.status_code}: {self._said(reply)}"
            return FaceAnswer("rejected", problem=told, retries=retries)
        try:
            content = without_key(reply.json(), self._key)
        except (ValueError, RecursionError):
            told = f"the reply to {request.step} is no JSON: {self._said(reply)}"
            return FaceAnswer("unparseable", problem=told, retries=retries)
        try:
            read = self._api.read(request, content)
        except UnexpectedReplyError as problem:
            told = f"the reply to {request.step}: {shown(problem, _SAID)}"
            return FaceAnswer("schema_invalid", problem=told, retries=retries)
        except (LookupError, TypeError, ValueError, AttributeError) as problem:
            told = f"the reply to {request.step} is not of the documented shape: " + shown(
                f"{type(problem).__name__}: {problem}", _SAID
            )
            return FaceAnswer("schema_invalid", problem=told, retries=retries)
        if isinstance(read, FaceAnswer) or not retries or isinstance(read, ApiRequest):
            return read
        return _with_retries(read, retries)

    def _said(self, reply: httpx.Response) -> str:
        """The beginning of what a server replied; the key goes before that is cut."""
        text = " ".join(without_key(reply.text, self._key).split())
        return shown(text, _SAID) or reply.reason_phrase


def _with_retries(faces: Any, retries: int) -> FaceAnswer:
    """Say of faces how often it was asked again, which a list cannot hold."""
    from affectlab.models.raters._answers import largest

    found = list(faces)
    if not found:
        return FaceAnswer("empty", faces=0, problem="no face found", retries=retries)
    return FaceAnswer("ok", largest(found).scores, len(found), retries=retries)


def _asked_for(reply: httpx.Response) -> float | None:
    """Seconds that a busy server asks to wait, as a number or a date; None where it says none."""
    said = reply.headers.get("retry-after", "").strip()
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        try:
            at = parsedate_to_datetime(said)
        except ValueError:
            return None
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        seconds = (at - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None
