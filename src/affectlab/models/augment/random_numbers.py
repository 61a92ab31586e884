"""Random numbers that follow from a key and a place, so that any row is drawn by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

__all__ = ["keys_of", "normal", "uniform"]

_STEP = 0x9E3779B97F4A7C15 - 2**64
_FIRST = 0xBF58476D1CE4E5B9 - 2**64
_SECOND = 0x94D049BB133111EB - 2**64
_LOW = 2**24 - 1


def _mix(number: Tensor) -> Tensor:
    """Spread whole numbers of 64 bits (the finaliser of SplitMix64); products wrap around."""
    first = (number ^ _shifted(number, 30)) * _FIRST
    second = (first ^ _shifted(first, 27)) * _SECOND
    return second ^ _shifted(second, 31)


def _shifted(number: Tensor, by: int) -> Tensor:
    """Shift to the right and fill with zeros: torch fills with the sign."""
    found: Tensor = (number >> by) & (2 ** (64 - by) - 1)
    return found


def keys_of(draw: Sequence[int], rows: Tensor) -> Tensor:
    """Give a key for each row, shape (n,), that follows from `draw` and the row alone."""
    start = np.random.SeedSequence(list(draw)).generate_state(1, np.uint64).view(np.int64)[0]
    return _mix(rows.to(torch.int64) * _STEP + int(start))


def _drawn(keys: Tensor, width: int, stream: int) -> Tensor:
    places = torch.arange(width, device=keys.device, dtype=torch.int64)
    return _mix(keys[:, None] + (places * 2 + stream) * _STEP)


def uniform(keys: Tensor, width: int, stream: int = 0) -> Tensor:
    """Draw numbers above 0 and below 1, shape (n, width); `stream` is 0 or 1."""
    return ((_drawn(keys, width, stream) & _LOW).float() + 0.5) / (_LOW + 1)


def normal(keys: Tensor, width: int, stream: int = 0) -> Tensor:
    """Draw standard normal numbers, shape (n, width), two parts of a number for each of them.

    Examples
    --------
    >>> rows = keys_of([1, 2], torch.tensor([7, 3]))
    >>> torch.equal(normal(rows, 4)[:1], normal(keys_of([1, 2], torch.tensor([7])), 4))
    True
    """
    drawn = _drawn(keys, width, stream)
    far = ((drawn & _LOW).float() + 0.5) / (_LOW + 1)
    angle = (_shifted(drawn, 32) & _LOW).float() * (2 * math.pi / (_LOW + 1))
    return torch.sqrt(-2 * torch.log(far)) * torch.cos(angle)
