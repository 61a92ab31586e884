"""How much memory there is, and when an error says that there was too little."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["free_memory", "is_out_of_memory", "let_go", "peak_memory"]

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
