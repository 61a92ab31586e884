"""How well metrics predict scores, such as how different two expressions look."""

from affectlab.evaluation.differences.difference_metrics import (
    Differences as Differences,
    difference_metrics as difference_metrics,
)
from affectlab.evaluation.differences.logistic import (
    LogisticFit as LogisticFit,
    logistic_fit as logistic_fit,
)
from affectlab.evaluation.differences.pairs import labels_as_metrics as labels_as_metrics
