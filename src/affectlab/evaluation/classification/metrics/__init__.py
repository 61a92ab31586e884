"""Metrics of a classification, each declared once in a module of this package."""

from affectlab.core.registry import modules_of
from affectlab.evaluation.classification.metrics.accuracy import (
    acc as acc,
    acc2 as acc2,
    accuracy as accuracy,
)
from affectlab.evaluation.classification.metrics.costs import (
    ecc as ecc,
    emc as emc,
    mean_emotional_distance as mean_emotional_distance,
)
from affectlab.evaluation.classification.metrics.metric import (
    CLASSIFICATION_METRICS as CLASSIFICATION_METRICS,
    ClassificationMetric as ClassificationMetric,
    affect_scorer as affect_scorer,
    chosen_metrics as chosen_metrics,
    class_metric as class_metric,
    metric_called as metric_called,
    why_not as why_not,
)

# A module registers its metrics when it is imported, in the order of the names of modules.
modules_of(__name__)
