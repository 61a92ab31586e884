"""Mean difference of each expression from all others, and its place among them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab._resampling import Uncertainty, summarise
from affectlab._types import Bools, Floats, Ints
from affectlab.analysis._clusters import LabelClusters
from affectlab.analysis._expression_cells import Cells

__all__ = ["priority_of"]

_ONE_ACTOR = "no interval: one actor"


def priority_of(
    cells: Cells,
    matrix: Floats,
    drawn: Floats,
    clusters: LabelClusters,
    resample: str,
    confidence: float,
    method: str,
    n_pairs: Ints,
) -> pl.DataFrame:
    """Rank expressions by their mean difference from the others, the smallest first.

    Parameters
    ----------
    matrix
        Mean differences, shape (n, n), ``nan`` where there is none.
    drawn
        Bootstrap replicates of it, shape (B, n, n).
    """
    n = len(cells.expressions)
    value = _row_means(matrix[None])[0]
    order = np.argsort(value, kind="stable")
    n_actors = len(cells.actors)
    plain = relative = Uncertainty.none(n)
    rank_low = rank_high = np.full(n, np.nan)
    apart = value - np.nanmean(value)
    status = ["ok"] * n
    if drawn.size and resample == "actors" and n_actors < 2:
        status = [_ONE_ACTOR] * n
    elif drawn.size:
        means = _row_means(drawn)
        few = _Few.actors(n_actors) if resample == "actors" else _Few.cells(cells)
        plain = _spread(value, means, confidence, few)
        # How high the drawn actors are in general moves all expressions alike.
        relative = _spread(apart, means - np.nanmean(means, axis=1)[:, None], confidence, few)
        status = [why or "ok" for why in plain.missing]
        rank_low, rank_high = _rank_ends(value, means, confidence, few)
    of_cluster = {
        name: int(number)
        for name, number in zip(clusters.labels, clusters.cluster, strict=True)
        if number
    }
    asked = _shown_by(cells)
    names = [cells.expressions[k] for k in order]
    return pl.DataFrame(
        {
            "rank": np.arange(1, n + 1),
            "expression": names,
            "value": value[order],
            "se": plain.se[order],
            "low": plain.low[order],
            "high": plain.high[order],
            "relative": apart[order],
            "relative_low": relative.low[order],
            "relative_high": relative.high[order],
            "rank_low": _whole(rank_low[order]),
            "rank_high": _whole(rank_high[order]),
            "cluster": [of_cluster.get(name) for name in names],
            "n_others": (~np.isnan(matrix)).sum(axis=1)[order],
            "n_actors": asked.sum(axis=1)[order],
            "n_pairs": n_pairs.sum(axis=1)[order],
            "method": [f"mean difference from the others, {method}"] * n,
            "resampled": [resample if drawn.size else "none"] * n,
            "status": [status[k] for k in order],
        },
        schema_overrides={
            "cluster": pl.Int64,
            "n_others": pl.Int64,
            "n_actors": pl.Int64,
        },
    )


def _spread(point: Floats, means: Floats, confidence: float, few: _Few) -> Uncertainty:
    """Take Student's intervals with the standard errors of replicates, made wider as told."""
    from scipy.special import stdtrit

    found = summarise(point, means, confidence)
    se = found.se * few.wider
    half = stdtrit(few.df, (1 + confidence) / 2) * se
    return replace(found, se=se, low=point - half, high=point + half)


@dataclass(frozen=True)
class _Few:
    """By how much weights drawn for a handful of things understate errors, and degrees of freedom.

    Dirichlet weights of m things give (m - 1) / (m + 1) of the variance of their mean.
    """

    wider: Floats
    df: Floats

    @classmethod
    def actors(cls, n: int) -> _Few:
        return cls(np.array(np.sqrt((n + 1) / (n - 1))), np.array(n - 1.0))

    @classmethod
    def cells(cls, cells: Cells) -> _Few:
        """Each pair of an expression is the mean of m cells, with one variance for all cells."""
        m = cells.asked.sum(axis=1)
        parts = np.zeros((3, len(cells.expressions)))
        for side in (cells.first, cells.second):
            for row, part in enumerate((1 / m, (m - 1) / (m * (m + 1)), m - 1)):
                np.add.at(parts[row], side, part)
        full, seen, df = parts
        known = seen > 0
        ratio = np.divide(full, seen, out=np.full(full.size, np.nan), where=known)
        return cls(np.sqrt(ratio), np.where(known, df, 1.0))


def _rank_ends(point: Floats, means: Floats, confidence: float, few: _Few) -> tuple[Floats, Floats]:
    """Give the percentiles of the rank of each expression over whole replicates.

    These are stretched about the point as the intervals of the means are: with a handful of actors
    they lie too close to it.
    """
    from scipy.special import ndtri, stdtrit

    share = (1 + confidence) / 2
    stretch = few.wider * stdtrit(few.df, share) / ndtri(share)
    whole = point + stretch * (means - point)
    whole = whole[~np.isnan(whole).any(axis=1)]
    if not whole.size:
        unknown = np.full(means.shape[1], np.nan)
        return unknown, unknown
    ranks = 1 + np.argsort(np.argsort(whole, axis=1, kind="stable"), axis=1, kind="stable")
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(ranks, tails, axis=0, method="nearest")
    return low.astype(np.float64), high.astype(np.float64)


def _row_means(matrices: Floats) -> Floats:
    """Average rows over what is known, shape (B, n); ``nan`` where nothing is."""
    known = ~np.isnan(matrices)
    count = known.sum(axis=2)
    total = np.where(known, matrices, 0.0).sum(axis=2)
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _shown_by(cells: Cells) -> Bools:
    """Say which actors show each expression in a pair, shape (n, A)."""
    shows = np.zeros((len(cells.expressions), len(cells.actors)), dtype=bool)
    asked = cells.n_pairs > 0
    for side in (cells.first, cells.second):
        np.logical_or.at(shows, side, asked)
    return shows


def _whole(ranks: Floats) -> pl.Series:
    """Write ranks as whole numbers, null where there are none."""
    return pl.Series(ranks, dtype=pl.Float64).fill_nan(None).cast(pl.Int64)
