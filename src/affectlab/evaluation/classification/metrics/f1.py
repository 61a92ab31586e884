"""Precision, recall and F1, averaged over labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats
from affectlab.evaluation.classification.labels import LabelsLike
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally
from affectlab.evaluation.label_facts import TaxonomyLike


def _macro(per_label: Floats, tally: Tally) -> Floats:
    """Mean over the labels that occur, of what is defined."""
    return mean_of_defined(np.where(tally.occurs, per_label, np.nan), -1)


def _macro_precision(tally: Tally, zero_division: float) -> Floats:
    return _macro(tally.precision(zero_division), tally)


@class_metric(
    _macro_precision,
    title="macro precision",
    undefined=Reason(Cause.NONE, of="label with a precision"),
    macro=True,
)
def macro_precision(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Compute the mean precision of the labels that occur.

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
    zero_division
        What the precision of a label counts as where its denominator is 0; ``nan`` leaves it out.

    Returns
    -------
    In [0, 1].

    Raises
    ------
    InputError
        When the lengths differ, or a label is missing or not known.

    Examples
    --------
    >>> macro_precision(["joy", "fear", "fear"], ["joy", "joy", "fear"])
    0.75
    """
    return macro_precision.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )


def _macro_recall(tally: Tally, zero_division: float) -> Floats:
    return _macro(tally.recall(zero_division), tally)


@class_metric(
    _macro_recall,
    title="macro recall",
    undefined=Reason(Cause.NONE, of="label with a recall"),
    macro=True,
)
def macro_recall(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Compute the mean recall of the labels that occur.

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
    zero_division
        What the recall of a label counts as where its denominator is 0; ``nan`` leaves it out.

    Returns
    -------
    In [0, 1].

    Raises
    ------
    InputError
        When the lengths differ, or a label is missing or not known.

    Examples
    --------
    >>> macro_recall(["joy", "fear", "fear"], ["joy", "joy", "fear"])
    0.75
    """
    return macro_recall.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )


def _macro_f1(tally: Tally, zero_division: float) -> Floats:
    return _macro(tally.f1(zero_division), tally)


@class_metric(_macro_f1, title="macro F1", macro=True)
def macro_f1(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Compute the mean F1 of the labels that occur.

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
    zero_division
        What the F1 of a label counts as where its denominator is 0; ``nan`` leaves it out.

    Returns
    -------
    In [0, 1].

    Raises
    ------
    InputError
        When the lengths differ, or a label is missing or not known.

    Examples
    --------
    >>> round(macro_f1(["joy", "fear", "fear"], ["joy", "joy", "fear"]), 3)
    0.667
    """
    return macro_f1.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )


def _micro_f1(tally: Tally) -> Floats:
    return ratio(tally.hits, tally.n)


@class_metric(_micro_f1, title="micro F1", kind="share")
def micro_f1(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute F1 over all labels together: with one label per item, the accuracy.

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
    In [0, 1].

    Raises
    ------
    InputError
        When the lengths differ, or a label is missing or not known.

    Examples
    --------
    >>> micro_f1(["joy", "fear", "fear", "joy"], ["joy", "joy", "fear", "joy"])
    0.75
    """
    return micro_f1.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
    )


def _weighted_f1(tally: Tally, zero_division: float) -> Floats:
    return mean_of_defined(tally.f1(zero_division), -1, tally.label_true)


@class_metric(_weighted_f1, title="weighted F1")
def weighted_f1(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Compute the mean F1 of the labels, each as often as it is true.

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
    zero_division
        What the F1 of a label counts as where its denominator is 0; ``nan`` leaves it out.

    Returns
    -------
    In [0, 1].

    Raises
    ------
    InputError
        When the lengths differ, or a label is missing or not known.

    Examples
    --------
    >>> round(weighted_f1(["joy", "fear", "fear"], ["joy", "joy", "fear"]), 3)
    0.667
    """
    return weighted_f1.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )
