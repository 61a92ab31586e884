"""Intraclass correlations of one label: agreement and consistency of single and mean ratings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import compress
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, Reason
from affectlab.core.inference import Interval, Target
from affectlab.core.statistic import STIMULI_AND_RATERS, Design, Draws, Ends, Statistic
from affectlab.core.types import Bools, Floats
from affectlab.ratings import Answers, ClusterLike, Ratings, require_order
from affectlab.reliability.agreement.coefficient import (
    coefficient,
    interval_reasons,
    is_graded,
    least_agreement,
)
from affectlab.reliability.agreement.moments import (
    RatingSums,
    additive_variances,
    residual_freedom,
    spearman_brown,
)
from affectlab.reliability.agreement.wording import (
    COMPLETE_UNITS,
    PAIRED_UNIT,
    UNITS_AND_RATERS,
    listwise,
)
from affectlab.reliability.components import (
    MOST_LEVELS,
    MOST_PROFILED,
    RATER,
    STIMULUS,
    CrossedSums,
    Solution,
    crossed,
    far_from_normal,
    fit,
    share_of_signal,
    signal_to_noise,
)

# The forms of the intraclass correlation, from all ratings and after listwise deletion.


Form: TypeAlias = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
Missing: TypeAlias = Literal["available", "listwise"]

FORMS: tuple[Form, ...] = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
_MISSING = ("available", "listwise")

_ROUNDING = 1e-12
"""Variances up to this share of the whole are what rounding leaves of none."""
_NO_VARIANCE = Reason(Cause.NONE, of="variance")
_NEGATIVE_SIGNAL = Reason(Cause.NEGATIVE_VARIANCE)
_TOO_LARGE = Reason(Cause.TOO_LARGE, MOST_LEVELS, of=UNITS_AND_RATERS)
_TOO_MANY = Reason(Cause.MANY_ANSWERS, MOST_PROFILED, of="ratings")
_NO_VARIATION = Reason(Cause.NO_VARIATION)
_CONFOUNDED = Reason(Cause.CONFOUNDED_RATERS)
_ONLY_RATERS = Reason(Cause.ONLY_RATERS_DIFFER)
_NO_PAIRS = Reason(Cause.NONE, of=PAIRED_UNIT)
_ONE_RATER = Reason(Cause.FEWER, least=2, of="raters")
_ONLY_LEVELS = Reason(Cause.ONLY_LEVELS)


@dataclass(frozen=True, eq=False)
class _Label:
    """The coefficients of one label, one for each form."""

    ends: Callable[[float], Ends]
    """From a confidence level to intervals of the coefficients that are defined, as normal effects
    have them."""
    single: Floats
    """Coefficients of a single rating, of forms with k, too."""
    k: Floats
    """Ratings of a unit that a mean is taken of; of forms without k, 1."""
    undefined: Sequence[Reason | None]
    why: Sequence[Reason | None]
    """Why there is no such interval, where something varies."""
    n_items: int
    n_raters: int
    n_ratings: int
    used: Answers
    n_dropped: int = 0
    """Units that were left out."""
    complete: bool = False
    """Whether all raters rated all units that were used."""
    pair_variances: Callable[[], Floats] | None = None
    """Pair variances that follow from the estimates, where these are not by mean squares: those of
    form 1 and of forms 2 and 3, shape (2, 4)."""


def _undefined(n_forms: int, reason: Reason, **counts: Any) -> _Label:
    """Say of every form why it is not defined."""
    none = np.full(n_forms, np.nan)
    return _Label(
        lambda _: (none, none, none), none, none, [reason] * n_forms, [None] * n_forms, **counts
    )


def _of_complete_units(parts: Sequence[Answers], forms: Sequence[str]) -> list[_Label]:
    """Take the units that all raters rated, by mean squares."""
    labels: list[_Label] = []
    tables: dict[tuple[int, int], dict[int, Floats]] = {}
    for place, part in enumerate(parts):
        m = np.bincount(part.unit, minlength=len(part.units))
        n_raters = int(np.count_nonzero(np.bincount(part.rater)))
        n_items = int((m == n_raters).sum()) if n_raters else 0
        reason = _ONE_RATER if n_raters < 2 else Reason(Cause.FEWER, least=2, of=COMPLETE_UNITS)
        none = _undefined(
            len(forms),
            reason,
            n_items=n_items,
            n_raters=n_raters,
            n_ratings=n_items * n_raters,
            used=part.take(m[part.unit] == n_raters),
            n_dropped=int((m > 0).sum()) - n_items,
            complete=True,
        )
        labels.append(none)
        if n_raters > 1 and n_items > 1:
            # Answers are sorted by unit, then rater.
            table = none.used.value.reshape(n_items, n_raters)
            tables.setdefault((n_items, n_raters), {})[place] = table
    for alike in tables.values():
        found = _of_tables(np.stack(list(alike.values())), forms)
        for place, coefficients in zip(alike, found, strict=True):
            labels[place] = replace(labels[place], **coefficients)
    return labels


def _of_tables(tables: Floats, forms: Sequence[str]) -> list[dict[str, Any]]:
    """Give values with their ends for each of some tables, shape (labels, items, raters)."""
    _, n_items, n_raters = tables.shape
    units, raters, within, residual = _mean_squares(tables)
    k = np.array([n_raters if form.endswith("k") else 1 for form in forms], dtype=np.float64)

    @cache
    def single(confidence: float) -> Floats:
        """Values and ends of the intervals for a single rating, shape (3, labels, forms)."""
        found = {}
        for model in {form[0] for form in forms}:
            if model == "2":
                one = _agreement(units, raters, residual, n_items, n_raters, confidence)
            elif model == "1":
                freedom = n_items * (n_raters - 1)
                one = _ratio(units, within, n_items - 1, freedom, n_raters, confidence)
            else:
                freedom = (n_items - 1) * (n_raters - 1)
                one = _ratio(units, residual, n_items - 1, freedom, n_raters, confidence)
            found[model] = one
        return np.stack([found[form[0]] for form in forms], axis=-1)

    @cache
    def of_means(confidence: float) -> Floats:
        return spearman_brown(single(confidence), k)

    def ends(row: int, confidence: float) -> Ends:
        _, low, high = of_means(confidence)[:, row]
        return np.full(k.size, np.nan), low, high

    alone, low, _ = single(0.95)
    alone = np.where(np.ptp(tables, axis=(1, 2))[:, None] == 0, np.nan, alone)
    undefined = [
        [
            _NO_VARIANCE if math.isnan(one) else _of_sign(form, one)
            for form, one in zip(forms, of_label, strict=True)
        ]
        for of_label in alone.tolist()
    ]
    defined = np.array([[one is None for one in of_label] for of_label in undefined])
    why = [
        [_ONLY_LEVELS if one else None for one in of_label]
        for of_label in (defined & np.isnan(low)).tolist()
    ]
    single_value = np.where(defined, alone, np.nan)
    return [
        {
            "ends": partial(ends, row),
            "single": single_value[row],
            "k": k,
            "undefined": undefined[row],
            "why": why[row],
        }
        for row in range(len(tables))
    ]


def _is_complete(part: Answers) -> bool:
    """Whether all raters of a label rated all its units."""
    m = np.bincount(part.unit)
    return bool((m[m > 0] == np.count_nonzero(np.bincount(part.rater))).all())


def _of_sign(form: str, single: float) -> Reason | None:
    """Say that a coefficient cannot be: a correlation below -1, or a reliability below 0.

    With a correlation r of single ratings, a mean of k has the reliability k r / (1 + (k - 1) r),
    which falls without end where r is below 0. From -1 to 0 r itself has a meaning: ratings of one
    unit differ more than ratings of different units.
    """
    return _NEGATIVE_SIGNAL if single < (0 if form.endswith("k") else -1) else None


def _mean_squares(tables: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean squares between units, between raters, within units, and of the residual.

    Of tables of shape (labels, units, raters); each has the shape (labels,).
    """
    _, n, k = tables.shape
    tables = tables - tables.mean(axis=(1, 2), keepdims=True)
    of_unit, of_rater = tables.mean(axis=2), tables.mean(axis=1)
    within = ((tables - of_unit[:, :, None]) ** 2).sum(axis=(1, 2))
    between = n * (of_rater**2).sum(axis=1)
    return (
        k * (of_unit**2).sum(axis=1) / (n - 1),
        between / (k - 1),
        within / (n * (k - 1)),
        np.maximum(within - between, 0.0) / ((n - 1) * (k - 1)),
    )


def _ratio(between: Floats, noise: Floats, df1: int, df2: int, k: int, confidence: float) -> Floats:
    """Forms 1 and 3 of two mean squares, with their ends, shape (3, labels)."""
    from scipy.special import fdtri

    tail = (1 + confidence) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        f = between / noise
        low, high = f / fdtri(df1, df2, tail), f * fdtri(df2, df1, tail)
        made = np.stack(
            [
                (between - noise) / (between + (k - 1) * noise),
                (low - 1) / (low + k - 1),
                (high - 1) / (high + k - 1),
            ]
        )
    made[:, noise <= _ROUNDING * between] = 1.0
    made[:, (between <= 0) & (noise <= 0)] = np.nan
    return made


def _agreement(b: Floats, j: Floats, e: Floats, n: int, k: int, confidence: float) -> Floats:
    """Form 2 of mean squares of units, raters and residual, with its ends, shape (3, labels).

    A value x is in the interval where the signal less the noise that x allows, a sum of the three
    mean squares with weights that are linear in x, is less than its margin away from 0. The square
    of the margin is a quadratic form of the three terms, so that both ends solve an equation of
    second degree. No share of variance is below 0, and no interval goes there from above.
    """
    size = b + (k - 1) * e + k * (j - e) / n
    # The terms at x = 0, and what they gain with x.
    at_0 = np.stack([b / k, np.zeros_like(b), -e / k], axis=-1)
    slope = np.stack([-b / k, -j / n, -e * (1 - 1 / n - 1 / k)], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (b - e) / size
        below, above = (
            _roots(
                ((slope @ form) * slope).sum(-1),
                2 * ((slope @ form) * at_0).sum(-1),
                ((at_0 @ form) * at_0).sum(-1),
            )
            for form in _margins(n, k, confidence)
        )
    low = np.where(below <= value, below, np.minimum(value, 0.0)).max(0)
    high = np.where(above >= value, above, 1.0).min(0)
    low, high = np.maximum(low, np.minimum(value, 0.0)), np.minimum(high, 1.0)
    # Units that are alike tell of no width, nor do raters who differ in level alone.
    alike, exact = b <= _ROUNDING * e, e <= _ROUNDING * b
    limit = np.where(j <= _ROUNDING * b, 1.0, np.nan)
    low, high = (np.where(exact, limit, np.where(alike, value, end)) for end in (low, high))
    made: Floats = np.where(size <= 0, np.nan, np.stack([value, low, high]))
    return made


def _roots(a: Floats, b: Floats, c: Floats) -> Floats:
    """Solve a x² + b x + c = 0 in real numbers, shape (2, equations); nan where none does."""
    # The larger of the two sums loses no digits, and gives the other root.
    half = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
    return np.stack([half / a, c / half])


@cache
def _margins(n: int, k: int, confidence: float) -> tuple[Floats, Floats]:
    """Say how the sum of three mean squares may differ from its expectation, below and above.

    The terms are the mean square of units, and less those of raters and the residual. Give for
    either side the quadratic form of the terms that is the square of their sum, less the square of
    the margin: by modified large samples, exact where one mean square is all there is.
    """
    from scipy.special import chdtri, fdtri

    freedom = np.array([n - 1, k - 1, (n - 1) * (k - 1)], dtype=np.float64)
    tail = (1 - confidence) / 2
    # Shares by which a mean square is above its expectation, or below it, at the most.
    g = 1 - freedom / chdtri(freedom, tail)
    h = freedom / chdtri(freedom, 1 - tail) - 1
    below, above = np.diag([g[0], h[1], h[2]]) ** 2, np.diag([h[0], g[1], g[2]]) ** 2
    for noise in (1, 2):
        f = fdtri(freedom[0], freedom[noise], 1 - tail)
        with_less = ((f - 1) ** 2 - (g[0] * f) ** 2 - h[noise] ** 2) / f
        f = fdtri(freedom[0], freedom[noise], tail)
        with_more = ((1 - f) ** 2 - (h[0] * f) ** 2 - g[noise] ** 2) / f
        below[0, noise] = below[noise, 0] = -with_less / 2
        above[0, noise] = above[noise, 0] = -with_more / 2
    both = freedom[1] + freedom[2]
    product = freedom[1] * freedom[2]
    noises = (1 - both / chdtri(both, tail)) ** 2 * both**2 / product
    noises -= (g[1] * freedom[1]) ** 2 / product + (g[2] * freedom[2]) ** 2 / product
    above[1, 2] = above[2, 1] = noises / 2
    return 1 - below, 1 - above


def _of_all_ratings(part: Answers, sums: RatingSums, forms: Sequence[str]) -> _Label:
    """Take all ratings, by restricted maximum likelihood."""
    n_items, n_paired = int(sums.m.size), int((sums.m > 1).sum())
    counts: dict[str, Any] = {
        "n_items": n_items,
        "n_raters": sums.per_rater.size,
        "n_ratings": part.value.size,
        "used": part,
    }
    if n_paired == 0 or n_items < 2:
        reason = _NO_PAIRS if n_paired == 0 else Reason(Cause.FEWER, least=2, of="units")
        return _undefined(len(forms), reason, **counts)
    if np.ptp(part.value) == 0:
        return _undefined(len(forms), _NO_VARIANCE, **counts)
    of_means = n_items / float((1 / sums.m).sum())
    k = np.array([of_means if form.endswith("k") else 1.0 for form in forms])
    fits = _Fits(sums)
    undefined = [fits.undefined(form) for form in forms]
    why = [fits.no_interval(form) for form in forms]

    def ends(confidence: float) -> Ends:
        known = {
            form[0]: fits.odds(form, confidence)
            for form in forms
            if not fits.undefined(form) and not fits.no_interval(form)
        }
        odds = np.array([known.get(form[0], np.full(3, np.nan)) for form in forms]).T
        _, low, high = share_of_signal(k * odds)
        return np.full(k.size, np.nan), low, high

    single = [
        np.nan if reason else fits.single(form)
        for form, reason in zip(forms, undefined, strict=True)
    ]
    return _Label(
        ends,
        np.array(single),
        k,
        undefined,
        why,
        **counts,
        pair_variances=partial(fits.pair_variances, forms),
    )


class _Fits:
    """Mixed models of the ratings of one label, fitted where a form needs them."""

    def __init__(self, sums: RatingSums) -> None:
        self._sums = sums
        levels = (sums.m.size, sums.per_rater.size)
        self._is_large = min(levels) > MOST_LEVELS
        self._confounded = residual_freedom(sums.unit, sums.rater) == 0
        left = sums.value - (sums.of_unit / sums.m)[sums.unit]
        self._unanimous = bool((left**2).sum() <= _ROUNDING * (sums.value**2).sum())

    @cached_property
    def _additive(self) -> tuple[float, float] | None:
        """Variances of units and raters where nothing else is left of the ratings."""
        return additive_variances(self._sums)

    @cached_property
    def _one_way(self) -> Solution:
        return fit(crossed(self._sums.value, stimulus=self._sums.unit))

    @cached_property
    def _crossed(self) -> Solution:
        sums = self._sums
        return fit(crossed(sums.value, stimulus=sums.unit, rater=sums.rater))

    def undefined(self, form: str) -> Reason | None:
        """Say why a form is not defined."""
        if form.startswith("1") or self._unanimous:
            return None
        if self._confounded:
            return _CONFOUNDED
        if form.startswith("3") and self._additive is not None and self._additive[0] == 0:
            return _ONLY_RATERS
        return _TOO_LARGE if self._is_large else None

    def no_interval(self, form: str) -> Reason | None:
        """Say why a form has no interval."""
        if self._unanimous:
            return _NO_VARIATION
        additive = not self.undefined(form) and self._additive is not None
        if additive and not form.startswith("1"):
            return _NO_VARIATION if form.startswith("3") else _ONLY_LEVELS
        return _TOO_MANY if self._sums.value.size > MOST_PROFILED else None

    def odds(self, form: str, confidence: float) -> Floats:
        """Variance between units over the noise of one rating, with both ends, shape (3,)."""
        if form.startswith("1"):
            return signal_to_noise(self._one_way, {}, confidence)
        weights = {RATER: 1.0} if form.startswith("2") else {}
        return signal_to_noise(self._crossed, weights, confidence)

    def single(self, form: str) -> float:
        """Reliability of a single rating."""
        if self._unanimous:
            return 1.0
        of_units, of_raters, rest = self._variances(form)
        noise = rest + (of_raters if form.startswith("2") else 0.0)
        return of_units / (of_units + noise)

    def _variances(self, form: str) -> tuple[float, float, float]:
        """Variances of units, raters and the rest."""
        if form.startswith("1"):
            fitted = self._one_way
            return fitted.variance(STIMULUS), 0.0, fitted.residual
        if self._additive is not None:
            return (*self._additive, 0.0)
        return (
            self._crossed.variance(STIMULUS),
            self._crossed.variance(RATER),
            self._crossed.residual,
        )

    def pair_variances(self, forms: Sequence[str]) -> Floats:
        """Pair variances that the estimates make, of form 1 and of forms 2 and 3, shape (2, 4)."""
        made = np.full((2, 4), np.nan)
        for form in forms:
            row = made[0 if form.startswith("1") else 1]
            if not self.undefined(form) and not self._unanimous:
                of_units, of_raters, rest = self._variances(form)
                whole = of_units + of_raters + rest
                row[:] = of_raters + rest, of_units + rest, whole, whole
        return made


def _intraclass_correlation(
    answers: Answers,
    *,
    forms: Sequence[Form] = FORMS,
    missing: Missing = "available",
    interval: Interval = "jackknife",
) -> Statistic:
    """Give intraclass correlations as a statistic of answers."""
    require_order(answers, "the intraclass correlation")
    check_choice("missing", missing, _MISSING)
    if not forms:
        raise InputError("forms: expected one or more, such as '2,1'")
    check_choices("form", forms, FORMS)
    by_label = list(answers.by_label())
    complete = [missing == "listwise" or _is_complete(part) for part in by_label]
    of_complete = iter(_of_complete_units([*compress(by_label, complete)], forms))
    parts = [
        next(of_complete) if one else _of_all_ratings(part, RatingSums.of(part), forms)
        for part, one in zip(by_label, complete, strict=True)
    ]

    def repeated(each: Iterable[Any]) -> list[Any]:
        return [one for one in each for _ in forms]

    def joined(name: str) -> list[Any]:
        return [one for part in parts for one in getattr(part, name)]

    def closed(_: Floats, confidence: float) -> Ends:
        se, low, high = np.concatenate([part.ends(confidence) for part in parts], axis=1)
        return se, low, high

    k, by_formula = np.array(joined("k")), interval == "analytic"
    used = [part.used for part in parts]
    coefficients = _Coefficients(parts, forms, len(answers.units), len(answers.raters))
    return Statistic(
        keys={"label": repeated(answers.labels), "form": list(forms) * len(parts)},
        design=_design(used, len(answers.units), len(answers.raters), len(forms)),
        evaluate=coefficients,
        targets=STIMULI_AND_RATERS,
        transform=_OfMeans(np.array([form.endswith("k") for form in forms] * len(parts)), k),
        # No share of variance is below 0, and no interval goes there from above.
        bounds=(np.where(coefficients.point < 0, -1.0, 0.0), 1.0),
        log_odds_from=least_agreement(
            repeated(part.n_items for part in parts), repeated(part.n_ratings for part in parts)
        ),
        closed=closed,
        formula=[_formula(form, part) for part in parts for form in forms],
        method=[
            _method(form, own, part, missing)
            for part in parts
            for form, own in zip(forms, part.k, strict=True)
        ],
        # Raters of form 3 are these.
        over=["stimuli" if form.startswith("3") else "both" for form in forms] * len(parts),
        no_interval=[
            own if by_formula or own == _NO_VARIATION else rare
            for own, rare in zip(
                joined("why"),
                repeated(interval_reasons((part.unit, part.value) for part in used)),
                strict=True,
            )
        ],
        n_items=repeated(part.n_items for part in parts),
        n_raters=repeated(part.n_raters for part in parts),
        n_ratings=repeated(part.n_ratings for part in parts),
        caution=repeated(far_from_normal(one.value) if by_formula else None for one in used),
        undefined=joined("undefined"),
        columns=(
            pl.Series("k", k, dtype=pl.Float64),
            pl.Series("n_dropped", repeated(part.n_dropped for part in parts), dtype=pl.Int64),
        ),
    )


@coefficient(
    _intraclass_correlation,
    title="intraclass correlation",
    suits=is_graded,
    keys=("label", "form"),
    of_raters=True,
)
def intraclass_correlation(
    ratings: Ratings | ArrayLike,
    *,
    forms: Sequence[Form] = FORMS,
    missing: Missing = "available",
    interval: Interval = "jackknife",
    target: Target | None = None,
    n_boot: int = 1000,
    joint: bool = True,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    r"""Compute intraclass correlations of each label, by the forms of Shrout and Fleiss.

    With the variance between units :math:`\sigma^2_u`, between raters :math:`\sigma^2_r` and the
    rest :math:`\sigma^2_e`,

    .. math::

        ICC(1,1) = ICC(2,1) = \frac{\sigma^2_u}{\sigma^2_u + \sigma^2_r + \sigma^2_e}, \quad
        ICC(3,1) = \frac{\sigma^2_u}{\sigma^2_u + \sigma^2_e},

    where form 1 takes the ratings of a unit as exchangeable (other raters for every unit), form 2
    takes the raters as a sample, and form 3 leaves their means out of account (consistency). Forms
    with k are about the mean of k ratings: the noise is divided by k.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating. Every other number is
        a value, -1 too.
    forms
        Which forms: ``"1,1"``, ``"2,1"``, ``"3,1"``, ``"1,k"``, ``"2,k"``, ``"3,k"``.
    missing
        What to do where not every rater rated every unit. ``"available"`` takes all ratings: the
        variances are estimated by restricted maximum likelihood (REML), as
        :func:`variance_components` does, form 1 without a variance of raters; k is the harmonic
        mean of the ratings per unit. ``"listwise"`` keeps only the units that every rater of the
        label rated. Complete data have the mean squares of Shrout and Fleiss either way.
    interval
        ``"jackknife"``: Student's interval from leaving out one stimulus, one rater, or either at a
        time. ``"percentile"`` or ``"bca"`` (bias-corrected and accelerated, Efron 1987): from
        bootstrap replicates. ``"analytic"``: by a formula for other stimuli.
    target
        What the interval is about: other ``"stimuli"``, other ``"raters"`` or ``"both"``, or
        ``"sample"``, these alone, without an interval. By default the widest for which the data and
        the coefficient allow an interval. A rater drawn twice is not paired with itself; two raters
        say nothing about others, so that an interval for both is then about these two.
    n_boot
        Bootstrap replicates, where the interval comes from these; 0 for no interval.
    joint
        One resample for all labels, so that the replicates of labels belong together.
    confidence
        Coverage of the interval, in (0, 1).
    cluster
        What stimuli belong to, and are resampled with: a column of the stimulus table, a mapping
        from stimulus to cluster, or the cluster of each unit of an array. By default a column like
        ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that several stimuli share;
        ``"none"`` resamples single stimuli.
    seed
        Seed or generator of the replicates.

    Returns
    -------
    Estimates by ``label`` and ``form``, at most 1, with the extra columns ``k`` (ratings that the
    coefficient is about) and ``n_dropped`` (units left out by listwise deletion). Single forms lie
    in [-1, 1]; below 0, ratings of one unit differ more than ratings of different units. Forms with
    k are ``nan`` there: the variance between units is then estimated below zero, and a reliability
    below 0 is none. ``nan`` with a status, too, where there is no unit with two ratings, the
    ratings do not tell raters and noise apart (each rater rated one unit), or there is no variance.

    With gaps the variance between units is not below 0: forms are 0 where mean squares would make
    them negative. Forms 2 and 3 are not defined for more than 4,000 units and as many raters.

    Forms with k keep the k of all ratings where a rater is left out. With gaps, what leaving out a
    unit or rater changes is taken from moments (symmetric sums), around the REML estimate.

    ``interval="analytic"`` is for normal effects: F intervals of forms 1 and 3, the modified
    large-sample one of Cappelleri and Ting for form 2 and, with gaps, profile likelihood (up to 3
    million ratings); those of form 3 are about other units and the same raters. They hold in 95 %
    of studies with normal answers, and in 65 to 85 % where most answers are 0, few are yes, or some
    raters are careless.

    Raises
    ------
    InputError
        If a form is unknown.

    References
    ----------
    Shrout and Fleiss (1979), Psychological Bulletin 86. McGraw and Wong (1996), Psychological
    Methods 1, call the forms 2 and 3 A and C. Cappelleri and Ting (2003), Statistics in Medicine
    22. Koch (1967), Technometrics 9, for symmetric sums.

    Examples
    --------
    The ratings of six targets by four judges in Shrout and Fleiss:

    >>> judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> table = intraclass_correlation(judges)
    >>> [round(estimate.value, 2) for _, estimate in table]
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    return intraclass_correlation.coefficient.table(
        ratings,
        forms=forms,
        missing=missing,
        interval=interval,
        target=target,
        n_boot=n_boot,
        joint=joint,
        confidence=confidence,
        cluster=cluster,
        seed=seed,
    )


def _design(used: Sequence[Answers], n_units: int, n_raters: int, n_forms: int) -> Design:
    """Say which units and raters each row rests on."""
    units = [one.unit for one in used for _ in range(n_forms)]
    return Design.of(units, n_units, [one.rater for one in used for _ in range(n_forms)], n_raters)


@dataclass(frozen=True, eq=False)
class _OfMeans:
    """From coefficients of single ratings to those of means, which are not below 0."""

    is_mean: Bools
    k: Floats

    def __call__(self, single: Floats) -> Floats:
        return np.where(self.is_mean, spearman_brown(np.maximum(single, 0.0), self.k), single)


@dataclass(frozen=True, eq=False)
class _Coefficients:
    """Coefficients of a single rating from rows of weights, shape (rows, labels x forms)."""

    parts: Sequence[_Label]
    forms: Sequence[str]
    n_units: int
    n_raters: int

    @cached_property
    def _sums(self) -> CrossedSums:
        used = [part.used for part in self.parts]
        return CrossedSums.of(
            [one.unit for one in used],
            [one.rater for one in used],
            [one.value for one in used],
            self.n_units,
            self.n_raters,
        )

    @cached_property
    def _shift(self) -> Floats:
        """Estimates less moments of all ratings, of form 1 and the others, (2, 4, labels)."""
        whole = np.stack(self._sums.whole)
        shift = np.zeros((2, *whole.shape))
        for place, part in enumerate(self.parts):
            if part.pair_variances is not None:
                shift[:, :, place] = part.pair_variances() - whole[:, place]
        # Nothing is fitted where raters are unanimous.
        return np.nan_to_num(shift)

    @cached_property
    def point(self) -> Floats:
        """Coefficients of all ratings, shape (labels x forms,)."""
        return np.concatenate([part.single for part in self.parts])

    def __call__(self, draws: Draws) -> Floats:
        if draws.is_point:
            single = self.point[None].repeat(draws.n_rows, 0)
        else:
            moments = np.stack(self._sums(draws))[None] + self._shift[:, :, None]
            single = np.stack(self._singles(moments), axis=-1).reshape(draws.n_rows, -1)
            single = np.where(np.isfinite(single) & ~np.isnan(self.point), single, np.nan)
        return single if draws.columns is None else single[:, draws.columns]

    def _singles(self, moments: Floats) -> list[Floats]:
        """Coefficients of each form from pair variances of form 1 and the others, (2, 4, ...)."""
        (within_1, _, other, _), (within, own, _, whole) = moments
        parts = {"1": (within_1, other), "2": (within, whole), "3": (within + own - whole, own)}
        none = _ROUNDING * self._sums.whole.other_stimulus
        with np.errstate(invalid="ignore", divide="ignore"):
            by_model = {
                model: np.where(of > none, 1 - np.where(noise > none, noise, 0.0) / of, np.nan)
                for model, (noise, of) in parts.items()
            }
        return [by_model[form[0]] for form in self.forms]


def _formula(form: str, part: _Label) -> Formula:
    if not part.complete:
        return Formula.PROFILE_LIKELIHOOD
    return Formula.MODIFIED_LARGE_SAMPLE if form.startswith("2") else Formula.F


def _method(form: str, k: float, part: _Label, missing: str) -> tuple[str, ...]:
    """Name the coefficient and what it was computed from."""
    parts = [f"ICC({form})"]
    if form.endswith("k") and k == k:
        parts.append(f"k = {k:.3g}")
    if missing == "listwise":
        parts.append(listwise(part.n_dropped))
    which = "complete units" if part.complete else "all ratings, REML"
    parts.append(which)
    return tuple(parts)
