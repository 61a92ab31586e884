"""Areas and means of metrics over good and poor items, also when whole stimuli are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from affectlab._resampling import draw_weights
from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._auc import replicated_areas

__all__ = [
    "cluster_weights",
    "drawn_areas",
    "error_of",
    "expanded_tails",
    "few_clusters",
    "fold_areas",
    "normal_interval",
    "weighted_means",
]

_AT_ONCE = 256
_MOST_UNDEFINED = 0.1


def cluster_weights(
    clusters: Ints, base: Floats, n_boot: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Draw clusters with replacement; yields how often each row counts, (replicates, rows)."""
    n = int(clusters.max()) + 1
    for start in range(0, n_boot, _AT_ONCE):
        drawn = np.concatenate(list(draw_weights(rng, n, min(_AT_ONCE, n_boot - start))))
        yield drawn[:, clusters] * base


def fold_areas(
    values: Floats, good: Bools, weights: Floats, folds: Sequence[Ints] | None = None
) -> Floats:
    """Give the area of every metric in every replicate.

    Parameters
    ----------
    values
        Shape (rows, metrics), without ``nan``.
    good
        Shape (rows,).
    weights
        Shape (replicates, rows).
    folds
        For each metric the fold of each row: only rows of one fold are compared, since scores that
        two models gave do not share a scale. By default all rows are.

    Returns
    -------
    Shape (replicates, metrics), ``nan`` without a good or a poor row.
    """
    out = np.empty((weights.shape[0], values.shape[1]))
    for m in range(values.shape[1]):
        if folds is None:
            out[:, m] = replicated_areas(values[:, m], good, weights)
            continue
        won, pairs = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
        for fold in np.unique(folds[m]):
            rows = folds[m] == fold
            part = weights[:, rows]
            n = part[:, good[rows]].sum(axis=1) * part[:, ~good[rows]].sum(axis=1)
            areas = replicated_areas(values[rows, m], good[rows], part)
            won += np.where(n > 0, np.nan_to_num(areas) * n, 0.0)
            pairs += n
        out[:, m] = np.divide(won, pairs, out=np.full(won.size, np.nan), where=pairs > 0)
    return out


def drawn_areas(
    values: Floats,
    good: Bools,
    clusters: Ints,
    *,
    n_boot: int,
    rng: np.random.Generator,
    base: Floats | None = None,
    folds: Sequence[Ints] | None = None,
) -> Floats:
    """Give the area of every metric for each time that whole clusters are drawn again.

    Parameters
    ----------
    values, good, folds
        As for :func:`fold_areas`.
    clusters
        Cluster of each row, from 0 on, shape (rows,).
    base
        How often a row counts when its cluster is drawn once, shape (rows,); by default once.

    Returns
    -------
    Shape (n_boot, metrics).
    """
    once = np.ones(good.size) if base is None else base
    drawn = cluster_weights(clusters, once, n_boot, rng)
    return np.concatenate([fold_areas(values, good, weights, folds) for weights in drawn])


def weighted_means(values: Floats, rows: Bools, weights: Floats) -> Floats:
    """Give means over some rows, shape (replicates, metrics)."""
    # About their mean, so that far from 0 digits are kept.
    centre = values[rows].mean(axis=0) if rows.any() else np.zeros(values.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (weights[:, rows] @ (values[rows] - centre)) / weights[:, rows].sum(
            axis=1, keepdims=True
        ) + centre
    return found


def error_of(drawn: Floats) -> Floats:
    """Standard errors of replicates, ``nan`` where too many are undefined or none varies.

    Parameters
    ----------
    drawn
        Shape (replicates, k).
    """
    missing = np.isnan(drawn)
    out = np.full(drawn.shape[1], np.nan)
    for k in range(drawn.shape[1]):
        known = drawn[~missing[:, k], k]
        if known.size > 1 and missing[:, k].mean() <= _MOST_UNDEFINED:
            error = float(known.std(ddof=1))
            if error > 1e-12 * max(1.0, float(np.abs(known).max())):
                out[k] = error
    return out


def few_clusters(confidence: float, n: int) -> float:
    r"""Say by how much intervals from draws of `n` clusters are too narrow.

    The bootstrap divides by n where n - 1 is right, and a normal quantile takes its error as
    known: :math:`t_{n-1} \sqrt{n / (n - 1)} / z`.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69.

    Examples
    --------
    >>> [round(few_clusters(0.95, n), 2) for n in (6, 20, 300)]
    [1.44, 1.1, 1.01]
    """
    from scipy.special import ndtri, stdtrit

    if n < 2:
        return 1.0
    tail = (1 + confidence) / 2
    return float(stdtrit(n - 1, tail) / ndtri(tail) * np.sqrt(n / (n - 1)))


def expanded_tails(confidence: float, n: int) -> tuple[float, float]:
    """Give the shares below the two ends of a percentile interval from draws of `n` clusters.

    Examples
    --------
    >>> [round(tail, 4) for tail in expanded_tails(0.95, 10)]
    [0.0086, 0.9914]
    """
    from scipy.special import ndtr, ndtri

    tail = float(ndtr(-ndtri((1 + confidence) / 2) * few_clusters(confidence, n)))
    return tail, 1 - tail


def normal_interval(value: Floats, error: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Give ``value ± z error``."""
    from scipy.special import ndtri

    half = float(ndtri((1 + confidence) / 2)) * error
    return value - half, value + half
