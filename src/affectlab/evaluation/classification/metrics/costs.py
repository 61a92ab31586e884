"""How bad mistakes are, by what they cost."""

from __future__ import annotations

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally


@class_metric(title="ECC", kind="mean", needs="costs")
def ecc(tally: Tally) -> Floats:
    r"""Compute the emotion confusion confidence: hits count 1, mistakes 1 over their cost.

    .. math:: \mathrm{ECC} = \frac{1}{N} \sum_{ij} S_{ij} / W_{ij}

    with the confusion matrix S (true labels in rows) and the costs W, found by label name.

    Returns
    -------
    In [1 / max W, 1], higher is better; ``nan`` when there are no items.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 3.

    Examples
    --------
    >>> ecc(["amusement", "amusement"], ["contentment", "fear"], "mikels")  # (1/2 + 1/8) / 2
    0.3125
    """
    return ratio(tally.closeness, tally.n)


@class_metric(
    title="EMC", needs="costs", undefined=Reason(Cause.NONE, of="mistakes"), of_mistakes=True
)
def emc(tally: Tally) -> Floats:
    r"""Compute the emotional misclassification confidence: how mild the mistakes are.

    .. math:: \mathrm{EMC} = \sum_{i \ne j} \frac{S_{ij}}{W_{ij} - 1} \Big/ (N - N_c)

    Returns
    -------
    In [1 / (max W - 1), 1], higher is better: the mistakes are milder. It says nothing of how
    many there are. ``nan`` when there are none.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 4.

    Examples
    --------
    >>> emc(["amusement", "amusement", "awe"], ["contentment", "anger", "awe"], "mikels")
    0.625
    >>> emc(["awe"], ["awe"], "mikels")
    nan
    """
    return ratio(tally.mildness, tally.mistakes)


@class_metric(
    title="mean emotional distance", kind="mean", needs="costs", better="lower", bounds=(1, np.inf)
)
def mean_emotional_distance(tally: Tally) -> Floats:
    """Compute the mean distance W between the true and the predicted label, 1 for a hit.

    Returns
    -------
    In [1, max W], in the units of the costs, lower is better; ``nan`` when there are no items.

    References
    ----------
    The distance is equation 1 of Zhao et al. (2024), To Err Like Human; its mean is ours.

    Examples
    --------
    >>> mean_emotional_distance(["awe", "awe"], ["awe", "sadness"], "mikels")
    4.0
    """
    return ratio(tally.cost, tally.n)
