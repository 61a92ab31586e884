"""Metrics of a classification, each declared once in a module of this package."""

from affectlab.core.registry import modules_of
from affectlab.evaluation.classification.metrics.accuracy import acc, acc2, accuracy
from affectlab.evaluation.classification.metrics.costs import ecc, emc, mean_emotional_distance
from affectlab.evaluation.classification.metrics.metric import (
    CLASSIFICATION_METRICS,
    ClassificationMetric,
    affect_scorer,
    chosen_metrics,
    class_metric,
    metric_called,
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
    "why_not",
]

# A module registers its metrics when it is imported, in the order of the names of modules.
modules_of(__name__)
