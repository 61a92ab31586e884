"""Small pieces that strategies share: probabilities, one-hot labels, checks of settings."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affectlab.core.errors import InputError

__all__ = [
    "check_at_least",
    "check_count",
    "check_flag",
    "check_share",
    "full",
    "gliding",
    "graph_contrast",
    "hard",
    "label_graph",
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


# Contrast of two graphs of examples: one by pseudo-labels, one by features.


def label_graph(labels: Tensor, threshold: float) -> Tensor:
    r"""Join examples whose pseudo-labels agree.

    .. math:: W_{ij} = 1 \text{ if } i = j, \quad q_i \cdot q_j \text{ if it is at least } T,
        \quad 0 \text{ otherwise}

    Parameters
    ----------
    labels
        Pseudo-labels q, shape (u, C).
    threshold
        T.

    Returns
    -------
    Tensor
        Shape (u, u), rows sum to 1.

    Examples
    --------
    >>> import torch
    >>> label_graph(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 0.8).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    joined = product(labels, labels.T)
    joined.fill_diagonal_(1.0)
    return normalised(joined * (joined >= threshold))


def graph_contrast(one: Tensor, other: Tensor, graph: Tensor, temperature: float) -> Tensor:
    r"""Ask features of two views to be alike where the graph joins them.

    .. math:: \ell = -\frac1u \sum_{ij} W_{ij} \log
        \frac{e^{z_i \cdot z'_j / t}}{\sum_k e^{z_i \cdot z'_k / t}}

    Parameters
    ----------
    one, other
        Features z and z' of two strongly augmented views, shape (u, F), of length 1.
    graph
        W of :func:`label_graph`, shape (u, u).
    temperature
        t.

    Returns
    -------
    Tensor
        One number, at least 0.

    Examples
    --------
    >>> import torch
    >>> z, same = torch.eye(2), torch.eye(2)
    >>> bool(graph_contrast(z, z, same, 0.2) < graph_contrast(z, z.flip(0), same, 0.2))
    True
    """
    told = product(full(one), full(other).T) / temperature
    loss: Tensor = -(graph.to(told.dtype) * told.log_softmax(dim=1)).sum(dim=1).mean()
    return loss
