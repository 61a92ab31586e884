"""How bad mistakes are, by what they cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import ratio
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats
from affectlab.evaluation.classification.labels import LabelsLike
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike


def _ecc(tally: Tally) -> Floats:
    return ratio(tally.closeness, tally.n)


@class_metric(_ecc, title="ECC", kind="mean", needs="costs")
def ecc(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    costs: CostsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the emotion confusion confidence: hits count 1, mistakes 1 over their cost.

    .. math:: \mathrm{ECC} = \frac{1}{N} \sum_{ij} S_{ij} / W_{ij}

    with the confusion matrix S (true labels in rows) and the costs W, found by label name.

    Parameters
    ----------
    y_true, y_pred
        True and predicted label of each item, shape (n,): names, or integer codes together with
        `labels`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix, through which names in any spelling are
        understood. Without one, names count as they are written.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes (``"ring"``, ``"groups"``,
        ``"reference"``); its own by default.
    labels
        The names that integer codes stand for.
    sample_weight
        Weight of each item, shape (n,), 0 or more.

    Returns
    -------
    In [1 / max W, 1], higher is better; ``nan`` when there are no items.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing or not known, or one that occurs has no costs.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 3.

    Examples
    --------
    >>> ecc(["amusement", "amusement"], ["contentment", "fear"], "mikels")  # (1/2 + 1/8) / 2
    0.3125
    """
    return ecc.metric(
        y_true,
        y_pred,
        taxonomy,
        costs=costs,
        labels=labels,
        sample_weight=sample_weight,
    )


def _emc(tally: Tally) -> Floats:
    return ratio(tally.mildness, tally.mistakes)


@class_metric(
    _emc, title="EMC", needs="costs", undefined=Reason(Cause.NONE, of="mistakes"), of_mistakes=True
)
def emc(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    costs: CostsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the emotional misclassification confidence: how mild the mistakes are.

    .. math:: \mathrm{EMC} = \sum_{i \ne j} \frac{S_{ij}}{W_{ij} - 1} \Big/ (N - N_c)

    Parameters
    ----------
    y_true, y_pred
        True and predicted label of each item, shape (n,): names, or integer codes together with
        `labels`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix, through which names in any spelling are
        understood. Without one, names count as they are written.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes (``"ring"``, ``"groups"``,
        ``"reference"``); its own by default.
    labels
        The names that integer codes stand for.
    sample_weight
        Weight of each item, shape (n,), 0 or more.

    Returns
    -------
    In [1 / (max W - 1), 1], higher is better: the mistakes are milder. It says nothing of how
    many there are. ``nan`` when there are none.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing or not known, or one that occurs has no costs.

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
    return emc.metric(
        y_true,
        y_pred,
        taxonomy,
        costs=costs,
        labels=labels,
        sample_weight=sample_weight,
    )


def _mean_emotional_distance(tally: Tally) -> Floats:
    return ratio(tally.cost, tally.n)


@class_metric(
    _mean_emotional_distance,
    title="mean emotional distance",
    kind="mean",
    needs="costs",
    better="lower",
    bounds=(1, np.inf),
)
def mean_emotional_distance(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    costs: CostsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean distance W between the true and the predicted label, 1 for a hit.

    Parameters
    ----------
    y_true, y_pred
        True and predicted label of each item, shape (n,): names, or integer codes together with
        `labels`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix, through which names in any spelling are
        understood. Without one, names count as they are written.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes (``"ring"``, ``"groups"``,
        ``"reference"``); its own by default.
    labels
        The names that integer codes stand for.
    sample_weight
        Weight of each item, shape (n,), 0 or more.

    Returns
    -------
    In [1, max W], in the units of the costs, lower is better; ``nan`` when there are no items.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing or not known, or one that occurs has no costs.

    References
    ----------
    The distance is equation 1 of Zhao et al. (2024), To Err Like Human; its mean is ours.

    Examples
    --------
    >>> mean_emotional_distance(["awe", "awe"], ["awe", "sadness"], "mikels")
    4.0
    """
    return mean_emotional_distance.metric(
        y_true,
        y_pred,
        taxonomy,
        costs=costs,
        labels=labels,
        sample_weight=sample_weight,
    )
