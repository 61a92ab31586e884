"""The forms of the intraclass correlation, from complete tables and from tables with gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.ratings.arrays import Answers

__all__ = ["FORMS", "FormResult", "from_complete", "from_gaps"]

FORMS = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")


@dataclass(frozen=True)
class FormResult:
    """One coefficient of one label."""

    value: float = np.nan
    se: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n_items: int = 0
    n_raters: int = 0
    n_ratings: int = 0
    status: str = "ok"


def from_complete(part: Answers, forms: tuple[str, ...], confidence: float) -> list[FormResult]:
    """Compute forms from the units that all raters rated, by mean squares."""
    n_raters = len(part.raters)
    m = np.bincount(part.unit, minlength=len(part.units))
    full = np.flatnonzero(m == n_raters)
    n = full.size
    counts = {"n_items": n, "n_raters": n_raters, "n_ratings": n * n_raters}
    if n_raters < 2:
        return [FormResult(**counts, status="undefined: fewer than two raters")] * len(forms)
    if n < 2:
        status = "undefined: fewer than two units rated by everyone; use missing='available'"
        return [FormResult(**counts, status=status)] * len(forms)
    # Answers are sorted by unit, then rater.
    table = part.value[np.isin(part.unit, full)].reshape(n, n_raters)
    squares = _mean_squares(table)
    found = [_complete_form(form, squares, n, n_raters, confidence) for form in forms]
    return [
        FormResult(value, np.nan, low, high, **counts, status=_status(value))
        for value, low, high in found
    ]


def _status(value: float) -> str:
    return "undefined: no variance" if np.isnan(value) else "ok"


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
    """Value and ends of the interval, for a single rating, then stepped up for the mean of k."""
    if form.startswith("2"):
        single = _agreement(squares, n, k, confidence)
    else:
        noise = squares.within if form.startswith("1") else squares.residual
        freedom = n * (k - 1) if form.startswith("1") else (n - 1) * (k - 1)
        single = _ratio(squares.units, noise, n - 1, freedom, k, confidence)
    if form.endswith("1"):
        return single
    value, low, high = (_stepped_up(end, k) for end in single)
    return value, low, high


def _stepped_up(single: float, k: float) -> float:
    """Reliability of the mean of k ratings, from that of one (Spearman and Brown)."""
    size = 1 + (k - 1) * single
    return k * single / size if size > 0 else np.nan


def _ratio(
    between: float, noise: float, df1: int, df2: int, k: int, confidence: float
) -> tuple[float, float, float]:
    from scipy.special import fdtri

    if between <= 0 and noise <= 0:
        return np.nan, np.nan, np.nan
    value = (between - noise) / (between + (k - 1) * noise)
    if noise <= 0:
        return value, np.nan, np.nan
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
    if e <= 0:
        return value, np.nan, np.nan
    a = k * value * j / e
    c = n * (1 + (k - 1) * value) - k * value
    freedom = (k - 1) * (n - 1) * (a + c) ** 2 / ((n - 1) * a**2 + c**2)
    tail = (1 + confidence) / 2
    upper, lower = fdtri(n - 1, freedom, tail), fdtri(freedom, n - 1, tail)
    rest = k * j + (k * n - k - n) * e
    low = n * (b / upper - e) / (rest + n * b / upper)
    high = n * (b - e / lower) / (rest / lower + n * b)
    return value, low, high


def from_gaps(part: Answers, forms: tuple[str, ...], confidence: float) -> list[FormResult]:
    """Compute forms from all units with two ratings, by Henderson's first method.

    The standard error comes from leaving out one unit at a time.
    """
    from scipy.special import stdtrit

    m = np.bincount(part.unit, minlength=len(part.units))
    kept = m[part.unit] >= 2
    unit = np.unique(part.unit[kept], return_inverse=True)[1].astype(np.int64)
    known, rater = np.unique(part.rater[kept], return_inverse=True)
    value = part.value[kept]
    n = int(unit[-1]) + 1 if unit.size else 0
    counts = {"n_items": n, "n_raters": known.size, "n_ratings": value.size}
    if n < 2 or known.size < 2:
        status = "undefined: fewer than two units with two ratings"
        return [FormResult(**counts, status=status)] * len(forms)
    sums = _Sums.of(unit, rater.astype(np.int64), value - value.mean())
    whole = _gap_forms(sums.total(), forms)[:, 0]
    left_out = _gap_forms(sums.without_each_unit(), forms)
    spread = (left_out - left_out.mean(axis=1, keepdims=True)) ** 2
    se = np.sqrt((n - 1) / n * spread.sum(axis=1))
    half = stdtrit(n - 1, (1 + confidence) / 2) * se
    return [
        FormResult(
            float(point),
            float(error),
            float(point - width),
            float(min(point + width, 1.0)),
            **counts,
            status=_status(point),
        )
        for point, error, width in zip(whole, se, half, strict=True)
    ]


@dataclass(frozen=True)
class _Terms:
    """Quadratic sums and counts of one table, or of many at once; fields have shape (tables,)."""

    n: Floats
    """Units."""
    raters: Floats
    total: Floats
    """Ratings."""
    unit_squares: Floats
    """Sum of squared ratings per unit."""
    rater_squares: Floats
    """Sum of squared ratings per rater."""
    inverse_m: Floats
    """Sum over units of 1 / ratings per unit."""
    t0: Floats
    """Sum of squared ratings."""
    t_units: Floats
    t_raters: Floats
    t_mean: Floats


@dataclass(frozen=True)
class _Sums:
    unit: Ints
    rater: Ints
    value: Floats
    m: Floats
    of_unit: Floats
    per_rater: Floats
    of_rater: Floats

    @classmethod
    def of(cls, unit: Ints, rater: Ints, value: Floats) -> _Sums:
        return cls(
            unit,
            rater,
            value,
            np.bincount(unit).astype(np.float64),
            np.bincount(unit, value).astype(np.float64),
            np.bincount(rater).astype(np.float64),
            np.bincount(rater, value).astype(np.float64),
        )

    def total(self) -> _Terms:
        scalars = (
            self.m.size,
            self.per_rater.size,
            self.value.size,
            (self.m**2).sum(),
            (self.per_rater**2).sum(),
            (1 / self.m).sum(),
            (self.value**2).sum(),
            (self.of_unit**2 / self.m).sum(),
            (self.of_rater**2 / self.per_rater).sum(),
            self.value.sum() ** 2 / self.value.size,
        )
        return _Terms(*(np.array([scalar], dtype=np.float64) for scalar in scalars))

    def without_each_unit(self) -> _Terms:
        """The terms of the table without unit u, for every u."""
        whole = self.total()
        n = self.m.size

        def per_unit(amount: Floats) -> Floats:
            return np.bincount(self.unit, amount, n).astype(np.float64)

        count, of_rater = self.per_rater[self.rater], self.of_rater[self.rater]
        alone = count == 1
        rest = np.maximum(count - 1, 1)
        change = np.where(alone, 0.0, (of_rater - self.value) ** 2 / rest) - of_rater**2 / count
        total = whole.total - self.m
        return _Terms(
            n=np.full(n, n - 1.0),
            raters=whole.raters - per_unit(alone.astype(np.float64)),
            total=total,
            unit_squares=whole.unit_squares - self.m**2,
            rater_squares=whole.rater_squares - per_unit(2 * count - 1),
            inverse_m=whole.inverse_m - 1 / self.m,
            t0=whole.t0 - per_unit(self.value**2),
            t_units=whole.t_units - self.of_unit**2 / self.m,
            t_raters=whole.t_raters + per_unit(change),
            t_mean=(self.value.sum() - self.of_unit) ** 2 / total,
        )


def _gap_forms(terms: _Terms, forms: tuple[str, ...]) -> Floats:
    """Compute forms for every table, shape (forms, tables), ``nan`` where there is no variance."""
    t = terms
    out = np.full((len(forms), t.n.size), np.nan)
    k = t.n / t.inverse_m
    one = np.ones_like(t.n)
    # Expectations of the sums less their parts in the mean, in (units, raters, residual).
    rows = np.stack(
        [
            np.stack(
                [t.total - t.unit_squares / t.total, t.n - t.rater_squares / t.total, t.n - one]
            ),
            np.stack(
                [
                    t.raters - t.unit_squares / t.total,
                    t.total - t.rater_squares / t.total,
                    t.raters - one,
                ]
            ),
            np.stack(
                [
                    t.total - t.unit_squares / t.total,
                    t.total - t.rater_squares / t.total,
                    t.total - one,
                ]
            ),
        ]
    ).transpose(2, 0, 1)
    sides = np.stack([t.t_units - t.t_mean, t.t_raters - t.t_mean, t.t0 - t.t_mean]).T
    solvable = np.abs(np.linalg.det(rows / t.total[:, None, None])) > 1e-12
    variances = np.full((t.n.size, 3), np.nan)
    if solvable.any():
        variances[solvable] = np.linalg.solve(rows[solvable], sides[solvable][:, :, None])[:, :, 0]
    of_units, of_raters, residual = variances.T
    within = (t.t0 - t.t_units) / (t.total - t.n)
    between = (t.t_units - t.t_mean) / (t.n - 1)
    m0 = (t.total - t.unit_squares / t.total) / (t.n - 1)
    one_way = (between - within) / m0
    for row, form in enumerate(forms):
        signal = one_way if form.startswith("1") else of_units
        noise = {"1": within, "2": of_raters + residual, "3": residual}[form[0]]
        size = signal + (noise if form.endswith("1") else noise / k)
        np.divide(signal, size, out=out[row], where=size > 0)
    return out
