"""How a server of a study is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

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
    entries_per_minute: Annotated[int, Ge(0)] = 120
    """Sessions that one address may begin in a minute; 0 for no limit. A class behind one router
    shares an address. Like the other limits, it is counted by each process of its own."""
    requests_per_second: Annotated[float, Ge(0)] = 20.0
    """Requests that one session may make in a second, for longer than a burst; 0 for no limit."""
    pilot: bool = False
    """Whether those who enter now take part in the pilot, whose answers are kept apart."""
    largest_body: int = 64 * 1024
    """Bytes that a request may carry."""
    statistics_seconds: float = 5.0
    """Seconds that lie at least between two computations of the dashboard's statistics; they rest
    longer where they take long, and are computed only while somebody looks."""
