"""Support vector regression with a linear kernel on absolute differences."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from affectlab.core.types import Floats, Ints
from affectlab.models.differences.learned.samples import PairSamples
from affectlab.models.differences.learned.settings import DEFAULT_STRENGTH, SvrSettings, inner_folds
from affectlab.models.differences.learned.trainers.distances import LinearDistance

__all__ = ["STRENGTHS", "SvrTrainer"]

STRENGTHS = (1e-2, 1e-1, 1.0, 10.0)
"""Regularisations per pair among which one is chosen."""
_FOLDS = 3
_INNER_PAIRS = 4000
"""Pairs from which learning is tried, and by which it is judged, to choose the strength."""
_INNER_TOLERANCE, _INNER_EPOCHS = 3e-2, 30
"""Gap, and passes, that are enough to choose among strengths ten times apart."""
_EPOCHS, _MOST_EPOCHS, _WORK = 200, 20_000, 2_000_000_000
"""Passes that many pairs are given, and few ones: so many that numbers are read this often."""
_CHECK = 5
"""Passes after which the gap is computed."""


class SvrTrainer:
    r"""Learns from any set of actors.

    Minimises :math:`|w|^2 / 2 + C \sum_i \max(0, |y_i - b - w \cdot z_i| - \varepsilon)` over
    standardised differences :math:`z` by coordinate descent on the dual, which is what liblinear
    (``sklearn.svm.LinearSVR``) does; it ends when the gap between primal and dual is small. Here
    differences stay in single precision and in one copy for all splits, where liblinear takes a
    copy in double precision and one of 16 bytes for each number, and splits are learned side by
    side. As there, the offset is held back a little: it is the weight of a constant number, of the
    root of the width.
    """

    def __init__(self, data: PairSamples, settings: SvrSettings) -> None:
        self.data = data
        self.settings = settings
        self._values = np.empty((len(data), data.width), dtype=np.float32)
        everyone = np.arange(len(data), dtype=np.int64)
        for part, block in data.blocks(everyone):
            self._values[part] = block
        self._tried: dict[tuple[tuple[int, ...], tuple[int, ...]], Floats] = {}
        self._lock = Lock()

    def fit(self, actors: Iterable[int]) -> LinearDistance:
        """Learn from the pairs of some actors."""
        chosen = tuple(sorted(actors))
        strength, tried = self._strength(chosen)
        rows = self.data.rows_of(chosen)
        found = self._fitted(rows, strength)
        found.details.update(strength=strength, inner_mae=tried)
        return found

    def _strength(self, actors: tuple[int, ...]) -> tuple[float, dict[str, float]]:
        """Choose the strength that predicts the actors left out best, on part of the pairs."""
        if self.settings.strength != "auto":
            return float(self.settings.strength), {}
        folds = inner_folds(actors, _FOLDS)
        if not folds:
            return DEFAULT_STRENGTH, {}
        errors = np.mean([self._errors(*fold) for fold in folds], axis=0)
        tried = {f"{one:g}": float(error) for one, error in zip(STRENGTHS, errors, strict=True)}
        return STRENGTHS[int(np.argmin(errors))], tried

    def _errors(self, learned: tuple[int, ...], left: tuple[int, ...]) -> Floats:
        """Mean absolute error on actors left out, by strength."""
        key = learned, left
        with self._lock:
            known = self._tried.get(key)
        if known is None:
            rows = self._part(learned)
            test = self._part(left)
            known = np.array(
                [
                    np.mean(
                        np.abs(
                            self._on(self._fitted(rows, one, rough=True), test)
                            - self.data.scores[test]
                        )
                    )
                    for one in STRENGTHS
                ]
            )
            with self._lock:
                self._tried[key] = known
        return known

    def _part(self, actors: tuple[int, ...]) -> Ints:
        """Give evenly spread pairs of some actors, the same in every run."""
        rows = self.data.rows_of(actors)
        if rows.size <= _INNER_PAIRS:
            return rows
        rng = np.random.default_rng([rows.size, *actors])
        return np.sort(rng.permutation(rows)[:_INNER_PAIRS])

    def _on(self, line: LinearDistance, rows: Ints) -> Floats:
        found = self._values[rows] @ line.weights.astype(np.float32)
        return np.asarray(found + line.intercept, dtype=np.float64)

    def _fitted(self, rows: Ints, strength: float, *, rough: bool = False) -> LinearDistance:
        scores = self.data.scores[rows]
        spread = float(scores.std())
        if spread == 0.0:
            zero = np.zeros(self.data.width)
            return LinearDistance(zero, float(scores[0]), {"epochs": 0, "gap": 0.0})
        mean, inverse = _standard(self._values, rows)
        cost = spread / (strength * rows.size)
        tolerance = max(self.settings.tolerance, _INNER_TOLERANCE if rough else 0.0)
        centre = float(np.median(scores))
        weights, offset, epochs, gap = _descended(
            self._values,
            rows,
            scores - centre,
            mean,
            inverse,
            cost,
            self.settings.epsilon,
            tolerance,
            _INNER_EPOCHS if rough else _epochs(rows.size * self.data.width),
        )
        intercept = centre + offset - float(weights @ mean)
        details = {
            "cost": cost,
            "n_pairs": int(rows.size),
            "epochs": epochs,
            "gap": gap,
            "converged": gap <= tolerance,
        }
        return LinearDistance(weights, intercept, details)


def _epochs(numbers: int) -> int:
    return min(_MOST_EPOCHS, max(_EPOCHS, _WORK // numbers))


def _standard(values: NDArray[np.float32], rows: Ints) -> tuple[Floats, Floats]:
    """Mean of each number, and one over its variance; 0 where it is constant."""
    width = values.shape[1]
    total, squares = np.zeros(width), np.zeros(width)
    step = 4096
    for start in range(0, rows.size, step):
        block = values[rows[start : start + step]]
        total += block.sum(axis=0, dtype=np.float64)
        squares += np.einsum("ij,ij->j", block, block, dtype=np.float64)
    mean = total / rows.size
    variance = squares / rows.size - mean**2
    varies = variance > 1e-12 * np.maximum(mean**2, 1e-60)
    return mean, np.where(varies, 1.0 / np.where(varies, variance, 1.0), 0.0)


def _descended(
    values: NDArray[np.float32],
    rows: Ints,
    aims: Floats,
    mean: Floats,
    inverse: Floats,
    cost: float,
    epsilon: float,
    tolerance: float,
    most: int,
) -> tuple[Floats, float, int, float]:
    """Solve the dual; give weights, offset, passes over the pairs, and the gap that is left."""
    from affectlab.models.differences.learned.trainers.kernels import dual_epoch, margins

    width = values.shape[1]
    constant = float(width)
    squares = np.empty(rows.size)
    for start in range(0, rows.size, 4096):
        part = slice(start, start + 4096)
        centred = values[rows[part]] - mean.astype(np.float32)
        squares[part] = (centred**2) @ inverse.astype(np.float32) + constant
    dual, weights, offset = np.zeros(rows.size), np.zeros(width), 0.0
    found = np.empty(rows.size)
    variance = np.where(inverse > 0, 1.0 / np.where(inverse > 0, inverse, 1.0), 0.0)
    rng = np.random.default_rng(rows.size)
    gap = np.inf
    epochs = 0
    while epochs < most and gap > tolerance:
        for _ in range(_CHECK):
            order = rng.permutation(rows.size)
            offset = dual_epoch(
                values,
                rows,
                aims,
                mean,
                inverse,
                squares,
                order,
                cost,
                epsilon,
                constant,
                dual,
                weights,
                offset,
            )
        epochs += _CHECK
        margins(values, rows, mean, weights, offset, found)
        size = float(variance @ weights**2) + offset**2 / constant
        lost = cost * float(np.maximum(np.abs(found - aims) - epsilon, 0.0).sum())
        primal = size / 2 + lost
        minus_dual = size / 2 - float(dual @ aims) + epsilon * float(np.abs(dual).sum())
        gap = (primal + minus_dual) / max(primal, 1e-30)
    return weights, offset, epochs, float(gap)
