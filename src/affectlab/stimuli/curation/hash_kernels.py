"""Compiled loops of the hashes; imported where they are used, since numba loads slowly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.compiled.bits import mix_bits

__all__ = ["hash_bytes", "mix_keys"]

_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def hash_bytes(
    data: NDArray[np.uint8], starts: NDArray[np.int64], found: NDArray[np.uint64]
) -> None:
    """FNV-1a of the bytes from each start to the next one."""
    for k in range(len(found)):
        value = _OFFSET
        for place in range(starts[k], starts[k + 1]):
            value = (value ^ np.uint64(data[place])) * _PRIME
        found[k] = value


@kernel
def mix_keys(keys: NDArray[np.uint64], salt: np.uint64, found: NDArray[np.int64]) -> None:
    """SplitMix64 of the salted keys, without the lowest bit, so that 63 bits are left."""
    for k in range(len(keys)):
        mixed = mix_bits((keys[k] ^ salt) + _GOLDEN)
        found[k] = np.int64(mixed >> np.uint64(1))
