"""Whether a model is as good for one group as for another, and groups of people rate alike."""

from affectlab.evaluation.group_fairness.fairness import fairness as fairness
from affectlab.evaluation.group_fairness.metrics import (
    AnswerMetric as AnswerMetric,
    list_metrics as list_metrics,
    load_metric as load_metric,
)
from affectlab.evaluation.group_fairness.result import Fairness as Fairness, Tested as Tested
