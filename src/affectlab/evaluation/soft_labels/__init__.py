"""Distributions of people's answers: who predicts them, and what a confidence means."""

from affectlab.evaluation.soft_labels.calibration import (
    Calibration,
    ModelCalibration,
    calibration,
    model_calibration,
)
from affectlab.evaluation.soft_labels.distances import (
    cross_entropy,
    earth_movers_distance,
    jensen_shannon,
    kullback_leibler,
)
from affectlab.evaluation.soft_labels.distributions import (
    LabelDistributions,
    label_distributions,
    rater_distributions,
)
from affectlab.evaluation.soft_labels.evaluation import SoftLabels, evaluate_soft_labels
from affectlab.evaluation.soft_labels.metrics import soft_label_comparison, soft_label_metrics

__all__ = [
    "Calibration",
    "LabelDistributions",
    "ModelCalibration",
    "SoftLabels",
    "calibration",
    "cross_entropy",
    "earth_movers_distance",
    "evaluate_soft_labels",
    "jensen_shannon",
    "kullback_leibler",
    "label_distributions",
    "model_calibration",
    "rater_distributions",
    "soft_label_comparison",
    "soft_label_metrics",
]
