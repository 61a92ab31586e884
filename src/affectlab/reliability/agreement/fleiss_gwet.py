"""Fleiss' kappa and Gwet's AC1 and AC2: agreement of any number of raters on a declared scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import unknown_name
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import check_confidence
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings, Scale
from affectlab.ratings.arrays import Answers, answers_of
from affectlab.reliability.agreement.coefficient import coefficient
from affectlab.reliability.agreement.kappa import (
    Weights,
    declared_scales,
    disagreement_weights,
    levels_of,
    positions_of,
    scale_text,
)

__all__ = ["fleiss_kappa", "gwet_ac"]

StandardError: TypeAlias = Literal["linearised", "gwet"]

_NO_PAIRS = "undefined: no unit with two ratings"


@coefficient
def fleiss_kappa(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    standard_error: StandardError = "linearised",
    confidence: float = 0.95,
) -> Estimate | Estimates:
    r"""Compute Fleiss' kappa of each label, generalised to weights and to gaps.

    With :math:`r_{uk}` ratings of level k in unit u, :math:`m_u` in all, agreement weights
    :math:`w_{kl} = 1 - d_{kl} / \max d`, and :math:`r^*_{uk} = \sum_l w_{kl} r_{ul}`,

    .. math::

        p_a = \frac{1}{n_2} \sum_{u: m_u \ge 2} \sum_k
            \frac{r_{uk} (r^*_{uk} - 1)}{m_u (m_u - 1)}, \quad
        \pi_k = \frac{1}{n} \sum_u \frac{r_{uk}}{m_u}, \quad
        p_e = \sum_{kl} w_{kl} \pi_k \pi_l, \quad
        \kappa = \frac{p_a - p_e}{1 - p_e}.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    weights
        ``"nominal"`` (Fleiss' own), ``"linear"`` or ``"quadratic"``.
    scale
        The declared scale; by default that of the ratings. An array needs it said.
    standard_error
        For units drawn at random: ``"linearised"`` (delta method), or ``"gwet"``, the formula of
        Gwet (2014) and irrCAC. They are equal where all units have two ratings; Gwet's takes the
        number of such units as fixed, and comes out much too large where many units have one.
    confidence
        Coverage of Student's interval, cut to at most 1.

    Returns
    -------
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array; at
    most 1. With the same number of ratings for every unit and nominal
    weights this is the coefficient of Fleiss (1971). Where the number varies, every unit weighs the
    same (Gwet 2014), and units with one rating count for :math:`\pi_k` only. ``nan`` with a status
    where no unit has two ratings or only one level occurs.

    Raises
    ------
    InputError
        If a value is off the scale, or the scale has no levels.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76. Gwet (2014), Handbook of Inter-Rater Reliability,
    4th edition.

    Examples
    --------
    >>> ratings = [[1, 2, 3, 3, 2], [1, 2, 3, 3, 2], [1, 3, 3, 3, 1]]
    >>> round(fleiss_kappa(ratings, scale="1-3").value, 4)
    0.5833
    """
    return _by_label(ratings, weights, scale, standard_error, confidence, gwet=False)


@coefficient
def gwet_ac(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    standard_error: StandardError = "linearised",
    confidence: float = 0.95,
) -> Estimate | Estimates:
    r"""Compute Gwet's AC1 (nominal weights) or AC2 (weighted) of each label.

    As :func:`fleiss_kappa`, with another agreement by chance on the q levels of the scale,

    .. math:: p_e = \frac{\sum_{kl} w_{kl}}{q (q - 1)} \sum_k \pi_k (1 - \pi_k).

    It stays high where nearly all ratings fall on one level, where kappa drops to zero.

    Parameters
    ----------
    ratings, weights, scale, standard_error, confidence
        As for :func:`fleiss_kappa`. The result depends on how many levels the declared scale has,
        also on those that do not occur.

    Returns
    -------
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array; at
    most 1, and ``nan`` with a status where no unit has two ratings.

    Raises
    ------
    InputError
        If a value is off the scale, or the scale has no levels.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61. Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition.

    Examples
    --------
    >>> ratings = [[1, 2, 3, 3, 2], [1, 2, 3, 3, 2], [1, 3, 3, 3, 1]]
    >>> round(gwet_ac(ratings, scale="1-3").value, 4)
    0.6078
    """
    return _by_label(ratings, weights, scale, standard_error, confidence, gwet=True)


@dataclass(frozen=True)
class _Summary:
    value: float = np.nan
    se: float = np.nan
    n_items: int = 0
    n_units: int = 0
    n_raters: int = 0
    n_ratings: int = 0
    status: str = _NO_PAIRS


def _by_label(
    data: Ratings | ArrayLike,
    weights: Weights,
    scale: Scale | str | ArrayLike | None,
    standard_error: StandardError,
    confidence: float,
    *,
    gwet: bool,
) -> Estimates:
    from scipy.special import stdtrit

    check_confidence(confidence)
    if standard_error not in ("linearised", "gwet"):
        raise unknown_name("standard_error", str(standard_error), ("linearised", "gwet"))
    answers = answers_of(data)
    scales = declared_scales(answers, scale)
    rows = []
    for part, declared in zip(answers.by_label(), scales, strict=True):
        levels = levels_of(declared)
        at = positions_of(part, levels, truncate=False)
        disagreement = disagreement_weights(weights, levels.size)
        agreement = 1 - disagreement / disagreement.max()
        rows.append(_summary(part, at, agreement, gwet=gwet, standard_error=standard_error))
    value, se = np.array([row.value for row in rows]), np.array([row.se for row in rows])
    freedom = np.array([max(row.n_units - 1, 1) for row in rows])
    half = stdtrit(freedom, (1 + confidence) / 2) * se
    name = ("Gwet's AC1" if weights == "nominal" else "Gwet's AC2") if gwet else "Fleiss' kappa"
    how = "" if weights == "nominal" else f", {weights} weights"
    return Estimates.build(
        {"label": answers.labels},
        value=value,
        se=se,
        low=np.maximum(value - half, -1),
        high=np.minimum(value + half, 1),
        method=[f"{name}{how}, {scale_text(declared)}" for declared in scales],
        n_items=[row.n_items for row in rows],
        n_raters=[row.n_raters for row in rows],
        n_ratings=[row.n_ratings for row in rows],
        status=[row.status for row in rows],
    )


def _summary(
    part: Answers,
    position: Ints,
    agreement: Floats,
    *,
    gwet: bool,
    standard_error: StandardError,
) -> _Summary:
    """Compute the coefficient of one label and its standard error over units."""
    if not part.value.size:
        return _Summary()
    q = agreement.shape[0]
    _, unit = np.unique(part.unit, return_inverse=True)
    n = int(unit[-1]) + 1
    counts = np.bincount(unit * q + position, minlength=n * q).reshape(n, q).astype(np.float64)
    m = counts.sum(axis=1)
    paired = m >= 2
    n_paired = int(paired.sum())
    if n_paired == 0:
        return _Summary()
    of_unit = (counts * (counts @ agreement - 1)).sum(axis=1) / np.maximum(m * (m - 1), 1)
    p_a = of_unit[paired].mean()
    share = counts / m[:, None]
    pi = share.mean(axis=0)
    # What a unit's ratings pull on p_e: its derivative with respect to the unit's shares, halved.
    pull = agreement.sum() / (q * (q - 1)) * (1 - pi) if gwet else agreement @ pi
    p_e = float(pull @ pi)
    known = {
        "n_items": n_paired,
        "n_units": n,
        "n_raters": int(np.count_nonzero(np.bincount(part.rater))),
        "n_ratings": int(m.sum()),
    }
    if p_e > 1 - 1e-12:
        return _Summary(**known, status="undefined: one category")
    value = (p_a - p_e) / (1 - p_e)
    if n < 2:
        return _Summary(value, **known, status="ok")
    by_chance = 2 * (1 - value) * (share @ pull - p_e) / (1 - p_e)
    if standard_error == "gwet":
        own = n / n_paired * (of_unit - p_e) * paired / (1 - p_e) - value
    else:
        own = n / n_paired * (of_unit - p_a) * paired / (1 - p_e)
    influence = own - by_chance
    se = float(np.sqrt((influence**2).sum() / (n * (n - 1))))
    return _Summary(float(value), se, **known, status="ok")
