"""Bias-corrected and accelerated bootstrap intervals for Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab._types import Floats
from affectlab.reliability._alpha_bootstrap import Resample
from affectlab.reliability._alpha_levels import Level

__all__ = ["acceleration", "bca_interval"]

_BLOCK = 1 << 20


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
