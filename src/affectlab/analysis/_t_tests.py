"""Student's t-tests with their intervals, and the reason where there is none."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from affectlab._types import Floats

__all__ = ["Alternative", "paired", "two_sample"]

Alternative: TypeAlias = Literal["greater", "less", "two-sided"]
_FEW = "undefined: fewer than two observations"
_CONSTANT = "undefined: the observations do not vary"


def two_sample(
    first: Floats, second: Floats, unit: str, alternative: Alternative, confidence: float
) -> dict[str, object]:
    r"""Compare the means of two samples with variances taken as equal.

    .. math:: t = \frac{\bar x_1 - \bar x_2}{s \sqrt{1/n_1 + 1/n_2}}, \qquad
              s^2 = \frac{\sum (x_1 - \bar x_1)^2 + \sum (x_2 - \bar x_2)^2}{n_1 + n_2 - 2}
    """
    row = _row("two samples", unit, first, second)
    df = first.size + second.size - 2
    if min(first.size, second.size) < 1 or df < 1:
        return row | {"status": _FEW}
    squares = float(((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum())
    error = math.sqrt(squares / df * (1 / first.size + 1 / second.size))
    difference = float(first.mean() - second.mean())
    return row | _tested(difference, error, df, alternative, confidence)


def paired(
    first: Floats, second: Floats, unit: str, alternative: Alternative, confidence: float
) -> dict[str, object]:
    r"""Compare paired observations: :math:`t = \bar d / (s_d / \sqrt n)`, :math:`n - 1` degrees."""
    row = _row("paired", unit, first, second)
    apart = first - second
    if apart.size < 2:
        difference = float(apart.mean()) if apart.size else math.nan
        return row | {"difference": difference, "status": _FEW}
    error = float(apart.std(ddof=1)) / math.sqrt(apart.size)
    return row | _tested(float(apart.mean()), error, apart.size - 1, alternative, confidence)


def _row(test: str, unit: str, first: Floats, second: Floats) -> dict[str, object]:
    unknown = ("difference", "low", "high", "t", "df", "p", "p_two_sided")
    return {
        "test": test,
        "unit": unit,
        "n_first": int(first.size),
        "n_second": int(second.size),
        "mean_first": float(first.mean()) if first.size else math.nan,
        "mean_second": float(second.mean()) if second.size else math.nan,
        **dict.fromkeys(unknown, math.nan),
        "status": "ok",
    }


def _tested(
    difference: float, error: float, df: int, alternative: Alternative, confidence: float
) -> dict[str, object]:
    from scipy.special import stdtr, stdtrit

    if not error > 1e-12 * max(1.0, abs(difference)):
        return {"difference": difference, "df": float(df), "status": _CONSTANT}
    t = difference / error
    below, above = float(stdtr(df, t)), float(stdtr(df, -t))
    two_sided = float(min(1.0, 2 * min(below, above)))
    half = float(stdtrit(df, (1 + confidence) / 2)) * error
    p = {"greater": above, "less": below, "two-sided": two_sided}[alternative]
    return {
        "difference": difference,
        "low": difference - half,
        "high": difference + half,
        "t": t,
        "df": float(df),
        "p": p,
        "p_two_sided": two_sided,
    }
