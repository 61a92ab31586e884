"""How many inputs an encoder is given at a time: found by trying, and lowered where memory ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from affectlab.models.embedding._memory import free_memory, peak_memory

__all__ = ["MOST", "BatchSize"]

MOST = 4096
"""Inputs at a time above which nothing is gained."""
_GAIN = 1.05
"""By how much a doubled batch must be faster, so that doubling goes on."""
_LONG = 1.0
"""Seconds a batch may take to be doubled: what takes longer is told, and kept, too rarely."""
_TRIES = 2
"""Batches of a size that are timed; the faster counts, as the first one often warms up."""


@dataclass
class BatchSize:
    """A batch size that doubles while that makes encoding faster.

    Examples
    --------
    >>> size = BatchSize(8)
    >>> for seconds in (0.1, 0.1, 0.15, 0.15, 0.4, 0.4):
    ...     size.timed(size.now, size.now, seconds)
    >>> size.now
    16
    """

    now: int
    """Inputs to be given next."""
    grows: bool = True
    """Whether larger batches are still tried."""
    rates: dict[int, float] = field(default_factory=dict)
    """Best speed by size, in the unit of the weights per second."""
    _tries: list[float] = field(default_factory=list)
    _before: int = field(default_factory=peak_memory)

    def timed(self, n: int, weight: float, seconds: float) -> None:
        """Learn how long a batch took.

        Parameters
        ----------
        n
            Inputs in it; batches of another size than :attr:`now` say nothing.
        weight
            How much that was: inputs, or the characters in them.
        """
        if not self.grows or n != self.now:
            return
        rate = weight / max(seconds, 1e-9)
        self.rates[n] = max(rate, self.rates.get(n, 0.0))
        self._tries.append(seconds)
        if len(self._tries) < _TRIES:
            return
        fastest = min(self._tries)
        self._tries.clear()
        smaller = self.rates.get(n // 2)
        if smaller is not None and self.rates[n] < _GAIN * smaller:
            # More at a time is not faster, and takes more memory.
            self.now, self.grows = n // 2, False
        elif n * 2 > MOST or fastest > _LONG or not self._permitted():
            self.grows = False
        else:
            self.now = n * 2

    def too_large(self, tried: int) -> None:
        """Learn that so many inputs did not fit into memory; larger batches are not tried again."""
        self.now, self.grows = max(1, tried // 2), False

    def _permitted(self) -> bool:
        """Whether twice as much memory as batches have taken so far is there."""
        free = free_memory()
        return free is None or 2 * max(0, peak_memory() - self._before) < free
