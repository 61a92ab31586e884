"""Intervals from the values of a statistic without each stimulus, each rater, or either in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.statistic import Ends, student
from affectlab.core.types import Bools, Floats, Ints

Part: TypeAlias = Literal["stimuli", "raters", "answers"]
"""Stimuli, raters, or what one rater says of one stimulus."""

LEAST_EFFECTIVE = 4
"""Degrees of freedom that things which in effect carry the error are granted at least: with 1, the
interval of an F1 over a few mistakes is as wide as its scale."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Values of a statistic without each of some things in turn.

    References
    ----------
    Tukey (1958); Efron and Stein (1981), Annals of Statistics 9.
    """

    what: Part
    values: Floats
    """Shape (things, rows)."""
    present: Bools
    """Whether a row rests on a thing; same shape."""
    effective: Bools | bool = False
    """Rows that are granted no more degrees of freedom than things in effect carry the error, or
    four."""
    by_kurtosis: Bools | bool = False
    """Rows that are granted as many as their variance has by the kurtosis of what things add, or
    four."""
    times: Ints | None = None
    """How many alike things each one stands for, shape (things,); 1 each where not said."""
    groups: int = 0
    """Random groups that are left out in place of single things, where that is to be said."""

    @cached_property
    def _times(self) -> Ints:
        return np.ones(len(self.present), np.int64) if self.times is None else self.times

    @cached_property
    def count(self) -> Ints:
        """Things that each row rests on, shape (rows,)."""
        return np.asarray(self._times @ self.present)

    @cached_property
    def scarce(self) -> Bools:
        """Rows that are not defined without one of the things, or rest on fewer than two."""
        gone: Bools = (np.isnan(self.values) & self.present).any(axis=0) | (self.count < 2)
        return gone

    @cached_property
    def mean(self) -> Floats:
        """Mean of the values of each row, shape (rows,); ``nan`` where one is not defined."""
        known = np.where(self.present, self.values, 0.0)
        return np.asarray(self._times @ known / np.maximum(self.count, 1))

    @cached_property
    def _apart(self) -> Floats:
        """How far values are from their mean; 0 in rows that have no error."""
        return np.where(self.present & ~self.scarce, self.values - self.mean, 0.0)

    def covariance(self, together: int) -> Floats:
        """Covariance of each `together` neighbouring rows, which rest on the same things.

        Shape (rows / together, together, together).
        """
        n = np.maximum(self.count, 1)
        apart = (self._apart * np.sqrt((n - 1) / n)).T.reshape(-1, together, len(self.present))
        covariance: Floats = apart * self._times @ apart.swapaxes(1, 2)
        return covariance

    def error(self) -> Floats:
        """Standard errors, shape (rows,), ``nan`` in rows that have none."""
        squares, n = self._times @ self._apart**2, self.count
        se: Floats = np.where(self.scarce, np.nan, np.sqrt((n - 1) / np.maximum(n, 1) * squares))
        return se

    def variance_of(self, contrasts: Floats) -> Floats:
        """Variances of sums of rows that rest on the same things, from (rows, k) to (k,)."""
        covariance = self.covariance(len(contrasts))[0]
        variance = np.einsum("ik,ik->k", contrasts, covariance @ contrasts)
        return np.where(self.scarce.any(), np.nan, np.maximum(variance, 0.0))

    def degrees(self) -> Floats | Ints:
        """Degrees of freedom, shape (rows,)."""
        n = np.maximum(self.count - 1, 1)
        if not (np.any(self.effective) or np.any(self.by_kurtosis)):
            return n
        carry = effective_sample_size(self._apart, self._times)
        carried = np.minimum(np.maximum(carry - 1, LEAST_EFFECTIVE), n)
        known = np.minimum(np.maximum(of_variance(carry, self.count), LEAST_EFFECTIVE), n)
        return np.where(self.effective, carried, np.where(self.by_kurtosis, known, n))


def too_few(counts: Ints, fewest: int, units: str) -> list[Reason | None]:
    """Give the reason of rows that have no interval since they rest on few units.

    Examples
    --------
    >>> [str(reason) for reason in too_few(np.array([12, 3]), 5, "actors")]
    ['None', '3 actors, expected 5 or more']
    """
    return [
        Reason(Cause.FEW_UNITS, n, fewest, units) if n < fewest else None for n in counts.tolist()
    ]


def effective_sample_size(parts: Floats, times: Ints | Floats) -> Floats:
    r"""Say how many of many things in effect carry an error, shape (rows,).

    With :math:`d` what each adds, :math:`(\sum d^2)^2 / \sum d^4`; 0 where nothing does. Where they
    are few, the error is skewed and goes with the value.

    Parameters
    ----------
    parts
        What each thing adds, shape (things, rows).
    times
        How many alike things each one stands for, shape (things,).

    References
    ----------
    Kish (1965), Survey Sampling.
    """
    size = np.abs(parts).max(axis=0, initial=0.0)
    # Scaled, so that fourth powers of tiny numbers are no zeros.
    squares = (parts / np.where(size > 0, size, 1.0)) ** 2
    fourth = times @ squares**2
    carry: Floats = np.divide(
        (times @ squares) ** 2, fourth, out=np.zeros(size.size), where=fourth > 0
    )
    return carry


def of_variance(carry: Floats, n: Ints | Floats) -> Floats:
    r"""Give the degrees of freedom of variances, shape (rows,), from the kurtosis of their parts.

    The variance of a variance of n values is :math:`\sigma^4 (\kappa/n - (n - 3)/(n (n - 1)))`, and
    that of one with f degrees of freedom :math:`2 \sigma^4 / f`: f is n - 1 for the normal kurtosis
    of 3, and less where few values are large. 0 where nothing adds to it.

    Parameters
    ----------
    carry
        :math:`n / \kappa`, see :func:`effective_sample_size`, shape (rows,).
    n
        Values, two or more, shape (rows,).

    References
    ----------
    O'Neill (2014), American Statistician 68.

    Examples
    --------
    >>> of_variance(np.array([20 / 3, 4.0]), np.array([20, 20])).round(1).tolist()
    [19.0, 9.7]
    """
    n = np.maximum(n, 2)
    with np.errstate(divide="ignore"):
        return np.asarray(2 / (1 / carry - (n - 3) / (n * (n - 1.0))))


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Values, and what becomes of them where stimuli, raters or both are left out.

    Examples
    --------
    The mean of four numbers has the usual interval:

    >>> x = np.array([1.0, 2.0, 6.0, 4.0])
    >>> left_out = LeaveOneOut("stimuli", ((x.sum() - x) / 3)[:, None], np.ones((4, 1), bool))
    >>> jackknife = Jackknife(np.array([x.mean()]), (left_out,), (-np.inf, np.inf))
    >>> [round(float(end[0]), 3) for end in jackknife.ends(0.95)]
    [1.109, -0.278, 6.778]
    """

    value: Floats
    """Shape (rows,)."""
    parts: tuple[LeaveOneOut, ...]
    """A part of answers, beside those of stimuli and raters, is what these two count twice: it is
    taken off."""
    bounds: tuple[float | Floats, float | Floats] = (-1.0, 1.0)
    log_odds_from: Floats | None = None
    corrects_raters: bool = True
    """Whether the number of raters is a source of bias; see
    :class:`~affectlab.core.statistic.Statistic`."""
    fewest_raters: int = 3
    """Raters from which on they tell of others, where stimuli are left out, too."""
    units: str = "stimuli"
    """What is left out in place of stimuli."""
    fewest: int = 0
    """How many of these give an interval."""

    @cached_property
    def about_these_raters(self) -> Bools:
        """Rows of two raters: where stimuli are left out, too, their intervals are about these."""
        few = np.zeros(self.value.size, dtype=np.bool_)
        for part in self.parts:
            if part.what == "raters":
                few = part.count < self.fewest_raters
        return few

    @cached_property
    def missing(self) -> list[Reason | None]:
        """Why each row has no interval."""
        why = np.full(self.value.size, None, dtype=object)
        for part in self.parts:
            scarce = part.scarce
            if part.what == "raters":
                scarce = scarce & ~self.about_these_raters
            name = self._name(part)
            why[scarce] = Reason(Cause.UNDEFINED_WITHOUT_ONE, of=name)
            why[scarce & (part.count == 1)] = Reason(Cause.SINGLE_UNIT, of=name)
            if part.what == "stimuli":
                few = too_few(part.count, self.fewest, self.units)
                why[:] = [own or other for own, other in zip(few, why, strict=True)]
        if [part.what for part in self.parts] == ["raters"]:
            why[self.about_these_raters] = Reason(Cause.TWO_RATERS)
        return why.tolist()

    def _name(self, part: LeaveOneOut) -> str:
        return self.units if part.what == "stimuli" else part.what

    @property
    def _sampled(self) -> tuple[LeaveOneOut, ...]:
        """Parts of what is sampled; answers are not, but by stimulus and rater."""
        return tuple(part for part in self.parts if part.what != "answers")

    def intervals(self) -> list[IntervalFact]:
        """How the interval of each row is made."""
        sampled = self._sampled
        kinds = tuple(self._name(part) for part in sampled)
        groups = tuple(part.groups for part in sampled)
        whole = IntervalFact("jackknife", kinds, groups if any(groups) else ())
        these = IntervalFact("jackknife", kinds[:1], groups[:1] if any(groups[:1]) else ())
        few = self.about_these_raters & (len(kinds) > 1)
        return [these if one else whole for one in few.tolist()]

    def reasons(self) -> list[Reason | None]:
        """Why each row has no interval, or one that is about these two raters."""
        few = self.about_these_raters & (len(self._sampled) > 1)
        return [
            own or (Reason(Cause.TWO_RATERS) if two else None)
            for own, two in zip(self.missing, few.tolist(), strict=True)
        ]

    def targets(self) -> list[str]:
        """What the interval of each row is about, as tables of estimates call it."""
        parts = self._sampled
        whole = self._name(parts[0]) if parts else "none"
        whole = "both" if len(parts) > 1 else whole
        few = self.about_these_raters & (len(parts) > 1)
        return [self.units if one else whole for one in few.tolist()]

    def _counts(self, part: LeaveOneOut) -> Bools:
        """Rows whose error a part adds to."""
        if part.what == "stimuli":
            return np.ones(self.value.size, dtype=np.bool_)
        return np.asarray(~self.about_these_raters)

    def spread(self, contrasts: Floats | None = None) -> tuple[Floats, Floats]:
        """Give standard errors, and degrees of freedom, ``nan`` where there is no error.

        Variances of stimuli and of raters are added, less what both count, and their degrees of
        freedom as Satterthwaite adds them. The sum is at least the larger of the two.

        Parameters
        ----------
        contrasts
            Sums of rows to give them for, shape (rows, k), by default of each row; all rows rest on
            the same things then.

        References
        ----------
        Cameron, Gelbach and Miller (2011), "Robust inference with multiway clustering"; MacKinnon,
        Nielsen and Webb (2024), "Jackknife inference with two-way clustering".
        """
        rows = slice(None if contrasts is None else 1)
        size = self.value.size if contrasts is None else contrasts.shape[1]
        variance, larger, per_freedom = np.zeros((3, size))
        for part in self.parts:
            square = part.error() ** 2 if contrasts is None else part.variance_of(contrasts)
            square = np.where(self._counts(part)[rows], square, 0.0)
            if part.what == "answers":
                variance -= square
                continue
            variance += square
            larger = np.maximum(larger, square)
            per_freedom += square**2 / part.degrees()[rows]
        variance = np.maximum(variance, larger)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(variance), np.where(variance > 0, variance**2 / per_freedom, np.nan)

    def share(self, what: Part) -> Floats:
        """Give the share of the variance that is due to one kind of thing, shape (rows,)."""
        own = np.zeros(self.value.size)
        for part in self.parts:
            if part.what == what:
                own += np.where(self._counts(part), part.error() ** 2, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return own / self.spread()[0] ** 2

    @property
    def bias(self) -> Floats:
        """What leaving out shows values to be too large by, shape (rows,)."""
        bias = np.zeros(self.value.size)
        for part in self.parts:
            if part.what == "stimuli" or self.corrects_raters:
                shift = (part.count - 1) * (part.mean - self.value)
                bias += np.where(self._counts(part), shift, 0.0)
        return bias

    def ends(self, confidence: float) -> Ends:
        """Compute standard errors and the ends of intervals.

        The value is corrected for the bias that leaving out shows.
        """
        se, freedom = self.spread()
        return around(
            self.value,
            se,
            np.where(np.isnan(freedom), 1.0, freedom),
            confidence,
            self.bounds,
            bias=self.bias,
            log_odds_from=self.log_odds_from,
        )

    def covariance(self, together: int) -> Floats:
        """Covariance of each `together` neighbouring rows, without negative variances.

        Shape (rows / together, together, together); such rows rest on the same things.
        """
        total = np.zeros((self.value.size // together, together, together))
        for part in self.parts:
            one = part.covariance(together)
            total += -one if part.what == "answers" else one
        values, vectors = np.linalg.eigh(total)
        covariance: Floats = vectors * np.maximum(values, 0.0)[:, None] @ vectors.swapaxes(1, 2)
        return covariance

    def through(self, transform: Callable[[Floats], Floats]) -> Jackknife:
        """Put the value, and those without each thing, through a function of rows."""
        parts = tuple(replace(part, values=transform(part.values)) for part in self.parts)
        return replace(self, value=transform(self.value), parts=parts)

    def of_all(self, combine: Callable[[Floats], Floats]) -> Jackknife:
        """Combine rows to others, such as their mean, or their differences.

        Parameters
        ----------
        combine
            From values of shape (n, rows) to shape (n, k), or (n,) for one.
        """
        value = np.ravel(combine(self.value[None, :]))
        parts = tuple(
            LeaveOneOut(
                part.what,
                combine(np.where(part.present, part.values, self.value)).reshape(-1, value.size),
                np.any(part.present, axis=1, keepdims=True).repeat(value.size, axis=1),
                effective=bool(np.all(part.effective)),
                by_kurtosis=bool(np.all(part.by_kurtosis)),
                times=part.times,
            )
            for part in self.parts
        )
        least = (
            self.log_odds_from if self.log_odds_from is None else combine(self.log_odds_from[None])
        )
        return replace(self, value=value, parts=parts, log_odds_from=least)


def differences(of: Jackknife, first: Ints, second: Ints, **more: Any) -> Jackknife:
    """Take differences of rows that rest on other things, so that each side has its own error.

    Degrees of freedom are then Welch's.

    Parameters
    ----------
    of
        Rows of which one kind of thing is left out.
    first, second
        Places of the rows, shape (differences,): the first less the second.
    more
        Other fields of :class:`Jackknife`, such as the bounds of differences.
    """
    (part,) = of.parts
    value = of.value[first] - of.value[second]
    sides = tuple(
        replace(
            part,
            values=value + sign * (part.values[:, rows] - of.value[rows]),
            present=part.present[:, rows],
            effective=np.broadcast_to(part.effective, of.value.shape)[rows],
            by_kurtosis=np.broadcast_to(part.by_kurtosis, of.value.shape)[rows],
        )
        for rows, sign in ((first, 1), (second, -1))
    )
    return replace(of, value=value, parts=sides, **more)


def around(
    value: Floats,
    se: Floats,
    freedom: Floats | Ints,
    confidence: float,
    bounds: tuple[float | Floats, float | Floats],
    *,
    bias: Floats | float = 0.0,
    log_odds_from: Floats | None = None,
) -> Ends:
    """Put Student's interval around values less their bias, on a scale without bounds.

    Where values have two bounds, that scale is their log odds between these: Fisher's z for -1 and
    1. Where `log_odds_from` is said and there is no upper bound, it is the logarithm of what is
    above it, as of a variance. The ends are then within the bounds. With a handful of units the
    bias may be larger than the interval is wide; it then reaches to the value itself.

    Parameters
    ----------
    value, se, freedom, bias
        Shape (rows,).
    confidence
        Coverage of the interval, in (0, 1).
    bounds
        Least and largest value.
    log_odds_from
        The value that has the part of the least one in log odds; smaller values have their interval
        on their own scale.

    Examples
    --------
    >>> se, low, high = around(np.array([0.9]), np.array([0.05]), np.array([9]), 0.95, (-1.0, 1.0))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.705], [0.969])
    """
    from scipy.special import expit, logit

    least, most = bounds[0] if log_odds_from is None else log_odds_from, bounds[1]
    inside = (value > least) & (value < most) & np.isfinite(least) & np.isfinite(most)
    width = np.where(inside, most - least, 1.0)
    share = np.where(inside, (value - least) / width, 0.5)
    slope = 1 / (width * share * (1 - share))
    middle = np.where(inside, logit(share) - slope * bias, value - bias)
    above = np.zeros(inside.shape, np.bool_) if log_odds_from is None else (value > least) & ~inside
    above &= np.isfinite(least) & np.isinf(most)
    base = np.where(above, least, 0.0)
    size = np.where(above, value - base, 1.0)
    middle = np.where(above, np.log(size) - bias / size, middle)
    slope = np.where(above, 1 / size, np.where(inside, slope, 1.0))
    _, low, high = student(middle, slope * se, freedom, confidence)
    with np.errstate(over="ignore"):
        low, high = (
            np.where(inside, least + width * expit(end), np.where(above, base + np.exp(end), end))
            for end in (low, high)
        )
    low, high = np.maximum(low, bounds[0]), np.minimum(high, bounds[1])
    return se, np.minimum(low, value), np.maximum(high, value)
