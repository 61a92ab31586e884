"""Equivalence: whether a difference is shown to lie within a margin that was stated beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from affectlab.core.errors import InputError, check_number
from affectlab.core.words import number

Verdict: TypeAlias = Literal["inside", "below", "above", "not shown", "undefined"]


@dataclass(frozen=True)
class Equivalence:
    """A difference beside a margin.

    Examples
    --------
    >>> equivalence(-0.01, 0.02, margin=0.05, df=24)
    Equivalence(inside: −0.010 [−0.044, 0.024] within ±0.050, p = 0.028)
    """

    value: float
    se: float
    low: float
    """Lower end of the interval that decides: of coverage 1 - 2 alpha."""
    high: float
    """Upper end of that interval."""
    margin: float
    df: float
    """Degrees of freedom; infinite for a normal distribution."""
    alpha: float
    p_lower: float
    """Of the test that the difference is at or below -margin."""
    p_upper: float
    """Of the test that the difference is at or above +margin."""
    verdict: Verdict
    """``inside`` the margin, ``below`` or ``above`` it, ``not shown``, or ``undefined``."""

    @property
    def p(self) -> float:
        """The larger of both p-values: that of the equivalence."""
        return max(self.p_lower, self.p_upper)

    @property
    def at_least(self) -> bool:
        """Whether the difference is shown to lie above -margin (non-inferiority)."""
        return self.p_lower <= self.alpha

    def __repr__(self) -> str:
        ends = f"[{number(self.low, 3)}, {number(self.high, 3)}]"
        return (
            f"Equivalence({self.verdict}: {number(self.value, 3)} {ends} within "
            f"±{number(self.margin, 3)}, p = {number(self.p, 3)})"
        )


def equivalence(
    difference: float | ArrayLike,
    se: float | None = None,
    *,
    margin: float,
    df: float = math.inf,
    alpha: float = 0.05,
) -> Equivalence:
    r"""Test whether a difference lies within a margin, by two one-sided tests.

    A difference that is not significant is no evidence of equality: few data make any difference
    not significant. Here the difference :math:`\Delta` has to be *shown* to be small: both
    :math:`H_0: \Delta \le -m` and :math:`H_0: \Delta \ge m` are rejected, which is the same as an
    interval of coverage :math:`1 - 2\alpha` within :math:`(-m, m)`.

    Parameters
    ----------
    difference
        A difference with its standard error; or, without one, paired differences, shape (n,), whose
        mean is tested. ``nan`` are left out.
    se
        Standard error of the difference.
    margin
        The largest difference that does not matter, above 0. It is a matter of what the answers
        are for, not of the data, and has to be stated before they are seen.
    df
        Degrees of freedom of the standard error.
    alpha
        Level of each of the two tests.

    Returns
    -------
    Equivalence, with verdict ``inside`` where both tests reject, ``below`` or ``above`` where the
    whole interval lies beyond the margin, ``not shown`` otherwise, and ``undefined`` where there is
    no difference.

    Raises
    ------
    InputError
        When margin, alpha or the standard error cannot be used.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15. Lakens (2017), Social
    Psychological and Personality Science 8.

    Examples
    --------
    >>> found = equivalence([0.02, -0.01, 0.0, 0.03, -0.02, 0.01], margin=0.05)
    >>> found.verdict, round(found.p, 4)
    ('inside', 0.001)
    >>> equivalence(-0.2, 0.03, margin=0.05).verdict
    'below'
    """
    check_margin(margin, alpha)
    if se is None:
        given = np.asarray(difference, dtype=np.float64).ravel()
        given = given[~np.isnan(given)]
        value = float(given.mean()) if given.size else math.nan
        error = math.nan
        if given.size > 1:
            error = float(given.std(ddof=1) / math.sqrt(given.size))
            df = given.size - 1
    else:
        value, error = float(np.asarray(difference)), float(se)
        if error < 0:
            raise InputError(f"se {se:g}: expected a standard error of 0 or more")
    return two_one_sided(value, error, margin, df, alpha)


def check_margin(margin: float, alpha: float = 0.05) -> None:
    """Refuse a margin, or a level, that no test can have."""
    check_number("margin", margin, 0, above=True)
    check_number("alpha", alpha, 0, 0.5, above=True, below=True)


def two_one_sided(value: float, se: float, margin: float, df: float, alpha: float) -> Equivalence:
    """Decide on one difference."""
    if math.isnan(value) or math.isnan(se) or math.isnan(df):
        nan = math.nan
        verdict: Verdict = "undefined" if math.isnan(value) else "not shown"
        return Equivalence(value, se, nan, nan, margin, df, alpha, nan, nan, verdict)
    if se == 0:
        p_lower, p_upper = float(value <= -margin), float(value >= margin)
        half = 0.0
    else:
        p_lower = float(stdtr(df, -(value + margin) / se))
        p_upper = float(stdtr(df, (value - margin) / se))
        half = float(stdtrit(df, 1 - alpha)) * se
    low, high = value - half, value + half
    verdict = "not shown"
    if max(p_lower, p_upper) <= alpha:
        verdict = "inside"
    elif high < -margin or (se == 0 and value <= -margin):
        verdict = "below"
    elif low > margin or (se == 0 and value >= margin):
        verdict = "above"
    return Equivalence(value, se, low, high, margin, df, alpha, p_lower, p_upper, verdict)
