"""Corrections of p values for being several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import NO_VARIATION, withhold_certainty
from affectlab.core.types import Floats

if TYPE_CHECKING:
    from affectlab.core.types import Ints


__all__ = [
    "INTERVALS",
    "Uncertainty",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "by_name",
    "check_confidence",
    "draw_weights",
    "holm",
    "streams",
    "summarise",
]


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p values for being several, so that the chance of any false finding is kept.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    places = np.flatnonzero(~np.isnan(p))
    order = places[np.argsort(p[places], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjust p values so that the expected share of false findings among the findings is kept.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.

    References
    ----------
    Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    places = np.flatnonzero(~np.isnan(p))
    order = places[np.argsort(p[places], kind="stable")[::-1]]
    steps = p[order] * order.size / np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps))
    return adjusted


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """Adjust p values as :func:`benjamini_hochberg` does, whatever their dependence.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.

    References
    ----------
    Benjamini and Yekutieli (2001), Annals of Statistics 29.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.2, 0.03]).round(4).tolist()
    [0.055, 0.3667, 0.0825]
    """
    p = np.asarray(p_values, dtype=np.float64)
    m = int(np.count_nonzero(~np.isnan(p)))
    # Scaling before the steps rather than after them lets the cut at 1 stay the last step.
    return benjamini_hochberg(p * (1.0 / np.arange(1, m + 1)).sum())


# Bootstrap weights, and intervals from bootstrap replicates.


_BLOCK = 1 << 22
"""Entries of the weight matrix that are held at once."""
_MOST_UNDEFINED = 0.1
"""Share of undefined replicates from which on there is no interval."""
_MANY = 1 << 20
"""Draws above which compiled code pays."""


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence!r}: expected a share between 0 and 1, like 0.95")


def by_name(names: Iterable[str]) -> list[int]:
    """Places of names in the order of the alphabet, in which they take their random numbers.

    So what is drawn for a label, or a model, does not depend on which of them a table names first.
    """
    listed = list(names)
    return sorted(range(len(listed)), key=listed.__getitem__)


def streams(rng: np.random.Generator, names: Iterable[str]) -> dict[str, np.random.Generator]:
    """Give each name random numbers of its own, the same in whatever order the names come."""
    listed = sorted(names)
    return dict(zip(listed, rng.spawn(len(listed)), strict=True))


def draw_weights(rng: np.random.Generator, n: int, n_boot: int) -> Iterator[Floats]:
    """Draw how often each of ``n`` things enters each bootstrap replicate.

    Yields
    ------
    Blocks of shape (replicates, n) with rows that sum to ``n``; ``n_boot`` rows in all.
    """
    rows = max(1, _BLOCK // max(n, 1))
    for start in range(0, n_boot, rows):
        size = min(rows, n_boot - start)
        drawn = rng.integers(0, n, size=(size, n), dtype=np.int64 if n > 2**31 else np.int32)
        if drawn.size < _MANY:
            flat = (drawn + np.arange(size, dtype=np.int64)[:, None] * n).ravel()
            yield np.bincount(flat, minlength=size * n).reshape(size, n).astype(np.float64)
            continue
        from affectlab.core.tally import tally

        weights = np.zeros((size, n))
        tally(drawn, weights)
        yield weights


@dataclass(frozen=True)
class Uncertainty:
    """What bootstrap replicates say about k estimates; every field has shape (k,)."""

    se: Floats
    low: Floats
    high: Floats
    undefined: Ints
    """Replicates in which the statistic was not defined."""
    missing: tuple[str, ...]
    """Why an estimate has no interval, empty where it has one."""

    @classmethod
    def none(cls, n: int) -> Uncertainty:
        """Say nothing about `n` estimates: nothing was resampled."""
        unknown = np.full(n, np.nan)
        return cls(unknown, unknown, unknown, np.zeros(n, dtype=np.int64), ("",) * n)


def _percentile(point: Floats, replicates: Floats, confidence: float) -> tuple[Floats, Floats]:
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.full(point.size, np.nan), np.full(point.size, np.nan)
    whole = ~np.isnan(replicates).any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.quantile(replicates[:, whole], tails, axis=0)
    for column in np.flatnonzero(~whole):
        defined = replicates[~np.isnan(replicates[:, column]), column]
        if defined.size > 1:
            low[column], high[column] = np.quantile(defined, tails)
    return low, high


INTERVALS: dict[str, Callable[[Floats, Floats, float], tuple[Floats, Floats]]] = {
    "percentile": _percentile
}
"""Kinds of bootstrap interval: (point, replicates, confidence) -> (low, high)."""


def summarise(
    point: Floats, replicates: Floats, confidence: float, kind: str = "percentile"
) -> Uncertainty:
    """Turn replicates into standard errors and intervals.

    Replicates in which the statistic is not defined are left out and counted. There is no interval
    where more than a tenth of them are not defined, since those left over are no fair sample, nor
    where they are all the same: unanimity is not certainty (:mod:`affectlab.core.estimates`).

    Parameters
    ----------
    point
        The estimates, shape (k,).
    replicates
        Shape (n_boot, k), ``nan`` where not defined.
    confidence
        Coverage that is aimed at, in (0, 1).
    kind
        A key of :data:`INTERVALS`.
    """
    if kind not in INTERVALS:
        raise unknown_name("interval", kind, INTERVALS)
    missing = np.isnan(replicates)
    n_defined = (~missing).sum(axis=0)
    se = np.full(point.size, np.nan)
    enough = n_defined > 1
    kept = np.where(missing, 0.0, replicates)[:, enough]
    mean = kept.sum(axis=0) / n_defined[enough]
    squares = np.where(missing[:, enough], 0.0, (kept - mean) ** 2).sum(axis=0)
    se[enough] = np.sqrt(squares / (n_defined[enough] - 1))
    low, high = INTERVALS[kind](point, replicates, confidence)
    unknown = np.isnan(point)
    scarce = missing.mean(axis=0) > _MOST_UNDEFINED
    for column in (se, low, high):
        column[unknown | scarce] = np.nan
    se, low, high, constant = withhold_certainty(point, se, low, high)
    why = np.where(constant, NO_VARIATION, "")
    why = np.where(scarce, "no interval: too many replicates are undefined", why)
    why = np.where(unknown, "", why)
    undefined = missing.sum(axis=0).astype(np.int64)
    return Uncertainty(se, low, high, undefined, tuple(str(reason) for reason in why))
