"""Honest cross-validation: all that is learned or chosen is learned or chosen without the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.inference import few_units
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.preference import (
    area,
    drawn_areas,
    edge_interval,
    error_of,
    fold_areas,
    logit_interval,
    normal_interval,
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
    out: OutOfFold, good: Bools, clusters: Ints, n_boot: int, confidence: float, seed: int
) -> pl.DataFrame:
    """Give the areas of both, and their difference, with intervals.

    Items are compared with items of the same fold only, since each fold has a model of its own;
    the area is the mean over repeats. Intervals draw clusters again and keep the fitted models.
    """
    import polars as pl

    one = np.ones((1, good.size))
    each = [fold_areas(values, good, one, out.folds)[0] for values in (out.learned, out.single)]
    point = np.array([areas.mean() for areas in each])
    value = np.array([*point, point[0] - point[1]])
    spread = np.array([areas.std(ddof=1) if areas.size > 1 else np.nan for areas in each])
    error = np.full(3, np.nan)
    if n_boot:
        # The same seed draws the same clusters for both.
        learned, single = (
            drawn_areas(
                values,
                good,
                clusters,
                folds=out.folds,
                n_boot=n_boot,
                rng=np.random.default_rng(seed),
            ).mean(axis=1)
            for values in (out.learned, out.single)
        )
        error = error_of(np.column_stack([learned, single, learned - single]))
    wider = few_units(confidence, int(np.unique(clusters).size))
    ends = [logit_interval(value[k], error[k] * wider, confidence) for k in range(2)]
    if n_boot:
        held, lacked = (int(np.unique(clusters[side]).size) for side in (good, ~good))
        ends = [
            edge_interval(float(value[k]), held, lacked, confidence)
            if value[k] in (0.0, 1.0)
            else ends[k]
            for k in range(2)
        ]
    low, high = normal_interval(value[2:], error[2:] * wider, confidence)
    return pl.DataFrame(
        {
            "method": ["learned", "best single metric", "difference"],
            "value": value,
            "se": error,
            "low": [ends[0][0], ends[1][0], float(low[0])],
            "high": [ends[0][1], ends[1][1], float(high[0])],
            "sd_of_repeats": [*spread, np.nan],
        }
    )
