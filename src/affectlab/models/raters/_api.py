"""Services that measure expressions: what an adapter says, and a rater made of one."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from affectlab.errors import InputError
from affectlab.models._http import is_path
from affectlab.models.raters._rater import Face, FaceAnswer, FaceRater, Judged, Notes, Spoken

__all__ = ["ApiRequest", "ExpressionApi", "UnexpectedReplyError", "api_rater"]

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
    :func:`api_rater` makes of it; an entry point of the group ``affectlab.face_raters`` gives it a
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
    """See :class:`FaceRater`, like the next two."""
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
    def read(self, request: ApiRequest, content: Any) -> Sequence[Face] | FaceAnswer | ApiRequest:
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
) -> FaceRater:
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
    from affectlab.stimuli.taxonomy._server_address import checked_key, server_address

    where = f"face rater {api.name!r}"
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

    from affectlab.models.raters._transport import Service

    service = Service(api, transport, user_key)

    def ask(picture: Image.Image, notes: Notes) -> Judged:
        return service.ask(picture, notes)

    def rate_all(pictures: Sequence[Image.Image]) -> list[Judged]:
        try:
            return [service.ask(picture, Notes()) for picture in pictures]
        finally:
            service.close()

    return FaceRater(
        api.name,
        rate_all,
        api.labels,
        version=api.version,
        scale=api.scale,
        settings=dict(api.settings) | ({} if place == api.url else {"url": place}),
        complete=api.complete,
        others=api.others,
        spoken=api.spoken,
        ask=ask,
        finish=service.close,
        stop=service.stop,
        concurrency=concurrency,
    )
