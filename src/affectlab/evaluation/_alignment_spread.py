"""Standard errors and intervals from the rows of a two-way bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from affectlab._types import Floats
from affectlab.evaluation._alignment_draws import Draws

__all__ = ["Spread", "columns_of", "mean_of_defined", "spread_of"]

_MOST_UNDEFINED = 0.1
"""Share of undefined replicates from which on there is no interval."""
_CONSTANT = 1e-12
"""Standard errors up to here are rounding noise of equal replicates."""


@dataclass(frozen=True)
class Spread:
    """Values with their uncertainty; every field has shape (k,)."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    df: Floats
    """Degrees of freedom of the interval."""
    people_share: Floats
    """Share of the variance that is due to the choice of people."""
    resampled: str

    def clipped(self) -> Spread:
        """Keep the interval within [-1, 1]."""
        low, high = np.maximum(self.low, -1.0), np.minimum(self.high, 1.0)
        return Spread(self.value, self.se, low, high, self.df, self.people_share, self.resampled)


def spread_of(
    rows: Floats,
    draws: Draws,
    n_items: int,
    confidence: float,
    *,
    most_undefined: float = _MOST_UNDEFINED,
) -> Spread:
    r"""Give values, standard errors and intervals.

    Where stimuli and people are drawn at once, the variance V of the replicates is too large: what
    is due to the single answers, :math:`V_A`, is in it three times (Owen 2007). Leaving out each
    person in turn (the jackknife) gives the variance :math:`V_P` due to people and leaving out
    groups of stimuli :math:`V_S`, each with :math:`V_A` once; so :math:`V = V_P + V_S + V_A`, and

    .. math:: \widehat V = V_P + V_S - V_A = 2 (V_P + V_S) - V,

    as with errors that are clustered in two ways. It is kept between the larger of the two and V.
    Drawing P of P people with replacement shows only the part c = (P - 1)/P of :math:`V_P`, so
    :math:`(1 - c) V_P` is added to V. Intervals are :math:`\pm t` standard errors around the value:
    replicates hold fewer different people than the data, whose median is less good, so their middle
    lies too low. The degrees of freedom are Satterthwaite's, with P - 1 for :math:`V_P` and one
    less than the number of stimuli for the rest.

    Parameters
    ----------
    rows
        Statistics in every row of the draws, shape (k, rows).
    draws
        What was drawn.
    n_items
        Stimuli.
    confidence
        Coverage of the interval.
    most_undefined
        Share of undefined replicates from which on there is no interval.
    """
    value = rows[:, 0].copy()
    k = value.size
    unknown = np.full(k, np.nan)
    if not draws.n_boot:
        return Spread(value, unknown, unknown, unknown, unknown, unknown, "none")
    replicates = rows[:, draws.replicates]
    total = _variance(replicates)
    of_people = np.zeros(k)
    df = np.full(k, max(n_items - 1.0, 1.0))
    if draws.n_left_out:
        n = draws.n_left_out
        left_out = rows[:, draws.left_out]
        of_people = _variance(left_out) * (n - 1) ** 2 / n
        total = total + max(1.0 - draws.people_share, 0.0) * np.nan_to_num(of_people)
        total = _once(rows, draws, total, np.nan_to_num(of_people))
        people = np.clip(np.nan_to_num(of_people), 0.0, total)
        rest = total - people
        with np.errstate(divide="ignore", invalid="ignore"):
            df = total**2 / (people**2 / (n - 1) + rest**2 / max(n_items - 1, 1))
        of_people = people
    scarce = np.isnan(replicates).mean(axis=1) > most_undefined
    se = np.sqrt(total)
    constant = se <= _CONSTANT * np.maximum(np.abs(value), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = of_people / total
    hidden = scarce | constant | np.isnan(value)
    se, df, share = (np.where(hidden, np.nan, part) for part in (se, df, share))
    half = stdtrit(df, (1 + confidence) / 2) * se
    return Spread(value, se, value - half, value + half, df, share, draws.resample)


def _once(rows: Floats, draws: Draws, total: Floats, of_people: Floats) -> Floats:
    """Take out of the variance of the replicates what it holds more than once."""
    n = draws.n_groups
    if not n:
        return total
    of_stimuli = np.nan_to_num(_variance(rows[:, draws.groups])) * (n - 1) ** 2 / n
    least = np.minimum(np.maximum(of_people, of_stimuli), total)
    corrected: Floats = np.clip(2.0 * (of_people + of_stimuli) - total, least, total)
    return corrected


def _variance(rows: Floats) -> Floats:
    """Variance over the last axis of the values that are defined."""
    defined = ~np.isnan(rows)
    n = defined.sum(axis=1)
    several = n > 1
    known = np.where(defined, rows, 0.0)
    mean = known.sum(axis=1) / np.maximum(n, 1)
    squares = np.where(defined, (rows - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return np.where(several, squares / np.maximum(n - 1, 1), np.nan)


def mean_of_defined(values: Floats, axis: int = 0) -> Floats:
    """Mean over an axis of the values that are defined."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=axis)
    total = np.where(defined, values, 0.0).sum(axis=axis)
    mean: Floats = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return mean


def columns_of(spreads: Sequence[Spread]) -> dict[str, Floats]:
    """Put values with their uncertainty one after the other, as columns of a table."""
    names = ("value", "se", "low", "high")
    return {name: np.concatenate([getattr(one, name) for one in spreads]) for name in names}
