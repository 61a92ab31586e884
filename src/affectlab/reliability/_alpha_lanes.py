"""Replicates of alpha over raters, by compiled sums over many replicates side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab._types import Floats
from affectlab.reliability._alpha_levels import DistanceLevel, Interval, Level, Nominal, Ordinal

__all__ = ["alphas_by_lanes", "worth_compiling"]

_MOST_VALUES = 32
"""Distinct values up to which pairs of values are summed."""
_MOST_PAIRS = 32
"""Pairs per rating up to which pairs of ratings are summed."""
_LEAST_WORK = 1 << 22
"""Ratings times replicates below which loading compiled code takes longer than the work."""


def worth_compiling(level: Level, n_boot: int) -> bool:
    """Whether the compiled sums serve a label better than arrays of weights."""
    data = level.data
    if data.value.size * n_boot < _LEAST_WORK:
        return False
    if isinstance(level, Interval):
        return True
    n_pairs = float((data.size * (data.size - 1)).sum() / 2)
    known = isinstance(level, Nominal | Ordinal | DistanceLevel)
    few = data.domain.size <= _MOST_VALUES and n_pairs <= _MOST_PAIRS * data.value.size
    return known and few


def alphas_by_lanes(
    levels: Sequence[Level], rater_weights: Floats, unit_weights: Floats | None
) -> Floats:
    """Compute alpha of every label in every replicate.

    Parameters
    ----------
    levels
        Labels for which :func:`worth_compiling` holds.
    rater_weights
        Shape (replicates, raters).
    unit_weights
        Shape (replicates, units); ``None`` for ones.

    Returns
    -------
    Shape (replicates, labels).
    """
    from affectlab._compiled import LANES, in_threads

    n_boot = rater_weights.shape[0]
    n_units = max(level.data.n_units for level in levels)
    out = np.empty((n_boot, len(levels)))
    blocks = []
    for start in range(0, n_boot, LANES):
        raters = np.ascontiguousarray(rater_weights[start : start + LANES].T)
        units = (
            np.ones((n_units, raters.shape[1]))
            if unit_weights is None
            else np.ascontiguousarray(unit_weights[start : start + LANES].T)
        )
        blocks.append((slice(start, start + raters.shape[1]), raters, units))

    def one_label(column: int) -> None:
        for rows, raters, units in blocks:
            out[rows, column] = _alphas(levels[column], raters, units)

    in_threads(one_label, range(len(levels)))
    return out


def _alphas(level: Level, raters: Floats, units: Floats) -> Floats:
    from affectlab.reliability._kernels._alpha import moment_lanes, pair_lanes

    data = level.data
    lanes = raters.shape[1]
    ends = np.append(data.starts[1:], data.value.size)
    if isinstance(level, Interval):
        totals = np.empty((4, lanes))
        both = np.hstack([raters, raters**2])
        moment_lanes(ends, data.unit, data.rater, level.centred, both, units, totals)
        return level.from_totals(totals.T)
    n_values = data.domain.size
    pairs = np.empty((n_values, n_values, lanes))
    pair_lanes(ends, data.unit, data.rater, data.code, raters, units, pairs)
    ordered = pairs + pairs.transpose(1, 0, 2)
    return level.from_totals(_totals(level, ordered.transpose(2, 0, 1)))


def _totals(level: Level, ordered: Floats) -> Floats:
    """Turn weights of ordered pairs, (b, values, values), into the totals that a level expects."""
    margins = ordered.sum(axis=2)
    if isinstance(level, Ordinal):
        low, high = np.triu_indices(margins.shape[1], 1)
        return np.hstack([2 * ordered[:, low, high], margins])
    domain = level.data.domain
    if isinstance(level, DistanceLevel):
        first, second = np.broadcast_arrays(domain[:, None], domain[None, :])
        distances = np.asarray(level.distance(first, second), dtype=np.float64)
    else:
        distances = 1 - np.eye(domain.size)
    observed = np.einsum("bck,ck->b", ordered, distances)
    return np.hstack([observed[:, None], margins])
