"""Metrics of a classification, each declared once in a module of this package."""

from importlib import import_module
from pkgutil import iter_modules

from affectlab.evaluation.classification.metrics.accuracy import acc, acc2, accuracy
from affectlab.evaluation.classification.metrics.costs import ecc, emc, mean_emotional_distance
from affectlab.evaluation.classification.metrics.metric import (
    CLASSIFICATION_METRICS,
    ClassificationMetric,
    affect_scorer,
    chosen_metrics,
    class_metric,
    metric_called,
    rests_on_mistakes,
    why_not,
)

__all__ = [
    "CLASSIFICATION_METRICS",
    "ClassificationMetric",
    "acc",
    "acc2",
    "accuracy",
    "affect_scorer",
    "chosen_metrics",
    "class_metric",
    "ecc",
    "emc",
    "mean_emotional_distance",
    "metric_called",
    "rests_on_mistakes",
    "why_not",
]

# A module registers its metrics when it is imported, in the order of the names of modules.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
