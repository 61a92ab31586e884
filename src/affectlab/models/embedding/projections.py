"""Random projections that are the same everywhere and need no table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import mixed_bits

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["DRAWS", "mixed", "projection"]

DRAWS = 4
"""Places that one feature adds to."""


def mixed(feature: NDArray[np.uint64], seed: int, draw: int) -> NDArray[np.uint64]:
    """Hash numbers of features to 64 random bits (splitmix64), the same on every machine.

    Examples
    --------
    >>> mixed(np.arange(2, dtype=np.uint64), 0, 0)
    array([16294208416658607535, 17629623748622851610], dtype=uint64)
    """
    start = (seed * DRAWS + draw + 1) * 0x9E3779B97F4A7C15 % 2**64
    with np.errstate(over="ignore"):
        bits = feature * np.uint64(0xD1342543DE82EF95) + np.uint64(start)
        return mixed_bits(bits)


def projection(n: int, width: int, seed: int = 0) -> csr_array:
    """Give a sparse random projection, shape (width, n).

    Each feature adds to 4 places with signs (Kane and Nelson 2014, sparser Johnson-Lindenstrauss
    transforms); what comes out has the mean square of what goes in.

    Examples
    --------
    >>> rows = projection(4000, 1000)
    >>> given = np.ones(4000)
    >>> bool(0.8 < np.mean((rows @ given) ** 2) < 1.2)
    True
    """
    from scipy.sparse import coo_array

    feature = np.arange(n, dtype=np.uint64)
    parts = [mixed(feature, seed, draw) for draw in range(DRAWS)]
    bits = np.concatenate(parts)
    place = ((bits >> np.uint64(1)) % np.uint64(width)).astype(np.int64)
    sign = np.where(bits & np.uint64(1), 1.0, -1.0)
    column = np.tile(np.arange(n), DRAWS)
    # A place gets DRAWS * n / width terms of unit mean square.
    value = sign * np.sqrt(width / (DRAWS * n))
    return coo_array((value, (place, column)), shape=(width, n)).tocsr()
