"""Compiled look at the letters of texts; imported where it is used, since numba loads slowly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel

__all__ = ["kinds_of_bytes", "look_at_letters"]

_LETTER, _UPPER, _LOWER, _ROUGH, _STOP = (np.uint8(1 << bit) for bit in range(5))


@kernel
def look_at_letters(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    few: int,
    many: NDArray[np.bool_],
    rough: NDArray[np.bool_],
) -> None:
    """Tell which texts have at least `few` letters, and which are not plain.

    Plain texts are ASCII without certain signs and without ``www.``; their letters are not all
    upper case. `kinds` are from :func:`kinds_of_bytes`.
    """
    for k in range(len(starts) - 1):
        seen = np.uint8(0)
        letters = 0
        for at in range(starts[k], starts[k + 1]):
            kind = kinds[data[at]]
            seen |= kind
            letters += kind & _LETTER
        shouted = seen & _UPPER and not seen & _LOWER
        other = seen & _ROUGH or shouted
        if seen & _STOP and not other:
            for at in range(starts[k] + 3, starts[k + 1]):
                # A full stop after "www".
                if data[at] == 46 and data[at - 1] == data[at - 2] == data[at - 3] == 119:
                    other = True
        many[k] = letters >= few
        rough[k] = other


def kinds_of_bytes(signs: bytes) -> NDArray[np.uint8]:
    """What each byte is, shape (256,); texts with one of some signs are not plain."""
    byte = np.arange(256)
    upper, lower = (byte >= 65) & (byte <= 90), (byte >= 97) & (byte <= 122)
    kinds = np.zeros(256, np.uint8)
    for kind, holds in [
        (_LETTER, upper | lower),
        (_UPPER, upper),
        (_LOWER, lower),
        (_ROUGH, (byte > 127) | np.isin(byte, list(signs))),
        (_STOP, byte == ord(".")),
    ]:
        kinds[holds] |= kind
    return kinds
