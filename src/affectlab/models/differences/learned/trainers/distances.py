"""A linear function of the absolute difference of two embeddings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.types import Floats
from affectlab.models.differences.learned.samples import BLOCK, SCALE, absolute_differences

__all__ = [
    "ROUNDING",
    "LinearDistance",
    "SiameseDistance",
]


@dataclass(frozen=True, eq=False)
class LinearDistance:
    r""":math:`b + \sum_k w_k |x_k - y_k|`, the same for both orders of the faces.

    Examples
    --------
    >>> metric = LinearDistance(np.array([2.0, 0.5]), 1.0)
    >>> metric.predict(np.array([[0.0, 1.0]]), np.array([[3.0, 1.0]])).tolist(), metric.identical
    ([7.0], 1.0)
    """

    weights: Floats
    """Points per unit of difference, shape (width,)."""
    intercept: float
    """What two identical faces get."""
    details: dict[str, Any] = field(default_factory=dict)
    """How it was learned, fit for JSON."""

    @property
    def width(self) -> int:
        """Numbers per face."""
        return self.weights.size

    @property
    def identical(self) -> float:
        """What two identical faces get."""
        return self.intercept

    @property
    def is_distance(self) -> bool:
        """Whether no difference makes two faces more alike: all weights are 0 or above."""
        return bool((self.weights >= 0).all())

    def predict(self, first: NDArray[Any], second: NDArray[Any]) -> Floats:
        """Give the difference of each pair, shape (n,), in points of the scale."""
        found = np.empty(len(first))
        weights = self.weights.astype(np.float32)
        for start in range(0, len(first), BLOCK):
            part = slice(start, start + BLOCK)
            found[part] = absolute_differences(first[part], second[part]) @ weights
        found += self.intercept
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give all that predictions depend on."""
        return {"weights": self.weights, "intercept": np.array([self.intercept])}


# Two faces through one projection, and a weighted distance of what it gives.


ROUNDING = 1e-2
"""Length up to which the size of a projected difference is rounded off, so that it has a slope of 0
where two faces are the same."""


@dataclass(frozen=True, eq=False)
class SiameseDistance:
    r""":math:`100 (1 - e^{-d})` with :math:`d = \sum_j u_j r(p_j \cdot x - p_j \cdot y)`.

    Weights :math:`u_j` are positive and :math:`r(t) = \sqrt{t^2 + \delta^2} - \delta` is the size
    of a difference, rounded off at 0. Two identical faces get 0, and both orders of two faces the
    same, whatever was learned; no pair gets 100 or more.

    Examples
    --------
    >>> metric = SiameseDistance(np.eye(2, dtype=np.float32), np.ones(2, dtype=np.float32))
    >>> x, y = np.array([[0.0, 1.0]]), np.array([[1.0, 1.0]])
    >>> metric.predict(x, y).round(1).tolist(), metric.predict(x, x).tolist()
    ([62.8], [0.0])
    """

    projection: NDArray[np.float32]
    """Shape (parts, width)."""
    weights: NDArray[np.float32]
    """Above 0, shape (parts,)."""
    details: dict[str, Any] = field(default_factory=dict)
    """How it was learned, fit for JSON."""

    @property
    def width(self) -> int:
        """Numbers per face."""
        return int(self.projection.shape[1])

    @property
    def identical(self) -> float:
        """What two identical faces get."""
        return SCALE[0]

    @property
    def is_distance(self) -> bool:
        """Whether no difference makes two faces more alike."""
        return True

    def predict(self, first: NDArray[Any], second: NDArray[Any]) -> Floats:
        """Give the difference of each pair, shape (n,), in points of the scale."""
        found = np.empty(len(first))
        low, high = SCALE
        for start in range(0, len(first), BLOCK):
            part = slice(start, start + BLOCK)
            apart = np.asarray(first[part], dtype=np.float32) - np.asarray(
                second[part], dtype=np.float32
            )
            sizes = np.sqrt((apart @ self.projection.T) ** 2 + np.float32(ROUNDING**2))
            distance = np.maximum((sizes - np.float32(ROUNDING)) @ self.weights, 0.0)
            found[part] = low - (high - low) * np.expm1(-distance.astype(np.float64))
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give all that predictions depend on."""
        return {"projection": self.projection, "weights": self.weights}
