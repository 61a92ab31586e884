"""How a server of a study is run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Choices of the one who runs the server; the defaults suit a study on one machine."""

    https: bool = False
    """Whether browsers reach the server over https, be it through a proxy: cookies are then sent
    over https alone."""
    trust_proxy: bool = False
    """Whether the address of a visitor stands in ``X-Forwarded-For``; only behind a proxy of your
    own, since anyone can send that header."""
    entries_per_minute: int = 120
    """Sessions that one address may begin in a minute; 0 for no limit. A class behind one router
    shares an address."""
    requests_per_second: float = 20.0
    """Requests that one session may make in a second, for longer than a burst; 0 for no limit."""
    largest_body: int = 64 * 1024
    """Bytes that a request may carry."""
