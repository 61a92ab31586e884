"""Groups of things that join one after another. Imported by kernels, since numba loads slowly."""

from __future__ import annotations

from affectlab.core.compiled import kernel
from affectlab.core.types import Ints


@kernel
def root_of(parent: Ints, one: int) -> int:
    """Give the group of one thing: what stands at the end of its chain, which is shortened."""
    while parent[one] != one:
        parent[one] = parent[parent[one]]
        one = parent[one]
    return one
