"""Small pieces that strategies share: probabilities, one-hot labels, checks of settings."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affectlab.errors import InputError

__all__ = [
    "check_at_least",
    "check_count",
    "check_flag",
    "check_share",
    "full",
    "gliding",
    "hard",
    "normalised",
    "product",
    "softmax",
]


def full(values: Tensor) -> Tensor:
    """Give numbers in single precision where they are in half; others as they are."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def softmax(logits: Tensor) -> Tensor:
    """Give probabilities, shape (u, C), without gradient."""
    return full(logits.detach()).softmax(dim=1)


def hard(labels: Tensor, classes: int, dtype: torch.dtype) -> Tensor:
    """Give one-hot rows, shape (u, C), of classes, shape (u,)."""
    rows = torch.zeros(len(labels), classes, dtype=dtype, device=labels.device)
    return rows.scatter_(1, labels[:, None], 1.0)


def product(one: Tensor, other: Tensor) -> Tensor:
    """Give the product of two matrices, as precise as they are, under autocast too."""
    # Divided by a small temperature, the rounding of half precision would be seen.
    with torch.autocast(one.device.type, enabled=False):
        return one @ other


def normalised(values: Tensor) -> Tensor:
    """Divide the last axis by its sum; even shares where the sum is 0."""
    total = values.sum(dim=-1, keepdim=True)
    shares = values / total.clamp(min=torch.finfo(values.dtype).tiny)
    return torch.where(total > 0, shares, 1.0 / values.shape[-1])


def gliding(state: Tensor, new: Tensor, momentum: float) -> None:
    """Move a buffer towards new values: state = m state + (1 - m) new."""
    state.mul_(momentum).add_(new.to(state.dtype), alpha=1 - momentum)


def check_share(name: str, value: float) -> float:
    """Give a number from 0 to 1.

    Raises
    ------
    InputError
        When it is not one.
    """
    if not _number(value) or not 0 <= value <= 1:
        raise InputError(f"{name} = {value}: expected a number from 0 to 1")
    return float(value)


def check_at_least(name: str, value: float, least: float, *, above: bool = False) -> float:
    """Give a finite number that is not below the least, or with `above` is more than it.

    Raises
    ------
    InputError
        When it is not one.
    """
    if not _number(value) or value < least or (above and value == least):
        how = "above" if above else "of at least"
        raise InputError(f"{name} = {value}: expected a finite number {how} {least:g}")
    return float(value)


def check_count(name: str, value: int) -> int:
    """Give a whole number of at least 1.

    Raises
    ------
    InputError
        When it is not one.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} = {value}: expected a whole number of at least 1")
    return value


def check_flag(name: str, value: bool) -> bool:
    """Give True or False.

    Raises
    ------
    InputError
        When it is neither: the text "False" would count as true.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} = {value}: expected true or false")
    return value


def _number(value: float) -> bool:
    """Say whether it is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
