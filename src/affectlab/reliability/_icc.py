"""Intraclass correlations of one label: agreement and consistency of single and mean ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab._resampling import check_confidence
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import Answers, answers_of, require_order
from affectlab.reliability._icc_forms import FORMS, from_complete, from_gaps

__all__ = ["intraclass_correlation"]

Form: TypeAlias = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
Missing: TypeAlias = Literal["complete", "available"]


def intraclass_correlation(
    data: Ratings | ArrayLike,
    forms: Sequence[Form] = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k"),
    *,
    missing: Missing = "complete",
    confidence: float = 0.95,
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
    data
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    forms
        Which forms: ``"1,1"``, ``"2,1"``, ``"3,1"``, ``"1,k"``, ``"2,k"``, ``"3,k"``.
    missing
        ``"complete"`` keeps the units that every rater of the label rated; mean squares, and the
        F intervals of Shrout and Fleiss. ``"available"`` keeps every unit with two ratings: the
        variances are estimated by equating quadratic sums with their expectations (Henderson's
        first method), k is the harmonic mean of the ratings per unit, and the interval is
        Student's with a standard error from leaving out one unit at a time.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Estimates by ``label`` and ``form``, at most 1 and possibly negative. On complete data both ways
    give the same values. ``nan`` with a status where there are too few complete units, fewer than
    two raters, or no variance.

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
    check_confidence(confidence)
    require_order(data, "the intraclass correlation")
    if missing not in ("complete", "available"):
        raise unknown_name("missing", str(missing), ("complete", "available"))
    if not forms:
        raise InputError("forms: expected one or more, such as '2,1'")
    for form in forms:
        if form not in FORMS:
            raise unknown_name("form", str(form), FORMS)
    answers = answers_of(data)
    compute = from_complete if missing == "complete" else from_gaps
    results = [compute(_dense(part), tuple(forms), confidence) for part in answers.by_label()]
    how = (
        "complete units, F interval"
        if missing == "complete"
        else "all units with two ratings, variances by Henderson's method 1, jackknife over units"
    )
    rows = [row for result in results for row in result]
    return Estimates.build(
        {
            "label": [name for name in answers.labels for _ in forms],
            "form": [form for _ in answers.labels for form in forms],
        },
        value=[row.value for row in rows],
        se=[row.se for row in rows],
        low=[row.low for row in rows],
        high=[row.high for row in rows],
        method=[f"ICC({form}), {how}" for _ in answers.labels for form in forms],
        n_items=[row.n_items for row in rows],
        n_raters=[row.n_raters for row in rows],
        n_ratings=[row.n_ratings for row in rows],
        status=[row.status for row in rows],
    )


def _dense(part: Answers) -> Answers:
    """Number the units and raters of one label without gaps."""
    units, unit = np.unique(part.unit, return_inverse=True)
    raters, rater = np.unique(part.rater, return_inverse=True)
    return Answers(
        unit=unit,
        rater=rater,
        label=part.label,
        value=part.value,
        units=tuple(part.units[k] for k in units),
        raters=tuple(part.raters[k] for k in raters),
        labels=part.labels,
        rater_kinds=tuple(part.rater_kinds[k] for k in raters),
        scale=part.scale,
    )
