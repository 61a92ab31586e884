"""Ridge regression on absolute differences, in closed form from sums by actor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats
from affectlab.core.words import plural
from affectlab.models.differences.learned.samples import PairSamples
from affectlab.models.differences.learned.settings import (
    DEFAULT_STRENGTH,
    RidgeSettings,
    inner_folds,
)
from affectlab.models.differences.learned.trainers.distances import LinearDistance

__all__ = [
    "STRENGTHS",
    "Moments",
    "RidgeTrainer",
    "Standardised",
    "moments_of",
]

# Sums over pairs by actor, from which least squares on any set of actors takes a moment.


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


STRENGTHS = tuple(float(f"{value:.0e}") for value in 10.0 ** np.arange(-3, 2))
"""Penalties per pair among which one is chosen."""
_FOLDS = 8
_TOLERANCE = 1e-6
_ROUNDS = 5000

_PRECISION = float(np.finfo(np.float32).eps)
"""Of the sums: eigenvalues up to this, times the width, cannot be told from 0."""

_Line = tuple[Floats, float]


class RidgeTrainer:
    r"""Learns from any set of actors.

    Minimises :math:`\sum_i (y_i - b - w \cdot x_i)^2 / n + \lambda \sum_k (s_k w_k)^2` with
    standard deviations :math:`s_k`; :math:`b` is not held back. Sums over the pairs of each actor
    are taken once, so that the 28 splits of the paper, and the choice of :math:`\lambda` within
    each, cost one small system of equations each.
    """

    def __init__(self, data: PairSamples, settings: RidgeSettings) -> None:
        self.data = data
        self.settings = settings
        self._moments = moments_of(data)
        self._paths: dict[tuple[int, ...], list[_Line]] = {}

    def fit(self, actors: Iterable[int]) -> LinearDistance:
        """Learn from the pairs of some actors."""
        chosen = tuple(sorted(actors))
        strength, tried = self._strength(chosen)
        unfinished: list[float] = []
        weights, intercept = self._lines(chosen, [strength], unfinished=unfinished)[0]
        details = {
            "strength": strength,
            "inner_rmse": tried,
            "n_pairs": self._sum(chosen).n,
            "n_weights": int(np.count_nonzero(weights)),
            "converged": not unfinished,
        }
        return LinearDistance(weights, intercept, details)

    def _strength(self, actors: tuple[int, ...]) -> tuple[float, dict[str, float]]:
        """Choose the penalty that predicts the actors left out best."""
        if self.settings.strength != "auto":
            return float(self.settings.strength), {}
        folds = inner_folds(actors, _FOLDS)
        if not folds:
            return DEFAULT_STRENGTH, {}
        errors, n = np.zeros(len(STRENGTHS)), 0
        for learned, left in folds:
            if learned not in self._paths:
                self._paths[learned] = self._lines(learned, STRENGTHS, rough=True)
            test = self._sum(left)
            n += test.n
            errors += [test.squared_error(*line) for line in self._paths[learned]]
        rmse = np.sqrt(errors / n)
        tried = {f"{one:g}": float(error) for one, error in zip(STRENGTHS, rmse, strict=True)}
        return STRENGTHS[int(np.argmin(rmse))], tried

    def _sum(self, actors: tuple[int, ...]) -> Moments:
        return Moments.total(self._moments[actor] for actor in actors)

    def _lines(
        self,
        actors: tuple[int, ...],
        strengths: Iterable[float],
        *,
        rough: bool = False,
        unfinished: list[float] | None = None,
    ) -> list[_Line]:
        standard = self._sum(actors).standardised()
        if self.settings.non_negative:
            return _non_negative(standard, list(strengths), unfinished)
        # To choose among penalties ten times apart, single precision is enough, in half the time.
        return _free(standard, list(strengths), np.float32 if rough else np.float64)


def _free(standard: Standardised, strengths: list[float], kind: Any) -> list[_Line]:
    from scipy.linalg import LinAlgError

    found = []
    for strength in strengths:
        weights = None
        # Below this the penalty does not cover the rounding of the sums.
        if strength > _PRECISION * standard.aims.size:
            for one in dict.fromkeys((kind, np.float64)):
                try:
                    weights = _factored(standard, strength, one)
                    break
                except LinAlgError:
                    continue
        if weights is None:
            weights = _spectral(standard, strength)
        found.append(standard.back(weights))
    return found


def _factored(standard: Standardised, strength: float, kind: Any) -> Floats:
    from scipy.linalg import cho_factor, cho_solve

    matrix = standard.matrix.astype(kind)
    np.fill_diagonal(matrix, np.diagonal(matrix) + strength)
    factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
    weights: Floats = cho_solve(factor, standard.aims.astype(kind), check_finite=False)
    return weights.astype(np.float64)


def _spectral(standard: Standardised, strength: float) -> Floats:
    """Solve along the directions in which differences vary; all others get no weight.

    Sums in single precision leave small eigenvalues of either sign where there is no variation.
    """
    from scipy.linalg import eigh

    values, vectors = eigh(standard.matrix, check_finite=False)
    noise = max(_PRECISION * values.size, -2.0 * float(values[0]))
    held = values > noise
    part = vectors[:, held]
    weights: Floats = part @ ((part.T @ standard.aims) / (values[held] + strength))
    return weights


def _non_negative(
    standard: Standardised, strengths: list[float], unfinished: list[float] | None
) -> list[_Line]:
    """Solve for each strength; those whose rounds did not suffice are put into a list."""
    from affectlab.models.differences.learned.trainers.kernels import non_negative

    found: list[_Line] = [(np.empty(0), 0.0)] * len(strengths)
    weights = np.zeros(standard.aims.size)
    tolerance = _TOLERANCE * max(standard.spread, 1e-12)
    # From the strongest on: each solution is near the next.
    for place in sorted(range(len(strengths)), key=lambda k: -strengths[k]):
        rounds = non_negative(
            standard.matrix, standard.aims, strengths[place], weights, tolerance, _ROUNDS
        )
        if rounds >= _ROUNDS and unfinished is not None:
            unfinished.append(strengths[place])
        found[place] = standard.back(weights.copy())
    return found
