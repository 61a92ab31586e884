"""Intraclass correlations of one label: agreement and consistency of single and mean ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import NO_INTERVAL, NO_VARIATION
from affectlab.core.jackknife import jackknife_error
from affectlab.core.statistic import Ends, Statistic, by_formula, student
from affectlab.core.types import Floats
from affectlab.core.words import plural
from affectlab.ratings import Answers, require_order
from affectlab.reliability.agreement.coefficient import coefficient, is_graded
from affectlab.reliability.agreement.moments import Sums, Terms, henderson

# The forms of the intraclass correlation, from all ratings and after listwise deletion.


Form: TypeAlias = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
Missing: TypeAlias = Literal["available", "listwise"]

FORMS: tuple[Form, ...] = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
_MISSING = ("available", "listwise")

_ROUNDING = 1e-12
"""Variances up to this share of the whole are what rounding leaves of none."""
_NO_VARIANCE = "undefined: no variance"
_NEGATIVE_SIGNAL = "undefined: the variance between units is estimated below zero"
_NEGATIVE_NOISE = "undefined: the variance within units is estimated below zero"
_CONFOUNDED = "undefined: the ratings do not tell raters and noise apart"
_NO_PAIRS = "undefined: no unit with two ratings"
_ONE_RATER = "undefined: fewer than two raters"
_ONLY_LEVELS = f"{NO_INTERVAL}raters differ in level alone, which leaves no error to estimate"
_FEWEST_PAIRED = 10
"""Units with two ratings from which on the spread over them tells how sure the noise is: of 500
units, 6 of them with two ratings, 95 % intervals held in 84 % of simulated studies."""


@dataclass(frozen=True, eq=False)
class _Label:
    """The coefficients of one label, one for each form."""

    ends: Callable[[float], Ends]
    """From a confidence level to intervals of the coefficients that are defined."""
    value: Floats
    k: Floats
    """Ratings of a unit that a mean is taken of; of forms without k, 1."""
    status: Sequence[str]
    why: Sequence[str]
    """Why there is no interval, where something varies."""
    n_items: int
    n_raters: int
    n_ratings: int
    n_dropped: int = 0
    """Units that were left out."""
    complete: bool = False
    """Whether all raters rated all units that were used."""


def _undefined(n_forms: int, status: str, **counts: Any) -> _Label:
    """Say of every form why it is not defined."""
    none = np.full(n_forms, np.nan)
    return _Label(
        lambda _: (none, none, none), none, none, [status] * n_forms, [""] * n_forms, **counts
    )


def _of_complete_units(part: Answers, forms: Sequence[str]) -> _Label:
    """Take the units that all raters rated, by mean squares."""
    m = np.bincount(part.unit, minlength=len(part.units))
    n_raters = int(np.unique(part.rater).size)
    n_items = int((m == n_raters).sum()) if n_raters else 0
    counts: dict[str, Any] = {
        "n_items": n_items,
        "n_raters": n_raters,
        "n_ratings": n_items * n_raters,
        "n_dropped": int((m > 0).sum()) - n_items,
        "complete": True,
    }
    if n_raters < 2:
        return _undefined(len(forms), _ONE_RATER, **counts)
    if n_items < 2:
        return _undefined(len(forms), "undefined: fewer than two units rated by everyone", **counts)
    # Answers are sorted by unit, then rater.
    table = part.value[m[part.unit] == n_raters].reshape(n_items, n_raters)
    units, raters, within, residual = _mean_squares(table)
    k = np.array([n_raters if form.endswith("k") else 1 for form in forms], dtype=np.float64)

    def single(confidence: float) -> Floats:
        """Values and ends of the intervals for a single rating, shape (3, forms)."""
        found = []
        for form in forms:
            if form.startswith("2"):
                one = _agreement(units, raters, residual, n_items, n_raters, confidence)
            elif form.startswith("1"):
                freedom = n_items * (n_raters - 1)
                one = _ratio(units, within, n_items - 1, freedom, n_raters, confidence)
            else:
                freedom = (n_items - 1) * (n_raters - 1)
                one = _ratio(units, residual, n_items - 1, freedom, n_raters, confidence)
            found.append(one)
        return np.array(found).T

    alone, low, _ = single(0.95)
    constant = np.ptp(table) == 0
    status = [
        _NO_VARIANCE if constant or np.isnan(one) else _of_sign(form, one)
        for form, one in zip(forms, alone, strict=True)
    ]
    defined = np.array(status) == "ok"
    why = np.where(defined & np.isnan(low), _ONLY_LEVELS, "").tolist()
    value = np.where(defined, _stepped_up(alone, k), np.nan)

    def ends(confidence: float) -> Ends:
        _, low, high = _stepped_up(single(confidence), k)
        return np.full(k.size, np.nan), low, high

    return _Label(ends, value, k, status, why, **counts)


def _of_sign(form: str, single: float) -> str:
    """Say that a coefficient cannot be: a correlation below -1, or a reliability below 0.

    With a correlation r of single ratings, a mean of k has the reliability k r / (1 + (k - 1) r),
    which falls without end where r is below 0. From -1 to 0 r itself has a meaning: ratings of one
    unit differ more than ratings of different units.
    """
    return _NEGATIVE_SIGNAL if single < (0 if form.endswith("k") else -1) else "ok"


def _mean_squares(table: Floats) -> tuple[float, float, float, float]:
    """Mean squares between units, between raters, within units, and of the residual."""
    n, k = table.shape
    table = table - table.mean()
    of_unit, of_rater = table.mean(axis=1), table.mean(axis=0)
    within = float(((table - of_unit[:, None]) ** 2).sum())
    between = n * float((of_rater**2).sum())
    return (
        k * float((of_unit**2).sum()) / (n - 1),
        between / (k - 1),
        within / (n * (k - 1)),
        max(within - between, 0.0) / ((n - 1) * (k - 1)),
    )


def _stepped_up(single: Floats, k: Floats) -> Floats:
    """Reliability of the mean of k ratings, from that of one (Spearman and Brown); k may be 1."""
    size = 1 + (k - 1) * single
    mean: Floats = np.divide(k * single, size, out=np.full(size.shape, np.nan), where=size > 0)
    return mean


def _ratio(
    between: float, noise: float, df1: int, df2: int, k: int, confidence: float
) -> tuple[float, float, float]:
    from scipy.special import fdtri

    if between <= 0 and noise <= 0:
        return np.nan, np.nan, np.nan
    if noise <= _ROUNDING * between:
        return 1.0, 1.0, 1.0
    value = (between - noise) / (between + (k - 1) * noise)
    tail = (1 + confidence) / 2
    f = between / noise
    low, high = f / fdtri(df1, df2, tail), f * fdtri(df2, df1, tail)
    return value, (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _agreement(
    b: float, j: float, e: float, n: int, k: int, confidence: float
) -> tuple[float, float, float]:
    """Form 2 of mean squares of units, raters and residual, with Satterthwaite's degrees."""
    from scipy.special import fdtri

    size = b + (k - 1) * e + k * (j - e) / n
    if size <= 0:
        return np.nan, np.nan, np.nan
    value = (b - e) / size
    if e <= _ROUNDING * b:
        end = 1.0 if j <= _ROUNDING * b else np.nan
        return value, end, end
    if b <= _ROUNDING * e:
        # Units are alike: a + c is 0 and leaves no degree of freedom; the limit has no width.
        return value, value, value
    a = k * value * j / e
    c = n * (1 + (k - 1) * value) - k * value
    freedom = (k - 1) * (n - 1) * (a + c) ** 2 / ((n - 1) * a**2 + c**2)
    tail = (1 + confidence) / 2
    upper, lower = fdtri(n - 1, freedom, tail), fdtri(freedom, n - 1, tail)
    rest = k * j + (k * n - k - n) * e
    low = n * (b / upper - e) / (rest + n * b / upper)
    # With hardly a degree of freedom left, the quantile is 0.
    high = n * (b * lower - e) / (rest + n * b * lower)
    return value, low, high


def _of_all_ratings(part: Answers, sums: Sums, forms: Sequence[str]) -> _Label:
    """Take all ratings, by Henderson's first method.

    The standard error comes from leaving out one unit at a time. Only units with two ratings tell
    the noise, so that Student's interval has one degree of freedom less than there are of these.
    """
    n_items, n_paired = int(sums.m.size), int((sums.m > 1).sum())
    counts: dict[str, Any] = {
        "n_items": n_items,
        "n_raters": sums.per_rater.size,
        "n_ratings": part.value.size,
    }
    if n_paired == 0 or n_items < 2:
        reason = _NO_PAIRS if n_paired == 0 else "undefined: fewer than two units"
        return _undefined(len(forms), reason, **counts)
    whole, constant = sums.terms(), bool(np.ptp(part.value) == 0)
    parallel = any(form.startswith("3") for form in forms) and _parallel(sums)
    found = [_all_form(form, whole, constant=constant, parallel=parallel) for form in forms]
    status = [one[2] for one in found]
    value = np.array([one if why == "ok" else np.nan for one, _, why in found])
    k = np.array([one[1] for one in found])
    without = sums.terms_without_each_unit()
    left_out = np.stack([_ratio_of(form, without)[0] for form in forms], axis=1)
    se, scarce = jackknife_error(left_out, np.ones(left_out.shape, dtype=np.bool_))
    few = f"{NO_INTERVAL}{plural(n_paired, 'unit')} with two ratings, fewer than 10"
    unknown = f"{NO_INTERVAL}not defined without one of the units"
    why = np.where(scarce, unknown, "") if n_paired >= _FEWEST_PAIRED else np.full(k.size, few)
    why = np.where(np.abs(1 - value) <= _ROUNDING, NO_VARIATION, why)
    least = np.array([-np.inf if form.endswith("k") else -1.0 for form in forms])
    freedom = np.full(value.size, max(n_paired - 1, 1))

    def ends(confidence: float) -> Ends:
        return student(value, se, freedom, confidence, (least, 1.0))

    return _Label(ends, value, k, status, why.tolist(), **counts)


def _parallel(sums: Sums) -> bool:
    """Whether nothing is left of the ratings after effects of units and raters."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    n, units = sums.value.size, sums.m.size
    if n <= units + sums.per_rater.size - 1:
        return False
    rows = np.tile(np.arange(n), 2)
    columns = np.concatenate([sums.unit, units + sums.rater])
    design = csr_array((np.ones(2 * n), (rows, columns)), shape=(n, units + sums.per_rater.size))
    left = sums.value - design @ lsqr(design, sums.value, atol=1e-14, btol=1e-14, iter_lim=200)[0]
    return bool((left**2).sum() <= _ROUNDING * (sums.value**2).sum())


def _all_form(
    form: str, terms: Terms, *, constant: bool, parallel: bool
) -> tuple[float, float, str]:
    """Value, k and status of one form of the whole table."""
    value, signal, noise, k = (float(part[0]) for part in _ratio_of(form, terms))
    spread = float(terms.t0[0] / terms.n[0])
    if constant:
        return np.nan, k, _NO_VARIANCE
    if terms.t0[0] - terms.t_units[0] <= _ROUNDING * terms.t0[0]:
        # Raters who agree on every unit differ in nothing, whatever moments make of their means.
        return 1.0, k, "ok"
    if np.isnan(noise):
        return np.nan, k, _CONFOUNDED
    if form.startswith("3") and parallel:
        # Raters who differ in level alone are consistent, whatever moments make of the gaps.
        return 1.0, k, "ok"
    if noise < -_ROUNDING * spread:
        return np.nan, k, _NEGATIVE_NOISE
    if noise <= _ROUNDING * spread:
        return 1.0, k, "ok"
    # A variance between units below zero by more than the noise leaves no correlation.
    single = signal / (signal + noise) if signal + noise > 0 else -np.inf
    return value, k, _of_sign(form, single)


def _ratio_of(form: str, terms: Terms) -> tuple[Floats, Floats, Floats, Floats]:
    """Value, signal, noise of one rating, and k, of every table; values ``nan`` without variance.

    The mean over units of noise / m_j is noise / k with the harmonic mean k of the ratings m_j.
    """
    t = terms
    k = t.units / t.inverse_m if form.endswith("k") else np.ones_like(t.n)
    if form.startswith("1"):
        # One unit, or none with two ratings, says nothing of one of the two.
        several = np.where((t.n > t.units) & (t.units > 1), t.units, np.nan)
        noise = (t.t0 - t.t_units) / (t.n - several)
        m0 = (t.n - t.unit_squares / t.n) / (several - 1)
        signal = ((t.t_units - t.t_mean) / (several - 1) - noise) / m0
    else:
        signal, of_raters, residual = henderson(t)
        noise = of_raters + residual if form.startswith("2") else residual
    size = signal + noise / k
    defined = size > _ROUNDING * t.t0 / np.maximum(t.n, 1)
    value = np.divide(signal, size, out=np.full(size.shape, np.nan), where=defined)
    return value, signal, noise, k


@coefficient(
    title="intraclass correlation", suits=is_graded, interval="analytic", has_weights=False
)
def intraclass_correlation(
    answers: Answers,
    *,
    forms: Sequence[Form] = FORMS,
    missing: Missing = "available",
) -> Statistic:
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
    answers
        One answer of a rater to a unit and label.
    forms
        Which forms: ``"1,1"``, ``"2,1"``, ``"3,1"``, ``"1,k"``, ``"2,k"``, ``"3,k"``.
    missing
        What to do where not every rater rated every unit. ``"available"`` takes all ratings: the
        variances are estimated by equating quadratic sums with their expectations (Henderson's
        first method, which on complete data is the analysis of variance), k is the harmonic mean
        of the ratings per unit, and the interval is Student's with a standard error from leaving
        out one unit at a time, with one degree of freedom less than units with two ratings.
        ``"listwise"`` keeps only the units that every rater of the label rated. Complete data have
        the mean squares and F intervals of Shrout and Fleiss either way.

    Returns
    -------
    Estimates by ``label`` and ``form``, at most 1, with the extra columns ``k`` (ratings that the
    coefficient is about) and ``n_dropped`` (units left out by listwise deletion). Single forms lie
    in [-1, 1]; below 0, ratings of one unit differ more than ratings of different units. Forms with
    k are ``nan`` there: the variance between units is then estimated below zero, and a reliability
    below 0 is none. ``nan`` with a status, too, where there is no unit with two ratings, the
    ratings do not tell raters and noise apart (each rater rated one unit), or there is no variance.

    With fewer than 10 units that have two ratings there is no interval: 95 % intervals held in 84 %
    of simulated studies with 6 of them. ``method`` says why an interval is missing.

    Where ``resampled`` is ``units`` the interval is about other units and the same raters. Of
    forms 1 and 2, whose raters are a sample, it is too narrow where raters differ in level: where
    the standard deviation of their means is 0.7 of that between units, 95 % intervals of ICC(2,1)
    held in 48 to 84 % of simulated studies.

    Raises
    ------
    InputError
        If a form is unknown.

    References
    ----------
    Shrout and Fleiss (1979), Psychological Bulletin 86. McGraw and Wong (1996), Psychological
    Methods 1, call the forms 2 and 3 A and C. Henderson (1953), Biometrics 9.

    Examples
    --------
    The ratings of six targets by four judges in Shrout and Fleiss:

    >>> judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> table = intraclass_correlation(judges)
    >>> [round(estimate.value, 2) for _, estimate in table]
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    require_order(answers, "the intraclass correlation")
    if missing not in _MISSING:
        raise unknown_name("missing", str(missing), _MISSING)
    if not forms:
        raise InputError("forms: expected one or more, such as '2,1'")
    for form in forms:
        if form not in FORMS:
            raise unknown_name("form", str(form), FORMS)
    parts = []
    for part in answers.by_label():
        sums = Sums.of(part)
        # Without gaps the intervals of Shrout and Fleiss know of the raters, too.
        if missing == "listwise" or (sums.m == sums.per_rater.size).all():
            parts.append(_of_complete_units(part, forms))
        else:
            parts.append(_of_all_ratings(part, sums, forms))

    def repeated(each: Iterable[Any]) -> list[Any]:
        return [one for one in each for _ in forms]

    def joined(name: str) -> list[Any]:
        return [one for part in parts for one in getattr(part, name)]

    def closed(_: Floats, confidence: float) -> Ends:
        se, low, high = np.concatenate([part.ends(confidence) for part in parts], axis=1)
        return se, low, high

    return by_formula(
        np.array(joined("value"), dtype=np.float64),
        closed,
        keys={"label": repeated(answers.labels), "form": list(forms) * len(parts)},
        formula=repeated(
            ", F interval" if part.complete else ", jackknife over units" for part in parts
        ),
        over=repeated("none" if part.complete else "units" for part in parts),
        method=[
            _method(form, k, part, missing)
            for part in parts
            for form, k in zip(forms, part.k, strict=True)
        ],
        no_interval=joined("why"),
        n_items=repeated(part.n_items for part in parts),
        n_raters=repeated(part.n_raters for part in parts),
        n_ratings=repeated(part.n_ratings for part in parts),
        undefined=joined("status"),
        columns=(
            pl.Series("k", joined("k"), dtype=pl.Float64),
            pl.Series("n_dropped", repeated(part.n_dropped for part in parts), dtype=pl.Int64),
        ),
    )


def _method(form: str, k: float, part: _Label, missing: str) -> str:
    """Name the coefficient and what it was computed from."""
    parts = [f"ICC({form})"]
    if form.endswith("k") and k == k:
        parts.append(f"k = {k:.3g}")
    if missing == "listwise":
        parts.append(f"listwise deletion of {plural(part.n_dropped, 'unit')}")
    which = "complete units" if part.complete else "all ratings, variances by Henderson's method 1"
    parts.append(which)
    return ", ".join(parts)
