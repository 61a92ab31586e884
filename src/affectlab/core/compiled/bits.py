"""Compiled work on the bits of words. Imported by kernels alone, since numba loads slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from affectlab.core.arrays import mixed_bits
from affectlab.core.compiled import kernel

mix_bits: Callable[[Any], Any] = kernel(mixed_bits)
"""The same for a single word."""


@kernel
def count_ones(word: np.uint64) -> np.uint64:
    """Count the bits that are set; compilers know this form and use the instruction for it."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
