"""How well metrics predict scores, such as how different two expressions look."""

from affectlab.evaluation.differences.difference_metrics import Differences, difference_metrics
from affectlab.evaluation.differences.logistic import LogisticFit, logistic_fit
from affectlab.evaluation.differences.pairs import labels_as_metrics

__all__ = [
    "Differences",
    "LogisticFit",
    "difference_metrics",
    "labels_as_metrics",
    "logistic_fit",
]
