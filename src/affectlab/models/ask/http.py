"""What asking any service over HTTP needs: how long to wait, where to ask, how much to read."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx

__all__ = ["MOST_BYTES", "Reply", "fetch", "is_path", "seconds_to_wait"]

MOST_BYTES = 16 * 2**20
"""Bytes of a reply that are read."""
_PATH = re.compile(r"/(?!/)[!-\[\]-~]{0,2000}")


@dataclass(frozen=True)
class Reply:
    """What a server said, as it came."""

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes = b""
    problem: str = ""
    """Why the content cannot be read; "" where it can."""


def is_path(text: object) -> bool:
    r"""Say whether a text can follow the address of a server and still lead to that server.

    Examples
    --------
    >>> is_path("/v1/jobs/17"), is_path("@example.org/v1"), is_path("//example.org"), is_path("/\n")
    (True, False, False, False)
    """
    return isinstance(text, str) and _PATH.fullmatch(text) is not None


def seconds_to_wait(said: str | None) -> float | None:
    """Read what a busy server asks to wait, seconds or a date (``Retry-After``); None: nothing.

    Examples
    --------
    >>> seconds_to_wait("1.5"), seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT")
    (1.5, 0.0)
    >>> seconds_to_wait("soon"), seconds_to_wait(None)
    (None, None)
    """
    plain = (said or "").strip()
    try:
        seconds = float(plain)
    except ValueError:
        try:
            at = parsedate_to_datetime(plain)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            seconds = (at - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if abs(seconds) < float("inf") else None


def fetch(
    client: httpx.Client, method: str, url: str, path: str, *, files: Any, within: float
) -> Reply:
    """Send a request to a server, and read no more of its reply than is sensible.

    Redirects are the client's business. A reply that is compressed although nobody asked for it is
    not unpacked: a few kilobytes can hold gigabytes.

    Parameters
    ----------
    url, path
        Address of the server, and what follows it.
    within
        Seconds until the whole reply must be there.

    Raises
    ------
    ValueError
        When the path leads to another server.
    httpx.RequestError
        When there is no whole reply.
    """
    import httpx

    place = httpx.URL(f"{url}{path}")
    if not is_path(path) or place.host != httpx.URL(url).host or "@" in urlsplit(str(place)).netloc:
        raise ValueError("the path leads to another server")
    end = time.monotonic() + within
    with client.stream(
        method, place, files=files, headers={"Accept-Encoding": "identity"}
    ) as reply:
        head = Reply(reply.status_code, reply.reason_phrase, reply.headers)
        coding = reply.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity"):
            said = f"the reply is compressed ({coding[:20]!r}), against what was asked for"
            return Reply(head.status, head.reason, head.headers, problem=said)
        content = bytearray()
        for chunk in reply.iter_raw():
            content += chunk
            if len(content) > MOST_BYTES:
                said = f"the reply has more than {MOST_BYTES:,} bytes"
                return Reply(head.status, head.reason, head.headers, problem=said)
            if time.monotonic() > end:
                raise httpx.ReadTimeout(f"no whole reply within {within:g} s")
        return Reply(head.status, head.reason, head.headers, bytes(content))
