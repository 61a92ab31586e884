"""How often the label is right, or on the right side."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from affectlab.core.arrays import ratio
from affectlab.core.types import Floats
from affectlab.evaluation.classification.labels import LabelsLike
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally
from affectlab.evaluation.label_facts import GroupsLike, TaxonomyLike


def _accuracy(tally: Tally) -> Floats:
    return ratio(tally.hits, tally.n)


@class_metric(_accuracy, title="accuracy", kind="share")
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
        When the lengths differ, or a label is missing or not known.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 2.

    Examples
    --------
    >>> accuracy(["awe", "fear", "awe"], ["awe", "anger", "Awe"], "mikels")
    0.6666666666666666
    """
    return accuracy.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
    )


acc = accuracy


def _acc2(tally: Tally) -> Floats:
    return ratio(tally.same_side, tally.n)


@class_metric(_acc2, title="ACC2", kind="share", needs="polarity")
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
    y_true, y_pred
        True and predicted label of each item, shape (n,): names, or integer codes together with
        `labels`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix, through which names in any spelling are
        understood. Without one, names count as they are written.
    groups
        Group of each label, or a level of the taxonomy; by default polarity.
    labels
        The names that integer codes stand for.
    sample_weight
        Weight of each item, shape (n,), 0 or more.

    Returns
    -------
    In [0, 1], never below the accuracy; ``nan`` when there are no items.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing or not known, or one that occurs has no group.

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
    return acc2.metric(
        y_true,
        y_pred,
        taxonomy,
        groups=groups,
        labels=labels,
        sample_weight=sample_weight,
    )
