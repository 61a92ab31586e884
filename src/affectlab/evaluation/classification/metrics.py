"""The metrics of a classification: what each is called, needs and computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification.labels import Coded, LabelsLike, code_labels, weights_of
from affectlab.evaluation.classification.tally import Tally, tally_of_counts
from affectlab.evaluation.label_facts import (
    CostsLike,
    GroupsLike,
    LabelFacts,
    TaxonomyLike,
    label_facts,
)

__all__ = [
    "CLASSIFICATION_METRICS",
    "ClassificationMetric",
    "acc",
    "acc2",
    "accuracy",
    "affect_scorer",
    "chosen_metrics",
    "counts_of",
    "ecc",
    "emc",
    "mean_emotional_distance",
    "metric_of",
    "metric_values",
    "ratio",
    "rests_on_mistakes",
    "why_not",
]

Needs = Literal["nothing", "costs", "polarity"]


@dataclass(frozen=True)
class ClassificationMetric:
    """One metric of a classification."""

    name: str
    title: str
    """What it is called in a sentence."""
    better: Literal["higher", "lower"]
    needs: Needs
    """What must be known of the labels."""
    undefined: str
    """Why it is not defined, where it is not."""
    formula: Callable[[Tally, float], Floats]
    """From the sums and the value of a ratio without a denominator, to the metric."""
    bounded: bool = True
    """Whether its values lie in [-1, 1], so that one margin serves several metrics."""
    ratio: bool = False
    """Whether it divides by what the predictions decide, such as the number of mistakes."""


def ratio(above: Floats, below: Floats, otherwise: float = np.nan) -> Floats:
    """Divide, with `otherwise` where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(above, below)
    value: Floats = np.divide(
        top, bottom, out=np.full(top.shape, float(otherwise)), where=bottom > 0
    )
    return value


def _kappa(observed: Floats, expected: Floats) -> Floats:
    """1 - observed / expected disagreement; ``nan`` where no disagreement is expected."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = 1 - observed / expected
    known: Floats = np.where(expected > 1e-12, value, np.nan)
    return known


def _cohen(tally: Tally, _: float) -> Floats:
    shares = ratio(tally.label_true, tally.n[..., None])
    guesses = ratio(tally.label_predicted, tally.n[..., None])
    expected = 1 - (shares * guesses).sum(axis=-1)
    return _kappa(1 - ratio(tally.hits, tally.n), expected)


def _weighted_cohen(tally: Tally, _: float) -> Floats:
    if tally.distances is None:
        return np.full(tally.n.shape, np.nan)
    shares = ratio(tally.label_true, tally.n[..., None])
    guesses = ratio(tally.label_predicted, tally.n[..., None])
    expected = ((shares @ tally.distances) * guesses).sum(axis=-1)
    return _kappa(ratio(tally.cost, tally.n) - 1, expected)


def _macro(per_label: Floats, tally: Tally) -> Floats:
    """Mean over the labels that occur, in truth or prediction."""
    counted = ((tally.label_true > 0) | (tally.label_predicted > 0)) & ~np.isnan(per_label)
    return ratio(np.where(counted, per_label, 0.0).sum(axis=-1), counted.sum(axis=-1))


def precision(tally: Tally, otherwise: float = np.nan) -> Floats:
    """Precision of each label, shape (..., k)."""
    return ratio(tally.label_hits, tally.label_predicted, otherwise)


def recall(tally: Tally, otherwise: float = np.nan) -> Floats:
    """Recall of each label, shape (..., k)."""
    return ratio(tally.label_hits, tally.label_true, otherwise)


def f1(tally: Tally, otherwise: float = np.nan) -> Floats:
    """F1 of each label, shape (..., k): 2 hits / (predicted + true)."""
    return ratio(2 * tally.label_hits, tally.label_predicted + tally.label_true, otherwise)


def _weighted_f1(tally: Tally, otherwise: float) -> Floats:
    known = f1(tally, otherwise)
    counted = ~np.isnan(known)
    weight = np.where(counted, tally.label_true, 0.0)
    return ratio((np.where(counted, known, 0.0) * weight).sum(axis=-1), weight.sum(axis=-1))


_NO_ITEMS = "undefined: no items"
_ONE_LABEL = "undefined: one label throughout"

CLASSIFICATION_METRICS: Mapping[str, ClassificationMetric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            ClassificationMetric(
                "accuracy",
                "accuracy",
                "higher",
                "nothing",
                _NO_ITEMS,
                lambda t, _: ratio(t.hits, t.n),
            ),
            ClassificationMetric(
                "acc2",
                "ACC2",
                "higher",
                "polarity",
                _NO_ITEMS,
                lambda t, _: ratio(t.same_side, t.n),
            ),
            ClassificationMetric(
                "ecc", "ECC", "higher", "costs", _NO_ITEMS, lambda t, _: ratio(t.closeness, t.n)
            ),
            ClassificationMetric(
                "emc",
                "EMC",
                "higher",
                "costs",
                "undefined: no mistakes",
                lambda t, _: ratio(t.mildness, t.mistakes),
                ratio=True,
            ),
            ClassificationMetric(
                "mean_emotional_distance",
                "mean emotional distance",
                "lower",
                "costs",
                _NO_ITEMS,
                lambda t, _: ratio(t.cost, t.n),
                bounded=False,
            ),
            ClassificationMetric(
                "macro_precision",
                "macro precision",
                "higher",
                "nothing",
                "undefined: no label has a precision",
                lambda t, other: _macro(precision(t, other), t),
                ratio=True,
            ),
            ClassificationMetric(
                "macro_recall",
                "macro recall",
                "higher",
                "nothing",
                "undefined: no label has a recall",
                lambda t, other: _macro(recall(t, other), t),
                ratio=True,
            ),
            ClassificationMetric(
                "macro_f1",
                "macro F1",
                "higher",
                "nothing",
                _NO_ITEMS,
                lambda t, other: _macro(f1(t, other), t),
                ratio=True,
            ),
            ClassificationMetric(
                "micro_f1",
                "micro F1",
                "higher",
                "nothing",
                _NO_ITEMS,
                lambda t, _: ratio(t.hits, t.n),
            ),
            ClassificationMetric(
                "weighted_f1",
                "weighted F1",
                "higher",
                "nothing",
                _NO_ITEMS,
                _weighted_f1,
                ratio=True,
            ),
            ClassificationMetric(
                "kappa", "kappa", "higher", "nothing", _ONE_LABEL, _cohen, ratio=True
            ),
            ClassificationMetric(
                "weighted_kappa",
                "cost-weighted kappa",
                "higher",
                "costs",
                _ONE_LABEL,
                _weighted_cohen,
                ratio=True,
            ),
        )
    }
)
"""The metrics that tables and scorers know, by name."""


def chosen_metrics(
    metrics: Iterable[str] | None, facts: LabelFacts
) -> tuple[ClassificationMetric, ...]:
    """Find metrics by name; by default all for which the labels say enough.

    Metrics of costs and of polarity are left out by default only where there is neither, as for
    plain names: where costs are known and polarity is not, the table says so.

    Raises
    ------
    InputError
        When a name is not known.
    """
    if metrics is None:
        plain = facts.costs is None and facts.sides is None
        return tuple(
            metric
            for metric in CLASSIFICATION_METRICS.values()
            if not plain or metric.needs == "nothing"
        )
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if name not in CLASSIFICATION_METRICS:
            raise unknown_name("metric", str(name), CLASSIFICATION_METRICS)
    return tuple(CLASSIFICATION_METRICS[name] for name in dict.fromkeys(names))


def metric_values(
    metrics: Iterable[ClassificationMetric], tally: Tally, zero_division: float
) -> Floats:
    """Compute metrics from sums of shape (...); the result has shape (..., metrics)."""
    return np.stack([metric.formula(tally, zero_division) for metric in metrics], axis=-1)


def rests_on_mistakes(metric: ClassificationMetric) -> bool:
    """Say whether a metric looks at mistakes alone."""
    return metric.name == "emc"


def why_not(metric: ClassificationMetric, facts: LabelFacts, used: Ints) -> str:
    """Say why the labels do not allow a metric; empty if they do."""
    if metric.needs == "costs":
        return facts.without_costs(used)
    if metric.needs == "polarity":
        return facts.without_sides(used)
    return ""


# Metrics of a classification as single numbers: accuracy, ACC2, ECC, EMC, emotional distance.


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


# Our metrics as scikit-learn scorers.


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
