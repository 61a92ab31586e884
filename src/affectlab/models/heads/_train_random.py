"""Random streams of training: functions of the seed, the head and the step, with no state.

So a run goes on from any epoch as if it had never stopped, and heads trained one at a time or as a
stack leave out the same units.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from affectlab._types import Ints

__all__ = [
    "MIX",
    "as_int32",
    "batches",
    "dropout_keys",
    "keep_mask",
    "n_batches",
    "scale_of",
    "threshold_of",
]

_ORDER = 1
_DROPOUT = 2
_SHARES = 1 << 16
"""A unit is left out with a probability that is a multiple of 1/65,536."""
MIX = (0x9E3779B1, 0x7FEB352D, 0x846CA68B)
"""Odd factors: the first spreads counters, the others are those of the hash `lowbias32`."""


def n_batches(n_rows: int, most: int) -> int:
    """Count the batches of an epoch."""
    return ceil(n_rows / most)


def batches(seed: int, head: int, epoch: int, n_rows: int, most: int) -> list[Ints]:
    """Shuffle 0..n-1 for one epoch of one head, in batches whose sizes differ by one at most."""
    order = np.random.default_rng([seed, head, _ORDER, epoch]).permutation(n_rows)
    return np.array_split(order, n_batches(n_rows, most))


def threshold_of(dropout: float) -> int:
    """Give how many of 65,536 values leave a unit out.

    Examples
    --------
    >>> threshold_of(0.2)
    13107
    """
    return min(round(dropout * _SHARES), _SHARES - 1)


def scale_of(threshold: int) -> float:
    """Give what kept units are multiplied by, so that their sum is right on average."""
    return _SHARES / (_SHARES - threshold)


def dropout_keys(seed: int, head: int, steps: ArrayLike, n_layers: int) -> NDArray[np.uint32]:
    """Give the keys of dropout, shape (steps, layers): one for a step of a head and a layer.

    The places of a step and a layer in the head's stream are hashed (splitmix64).
    """
    start = np.random.SeedSequence([seed, head, _DROPOUT]).generate_state(1, np.uint64)[0]
    place = np.asarray(steps, dtype=np.uint64)[:, None] * np.uint64(max(n_layers, 1))
    x = place + np.arange(n_layers, dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = x * np.uint64(0x9E3779B97F4A7C15) + start
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    found: NDArray[np.uint32] = (x >> np.uint64(32)).astype(np.uint32)
    return found


def _signed(factor: int) -> int:
    return factor - (1 << 32) if factor >= 1 << 31 else factor


def keep_mask(keys: Tensor, rows: int, width: int, threshold: int) -> Tensor:
    """Say which hidden units are kept, shape (heads, rows, width).

    A counter per row and pair of units is hashed with the key of the head; the lower half of the
    bits decides on a unit of the first half of a layer, the upper half on one of the second.

    Parameters
    ----------
    keys
        The bits of :func:`dropout_keys` as int32, shape (heads,).
    """
    half = (width + 1) // 2
    x = torch.arange(rows * half, dtype=torch.int32, device=keys.device).view(1, rows, half)
    # Products of int32 wrap; shifts keep the sign, which the masks take away.
    x = x * _signed(MIX[0]) + keys.view(-1, 1, 1)
    x ^= (x >> 16) & 0xFFFF
    x *= _signed(MIX[1])
    x ^= (x >> 15) & 0x1FFFF
    x *= _signed(MIX[2])
    x ^= (x >> 16) & 0xFFFF
    found = torch.empty((len(keys), rows, width), dtype=torch.bool, device=keys.device)
    torch.ge(x & 0xFFFF, threshold, out=found[..., :half])
    upper = (x >> 16) & 0xFFFF
    torch.ge(upper[..., : width - half], threshold, out=found[..., half:])
    return found


def as_int32(keys: NDArray[np.uint32], device: Any) -> Tensor:
    """Give the bits of keys as int32 on a device."""
    return torch.from_numpy(np.ascontiguousarray(keys).view(np.int32)).to(device)
