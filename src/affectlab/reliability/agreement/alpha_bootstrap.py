"""Bootstrap replicates of alpha for all labels at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.inference import by_name, draw_weights
from affectlab.core.types import Floats
from affectlab.reliability.agreement.alpha_levels import (
    DistanceLevel,
    Interval,
    Level,
    Nominal,
    Ordinal,
    Sums,
)

__all__ = [
    "Resample",
    "acceleration",
    "alphas_by_lanes",
    "bca_interval",
    "bootstrap_alpha",
    "worth_compiling",
]

# Replicates of alpha over raters, by compiled sums over many replicates side by side.


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
    from affectlab.core.compiled import LANES, in_threads

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
    from affectlab.reliability.agreement.alpha_kernels import moment_lanes, pair_lanes

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


Resample: TypeAlias = Literal["units", "raters", "both"]

_BLOCK = 1 << 20
_STACK = 1 << 23


def bootstrap_alpha(
    levels: Sequence[Level | None],
    sums: Sequence[Sums | None],
    n_units: int,
    n_raters: int,
    n_boot: int,
    *,
    labels: Sequence[str],
    resample: Resample,
    joint: bool,
    rng: np.random.Generator,
) -> Floats:
    """Draw replicates of alpha, shape (n_boot, labels); ``nan`` where alpha is not defined.

    ``sums`` are the ``statistics`` of the levels, which only replicates over units need. ``joint``:
    every replicate draws units and raters once, for all labels.
    """
    out = np.full((n_boot, len(levels)), np.nan)
    present = [(k, level) for k in by_name(labels) if (level := levels[k]) is not None]
    groups = [present] if joint else [[one] for one in present]
    for group in groups:
        if not group:
            continue
        columns = [k for k, _ in group]
        bound = [level for _, level in group]
        if resample == "units":
            out[:, columns] = _over_units(bound, [sums[k] for k in columns], n_units, n_boot, rng)
        else:
            both = resample == "both"
            out[:, columns] = _over_raters(bound, n_units, n_raters, n_boot, both, rng)
    return out


def _over_units(
    levels: Sequence[Level],
    tables: Sequence[Sums | None],
    n_units: int,
    n_boot: int,
    rng: np.random.Generator,
) -> Floats:
    """Weights times sums per unit. Narrow sums are put side by side, for one large product."""
    out = np.empty((n_boot, len(levels)))
    stacks = list(_stack({k: t for k, t in enumerate(tables) if isinstance(t, np.ndarray)}))
    alone = [k for k, table in enumerate(tables) if not isinstance(table, np.ndarray)]
    start = 0
    for weights in draw_weights(rng, n_units, n_boot):
        rows = slice(start, start + weights.shape[0])
        start = rows.stop
        for columns, sums in stacks:
            totals = weights @ sums
            left = 0
            for column, width in columns:
                out[rows, column] = levels[column].from_totals(totals[:, left : left + width])
                left += width
        for column in alone:
            out[rows, column] = _alone(levels[column], tables[column], weights)
    return out


def _stack(tables: Mapping[int, Floats]) -> Iterator[tuple[list[tuple[int, int]], Floats]]:
    """Put tables side by side up to a size; give (column, width) of each, and the whole."""
    waiting: dict[int, Floats] = {}
    for column, table in tables.items():
        waiting[column] = table
        if sum(held.size for held in waiting.values()) >= _STACK or column == max(tables):
            widths = [(k, held.shape[1]) for k, held in waiting.items()]
            yield widths, np.hstack(list(waiting.values()))
            waiting = {}


def _alone(level: Level, sums: Sums | None, weights: Floats) -> Floats:
    """Alpha of one label whose sums are sparse, or too many to be kept, in blocks of replicates."""
    part = level.data
    rows = max(1, _BLOCK // (part.value.size if sums is None else sums.shape[1]))
    found = []
    for start in range(0, weights.shape[0], rows):
        block = weights[start : start + rows]
        if sums is None:
            ones = np.ones((block.shape[0], part.value.size))
            found.append(level.weighted(ones, block[:, part.unit]))
        else:
            found.append(level.from_totals(np.asarray((sums.T @ block.T).T)))
    return np.concatenate(found)


def _over_raters(
    levels: Sequence[Level],
    n_units: int,
    n_raters: int,
    n_boot: int,
    both: bool,
    rng: np.random.Generator,
) -> Floats:
    """Weights on ratings, in blocks of replicates that fit in the cache."""
    out = np.empty((n_boot, len(levels)))
    of_raters, of_units = rng.spawn(2)
    widest = max(level.data.value.size for level in levels)
    compiled = [k for k, level in enumerate(levels) if worth_compiling(level, n_boot)]
    rows = max(1, _BLOCK // widest)
    for start in range(0, n_boot, rows):
        size = min(rows, n_boot - start)
        rater_weights = np.concatenate(list(draw_weights(of_raters, n_raters, size)))
        unit_weights = (
            np.concatenate(list(draw_weights(of_units, n_units, size)))
            if both
            else np.ones((size, n_units))
        )
        if compiled:
            units = unit_weights if both else None
            fast = alphas_by_lanes([levels[k] for k in compiled], rater_weights, units)
            out[start : start + size, compiled] = fast
        for column, level in enumerate(levels):
            if column in compiled:
                continue
            part = level.data
            out[start : start + size, column] = level.weighted(
                rater_weights[:, part.rater], unit_weights[:, part.unit]
            )
    return out


# Bias-corrected and accelerated bootstrap intervals for Krippendorff's alpha.


def bca_interval(
    point: Floats, replicates: Floats, acceleration: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Compute BCa intervals.

    Parameters
    ----------
    point
        The estimates, shape (k,).
    replicates
        Shape (n_boot, k); those that are ``nan`` are left out.
    acceleration
        A sixth of the skewness of the influence values, shape (k,).
    confidence
        Coverage that is aimed at.

    Returns
    -------
    Lower and upper ends, ``nan`` where fewer than two replicates are defined.

    References
    ----------
    Efron (1987), Journal of the American Statistical Association 82.
    """
    from scipy.special import ndtr, ndtri

    low, high = np.full(point.size, np.nan), np.full(point.size, np.nan)
    z = ndtri((1 + confidence) / 2)
    for k in np.flatnonzero(~np.isnan(point)):
        known = replicates[~np.isnan(replicates[:, k]), k]
        if known.size < 2:
            continue
        slack = 1e-12 * max(abs(point[k]), 1.0)
        below = (known < point[k] - slack).mean()
        ties = (np.abs(known - point[k]) <= slack).mean()
        # A share of 0 or 1 is known up to half a replicate only.
        share = np.clip(below + ties / 2, 0.5 / known.size, 1 - 0.5 / known.size)
        shift = ndtri(share)
        steps = shift + np.array([-z, z])
        tails = ndtr(shift + steps / (1 - acceleration[k] * steps))
        low[k], high[k] = np.quantile(known, tails)
    return low, high


def acceleration(levels: Sequence[Level | None], n_raters: int, resample: Resample) -> Floats:
    """Estimate the acceleration of alpha by leaving out one unit, or one rater, at a time.

    When units and raters are drawn, the influence values of both are taken together, as for
    independent samples.

    Returns
    -------
    Shape (labels,), 0 where alpha does not vary.
    """
    return np.array(
        [0.0 if level is None else _acceleration(level, n_raters, resample) for level in levels]
    )


def _acceleration(level: Level, n_raters: int, resample: Resample) -> float:
    influence = []
    if resample != "raters":
        influence.append(_influence(_without_units(level)))
    if resample != "units":
        influence.append(_influence(_without_raters(level, n_raters)))
    pulls = np.concatenate(influence)
    size = (pulls**2).sum()
    return float((pulls**3).sum() / (6 * size**1.5)) if size > 0 else 0.0


def _influence(left_out: Floats) -> Floats:
    """Influence of each thing left out, over their number, where alpha without it is defined."""
    known = left_out[~np.isnan(left_out)]
    return (known.mean() - known) * (known.size - 1) / max(known.size, 1) if known.size else known


def _without_units(level: Level) -> Floats:
    """Alpha without each unit in turn that has ratings of this label."""
    data = level.data
    sums = level.statistics()
    if sums is not None:
        table = sums if isinstance(sums, np.ndarray) else sums.toarray()
        return level.from_totals(table.sum(axis=0) - table[data.unit])
    cells = data.unit.size
    rows = max(1, _BLOCK // data.value.size)
    found = []
    for start in range(0, cells, rows):
        weights = np.ones((min(rows, cells - start), cells))
        weights[np.arange(weights.shape[0]), start + np.arange(weights.shape[0])] = 0
        found.append(level.weighted(np.ones((weights.shape[0], data.value.size)), weights))
    return np.concatenate(found)


def _without_raters(level: Level, n_raters: int) -> Floats:
    """Alpha without each rater in turn."""
    data = level.data
    present = np.flatnonzero(np.bincount(data.rater, minlength=n_raters))
    rows = max(1, _BLOCK // data.value.size)
    found = []
    for start in range(0, present.size, rows):
        gone = present[start : start + rows]
        weights = (data.rater != gone[:, None]).astype(np.float64)
        found.append(level.weighted(weights, np.ones((gone.size, data.unit.size))))
    return np.concatenate(found)
