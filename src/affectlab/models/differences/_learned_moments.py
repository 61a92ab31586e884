"""Sums over pairs by actor, from which least squares on any set of actors takes a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from affectlab._types import Bools, Floats
from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.models.differences._learned_data import PairSamples

__all__ = ["Moments", "Standardised", "moments_of"]

_MOST_BYTES = 2 << 30
_FLAT = 1e-6
"""Spread of a number, beside its mean, up to which it counts as constant."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over pairs of absolute differences x and scores y."""

    n: int
    x: Floats
    """Sum of x, shape (width,)."""
    xx: Floats
    """Sum of products of x, shape (width, width)."""
    xy: Floats
    """Sum of x times y, shape (width,)."""
    y: float
    yy: float

    @classmethod
    def total(cls, parts: Iterable[Moments]) -> Moments:
        """Add parts up."""
        first, *others = parts
        x, xx, xy = first.x.copy(), first.xx.copy(), first.xy.copy()
        n, y, yy = first.n, first.y, first.yy
        for part in others:
            n, y, yy = n + part.n, y + part.y, yy + part.yy
            x += part.x
            xx += part.xx
            xy += part.xy
        return cls(n, x, xx, xy, y, yy)

    def standardised(self) -> Standardised:
        """Give means and spreads, and correlations up to the variance of the scores."""
        mean = self.x / self.n
        variance = np.maximum(np.diagonal(self.xx) / self.n - mean**2, 0.0)
        spread = np.sqrt(variance)
        varies = spread > _FLAT * np.maximum(np.abs(mean), 1e-30)
        scale = np.where(varies, spread, 1.0)
        score = self.y / self.n
        matrix = self.xx / self.n
        matrix -= np.outer(mean, mean)
        matrix /= scale[:, None]
        matrix /= scale
        matrix[~varies] = 0.0
        matrix[:, ~varies] = 0.0
        aims = np.where(varies, (self.xy / self.n - mean * score) / scale, 0.0)
        spread_y = float(np.sqrt(max(self.yy / self.n - score**2, 0.0)))
        return Standardised(mean, scale, varies, score, spread_y, matrix, aims)

    def squared_error(self, weights: Floats, intercept: float) -> float:
        """Sum of squared errors of a linear function on these pairs."""
        fitted = float(weights @ self.xx @ weights) + 2 * intercept * float(weights @ self.x)
        crossed = float(weights @ self.xy) + intercept * self.y
        return max(self.yy - 2 * crossed + fitted + self.n * intercept**2, 0.0)


@dataclass(frozen=True, eq=False)
class Standardised:
    """Differences less their mean, over their spread."""

    mean: Floats
    scale: Floats
    """Standard deviation of each number; 1 where it is constant."""
    varies: Bools
    score: float
    """Mean score."""
    spread: float
    """Standard deviation of the scores."""
    matrix: Floats
    """Correlations of the numbers, 0 for those that are constant."""
    aims: Floats
    """Covariance of each standardised number with the scores."""

    def back(self, weights: Floats) -> tuple[Floats, float]:
        """Give weights and intercept for differences as they are."""
        plain = np.where(self.varies, weights / self.scale, 0.0)
        return plain, self.score - float(plain @ self.mean)


def moments_of(data: PairSamples) -> tuple[Moments, ...]:
    """Add up the pairs of each actor, a block at a time.

    Raises
    ------
    InputError
        When the sums would take more than 2 GiB.
    """
    width = data.width
    if len(data.actors) * width**2 * 8 > _MOST_BYTES:
        raise InputError(
            f"learner 'ridge' needs a matrix of {width:,} x {width:,} for each of "
            f"{plural(len(data.actors), 'actor')}, more than 2 GiB; expected an encoder with fewer "
            "numbers, or another learner"
        )
    found = []
    for actor in range(len(data.actors)):
        rows = data.rows_of([actor])
        scores = data.scores[rows]
        x, xx, xy = np.zeros(width), np.zeros((width, width)), np.zeros(width)
        for part, block in data.blocks(rows):
            x += block.sum(axis=0, dtype=np.float64)
            xx += block.T @ block
            xy += block.T @ scores[part].astype(np.float32)
        found.append(Moments(rows.size, x, xx, xy, float(scores.sum()), float((scores**2).sum())))
    return tuple(found)
