"""Uncertainty of any statistic: intervals, what they are about, and corrections of p values.

:func:`infer` takes a :class:`~affectlab.core.statistic.Statistic` and does all that does not depend
on what the numbers are: it checks what is asked for, draws, leaves out, puts intervals around the
values, says why there is none, and words how each came about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import blocks_of
from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates, withhold_certainty
from affectlab.core.facts import Cause, IntervalFact, Reason, reasons_of
from affectlab.core.jackknife import Jackknife, LeaveOneOut, too_few
from affectlab.core.statistic import (
    LEFT_OUT_OF_MANY,
    MAX_JACKKNIFE_GROUPS,
    Clusters,
    Draws,
    Statistic,
)
from affectlab.core.types import Floats, Ints
from affectlab.core.words import option


def wilson_interval(
    k: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[np.float64 | Floats, np.float64 | Floats]:
    r"""Give the Wilson score interval of ``k`` out of ``n``.

    With :math:`\hat p = k/n` and :math:`z` the normal quantile of the confidence,

    .. math:: \frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    It stays in [0, 1] and says something at 0 of n and n of n, where the usual interval has no
    width.

    Parameters
    ----------
    k
        Cases counted, 0 to ``n``; any shape that broadcasts with `n`. Need not be whole, so that a
        share with an effective number of cases has an interval, too.
    n
        Cases in all.
    confidence
        Coverage that is aimed at, in (0, 1).

    Returns
    -------
    low, high
        Of the broadcast shape, in [0, 1]; ``nan`` where ``n`` is 0.

    Raises
    ------
    InputError
        When a count is negative or no number, or ``k`` is above ``n``.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    Journal of the American Statistical Association, 22.

    Examples
    --------
    >>> low, high = wilson_interval([0, 5, 10], 10)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237, 0.722], [0.278, 0.763, 1.0])
    """
    from scipy.special import ndtri

    check_confidence(confidence)
    count, total = _counted("k", k), _counted("n", n)
    try:
        count, total = np.broadcast_arrays(count, total)
    except ValueError:
        raise InputError(
            f"k has shape {count.shape} and n {total.shape}; expected shapes that fit each other"
        ) from None
    if (count > total).any():
        at = np.unravel_index(int(np.argmax(count > total)), count.shape)
        raise InputError(f"k is {count[at]:g} of n {total[at]:g}; expected at most n")
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        share = count / total
        centre = share + z2 / (2 * total)
        half = np.sqrt(z2 * (share * (1 - share) / total + z2 / (4 * total**2)))
        width = 1 + z2 / total
        # The ends are exact where rounding would leave a hair.
        low = np.where(count == 0, 0.0, (centre - half) / width)
        high = np.where(count == total, 1.0, (centre + half) / width)
    empty = total == 0
    return np.where(empty, np.nan, low)[()], np.where(empty, np.nan, high)[()]


def _counted(name: str, given: ArrayLike) -> Floats:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {given!r}; expected counts") from None
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        raise InputError(f"{name} holds {numbers[wrong].flat[0]:g}; expected counts from 0 on")
    return numbers


def holm(p_values: ArrayLike, families: Sequence[str] | Ints | None = None) -> Floats:
    """Adjust p values for being several, so that the chance of any false finding is kept.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.
    families
        Name of the family of each, shape (m,): families are adjusted apart. By default all are one.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    >>> holm([0.01, 0.04, 0.03], ["a", "a", "b"]).tolist()
    [0.02, 0.04, 0.03]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if families is not None:
        of, adjusted = np.asarray(families), np.full(p.shape, np.nan)
        for family in np.unique(of):
            adjusted[of == family] = holm(p[of == family])
        return adjusted
    adjusted, order, m = _below_one(p)
    steps = p[order] * (m - np.arange(order.size))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _below_one(p: Floats) -> tuple[Floats, Ints, int]:
    """Give p values of 1 to fill in, places of those below 1 as they rise, and how many all are.

    Those of 1 stay so and change no other; equal ones are adjusted alike, whichever comes first.
    """
    below = np.flatnonzero(p < 1)
    there = ~np.isnan(p)
    order = below[np.argsort(p[below])]
    return np.where(there, 1.0, np.nan), order, int(np.count_nonzero(there))


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
    adjusted, order, m = _below_one(p)
    steps = p[order] * m / np.arange(1, order.size + 1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1])
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
    for size in blocks_of(n_boot, n):
        drawn = rng.integers(0, n, size=(size, n), dtype=np.int64 if n > 2**31 else np.int32)
        if drawn.size < _MANY:
            flat = (drawn + np.arange(size, dtype=np.int64)[:, None] * n).ravel()
            yield np.bincount(flat, minlength=size * n).reshape(size, n).astype(np.float64)
            continue
        from affectlab.core.compiled.tally import tally

        weights = np.zeros((size, n))
        tally(drawn, weights)
        yield weights


def check_n_boot(n_boot: int) -> None:
    """Refuse a negative number of bootstrap replicates."""
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")


def crossing_p(replicates: Floats, at: float = 0.0) -> Floats:
    """Twice the share of replicates on the far side of a value, the data counting as one more.

    Parameters
    ----------
    replicates
        Shape (n_boot, k), ``nan`` where not defined.
    at
        The value of the null hypothesis.

    Returns
    -------
    Two-sided p values, shape (k,).
    """
    with np.errstate(invalid="ignore"):
        far = np.minimum((replicates <= at).sum(axis=0), (replicates >= at).sum(axis=0))
    p: Floats = np.minimum(1.0, 2.0 * (far + 1) / ((~np.isnan(replicates)).sum(axis=0) + 1))
    return p


def few_units(confidence: float, n: int) -> float:
    r"""Say by how much intervals from draws of `n` units are too narrow.

    The bootstrap divides by n where n - 1 is right, and a normal quantile takes its error as
    known: :math:`t_{n-1} \sqrt{n / (n - 1)} / z`.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69.

    Examples
    --------
    >>> [round(few_units(0.95, n), 2) for n in (6, 20, 300)]
    [1.44, 1.1, 1.01]
    """
    from scipy.special import ndtri, stdtrit

    if n < 2:
        return 1.0
    share = (1 + confidence) / 2
    return float(stdtrit(n - 1, share) / ndtri(share) * np.sqrt(n / (n - 1)))


def expanded(confidence: float, n: int) -> float:
    """Give the confidence at which a percentile interval from draws of `n` units is wide enough.

    Examples
    --------
    >>> round(expanded(0.95, 10), 4)
    0.9829
    """
    from scipy.special import ndtr, ndtri

    tail = float(ndtr(-ndtri((1 + confidence) / 2) * few_units(confidence, n)))
    # With two units the tails would be beyond any replicate.
    return min(1 - 2 * tail, 1 - 1e-9)


def tails(confidence: float) -> Floats:
    """Give the shares below the two ends of an interval that leaves equal tails."""
    return np.array([(1 - confidence) / 2, (1 + confidence) / 2])


@dataclass(frozen=True)
class Uncertainty:
    """What bootstrap replicates say about k estimates; every field has shape (k,)."""

    se: Floats
    low: Floats
    high: Floats
    undefined: Ints
    """Replicates in which the statistic was not defined."""
    missing: tuple[Reason | None, ...]
    """Why an estimate has no interval."""

    @property
    def single(self) -> dict[str, Any]:
        """Standard error, lower and upper end of the first estimate, which may be the only one."""
        ends = {"se": self.se, "low": self.low, "high": self.high}
        return {name: float(end[0]) for name, end in ends.items()}

    @classmethod
    def none(cls, n: int) -> Uncertainty:
        """Say nothing about `n` estimates: nothing was resampled."""
        unknown = np.full(n, np.nan)
        return cls(unknown, unknown, unknown, np.zeros(n, dtype=np.int64), (None,) * n)


def _percentile(point: Floats, replicates: Floats, confidence: float) -> tuple[Floats, Floats]:
    shares = tails(confidence)
    low, high = np.full(point.size, np.nan), np.full(point.size, np.nan)
    whole = ~np.isnan(replicates).any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.quantile(replicates[:, whole], shares, axis=0)
    for column in np.flatnonzero(~whole):
        defined = replicates[~np.isnan(replicates[:, column]), column]
        if defined.size > 1:
            low[column], high[column] = np.quantile(defined, shares)
    return low, high


def summarise(point: Floats, replicates: Floats, confidence: float) -> Uncertainty:
    """Turn replicates into standard errors and percentile intervals.

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
    """
    missing = np.isnan(replicates)
    n_defined = (~missing).sum(axis=0)
    se = np.full(point.size, np.nan)
    enough = n_defined > 1
    kept = np.where(missing, 0.0, replicates)[:, enough]
    mean = kept.sum(axis=0) / n_defined[enough]
    squares = np.where(missing[:, enough], 0.0, (kept - mean) ** 2).sum(axis=0)
    se[enough] = np.sqrt(squares / (n_defined[enough] - 1))
    low, high = _percentile(point, replicates, confidence)
    unknown = np.isnan(point)
    scarce = missing.mean(axis=0) > _MOST_UNDEFINED
    for column in (se, low, high):
        column[unknown | scarce] = np.nan
    se, low, high, constant = withhold_certainty(point, se, low, high)
    why = np.full(point.size, None, dtype=object)
    why[constant] = Reason(Cause.NO_VARIATION)
    why[scarce] = Reason(Cause.UNDEFINED_REPLICATES)
    why[unknown] = None
    undefined = missing.sum(axis=0).astype(np.int64)
    return Uncertainty(se, low, high, undefined, tuple(why.tolist()))


def left_out_uncertainty(of: Jackknife, confidence: float) -> Uncertainty:
    """Turn values without each thing into standard errors and intervals, and why there are none.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0, 4.0])
    >>> without = LeaveOneOut("stimuli", ((x.sum() - x) / 3)[:, None], np.ones((4, 1), bool))
    >>> mean = Jackknife(np.array([x.mean()]), (without,), (-np.inf, np.inf))
    >>> round(left_out_uncertainty(mean, 0.95).single["high"], 3)
    6.778
    """
    *ends, certain = withhold_certainty(of.value, *of.ends(confidence))
    unknown = np.isnan(of.value)
    why = [
        None if none else one or (Reason(Cause.NO_VARIATION) if same else None)
        for one, same, none in zip(of.missing, certain.tolist(), unknown.tolist(), strict=True)
    ]
    hidden = unknown | np.array([one is not None for one in why], dtype=np.bool_)
    se, low, high = (np.where(hidden, np.nan, end) for end in ends)
    return Uncertainty(se, low, high, np.zeros(unknown.size, np.int64), tuple(why))


def summarise_one(value: float, replicates: Floats, confidence: float) -> Uncertainty:
    """Turn the replicates of one estimate, shape (n_boot,), into its standard error and interval.

    Examples
    --------
    >>> round(summarise_one(0.5, np.linspace(0, 1, 101), 0.9).single["high"], 3)
    0.95
    """
    return summarise(np.array([value]), replicates[:, None], confidence)


# The uncertainty of a statistic that says itself what it is made of.


Interval: TypeAlias = Literal["analytic", "jackknife", "percentile", "bca"]
"""How an interval comes about: by a formula for stimuli drawn at random; from the values without
each stimulus, each rater, or both in turn; or from bootstrap replicates, by their percentiles or by
these corrected for bias and skewness."""
Resampled: TypeAlias = Literal["jackknife", "percentile", "bca"]
"""The same, of what has no formula."""
Target: TypeAlias = Literal["sample", "stimuli", "raters", "both"]
"""What an interval is about: these raters and stimuli, which leaves nothing to be uncertain of;
other stimuli, other raters, or both."""
DrawnTarget: TypeAlias = Literal["stimuli", "raters", "both"]
"""The same, of what has no interval about these raters and stimuli alone."""

_STEP = 1e-6
"""Step of the slope of a transformation."""
_GROUPS, _GROUPS_OF_MANY = 20, 10
"""Groups of stimuli, and of raters, of which all pairs are left out; of a million answers."""
_KINDS = ("analytic", "jackknife", "percentile", "bca")
_TARGETS = ("sample", "stimuli", "raters", "both")


def infer(
    statistic: Statistic,
    *,
    interval: Interval = "percentile",
    target: Target = "stimuli",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
    joint: bool = True,
    clusters: Clusters | None = None,
) -> Estimates:
    """Compute a statistic with its uncertainty.

    Parameters
    ----------
    statistic
        What is computed.
    interval
        ``"analytic"``: by the formula of the statistic. ``"jackknife"``: Student's interval from
        leaving out one stimulus, one rater, or either at a time (see Notes). ``"percentile"`` and
        ``"bca"``: of bootstrap replicates.
    target
        What the interval is about, and so what replicates draw: other ``"stimuli"``, ``"raters"``
        or ``"both"``; ``"sample"`` for no interval.
    n_boot
        Bootstrap replicates; 0 for no interval of that kind.
    confidence
        Coverage of the interval, in (0, 1).
    seed
        Seed or generator. Draws depend on it and on the order of units, not on blocks or threads.
    joint
        Whether the rows of the statistic share replicates.
    clusters
        Stimuli that belong together, as the faces of one actor do: they are drawn, and left out,
        together, and the interval is about other clusters. Fewer than five give none.

    Raises
    ------
    InputError
        When an option is not known, or the statistic has no such interval.

    Notes
    -----
    The jackknife's variance for other stimuli *and* other raters is the sum of both variances, in
    which what is particular to single answers counts twice: intervals are a little too wide where
    that is most of it. Where the statistic asks for it (``answers_once``), pairs of groups of
    stimuli and of raters are left out, too, and what both count is taken off once. Degrees of
    freedom are Satterthwaite's, so that few raters count as few. The
    interval is symmetric around the value less its bias, on a scale of log odds where the statistic
    is bounded: Fisher's z, that of intraclass correlations for coefficients of agreement. More than
    100 raters are left out in 100 groups, and so are stimuli where a statistic asks for groups.
    Where a row rests on a million answers or more, stimuli are then left out in 40 groups, which
    the method says, and pairs of groups are those of 10 by 10.

    References
    ----------
    Miller (1974), Biometrika 61. Owen (2007), Annals of Applied Statistics 1, for crossed factors.

    Examples
    --------
    >>> from affectlab.core.statistic import Design, Sums, from_sums
    >>> x = np.array([1.0, 2.0, 6.0, 4.0, 2.0])
    >>> every = [np.arange(5)]
    >>> mean = Sums(np.column_stack([x, np.ones(5)]), lambda t: t[:, 0] / t[:, 1], every[0])
    >>> statistic = from_sums([mean], Design.of(every, 5, [np.array([0])], 1), keys={"of": ["x"]},
    ...                       bounds=(-np.inf, np.inf), method=["mean"], n_items=[5],
    ...                       n_raters=[1], n_ratings=[5], undefined="no values")
    >>> infer(statistic, interval="analytic")["x"]
    Estimate(3.000 [0.517, 5.483], mean; 5 items, 1 raters, 5 ratings)
    >>> round(infer(statistic, interval="jackknife")["x"].low, 3)
    0.517
    >>> infer(statistic, n_boot=200, seed=1)["x"].method
    'mean; percentile bootstrap, 200 replicates'
    """
    check_choice("target", target, _TARGETS)
    check_choice("interval", interval, _KINDS)
    check_n_boot(n_boot)
    of_formula = set(_each(statistic.over, 1))
    if interval == "analytic" and target in ("raters", "both") and target not in of_formula:
        raise InputError(
            f"interval {interval!r} is about other stimuli; expected it with target 'stimuli', or "
            f"'jackknife', 'percentile' or 'bca' with target {target!r}"
        )
    check_confidence(confidence)
    raw = np.asarray(statistic.evaluate(Draws(1))[0], dtype=np.float64)
    transform = statistic.transform or _as_it_is
    value = transform(raw)
    if clusters is not None and target in ("stimuli", "both"):
        statistic = statistic.of_clusters(clusters)
    few: list[Reason | None] = [None] * value.size
    if statistic.fewest and target != "raters":
        few = too_few(statistic.design.stimulus.sum(axis=1), statistic.fewest, statistic.units)
    replicates, jackknife = np.empty((0, value.size)), None
    nothing = np.full(value.size, np.nan)
    se, low, high = nothing, nothing, nothing
    made: list[IntervalFact | None] = [None] * value.size
    reasons: list[Reason | None] = [None] * value.size
    about = ["none"] * value.size
    if target == "sample":
        n_boot = 0
    elif interval in ("analytic", "jackknife"):
        if interval == "analytic":
            if statistic.closed is None:
                raise InputError(
                    "interval 'analytic': no formula gives it; expected another"
                    if clusters is None
                    else "interval 'analytic': its formula takes stimuli as drawn one by one, and "
                    f"these are drawn with their {statistic.units}; expected another, or "
                    f"{option('cluster', 'none')}"
                )
            ends = statistic.closed(value, confidence)
            about, missing = list(_each(statistic.over, value.size)), list(reasons)
            reasons = reasons_of(statistic.caution or None, value.size)
            made = [
                by if isinstance(by, IntervalFact) else IntervalFact(interval, formula=by)
                for by in _each(statistic.formula, value.size)
            ]
        else:
            _check_target(statistic, target)
            jackknife = _jackknife(statistic, raw, target, seed)
            ends = jackknife.ends(confidence)
            missing, reasons = jackknife.missing, jackknife.reasons()
            if statistic.transform is not None:
                se, low, high = ends
                ends = (se * _slope(transform, raw), transform(low), transform(high))
            made, about = list(jackknife.intervals()), jackknife.targets()
        if len(statistic.no_interval):
            missing = _first(reasons_of(statistic.no_interval, value.size), missing)
        missing = _first(few, missing)
        reasons = _first(missing, reasons)
        hidden = np.isnan(value) | np.array([why is not None for why in missing], dtype=np.bool_)
        se, low, high = (np.where(hidden, np.nan, end) for end in ends)
    if n_boot and interval in ("percentile", "bca"):
        _check_target(statistic, target)
        rng = np.random.default_rng(seed)
        replicates = transform(_replicates(statistic, target, n_boot, rng, joint=joint))
        spread = summarise(value, replicates, confidence)
        se, low, high = spread.se, spread.low, spread.high
        if interval == "bca":
            skew = _acceleration(statistic, target)
            bca = bca_interval(value, replicates, skew, confidence)
            low, high = (np.where(np.isnan(se), np.nan, end) for end in bca)
        reasons = _first(few, spread.missing)
        hidden = np.array([why is not None for why in few], dtype=np.bool_)
        se, low, high = (np.where(hidden, np.nan, end) for end in (se, low, high))
        replicates = np.where(hidden, np.nan, replicates)
        about = [statistic.units if target == "stimuli" else target] * value.size
        units = (statistic.units,)
        over = {"both": (*units, "raters"), "stimuli": units}.get(target, (target,))
        drawn = IntervalFact(interval, over, replicates=n_boot, redrawn=statistic.redrawn)
        made = [replace(drawn, undefined=k) for k in spread.undefined.tolist()]
    if jackknife is not None and statistic.transform is not None:
        jackknife = jackknife.through(transform)
    unknown = reasons_of(statistic.undefined, value.size)
    table = Estimates.build(
        statistic.keys,
        value=value,
        se=se,
        low=low,
        high=high,
        statistic=list(statistic.method),
        target=about,
        n_items=statistic.n_items,
        n_raters=statistic.n_raters,
        n_ratings=statistic.n_ratings,
        interval=made,
        reason=[
            why if none else own
            for why, own, none in zip(unknown, reasons, np.isnan(value), strict=True)
        ],
    )
    if len(statistic.columns):
        table = table.with_columns(statistic.columns)
    settings = {"confidence": confidence}
    return replace(
        table, replicates=replicates, joint=joint, jackknife=jackknife, settings=settings
    )


def _as_it_is(values: Floats) -> Floats:
    return values


def _slope(transform: Callable[[Floats], Floats], value: Floats) -> Floats:
    """Slope of a function of rows at their values."""
    slope: Floats = (transform(value + _STEP) - transform(value - _STEP)) / (2 * _STEP)
    return slope


def _each(one: Any, n: int) -> Sequence[Any]:
    """Give what all rows have, or each has, for each row."""
    return [one] * n if one is None or isinstance(one, (str, IntervalFact)) else one


def _first(
    reasons: Sequence[Reason | None], others: Sequence[Reason | None]
) -> list[Reason | None]:
    """Give the first reason of each row."""
    return [own or other for own, other in zip(reasons, others, strict=True)]


def _check_target(statistic: Statistic, target: str) -> None:
    if target not in statistic.targets:
        known = " or ".join(repr(name) for name in statistic.targets)
        raise InputError(
            f"target {target!r}: not possible for {statistic.title}"
            + (f"; expected {known}" if known else ", which has an interval by formula alone")
        )


def _replicates(
    statistic: Statistic,
    target: str,
    n_boot: int,
    rng: np.random.Generator,
    *,
    joint: bool,
) -> Floats:
    """Draw replicates of all rows at once, or of each by itself in the order of their names."""
    n = len(statistic.names)
    out = np.full((n_boot, n), np.nan)
    filled = np.asarray(statistic.design.stimulus.any(axis=1))
    order = [k for k in by_name(statistic.names) if filled[k]]
    groups = [None] if joint else [np.array([k]) for k in order]
    if not order:
        return out
    for columns in groups:
        at = 0
        for draws in _draws(statistic, target, n_boot, rng):
            rows = slice(at, at + draws.n_rows)
            at = rows.stop
            if columns is None:
                out[rows] = statistic.evaluate(draws)
            else:
                out[rows, columns] = statistic.evaluate(replace(draws, columns=columns))
    return out


def _draws(
    statistic: Statistic, target: str, n_boot: int, rng: np.random.Generator
) -> Iterator[Draws]:
    """Draw stimuli, raters or both, block by block."""
    if statistic.draw is not None:
        yield from statistic.draw(rng, n_boot)
        return
    n_stimuli, n_raters = statistic.design.n_stimuli, statistic.design.n_raters
    if target == "stimuli":
        of_units = rng
    else:
        of_raters, of_units = rng.spawn(2)
    wide = n_stimuli if target == "stimuli" else max(n_stimuli, n_raters)
    size = statistic.n_rows or max(1, _BLOCK // max(wide, 1))
    for start in range(0, n_boot, size):
        n = min(size, n_boot - start)
        rater = None if target == "stimuli" else _weights(of_raters, n_raters, n)
        stimulus = None if target == "raters" else _weights(of_units, n_stimuli, n)
        yield Draws(n, stimulus, rater)


def _weights(rng: np.random.Generator, n: int, n_rows: int) -> Floats:
    """Draw rows of weights in one array; large ones are not copied."""
    first, *more = draw_weights(rng, n, n_rows)
    return np.concatenate([first, *more]) if more else first


def _without_stimuli(statistic: Statistic) -> Floats:
    """Values without each stimulus in turn, ``nan`` in rows that have no answers about it."""
    present = statistic.design.stimulus.T
    values = np.asarray(statistic.evaluate(Draws(len(present), without=np.arange(len(present)))))
    return np.where(present, values, np.nan)


def _left_out(
    statistic: Statistic, what: Literal["stimuli", "raters"], seed: int | np.random.Generator | None
) -> LeaveOneOut:
    """Compute values without each stimulus or rater, or random group of many, in turn.

    Values are ``nan`` in rows that have no answers of them.
    """
    design, units = statistic.design, what == "stimuli"
    if units and statistic.n_groups is None:
        values = _without_stimuli(statistic)
        present = design.stimulus.T
        return LeaveOneOut(
            what, values, present, statistic.effective, statistic.by_kurtosis, statistic.times
        )
    rows, n = (design.stimulus, design.n_stimuli) if units else (design.rater, design.n_raters)
    most = statistic.n_groups or MAX_JACKKNIFE_GROUPS
    many = units and statistic.has_many_answers and n > LEFT_OUT_OF_MANY
    most = LEFT_OUT_OF_MANY if many else most if units else min(most, MAX_JACKKNIFE_GROUPS)
    group = np.arange(n) if n <= most else np.random.default_rng(seed).permutation(n) % most
    member = group == np.arange(min(n, most))[:, None]
    present = (member.astype(np.float32) @ rows.T.astype(np.float32)) > 0
    size = statistic.n_rows or max(1, _BLOCK // max(n, 1))
    blocks = [np.empty((0, len(statistic.names)))]
    for start in range(0, len(member), size):
        weight = 1.0 - member[start : start + size]
        draws = Draws(len(weight), **{"stimulus" if units else "rater": weight})
        blocks.append(statistic.evaluate(draws))
    values = np.where(present, np.concatenate(blocks), np.nan)
    return LeaveOneOut(
        what,
        values,
        present,
        statistic.effective if units else False,
        statistic.by_kurtosis if units else False,
        groups=most if many else 0,
    )


def _answers(
    statistic: Statistic, value: Floats, seed: int | np.random.Generator | None
) -> LeaveOneOut:
    """Compute what becomes of values without the answers of some raters to some stimuli.

    Weights are of stimuli and raters, not of answers: what leaving out both changes beyond leaving
    out each is due to their answers alone. So it is in groups, of which there are few enough for
    all pairs of them.
    """
    rng = np.random.default_rng(seed)
    n = statistic.design.n_stimuli, statistic.design.n_raters
    most = _GROUPS_OF_MANY if statistic.has_many_answers else _GROUPS
    groups = [min(size, most) for size in n]
    # Row 0 of either has all; the others leave out one group.
    kept_stimuli, kept_raters = (
        np.concatenate(
            [np.ones((1, size)), 1.0 - (rng.permutation(size) % few == np.arange(few)[:, None])]
        )
        for size, few in zip(n, groups, strict=True)
    )
    first, second = (part.ravel() for part in np.indices([few + 1 for few in groups]))
    once = np.flatnonzero(np.broadcast_to(statistic.answers_once, value.size))
    draws = Draws(first.size, kept_stimuli[first], kept_raters[second], columns=once)
    blocks = draws.blocks(statistic.n_rows or max(1, _BLOCK // max(n)))
    values = np.concatenate([np.asarray(statistic.evaluate(part)) for _, part in blocks])
    table = values.reshape(groups[0] + 1, groups[1] + 1, -1)
    apart = value[once] - table[1:, :1] - table[:1, 1:] + table[1:, 1:]
    change = np.zeros((groups[0] * groups[1], value.size))
    change[:, once] = np.nan_to_num(apart.reshape(len(change), -1))
    change -= change.mean(axis=0)
    # A jackknife of pairs has fewer degrees of freedom than there are pairs.
    scale = np.sqrt((groups[0] - 1) * (groups[1] - 1) / max(len(change) - 1, 1))
    return LeaveOneOut("answers", value + scale * change, np.ones(change.shape, dtype=np.bool_))


def _jackknife(
    statistic: Statistic, value: Floats, target: str, seed: int | np.random.Generator | None
) -> Jackknife:
    """Leave out stimuli, raters or both, one at a time."""
    kinds: tuple[Literal["stimuli", "raters"], ...] = ("stimuli", "raters")
    left = {"stimuli": kinds[:1], "raters": kinds[1:]}.get(target, kinds)
    parts = [_left_out(statistic, what, seed) for what in left]
    several = min(statistic.design.n_stimuli, statistic.design.n_raters) > 1
    if several and target == "both" and np.any(statistic.answers_once):
        parts.append(_answers(statistic, value, seed))
    return Jackknife(
        value,
        tuple(parts),
        statistic.bounds,
        statistic.log_odds_from,
        statistic.corrects_raters,
        units=statistic.units,
        fewest=statistic.fewest,
    )


def _acceleration(statistic: Statistic, target: str) -> Floats:
    """Estimate the acceleration of each row by leaving out one stimulus, or one rater, at a time.

    When stimuli and raters are drawn, the influence values of both are taken together, as for
    independent samples. It is 0 where nothing varies.
    """
    without = []
    if target != "raters":
        without.append(_without_stimuli(statistic))
    if target != "stimuli":
        without.append(_left_out(statistic, "raters", 0).values)
    skew = np.zeros(len(statistic.names))
    for k in range(skew.size):
        pulls = np.concatenate([_pulls(values[:, k]) for values in without])
        size = (pulls**2).sum()
        skew[k] = (pulls**3).sum() / (6 * size**1.5) if size > 0 else 0.0
    return skew


def _pulls(left_out: Floats) -> Floats:
    """Influence of each thing left out, over their number; undefined values are left out."""
    known = left_out[~np.isnan(left_out)]
    return (known.mean() - known) * (known.size - 1) / max(known.size, 1) if known.size else known


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
