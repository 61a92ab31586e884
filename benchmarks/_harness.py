"""What a workload is, and what is known after measuring it.

A workload file defines ``WORKLOADS``, a tuple of :class:`Workload`. Data are built from a seed, so
that every process builds the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

__all__ = ["Data", "Mismatch", "Result", "Size", "Workload", "require_close"]

Size = Literal["tiny", "quick", "full"]
"""``full`` is what is reported, ``quick`` a smaller version, ``tiny`` only loads libraries."""

Data = Any


class Mismatch(Exception):
    """Ours and the peer do not give the same result."""


@dataclass(frozen=True)
class Workload:
    """One comparison: the same data, the same result, two programs.

    Examples
    --------
    ::

        WORKLOADS = (
            Workload(
                name="interval alpha, 1,000 replicates",
                peer="krippendorff",
                make=make,          # make(size) -> data
                ours=ours,          # ours(data) -> result
                theirs=theirs,      # theirs(data) -> result
                check=check,        # check(data, ours, theirs) -> "equal up to 1e-12", or Mismatch
                faster=500,
            ),
        )
    """

    name: str
    peer: str
    make: Callable[[Size], Data]
    ours: Callable[[Data], Any]
    theirs: Callable[[Data], Any]
    check: Callable[[Data, Any, Any], str]
    """Compare the results; say how equal they are, or raise :class:`Mismatch`."""
    faster: float
    """The ratio of times to reach."""
    memory_mb: float | None = None
    """The most memory over the data that ours may take, in MB; ``None``: no target."""
    scale: Callable[[Data], float] = lambda _: 1.0
    """The whole of the work over the part of it that ``theirs`` does."""
    extrapolated: str = ""
    """How the peer's time was extrapolated, when ``theirs`` does only a part."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions matter, beside numpy."""
    best: str = ""
    """Which faster ways with the peer were looked for."""
    note: str = ""
    """What a reader has to know about the comparison."""
    rounds: int = 5
    """Rounds of ours and theirs in turn; fewer when a round takes long."""


@dataclass(frozen=True)
class Result:
    """What was measured; times in seconds, memory in MB over the loaded data."""

    name: str
    module: str
    peer: str
    size: str
    ours_s: float
    peer_s: float
    ratio: float
    ratio_min: float
    target: float
    rounds: int
    first_call_s: float
    """Time of the first call, with an empty cache of compiled code, above a later call."""
    ours_mb: float
    peer_mb: float
    memory_target_mb: float | None
    agreement: str
    extrapolated: str
    best: str
    note: str
    machine: str
    python: str
    versions: dict[str, str]
    date: str

    @property
    def reached(self) -> bool:
        """Whether the targets of time and memory are met."""
        small = self.memory_target_mb is None or self.ours_mb <= self.memory_target_mb
        return self.ratio >= self.target and small

    def as_dict(self) -> dict[str, Any]:
        """Give the fields as plain values, for JSON."""
        return asdict(self)


def require_close(ours: Any, theirs: Any, tolerance: float = 1e-8, what: str = "values") -> str:
    """Check that two arrays are equal up to ``tolerance``, ``nan`` in the same places."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if a.shape != b.shape:
        raise Mismatch(f"{what}: ours has shape {a.shape}, the peer's {b.shape}")
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        raise Mismatch(f"{what}: not defined in different places")
    apart = np.nanmax(np.abs(a - b), initial=0.0)
    if not apart <= tolerance:
        raise Mismatch(f"{what}: they differ by {apart:.3g}, more than {tolerance:g}")
    return f"{what} equal up to {tolerance:g}"
