"""Compiling inner loops. Import from here inside the function that needs it: numba loads slowly.

Kernels release the interpreter lock; :func:`in_threads` runs independent parts side by side, each
part writing its own output, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

LANES = 16
"""Bootstrap replicates that a kernel carries side by side: one or two vector registers."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Part = TypeVar("_Part")


def kernel(function: _Function) -> _Function:
    """Compile a function at its first call, and keep the machine code for later processes.

    The code is kept beside the module, or in the user's cache folder where that is not writable.
    """
    from numba import njit

    try:
        return cast(_Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # No folder can hold the cache, as on a read-only system: every process compiles.
        return cast(_Function, njit(nogil=True)(function))


def n_threads() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[_Part], None], parts: Iterable[_Part]) -> None:
    """Run ``work`` on every part, on all cores; an exception of any part is raised."""
    waiting = list(parts)
    if n_threads() == 1 or len(waiting) < 2:
        for part in waiting:
            work(part)
        return
    with ThreadPoolExecutor(min(n_threads(), len(waiting))) as pool:
        for _ in pool.map(work, waiting):
            pass
