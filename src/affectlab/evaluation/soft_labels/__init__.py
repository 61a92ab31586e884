"""Distributions of people's answers: who predicts them, and what a confidence means."""

from affectlab.evaluation.soft_labels.calibration import (
    Calibration as Calibration,
    ModelCalibration as ModelCalibration,
    calibration as calibration,
    model_calibration as model_calibration,
)
from affectlab.evaluation.soft_labels.disagreement import (
    ANSWERS_AS as ANSWERS_AS,
    PeopleAnswers as PeopleAnswers,
    disagreement_metrics as disagreement_metrics,
)
from affectlab.evaluation.soft_labels.distances import (
    cross_entropy as cross_entropy,
    earth_movers_distance as earth_movers_distance,
    jensen_shannon as jensen_shannon,
    kullback_leibler as kullback_leibler,
)
from affectlab.evaluation.soft_labels.distributions import (
    LabelDistributions as LabelDistributions,
    label_distributions as label_distributions,
    rater_distributions as rater_distributions,
)
from affectlab.evaluation.soft_labels.evaluation import (
    SoftLabels as SoftLabels,
    evaluate_soft_labels as evaluate_soft_labels,
)
from affectlab.evaluation.soft_labels.metrics import (
    soft_label_comparison as soft_label_comparison,
    soft_label_metrics as soft_label_metrics,
)
