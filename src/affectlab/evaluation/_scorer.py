"""Our metrics as scikit-learn scorers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from affectlab.errors import unknown_name
from affectlab.evaluation._costs_of import CostsLike, GroupsLike, TaxonomyLike, label_facts
from affectlab.evaluation._metrics import metric_of
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS
from affectlab.evaluation._metrics_labels import LabelsLike

__all__ = ["affect_scorer"]


def affect_scorer(
    metric: str,
    taxonomy: TaxonomyLike | None = None,
    *,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
    labels: Sequence[str] | None = None,
    zero_division: float = 0.0,
) -> Callable[..., float]:
    """Make a scikit-learn scorer of a metric, for ``cross_val_score`` and ``GridSearchCV``.

    Parameters
    ----------
    metric
        A name among :data:`CLASSIFICATION_METRICS`, such as ``"ecc"``. Where lower is better, as
        for ``"mean_emotional_distance"``, the score is the negative of the metric.
    taxonomy, costs, groups, zero_division
        As for :func:`classification_metrics`.
    labels
        The names that integer codes stand for, when the estimator predicts codes.

    Returns
    -------
    A scorer ``score(estimator, X, y)``, which can be pickled and takes ``sample_weight``.

    Raises
    ------
    InputError
        When the metric, or what makes up the taxonomy, is not known.

    Notes
    -----
    EMC is not defined for a fold without mistakes, whose score is then ``nan``.
    ``sklearn.metrics.make_scorer(ecc, taxonomy="mikels")`` gives the same scorer.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [0], [1]], ["awe", "awe", "fear"])
    >>> affect_scorer("ecc", "mikels")(model, [[0], [1]], ["awe", "contentment"])
    0.75
    """
    from sklearn.metrics import make_scorer

    if metric not in CLASSIFICATION_METRICS:
        raise unknown_name("metric", metric, CLASSIFICATION_METRICS)
    # Options are checked here, once, and not in the first fold.
    label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    scorer: Callable[..., float] = make_scorer(
        _score,
        greater_is_better=CLASSIFICATION_METRICS[metric].better == "higher",
        metric=metric,
        taxonomy=taxonomy,
        costs=costs,
        groups=groups,
        labels=labels,
        zero_division=zero_division,
    )
    return scorer


def _score(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    *,
    metric: str,
    taxonomy: Any,
    costs: Any,
    groups: Any,
    labels: Sequence[str] | None,
    zero_division: float,
    sample_weight: ArrayLike | None = None,
) -> float:
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    return metric_of(metric, facts, y_true, y_pred, labels, sample_weight, zero_division)
