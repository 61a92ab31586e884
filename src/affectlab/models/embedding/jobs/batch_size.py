"""How many inputs an encoder is given at a time: found by trying, and lowered where memory ends."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

__all__ = [
    "MOST",
    "BatchSize",
    "free_memory",
    "is_out_of_memory",
    "let_go",
    "peak_memory",
]

# How much memory there is, and when an error says that there was too little.


_CGROUP = Path("/sys/fs/cgroup")
_SAYS_SO = ("out of memory", "cannot allocate memory", "can't allocate memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory, of the machine or of a GPU, ran out."""
    torch = sys.modules.get("torch")
    if isinstance(error, MemoryError):
        return True
    if torch is not None and isinstance(error, torch.cuda.OutOfMemoryError):
        return True
    # Other devices, and libraries that CUDA calls, have no class for it.
    return isinstance(error, RuntimeError) and any(
        words in str(error).lower() for words in _SAYS_SO
    )


def let_go() -> None:
    """Give memory of a GPU that is kept for later back, so that a smaller batch finds a whole."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def peak_memory() -> int:
    """Bytes that this process had at most; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def free_memory() -> int | None:
    """Bytes that processes may still take, that of a container included; None: not known."""
    known = [part for part in (_of_machine(), _of_container()) if part is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    held = next((line.split() for line in lines if line.startswith("MemAvailable:")), None)
    return None if held is None else int(held[1]) * 1024


def _of_container() -> int | None:
    try:
        most = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (_CGROUP / "memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if most == "max" else max(0, int(most) - int(used))


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
