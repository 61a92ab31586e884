"""A linear function of the absolute difference of two embeddings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Floats
from affectlab.models.differences._learned_data import BLOCK, absolute_differences

__all__ = ["LinearDistance"]


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
