"""Precision, recall and F1, averaged over labels."""

from __future__ import annotations

import numpy as np

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally


def _macro(per_label: Floats, tally: Tally) -> Floats:
    """Mean over the labels that occur, of what is defined."""
    return mean_of_defined(np.where(tally.occurs, per_label, np.nan), -1)


@class_metric(
    title="macro precision", undefined=Reason(Cause.NONE, of="label with a precision"), macro=True
)
def macro_precision(tally: Tally, zero_division: float) -> Floats:
    """Compute the mean precision of the labels that occur.

    Returns
    -------
    In [0, 1].

    Examples
    --------
    >>> macro_precision(["joy", "fear", "fear"], ["joy", "joy", "fear"])
    0.75
    """
    return _macro(tally.precision(zero_division), tally)


@class_metric(
    title="macro recall", undefined=Reason(Cause.NONE, of="label with a recall"), macro=True
)
def macro_recall(tally: Tally, zero_division: float) -> Floats:
    """Compute the mean recall of the labels that occur.

    Returns
    -------
    In [0, 1].

    Examples
    --------
    >>> macro_recall(["joy", "fear", "fear"], ["joy", "joy", "fear"])
    0.75
    """
    return _macro(tally.recall(zero_division), tally)


@class_metric(title="macro F1", macro=True)
def macro_f1(tally: Tally, zero_division: float) -> Floats:
    """Compute the mean F1 of the labels that occur.

    Returns
    -------
    In [0, 1].

    Examples
    --------
    >>> round(macro_f1(["joy", "fear", "fear"], ["joy", "joy", "fear"]), 3)
    0.667
    """
    return _macro(tally.f1(zero_division), tally)


@class_metric(title="micro F1", kind="share")
def micro_f1(tally: Tally) -> Floats:
    """Compute F1 over all labels together: with one label per item, the accuracy.

    Returns
    -------
    In [0, 1].

    Examples
    --------
    >>> micro_f1(["joy", "fear", "fear", "joy"], ["joy", "joy", "fear", "joy"])
    0.75
    """
    return ratio(tally.hits, tally.n)


@class_metric(title="weighted F1")
def weighted_f1(tally: Tally, zero_division: float) -> Floats:
    """Compute the mean F1 of the labels, each as often as it is true.

    Returns
    -------
    In [0, 1].

    Examples
    --------
    >>> round(weighted_f1(["joy", "fear", "fear"], ["joy", "joy", "fear"]), 3)
    0.667
    """
    return mean_of_defined(tally.f1(zero_division), -1, tally.label_true)
