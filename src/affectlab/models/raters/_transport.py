"""Asking a service over HTTP: waiting, retries, and jobs that outlive a run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Protocol

from affectlab._words import shown
from affectlab.errors import InputError, MissingDependencyError
from affectlab.evaluation import Response, classify_outcome
from affectlab.models._http import Reply, fetch, seconds_to_wait
from affectlab.models.raters._api import ApiRequest, ExpressionApi, UnexpectedReplyError
from affectlab.models.raters._rater import FaceAnswer, Judged, Notes
from affectlab.stimuli.taxonomy._server_address import without_key

if TYPE_CHECKING:
    import httpx
    from PIL import Image

__all__ = ["Service"]

_LONGEST_PAUSE = 120.0
"""Most seconds before a retry, where the server says nothing."""
_CLOSED = frozenset({401, 402, 403, 407})
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
    def wait(self) -> Callable[[float], None] | None: ...


class Service:
    """One service, asked about one picture after the other, from any number of threads."""

    def __init__(self, api: ExpressionApi, way: _Way, key: Callable[[], str]) -> None:
        self._api = api
        self._way = way
        self._find_key = key
        self._key = ""
        self._client: httpx.Client | None = None
        self._lock = Lock()
        self._next = self._held = 0.0
        self._ended = Event()

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
                self._wait(request.wait)
            reply, trouble, tried = self._send(request, notes)
            retries += tried
            if reply is None:
                return FaceAnswer("transport", problem=trouble, retries=retries)
            if request is noted and reply.status in _GONE:
                # The job of an earlier run is no longer there: it is handed in again.
                notes.leave()
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
        told = (notes.state.get(name) for name in ("method", "path", "step"))
        method, path, step = (str(one) for one in told)
        try:
            return ApiRequest(method, path, step)
        except ValueError:
            # Not what was noted by an earlier run: the picture is handed in again.
            return None

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
                try:
                    # The name is looked at only when it is asked for.
                    _ = httpx.URL(self._way.url).host
                except (httpx.InvalidURL, UnicodeError) as problem:
                    raise InputError(
                        f"face rater {self._api.name!r}: url {self._way.url!r}: {problem}"
                    ) from None
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
            self._ended.clear()

    def stop(self) -> None:
        """End all waits, and try nothing again, until the connections are closed."""
        self._ended.set()

    def _wait(self, seconds: float) -> None:
        if self._way.wait is not None:
            self._way.wait(seconds)
        else:
            self._ended.wait(seconds)

    def _turn(self) -> None:
        """Wait for the next request that the service allows."""
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next, self._held)
            if self._way.per_second is not None:
                self._next = at + 1 / self._way.per_second
        if at > now:
            self._wait(at - now)

    def _hold(self, seconds: float, said: str) -> None:
        """Let nobody ask for a while, as the service wants it."""
        if seconds > self._way.longest:
            raise InputError(
                f"face rater {self._api.name!r}: {self._way.url} asks to wait {seconds:,.0f} s "
                f"({said}); what was answered is kept where a folder was given, and another run "
                "goes on from there"
            )
        with self._lock:
            self._held = max(self._held, time.monotonic() + seconds)

    def _send(self, request: ApiRequest, notes: Notes) -> tuple[Reply | None, str, int]:
        """Send a request, again where the transport fails: reply, or trouble, and retries."""
        client = self._connection()
        import httpx

        # A part without a file name is a field; its type is said, as services ask for it.
        body: list[Any] = [(field, (None, text, kind)) for field, text, kind in request.parts]
        body += [(field, (name, content, kind)) for field, name, content, kind in request.files]
        trouble = ""
        for attempt in range(self._way.retries + 1):
            self._turn()
            if self._ended.is_set():
                return None, "the run was ended before there was an answer", attempt
            asked: float | None = None
            try:
                reply = fetch(
                    client,
                    request.method,
                    self._way.url,
                    request.path,
                    files=body or None,
                    within=self._way.timeout,
                )
            # A name that no look-up takes is told as UnicodeError.
            except (httpx.RequestError, UnicodeError) as problem:
                trouble = without_key(f"{type(problem).__name__}: {problem}", self._key)
                nowhere = (httpx.ConnectError, httpx.ConnectTimeout, UnicodeError)
                notes.lost |= not isinstance(problem, nowhere)
            else:
                if classify_outcome(Response(http_status=reply.status)) != "transport":
                    return reply, "", attempt
                trouble = f"status {reply.status}: {self._said(reply)}"
                asked = seconds_to_wait(reply.headers.get("retry-after"))
            if asked is not None:
                self._hold(asked, trouble)
            elif attempt < self._way.retries:
                # 2 to the power of many retries is no float.
                self._wait(min(self._way.pause * 2.0 ** min(attempt, 64), _LONGEST_PAUSE))
        tried = self._way.retries + 1
        return None, f"{tried} times tried; {shown(trouble, 2 * _SAID)}", self._way.retries

    def _read(self, request: ApiRequest, reply: Reply, retries: int) -> Judged | ApiRequest:
        status = reply.status
        # What is not found may be one job, but not the place where all are handed in.
        if status in _CLOSED or 300 <= status < 400 or (status == 404 and not request.resumable):
            check = f"check the key in {self._api.key_variable} and what it allows"
            if status in (404, 407) or status < 400:
                check = "check the address (url)"
            raise InputError(
                f"face rater {self._api.name!r}: {self._way.url} answers {status}: "
                f"{self._said(reply)}; {check}"
            )
        if not 200 <= status < 300:
            told = f"status {status}: {self._said(reply)}"
            return FaceAnswer("rejected", problem=told, retries=retries)
        if reply.problem:
            return FaceAnswer("unparseable", problem=reply.problem, retries=retries)
        try:
            content = without_key(json.loads(reply.content), self._key)
        except (ValueError, RecursionError):
            told = f"the reply to {request.step} is no JSON: {self._said(reply)}"
            return FaceAnswer("unparseable", problem=told, retries=retries)
        try:
            read = self._api.read(request, content)
        except UnexpectedReplyError as problem:
            told = f"the reply to {request.step}: {shown(problem, _SAID)}"
            return FaceAnswer("schema_invalid", problem=told, retries=retries)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            told = f"the reply to {request.step} is not of the documented shape: " + shown(
                f"{type(problem).__name__}: {problem}", _SAID
            )
            return FaceAnswer("schema_invalid", problem=told, retries=retries)
        if isinstance(read, FaceAnswer) or not retries or isinstance(read, ApiRequest):
            return read
        return _with_retries(read, retries)

    def _said(self, reply: Reply) -> str:
        """The beginning of what a server replied; the key goes before that is cut."""
        text = without_key(reply.content.decode(errors="replace"), self._key)
        return shown(" ".join(text.split()), _SAID) or reply.problem or reply.reason


def _with_retries(faces: Any, retries: int) -> FaceAnswer:
    """Say of faces how often it was asked again, which a list cannot hold."""
    from affectlab.models.raters._answers import largest

    found = list(faces)
    if not found:
        return FaceAnswer("empty", faces=0, problem="no face found", retries=retries)
    return FaceAnswer("ok", largest(found).scores, len(found), retries=retries)
