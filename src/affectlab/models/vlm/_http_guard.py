"""What may come back from a provider: no other address, no endless reply, nothing but JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

from affectlab.models.vlm._failures import BadReplyError

__all__ = ["ARRIVED", "guard_replies"]

ARRIVED: ContextVar[list[int] | None] = ContextVar("ARRIVED", default=None)
"""Takes the status of each reply to what is asked within it."""

_MOST_BYTES = 16 * 1024 * 1024
"""Most bytes of a reply; an answer of a million words has half as many."""
_KINDS = ("json", "event-stream")


def guard_replies(api: Any) -> bool:
    """Guard the replies to a provider of inspect-ai whose library asks through httpx.

    Redirects are not followed: prompt and picture, and keys in headers of their own, would go to
    another server. Replies are asked for as they are and are read up to a limit, since a few
    compressed kilobytes can hold gigabytes.

    Parameters
    ----------
    api
        Provider of inspect-ai.

    Returns
    -------
    Whether a client of httpx was found.
    """
    http: Any = getattr(getattr(api, "client", None), "_client", None)
    if not isinstance(getattr(http, "event_hooks", None), dict):
        return False
    http.follow_redirects = False
    http.headers["Accept-Encoding"] = "identity"
    hooks = http.event_hooks
    http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), _check]}
    return True


async def _check(response: Any) -> None:
    """Look at the head of a reply, and let no more of it be read than the limit."""
    seen = ARRIVED.get()
    if seen is not None:
        seen.append(response.status_code)
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if not 200 <= response.status_code < 300:
        if coding != "identity":
            # The status says enough.
            del response.headers["content-encoding"]
        response.stream = _capped(response.stream)
        return
    if coding not in ("", "identity"):
        raise BadReplyError(f"it is compressed ({coding[:20]!r}), against what we ask", again=False)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not any(known in kind for known in _KINDS):
        # Such as the page of a proxy or of a network that wants a login.
        raise BadReplyError(f"it is {kind[:40]!r}, no JSON", again=True)
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > _MOST_BYTES:
        raise _too_long()
    response.stream = _capped(response.stream)


def _too_long() -> BadReplyError:
    return BadReplyError(f"it has more than {_MOST_BYTES:,} bytes", again=False)


def _capped(stream: Any) -> Any:
    """Give the same stream with an end; its library wants a kind of its own."""
    kind = next(one for one in type(stream).__mro__ if one.__name__ == "AsyncByteStream")

    async def chunks(_: Any) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in stream:
            read += len(chunk)
            if read > _MOST_BYTES:
                raise _too_long()
            yield chunk

    async def aclose(_: Any) -> None:
        await stream.aclose()

    return type("CappedStream", (kind,), {"__aiter__": chunks, "aclose": aclose})()
