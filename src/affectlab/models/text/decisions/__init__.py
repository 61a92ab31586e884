"""From probabilities to chosen labels: thresholds, calibration, and the search on a dev split."""

from affectlab.models.text.decisions.rules import (
    DecisionKind,
    DecisionRule,
    cross_fitted_f1,
    f1_by_chance,
    fit_decision,
    rule_by_shares,
)
from affectlab.models.text.decisions.scaling import (
    Scaling,
    ScalingKind,
    fit_scaling,
    logit,
    sigmoid,
)
from affectlab.models.text.decisions.thresholds import (
    best_global_threshold,
    best_thresholds,
    best_top_k,
)
from affectlab.models.text.decisions.tuning import LevelTuning, tune_level

__all__ = [
    "DecisionKind",
    "DecisionRule",
    "LevelTuning",
    "Scaling",
    "ScalingKind",
    "best_global_threshold",
    "best_thresholds",
    "best_top_k",
    "cross_fitted_f1",
    "f1_by_chance",
    "fit_decision",
    "fit_scaling",
    "logit",
    "rule_by_shares",
    "sigmoid",
    "tune_level",
]
