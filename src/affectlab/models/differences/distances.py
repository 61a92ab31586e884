"""Distances of rows of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from affectlab.core.errors import unknown_name
from affectlab.core.types import Floats

__all__ = ["DISTANCES", "TITLES", "check_distance", "cosine", "l1"]


def l1(first: Floats, second: Floats) -> Floats:
    r"""Sum of absolute differences, :math:`\sum_k |x_k - y_k|`; shape (n,).

    Examples
    --------
    >>> l1(np.array([[0.0, 1.0]]), np.array([[2.0, 0.5]])).tolist()
    [2.5]
    """
    found: Floats = np.abs(first - second).sum(axis=1)
    return found


def cosine(first: Floats, second: Floats) -> Floats:
    r"""Cosine turned round, :math:`1 - x \cdot y / (|x| |y|)`, 0 to 2; shape (n,).

    ``nan`` where one of two rows is all 0, and the other is not.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    >>> cosine(rows[[0, 0]], rows[[1, 2]]).tolist()
    [1.0, 0.0]
    """
    inner, one, other = (
        np.einsum("nd,nd->n", a, b) for a, b in ((first, second), (first, first), (second, second))
    )
    length = np.sqrt(one) * np.sqrt(other)
    same = (first == second).all(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.clip(1 - inner / length, 0, 2)
    found[same] = 0.0
    return found


DISTANCES: dict[str, Callable[[Floats, Floats], Floats]] = {"l1": l1, "cosine": cosine}
"""Distances by name."""
TITLES = {"l1": "L1", "cosine": "cosine"}
"""How they are called in the names of metrics."""


def check_distance(name: Any, metric: str) -> str:
    """Check the name of a distance; raises InputError when there is none of this name."""
    if not isinstance(name, str) or name not in DISTANCES:
        raise unknown_name("distance", str(name), DISTANCES, f"metric {metric!r}")
    return name
