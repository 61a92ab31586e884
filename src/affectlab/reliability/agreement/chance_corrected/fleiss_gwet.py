"""Fleiss' kappa and Gwet's AC1 and AC2: agreement of any number of raters on a declared scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import Interval, Target
from affectlab.core.types import Floats
from affectlab.ratings import ClusterLike, Ratings, Scale
from affectlab.reliability.agreement.chance_corrected.beyond_chance import (
    BeyondChance,
    StandardError,
)
from affectlab.reliability.agreement.chance_corrected.kappa import Weights
from affectlab.reliability.agreement.coefficient import coefficient


def _chance_of_fleiss_kappa(pi: Any, agreement: Floats) -> Any:
    return ((pi @ agreement) * pi).sum(axis=1)


_fleiss_kappa = BeyondChance(_chance_of_fleiss_kappa, "Fleiss' kappa", by_margins=True)


@coefficient(_fleiss_kappa, title="Fleiss' kappa", graded={"weights": "quadratic"})
def fleiss_kappa(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    standard_error: StandardError = "linearised",
    interval: Interval = "jackknife",
    target: Target | None = None,
    n_boot: int = 1000,
    joint: bool = True,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
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

    With the same number of ratings for every unit and nominal weights this is the coefficient of
    Fleiss (1971). Where the number varies, every unit weighs the same (Gwet 2014), and units with
    one rating count for :math:`\pi_k` only.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating. Every other number is
        a value, -1 too.
    weights
        ``"nominal"``, ``"linear"`` or ``"quadratic"``.
    scale
        The declared scale; by default that of the ratings. An array needs one.
    standard_error
        Of ``interval="analytic"``: ``"linearised"`` (delta method), or ``"gwet"``, the formula of
        Gwet (2014) and irrCAC. They are equal where all units have two ratings; Gwet's takes the
        number of such units as fixed, and comes out much too large where many units have one.
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
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array; at most
    1, and ``nan`` with a status where no unit has two ratings, or chance leaves no other agreement.

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
    return fleiss_kappa.coefficient(
        ratings,
        weights=weights,
        scale=scale,
        standard_error=standard_error,
        interval=interval,
        target=target,
        n_boot=n_boot,
        joint=joint,
        confidence=confidence,
        cluster=cluster,
        seed=seed,
    )


def _chance_of_gwet_ac(pi: Any, agreement: Floats) -> Any:
    q = agreement.shape[0]
    return agreement.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=1)


_gwet_ac = BeyondChance(
    _chance_of_gwet_ac, lambda weights: "Gwet's AC1" if weights == "nominal" else "Gwet's AC2"
)


@coefficient(_gwet_ac, title="Gwet's AC", graded={"weights": "quadratic"})
def gwet_ac(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    standard_error: StandardError = "linearised",
    interval: Interval = "jackknife",
    target: Target | None = None,
    n_boot: int = 1000,
    joint: bool = True,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimate | Estimates:
    r"""Compute Gwet's AC1 (nominal weights) or AC2 (weighted) of each label.

    As :func:`fleiss_kappa`, with another agreement by chance on the q levels of the scale,

    .. math:: p_e = \frac{\sum_{kl} w_{kl}}{q (q - 1)} \sum_k \pi_k (1 - \pi_k).

    It stays high where nearly all ratings fall on one level, where kappa drops to zero. The result
    depends on how many levels the declared scale has, also on those that do not occur.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating. Every other number is
        a value, -1 too.
    weights
        ``"nominal"``, ``"linear"`` or ``"quadratic"``.
    scale
        The declared scale; by default that of the ratings. An array needs one.
    standard_error
        Of ``interval="analytic"``: ``"linearised"`` (delta method), or ``"gwet"``, the formula of
        Gwet (2014) and irrCAC. They are equal where all units have two ratings; Gwet's takes the
        number of such units as fixed, and comes out much too large where many units have one.
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
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array; at most
    1, and ``nan`` with a status where no unit has two ratings, or chance leaves no other agreement.

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
    return gwet_ac.coefficient(
        ratings,
        weights=weights,
        scale=scale,
        standard_error=standard_error,
        interval=interval,
        target=target,
        n_boot=n_boot,
        joint=joint,
        confidence=confidence,
        cluster=cluster,
        seed=seed,
    )
