"""Metrics of a classification as single numbers: accuracy, ACC2, ECC, EMC, emotional distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab.errors import InputError
from affectlab.evaluation._costs_of import (
    CostsLike,
    GroupsLike,
    LabelFacts,
    TaxonomyLike,
    label_facts,
)
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS, why_not
from affectlab.evaluation._metrics_labels import Coded, LabelsLike, code_labels, weights_of
from affectlab.evaluation._metrics_tally import tally_of_counts

__all__ = [
    "acc",
    "acc2",
    "accuracy",
    "counts_of",
    "ecc",
    "emc",
    "mean_emotional_distance",
    "metric_of",
]


def accuracy(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the share of items whose label is right.

    .. math:: \mathrm{ACC} = N_c / N

    Parameters
    ----------
    y_true, y_pred
        True and predicted label of each item, shape (n,): names, or integer codes together with
        `labels`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix, through which names in any spelling are
        understood. Without one, names count as they are written.
    labels
        The names that integer codes stand for.
    sample_weight
        Weight of each item, shape (n,), 0 or more.

    Returns
    -------
    In [0, 1]; ``nan`` when there are no items.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing, or it is not one of the taxonomy.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 2.

    Examples
    --------
    >>> accuracy(["awe", "fear", "awe"], ["awe", "anger", "Awe"], "mikels")
    0.6666666666666666
    """
    facts = label_facts(taxonomy, labels=labels)
    return metric_of("accuracy", facts, y_true, y_pred, labels, sample_weight)


acc = accuracy


def acc2(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    groups: GroupsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the share of items whose predicted label has the polarity of the true one.

    Polarities are compared as they are named: two ambiguous labels share one.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        As for :func:`accuracy`.
    taxonomy
        A taxonomy whose labels have polarities, its name or path; or anything, with `groups`.
    groups
        Group of each label, or a level of the taxonomy; by default polarity.

    Returns
    -------
    In [0, 1], never below the accuracy; ``nan`` when there are no items.

    Raises
    ------
    InputError
        When a label that occurs has no polarity or group; otherwise as :func:`accuracy`.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, section 4.3.

    Examples
    --------
    >>> acc2(["awe", "fear", "awe"], ["excitement", "anger", "fear"], "mikels")
    0.6666666666666666
    >>> acc2(["cat", "dog"], ["lynx", "cat"],
    ...      groups={"cat": "feline", "lynx": "feline", "dog": "canine"})
    0.5
    """
    if taxonomy is None and labels is None and groups is not None and not isinstance(groups, str):
        facts = label_facts(None, labels=list(groups), groups=groups)
    else:
        facts = label_facts(taxonomy, labels=labels, groups=groups)
    return metric_of("acc2", facts, y_true, y_pred, labels, sample_weight)


def ecc(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike,
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
    y_true, y_pred, labels, sample_weight
        As for :func:`accuracy`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes (``"ring"``, ``"groups"``,
        ``"reference"``); its own by default.

    Returns
    -------
    In [1 / max W, 1], higher is better; ``nan`` when there are no items.

    Raises
    ------
    InputError
        When a label that occurs has no costs; otherwise as :func:`accuracy`.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 3.

    Examples
    --------
    >>> ecc(["amusement", "amusement"], ["contentment", "fear"], "mikels")  # (1/2 + 1/8) / 2
    0.3125
    """
    facts = label_facts(taxonomy, labels=labels, costs=costs)
    return metric_of("ecc", facts, y_true, y_pred, labels, sample_weight)


def emc(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike,
    *,
    costs: CostsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the emotional misclassification confidence: how mild the mistakes are.

    .. math:: \mathrm{EMC} = \sum_{i \ne j} \frac{S_{ij}}{W_{ij} - 1} \Big/ (N - N_c)

    Parameters
    ----------
    y_true, y_pred, taxonomy, costs, labels, sample_weight
        As for :func:`ecc`.

    Returns
    -------
    In [1 / (max W - 1), 1], higher is better: the mistakes are milder. It says nothing of how
    many there are. ``nan`` when there are none.

    Raises
    ------
    InputError
        As :func:`ecc`.

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
    facts = label_facts(taxonomy, labels=labels, costs=costs)
    return metric_of("emc", facts, y_true, y_pred, labels, sample_weight)


def mean_emotional_distance(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike,
    *,
    costs: CostsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean distance W between the true and the predicted label, 1 for a hit.

    Parameters
    ----------
    y_true, y_pred, taxonomy, costs, labels, sample_weight
        As for :func:`ecc`.

    Returns
    -------
    In [1, max W], in the units of the costs, lower is better; ``nan`` when there are no items.

    Raises
    ------
    InputError
        As :func:`ecc`.

    References
    ----------
    The distance is equation 1 of Zhao et al. (2024), To Err Like Human; its mean is ours.

    Examples
    --------
    >>> mean_emotional_distance(["awe", "awe"], ["awe", "sadness"], "mikels")
    4.0
    """
    facts = label_facts(taxonomy, labels=labels, costs=costs)
    return metric_of("mean_emotional_distance", facts, y_true, y_pred, labels, sample_weight)


def metric_of(
    name: str,
    facts: LabelFacts | None,
    y_true: LabelsLike,
    y_pred: LabelsLike,
    coded_by: Sequence[str] | None,
    sample_weight: ArrayLike | None,
    zero_division: float = 0.0,
) -> float:
    """Compute one metric of one classification; raise where the labels do not allow it."""
    coded = code_labels(facts, y_true, {"y_pred": y_pred}, coded_by=coded_by)
    metric = CLASSIFICATION_METRICS[name]
    why = why_not(metric, coded.facts, coded.used)
    if why:
        raise InputError(f"{metric.title}: {why}")
    counts = counts_of(coded, 0, sample_weight)
    tally = tally_of_counts(coded.facts, counts.astype(np.float64))
    return float(metric.formula(tally, zero_division))


def counts_of(coded: Coded, model: int, sample_weight: ArrayLike | None) -> np.ndarray:
    """Count (true, predicted), shape (k, k): whole numbers without weights."""
    k = len(coded.facts.labels)
    weights = weights_of(sample_weight, coded.true.size)
    cell = coded.true * k + coded.predicted[model]
    return np.bincount(cell, weights=weights, minlength=k * k).reshape(k, k)
