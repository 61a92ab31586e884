"""The metrics of a classification: what each is called, needs and computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.errors import unknown_name
from affectlab.evaluation._costs_of import LabelFacts
from affectlab.evaluation._metrics_tally import Tally

__all__ = [
    "CLASSIFICATION_METRICS",
    "ClassificationMetric",
    "chosen_metrics",
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
