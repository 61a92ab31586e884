"""Whether a model is as good for one group as for another, and groups of people rate alike."""

from affectlab.evaluation.group_fairness.fairness import fairness
from affectlab.evaluation.group_fairness.metrics import AnswerMetric, list_metrics, load_metric
from affectlab.evaluation.group_fairness.result import Fairness

__all__ = [
    "AnswerMetric",
    "Fairness",
    "fairness",
    "list_metrics",
    "load_metric",
]
