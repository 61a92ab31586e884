"""Services that measure expressions: what an adapter says, and a rater made of one."""

from __future__ import annotations

import io
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, ClassVar

from PIL import Image

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.remote.services import without_key
from affectlab.core.words import shown
from affectlab.evaluation import Response, classify_outcome
from affectlab.models.ask import Reply, fetch, is_path, seconds_to_wait
from affectlab.models.raters.rater import Answer, Face, Judged, Notes, Rater, Spoken, largest

if TYPE_CHECKING:
    import httpx


__all__ = [
    "ApiRequest",
    "ExpressionApi",
    "Service",
    "UnexpectedReplyError",
    "api_rater",
]

_QUALITIES = (95, 90, 80, 70)
"""Qualities of JPEG that are tried until a picture is small enough."""


class UnexpectedReplyError(ValueError):
    """A reply that is not of the shape that the service documents."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request to a service."""

    method: str
    path: str
    """What follows the address of the service; begins with one ``/``, and has no other signs than
    those of ASCII."""
    step: str
    """What it is for; the adapter reads replies by it."""
    files: Sequence[tuple[str, str, bytes, str]] = ()
    """Parts of a multipart body that are files: field, file name, content, type. The file name is
    read by the service and must not tell the label of a picture."""
    parts: Sequence[tuple[str, str, str]] = ()
    """Other parts of it: field, content, type."""
    wait: float = 0.0
    """Seconds to wait before it is sent."""

    def __post_init__(self) -> None:
        # The key of the user goes where this leads.
        if not is_path(self.path):
            raise ValueError("the path of a request is none that leads to this service")

    @property
    def resumable(self) -> bool:
        """Whether a later run can send it again as it is: it has no body."""
        return not self.files and not self.parts


class ExpressionApi(ABC):
    """What an adapter for a service says; see :func:`api_rater` for who does the rest.

    An adapter knows the requests and the replies of one service and nothing else: connections,
    keys, waiting, retries and the ledger are not its business. Subclass it, say the class
    attributes, write :meth:`headers`, :meth:`submit` and :meth:`read`, and give the rater that
    :func:`api_rater` makes of it; an entry point of the group ``affectlab.raters`` gives it a
    name for everyone.
    """

    name: ClassVar[str]
    """Name of the rater."""
    version: ClassVar[str]
    """Version of the interface, and of the model where the service says one."""
    url: ClassVar[str]
    """Address that paths are added to."""
    key_variable: ClassVar[str]
    """Environment variable with the user's key."""
    labels: ClassVar[tuple[str, ...]]
    scale: ClassVar[str] = "0-1 interval"
    complete: ClassVar[bool] = True
    """See :class:`Rater`, like the next two."""
    others: ClassVar[bool] = False
    spoken: ClassVar[Spoken | None] = None
    per_second: ClassVar[float | None] = None
    """Requests per second that the service allows, None where it says nothing."""
    largest: ClassVar[int | None] = None
    """Bytes that a picture may have, None where the service says nothing."""
    most_pixels: ClassVar[int | None] = None
    """Pixels that it may have."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decides about the scores beside the picture."""
        return {}

    @abstractmethod
    def headers(self, key: str) -> Mapping[str, str]:
        """Give the headers of every request."""

    @abstractmethod
    def submit(self, picture: bytes) -> ApiRequest:
        """Give the first request about a picture, a JPEG file."""

    @abstractmethod
    def read(self, request: ApiRequest, content: Any) -> Sequence[Face] | Answer | ApiRequest:
        """Read the reply to a request that went well.

        Parameters
        ----------
        request
            What was sent.
        content
            The body of the reply, as JSON gives it.

        Returns
        -------
        The faces that were found; an answer that says why there are none; or the next request,
        with the seconds to wait before it.

        Raises
        ------
        UnexpectedReplyError
            When the body is not of the documented shape; so does any LookupError, TypeError or
            ValueError say.
        """

    def encode(self, picture: Image.Image) -> bytes:
        """Give a picture as the bytes that are sent: JPEG without any metadata.

        It is made smaller as far as the service wants it.
        """
        plain = picture.convert("RGB")
        plain.info = {}
        factor = 1.0
        if self.most_pixels is not None:
            factor = min(1.0, (self.most_pixels / (plain.width * plain.height)) ** 0.5)
        while True:
            sent = plain
            if factor < 1:
                size = (max(1, int(plain.width * factor)), max(1, int(plain.height * factor)))
                sent = plain.resize(size, Image.Resampling.LANCZOS)
            for quality in _QUALITIES:
                held = io.BytesIO()
                sent.save(held, format="JPEG", quality=quality, subsampling=0)
                content = held.getvalue()
                if self.largest is None or len(content) <= self.largest or max(sent.size) == 1:
                    return content
            factor *= 0.7


@dataclass(frozen=True)
class _Transport:
    """How a rater of a service asks; see :func:`api_rater`."""

    url: str
    retries: int
    pause: float
    timeout: float
    longest: float
    per_second: float | None
    wait: Callable[[float], None] | None = field(repr=False)


def api_rater(
    api: ExpressionApi,
    *,
    key: str | None = None,
    url: str | None = None,
    concurrency: int = 4,
    per_second: float | None = None,
    retries: int = 5,
    pause: float = 1.0,
    timeout: float = 60.0,
    longest: float = 600.0,
    wait: Callable[[float], None] | None = None,
) -> Rater:
    """Make a rater of a service.

    Only the transport is retried: no connection, too many requests, an error of the server. What a
    server asks to wait with ``Retry-After`` is waited, whichever picture it was said about. A
    refusal, and a reply of another shape, are answers about which a record is kept, never a reason
    to ask again. The key goes to the address of the service and nowhere else: redirects are not
    followed. Of a reply, 16 MiB are read.

    Parameters
    ----------
    api
        The adapter.
    key
        The user's key; None: taken from the environment variable that the adapter names when the
        first picture is sent. It is sent to the service, and written nowhere.
    url
        Another address of the service; it is among the settings of the rater.
    concurrency
        Pictures that are asked about at the same time.
    per_second
        Requests per second at most; None: what the adapter says.
    retries
        How often a request is sent again when the transport fails.
    pause
        Seconds before the first retry, doubled each time.
    timeout
        Seconds to wait for a whole reply.
    longest
        Seconds to wait for a job that the service takes in and answers later. After that it counts
        as a transport error, and a later run asks for the same job. A service that asks to wait
        longer than that ends the run.
    wait
        Waits for some seconds; None: a wait that ends when the run does.

    Raises
    ------
    InputError
        When an option cannot be used; while rating, when there is no key, the service accepts
        neither it nor the address, or it asks to wait for too long.
    """
    from affectlab.core.remote.services import checked_key, server_address

    where = f"rater {api.name!r}"
    rate = api.per_second if per_second is None else per_second
    numbers = {"pause": pause, "timeout": timeout, "longest": longest, "per_second": rate}
    for name, number in numbers.items():
        if number is not None and not 0 < number < float("inf"):
            raise InputError(f"{where}: {name} = {number}; expected a number above 0")
    if retries < 0:
        raise InputError(f"{where}: retries = {retries}; expected 0 or more")
    place = server_address(url or api.url)
    transport = _Transport(place, retries, pause, timeout, longest, rate, wait)

    def user_key() -> str:
        found = checked_key(os.environ.get(api.key_variable) if key is None else key)
        if found is None:
            raise InputError(
                f"{where}: there is no key; put it in the environment variable {api.key_variable}"
            )
        return found

    service = Service(api, transport, user_key)

    def rate_all(pictures: Sequence[Image.Image]) -> list[Judged]:
        try:
            return [service.ask(picture, Notes()) for picture in pictures]
        finally:
            service.close()

    return Rater(
        api.name,
        rate_all,
        api.labels,
        version=api.version,
        scale=api.scale,
        address=place,
        settings=dict(api.settings) | ({} if place == api.url else {"url": place}),
        complete=api.complete,
        others=api.others,
        spoken=api.spoken,
        ask=service.ask,
        finish=service.close,
        stop=service.stop,
        concurrency=concurrency,
    )


# Asking a service over HTTP: waiting, retries, and jobs that outlive a run.


_LONGEST_PAUSE = 120.0
"""Most seconds before a retry, where the server says nothing."""
_CLOSED = frozenset({401, 402, 403, 407})
"""Statuses that are the same for every picture."""
_GONE = frozenset({404, 410})
_SAID = 200


class Service:
    """One service, asked about one picture after the other, from any number of threads."""

    def __init__(self, api: ExpressionApi, way: _Transport, key: Callable[[], str]) -> None:
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
                return Answer("transport", problem=said, retries=retries)
            if request.wait:
                self._wait(request.wait)
            reply, trouble, tried = self._send(request, notes)
            retries += tried
            if reply is None:
                return Answer("transport", problem=trouble, retries=retries)
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
                        f"rater {self._api.name!r}: url {self._way.url!r}: {problem}"
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
                f"rater {self._api.name!r}: {self._way.url} asks to wait {seconds:,.0f} s "
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
                f"rater {self._api.name!r}: {self._way.url} answers {status}: "
                f"{self._said(reply)}; {check}"
            )
        if not 200 <= status < 300:
            told = f"status {status}: {self._said(reply)}"
            return Answer("rejected", problem=told, retries=retries)
        if reply.problem:
            return Answer("unparseable", problem=reply.problem, retries=retries)
        try:
            content = without_key(json.loads(reply.content), self._key)
        except (ValueError, RecursionError):
            told = f"the reply to {request.step} is no JSON: {self._said(reply)}"
            return Answer("unparseable", problem=told, retries=retries)
        try:
            read = self._api.read(request, content)
        except UnexpectedReplyError as problem:
            told = f"the reply to {request.step}: {shown(problem, _SAID)}"
            return Answer("schema_invalid", problem=told, retries=retries)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            told = f"the reply to {request.step} is not of the documented shape: " + shown(
                f"{type(problem).__name__}: {problem}", _SAID
            )
            return Answer("schema_invalid", problem=told, retries=retries)
        if not retries or isinstance(read, Answer | ApiRequest):
            return read
        # A list of faces cannot hold how often it was asked for.
        faces = list(read)
        if not faces:
            return Answer("empty", faces=0, problem="no face found", retries=retries)
        return Answer("ok", largest(faces).scores, len(faces), retries=retries)

    def _said(self, reply: Reply) -> str:
        """The beginning of what a server replied; the key goes before that is cut."""
        text = without_key(reply.content.decode(errors="replace"), self._key)
        return shown(" ".join(text.split()), _SAID) or reply.problem or reply.reason
