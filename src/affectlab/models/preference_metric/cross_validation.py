"""Honest cross-validation: all that is learned or chosen is learned or chosen without the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.inference import left_out_uncertainty
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.preference import (
    area,
    area_ends,
    fold_areas,
    without_clusters,
)

if TYPE_CHECKING:
    import polars as pl


__all__ = [
    "Logistic",
    "OutOfFold",
    "area_table",
    "best_single",
    "check_folds",
    "cross_validate",
    "fit_logistic",
    "grouped_folds",
]

# Folds that never part what belongs together.


def check_folds(good: Bools, clusters: Ints, folds: int) -> None:
    """Refuse data that cannot be split so often.

    Raises
    ------
    InputError
        If there are fewer clusters with good, or with poor items than folds.
    """
    if folds < 2:
        raise InputError(f"folds {folds}: expected at least 2")
    for side, name in ((good, "good"), (~good, "poor")):
        n = int(np.unique(clusters[side]).size)
        if n < folds:
            raise InputError(
                f"{n} groups of items with a {name} one are too few for {folds} folds; expected at "
                "least one for each fold"
            )


def grouped_folds(
    good: Bools, clusters: Ints, folds: int, seed: int
) -> Iterator[tuple[Ints, Ints]]:
    """Split items, clusters as a whole and shares of good ones alike; yields training and test.

    Parameters
    ----------
    good, clusters
        Shape (n,).
    """
    from sklearn.model_selection import StratifiedGroupKFold

    # Fewer folds where a class is scarce, as happens within the training part of a fold.
    most = min(
        folds,
        *(int(np.unique(clusters[side]).size) for side in (good, ~good)),
    )
    if most < 2:
        raise InputError(
            "a training part holds good or poor items of one group only; expected more data, or "
            "fewer folds"
        )
    cut = StratifiedGroupKFold(n_splits=most, shuffle=True, random_state=seed)
    for train, test in cut.split(np.zeros((good.size, 1)), good, clusters):
        if good[train].all() or not good[train].any():
            raise InputError(
                "a training part would hold good or poor items only; expected more groups of items"
            )
        yield train.astype(np.int64), test.astype(np.int64)


# Logistic regression on standardised scores, its strength of shrinking chosen inside.


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted logistic regression; larger scores are likelier good."""

    mean: Floats
    """Of the training items, shape (metrics,)."""
    sd: Floats
    """Of the training items, 1 where a metric does not vary, shape (metrics,)."""
    weights: Floats
    """Log odds per standard deviation, shape (metrics,)."""
    intercept: float
    c: float
    """The inverse strength of the penalty."""

    def score(self, x: Floats) -> Floats:
        """Give log odds of being good, shape (items,)."""
        found: Floats = ((x - self.mean) / self.sd) @ self.weights + self.intercept
        return found


def fit_logistic(
    x: Floats, good: Bools, clusters: Ints, cs: Sequence[float], inner_folds: int, seed: int
) -> Logistic:
    """Choose C by the log loss in grouped folds of these items, and fit to all of them.

    Means and standard deviations come from the items that are fitted to, in every inner fold, too:
    nothing of an item that is kept aside enters.
    """
    c = float(cs[0])
    if len(cs) > 1:
        loss = np.zeros(len(cs))
        for train, test in grouped_folds(good, clusters, inner_folds, seed):
            for k, one in enumerate(cs):
                odds = _fit(x[train], good[train], float(one)).score(x[test])
                loss[k] += np.logaddexp(0.0, np.where(good[test], -odds, odds)).sum()
        c = float(cs[int(np.argmin(loss))])
    return _fit(x, good, c)


def _fit(x: Floats, good: Bools, c: float) -> Logistic:
    from sklearn.linear_model import LogisticRegression

    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd = np.where(sd > 1e-12 * np.maximum(1.0, np.abs(mean)), sd, 1.0)
    # Few features: Newton's steps get to the optimum in a handful.
    learner = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-8, max_iter=200)
    fitted = learner.fit((x - mean) / sd, good)
    return Logistic(mean, sd, fitted.coef_[0].astype(np.float64), float(fitted.intercept_[0]), c)


def best_single(x: Floats, good: Bools) -> tuple[int, float]:
    """Choose the metric that tells good from poor best, and whether it must be turned round.

    Returns
    -------
    column, sign
        The column, and 1 or -1.
    """
    areas = np.array([area(x[:, k], good) for k in range(x.shape[1])])
    k = int(np.argmax(np.abs(areas - 0.5)))
    return k, 1.0 if areas[k] >= 0.5 else -1.0


Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Scores of items by what was learned without them, once per repeat."""

    learned: Floats
    """Shape (items, repeats)."""
    single: Floats
    """The single metric that was best in training, shape (items, repeats)."""
    folds: list[Ints]
    """Fold of each item, one array per repeat."""
    chosen: list[int]
    """Single metric that was chosen, one per repeat and fold."""
    cs: list[float]
    """C that was chosen, one per repeat and fold."""


def cross_validate(
    x: Floats,
    good: Bools,
    clusters: Ints,
    *,
    cs: Sequence[float],
    folds: int,
    inner_folds: int,
    repeats: int,
    seed: int,
    progress: Progress | None = None,
) -> OutOfFold:
    """Learn on all folds but one, and score that one; repeated with folds of other seeds."""
    check_folds(good, clusters, folds)
    learned, single = np.full((2, good.size, repeats), np.nan)
    which: list[Ints] = []
    chosen: list[int] = []
    used: list[float] = []
    seeds = np.random.SeedSequence(seed).generate_state(2 * repeats)
    for r in range(repeats):
        at = np.zeros(good.size, dtype=np.int64)
        parts = grouped_folds(good, clusters, folds, int(seeds[2 * r]))
        for fold, (train, test) in enumerate(parts):
            inner = int(seeds[2 * r + 1]) % (2**31) + fold
            model = fit_logistic(x[train], good[train], clusters[train], cs, inner_folds, inner)
            column, sign = best_single(x[train], good[train])
            learned[test, r] = model.score(x[test])
            single[test, r] = sign * x[test, column]
            at[test] = fold
            chosen.append(column)
            used.append(model.c)
        which.append(at)
        if progress is not None:
            progress("cross-validation", r + 1, repeats)
    return OutOfFold(learned, single, which, chosen, used)


def area_table(
    out: OutOfFold, good: Bools, clusters: Ints, confidence: float, *, with_intervals: bool
) -> pl.DataFrame:
    """Give the areas of both, and their difference, with intervals.

    Items are compared with items of the same fold only, since each fold has a model of its own;
    the area is the mean over repeats. Intervals leave clusters out and keep the fitted models.
    """
    import polars as pl

    def each(weights: Floats) -> list[Floats]:
        return [
            fold_areas(values, good, weights, out.folds) for values in (out.learned, out.single)
        ]

    def means(weights: Floats) -> Floats:
        return np.column_stack([areas.mean(axis=1) for areas in each(weights)])

    whole = np.ones((1, good.size))
    spread = [a.std(ddof=1) if a.size > 1 else np.nan for (a,) in each(whole)]
    point = means(whole)[0]
    value = np.array([*point, point[0] - point[1]])
    se, low, high = np.full((3, 3), np.nan)
    if with_intervals:
        left_out = without_clusters(means, clusters)
        gap = replace(left_out.of_all(lambda areas: areas[:, 0] - areas[:, 1]), bounds=(-1.0, 1.0))
        told = left_out_uncertainty(gap, confidence)
        parts = area_ends(left_out, good, clusters, confidence), (told.se, told.low, told.high)
        se, low, high = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return pl.DataFrame(
        {
            "method": ["learned", "best single metric", "difference"],
            "value": value,
            "se": se,
            "low": low,
            "high": high,
            "sd_of_repeats": [*spread, np.nan],
        }
    )
