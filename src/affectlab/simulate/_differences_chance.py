"""Chance without memory: numbers that are a function of what they are for.

What a person says of a pair must be the same however many other sessions are simulated beside it,
and the part of it that is stable the same whenever the pair comes back. A generator would need to
be asked in one order; a hash of the names can be asked in any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Floats

__all__ = ["Chance"]

_Words = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Chance:
    """Uniform and normal numbers by keys; the same seed, purpose and keys give the same number.

    Keys are whole numbers or arrays of them that broadcast. The mixing function is that of
    SplitMix64 (Steele, Lea and Flood, 2014), applied once more for each key.
    """

    def __init__(self, seed: int) -> None:
        self._seed = np.array(seed % 2**64, dtype=np.uint64)

    def uniform(self, purpose: int, *keys: NDArray[np.integer] | int) -> Floats:
        """Give numbers between 0 and 1, both left out."""
        # Arithmetic of unsigned words wraps round; numpy says so for single words.
        with np.errstate(over="ignore"):
            word = _mixed(self._seed + np.uint64(purpose) * _STEP)
            for key in keys:
                word = _mixed(word ^ (np.asarray(key).astype(np.uint64) * _STEP))
        found: Floats = ((word >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return found

    def normal(self, purpose: int, *keys: NDArray[np.integer] | int) -> Floats:
        """Give standard normal numbers."""
        from scipy.special import ndtri

        found: Floats = ndtri(self.uniform(purpose, *keys))
        return found


def _mixed(word: _Words) -> _Words:
    word = word + _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    mixed: _Words = word ^ (word >> np.uint64(31))
    return mixed
