"""Brennan and Prediger's coefficient: agreement beyond equally likely levels."""

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


def _chance_of_brennan_prediger(_pi: Any, agreement: Floats) -> Any:
    return agreement.mean()


_brennan_prediger = BeyondChance(_chance_of_brennan_prediger, "Brennan-Prediger coefficient")


@coefficient(_brennan_prediger, title="Brennan-Prediger", graded={"weights": "quadratic"})
def brennan_prediger(
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
    r"""Compute Brennan and Prediger's coefficient of each label, generalised to weights and gaps.

    As :func:`fleiss_kappa`, with the agreement of raters who choose among the q levels of the scale
    at random, each as likely as the others,

    .. math:: p_e = \frac{1}{q^2} \sum_{kl} w_{kl},

    which is 1/q with nominal weights. It is free of the paradoxes that kappa has where nearly all
    ratings fall on one level, and takes the levels that a scale declares for choices that raters
    had: the result depends on how many there are, also on those that do not occur.

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
    Brennan and Prediger (1981), Educational and Psychological Measurement 41. Gwet (2014), Handbook
    of Inter-Rater Reliability, 4th edition, for weights and gaps.

    Examples
    --------
    Of three pairs of answers one differs: (2/3 - 1/2) / (1 - 1/2).

    >>> round(brennan_prediger([[1, 1, 2], [1, 2, 2]], scale="1-2").value, 4)
    0.3333
    """
    return brennan_prediger.coefficient(
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
