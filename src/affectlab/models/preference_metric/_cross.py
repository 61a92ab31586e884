"""Honest cross-validation: all that is learned or chosen is learned or chosen without the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._auc import edge_interval, logit_interval
from affectlab.evaluation._metric_preference_draws import (
    drawn_areas,
    error_of,
    few_clusters,
    fold_areas,
    normal_interval,
)
from affectlab.models.preference_metric._folds import check_folds, grouped_folds
from affectlab.models.preference_metric._logistic import best_single, fit_logistic

if TYPE_CHECKING:
    import polars as pl

__all__ = ["OutOfFold", "area_table", "cross_validate"]

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
    wider = few_clusters(confidence, int(np.unique(clusters).size))
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
