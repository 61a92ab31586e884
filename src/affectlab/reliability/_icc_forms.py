"""The forms of the intraclass correlation, from all ratings and after listwise deletion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab._types import Floats
from affectlab._words import plural
from affectlab.estimates import NO_INTERVAL
from affectlab.ratings.arrays import Answers
from affectlab.reliability._components import Sums, Terms, henderson

__all__ = ["FORMS", "FormResult", "from_all", "from_complete"]

FORMS = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")

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


@dataclass(frozen=True)
class FormResult:
    """One coefficient of one label."""

    value: float = np.nan
    se: float = np.nan
    low: float = np.nan
    high: float = np.nan
    k: float = np.nan
    """Ratings of a unit that a mean is taken of; of forms without k, 1."""
    n_items: int = 0
    n_raters: int = 0
    n_ratings: int = 0
    n_dropped: int = 0
    """Units that were left out."""
    complete: bool = False
    """Whether every rater rated every unit that entered."""
    status: str = "ok"
    why: str = ""
    """Why there is no interval, where something varies."""


def from_complete(part: Answers, forms: tuple[str, ...], confidence: float) -> list[FormResult]:
    """Compute forms from the units that all raters rated, by mean squares."""
    n_raters = np.unique(part.rater).size
    m = np.bincount(part.unit, minlength=len(part.units))
    n = int((m == n_raters).sum()) if n_raters else 0
    counts: dict[str, Any] = {
        "n_items": n,
        "n_raters": n_raters,
        "n_ratings": n * n_raters,
        "n_dropped": int((m > 0).sum()) - n,
        "complete": True,
    }
    if n_raters < 2:
        return [FormResult(**counts, status=_ONE_RATER)] * len(forms)
    if n < 2:
        status = "undefined: fewer than two units rated by everyone"
        return [FormResult(**counts, status=status)] * len(forms)
    # Answers are sorted by unit, then rater.
    table = part.value[m[part.unit] == n_raters].reshape(n, n_raters)
    squares = _mean_squares(table)
    constant = np.ptp(table) == 0
    results = []
    for form in forms:
        k = n_raters if form.endswith("k") else 1
        single = _complete_form(form, squares, n, n_raters, confidence)
        status = _NO_VARIANCE if constant or np.isnan(single[0]) else _of_sign(form, single[0])
        if status != "ok":
            results.append(FormResult(k=k, **counts, status=status))
            continue
        value, low, high = (_stepped_up(end, k) for end in single)
        why = _ONLY_LEVELS if np.isnan(low) else ""
        results.append(FormResult(value, np.nan, low, high, k, **counts, why=why))
    return results


def _of_sign(form: str, single: float) -> str:
    """Say that a coefficient cannot be: a correlation below -1, or a reliability below 0.

    With a correlation r of single ratings, a mean of k has the reliability k r / (1 + (k - 1) r),
    which falls without end where r is below 0. From -1 to 0 r itself has a meaning: ratings of one
    unit differ more than ratings of different units.
    """
    return _NEGATIVE_SIGNAL if single < (0 if form.endswith("k") else -1) else "ok"


@dataclass(frozen=True)
class _MeanSquares:
    """Mean squares between units, between raters, within units, and of the residual."""

    units: float
    raters: float
    within: float
    residual: float


def _mean_squares(table: Floats) -> _MeanSquares:
    n, k = table.shape
    table = table - table.mean()
    of_unit, of_rater = table.mean(axis=1), table.mean(axis=0)
    within = ((table - of_unit[:, None]) ** 2).sum()
    between_raters = n * (of_rater**2).sum()
    return _MeanSquares(
        units=k * (of_unit**2).sum() / (n - 1),
        raters=between_raters / (k - 1),
        within=within / (n * (k - 1)),
        residual=max(within - between_raters, 0.0) / ((n - 1) * (k - 1)),
    )


def _complete_form(
    form: str, squares: _MeanSquares, n: int, k: int, confidence: float
) -> tuple[float, float, float]:
    """Value and ends of the interval, for a single rating."""
    if form.startswith("2"):
        return _agreement(squares, n, k, confidence)
    noise = squares.within if form.startswith("1") else squares.residual
    freedom = n * (k - 1) if form.startswith("1") else (n - 1) * (k - 1)
    return _ratio(squares.units, noise, n - 1, freedom, k, confidence)


def _stepped_up(single: float, k: float) -> float:
    """Reliability of the mean of k ratings, from that of one (Spearman and Brown); k may be 1."""
    size = 1 + (k - 1) * single
    return k * single / size if size > 0 else np.nan


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
    squares: _MeanSquares, n: int, k: int, confidence: float
) -> tuple[float, float, float]:
    """Form 2, with Satterthwaite's degrees of freedom for the interval."""
    from scipy.special import fdtri

    b, j, e = squares.units, squares.raters, squares.residual
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


def from_all(part: Answers, forms: tuple[str, ...], confidence: float) -> list[FormResult]:
    """Compute forms from all ratings, by Henderson's first method.

    The standard error comes from leaving out one unit at a time. Only units with two ratings tell
    the noise, so that Student's interval has one degree of freedom less than there are of these.
    """
    from scipy.special import stdtrit

    sums = Sums.of(part)
    if (sums.m == sums.per_rater.size).all():
        # Without gaps the intervals of Shrout and Fleiss know of the raters, too.
        return from_complete(part, forms, confidence)
    counts: dict[str, Any] = {
        "n_items": sums.m.size,
        "n_raters": sums.per_rater.size,
        "n_ratings": part.value.size,
    }
    n = sums.m.size
    n_paired = int((sums.m > 1).sum())
    if n_paired == 0 or n < 2:
        status = _NO_PAIRS if n_paired == 0 else "undefined: fewer than two units"
        return [FormResult(**counts, status=status)] * len(forms)
    whole, without_each = sums.terms(), sums.terms_without_each_unit()
    constant = bool(np.ptp(part.value) == 0)
    parallel = any(form.startswith("3") for form in forms) and _parallel(sums)
    results = []
    for form in forms:
        value, k, status = _all_form(form, whole, constant=constant, parallel=parallel)
        if status != "ok":
            results.append(FormResult(k=k, **counts, status=status))
            continue
        left_out = _ratio_of(form, without_each)[0]
        se = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
        half = float(stdtrit(n_paired - 1, (1 + confidence) / 2)) * se if n_paired > 1 else np.nan
        exact = abs(1 - value) <= _ROUNDING
        why = ""
        if not exact and n_paired < _FEWEST_PAIRED:
            se = half = np.nan
            why = f"{NO_INTERVAL}{plural(n_paired, 'unit')} with two ratings, fewer than 10"
        elif not exact and np.isnan(half):
            why = f"{NO_INTERVAL}not defined without one of the units"
        least = -np.inf if form.endswith("k") else -1.0
        low, high = (1.0, 1.0) if exact else (max(value - half, least), min(value + half, 1.0))
        results.append(FormResult(value, 0.0 if exact else se, low, high, k, **counts, why=why))
    return results


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
