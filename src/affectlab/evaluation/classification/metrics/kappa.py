"""Agreement with the truth beyond chance."""

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

_ONE_LABEL = Reason(Cause.ONE_LABEL)


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """1 - observed / expected disagreement; ``nan`` where no disagreement is expected."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = 1 - observed / expected
    known: Floats = np.where(expected > 1e-12, value, np.nan)
    return known


def _kappa(tally: Tally) -> Floats:
    shares = ratio(tally.label_true, tally.n[..., None])
    guesses = ratio(tally.label_predicted, tally.n[..., None])
    return _beyond_chance(1 - ratio(tally.hits, tally.n), 1 - (shares * guesses).sum(axis=-1))


@class_metric(_kappa, title="kappa", bounds=(-1, 1), undefined=_ONE_LABEL)
def kappa(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute Cohen's kappa of truth and prediction.

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
    In [-1, 1]; ``nan`` where one label is all there is.

    Raises
    ------
    InputError
        When the lengths differ, or a label is missing or not known.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20.

    Examples
    --------
    >>> kappa(["joy", "fear", "fear", "joy"], ["joy", "joy", "fear", "joy"])
    0.5
    """
    return kappa.metric(
        y_true,
        y_pred,
        taxonomy,
        labels=labels,
        sample_weight=sample_weight,
    )


def _weighted_kappa(tally: Tally) -> Floats:
    if tally.distances is None:
        return np.full(tally.n.shape, np.nan)
    shares = ratio(tally.label_true, tally.n[..., None])
    guesses = ratio(tally.label_predicted, tally.n[..., None])
    expected = ((shares @ tally.distances) * guesses).sum(axis=-1)
    return _beyond_chance(ratio(tally.cost, tally.n) - 1, expected)


@class_metric(
    _weighted_kappa,
    title="cost-weighted kappa",
    needs="costs",
    bounds=(-1, 1),
    undefined=_ONE_LABEL,
)
def weighted_kappa(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    costs: CostsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute kappa weighted by the costs of mistakes less 1.

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
    In [-1, 1]; ``nan`` where one label is all there is.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing or not known, or one that occurs has no costs.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> round(weighted_kappa(["awe", "fear", "fear"], ["awe", "sadness", "fear"], "mikels"), 3)
    0.87
    """
    return weighted_kappa.metric(
        y_true,
        y_pred,
        taxonomy,
        costs=costs,
        labels=labels,
        sample_weight=sample_weight,
    )
