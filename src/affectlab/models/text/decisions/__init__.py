"""From probabilities to chosen labels: thresholds, calibration, and the search on a dev split."""

from affectlab.models.text.decisions.rules import (
    DecisionKind as DecisionKind,
    DecisionRule as DecisionRule,
    cross_fitted_f1 as cross_fitted_f1,
    f1_by_chance as f1_by_chance,
    fit_decision as fit_decision,
    rule_by_shares as rule_by_shares,
)
from affectlab.models.text.decisions.scaling import (
    Scaling as Scaling,
    ScalingKind as ScalingKind,
    fit_scaling as fit_scaling,
    logit as logit,
    sigmoid as sigmoid,
)
from affectlab.models.text.decisions.thresholds import (
    best_global_threshold as best_global_threshold,
    best_thresholds as best_thresholds,
    best_top_k as best_top_k,
)
from affectlab.models.text.decisions.tuning import (
    LevelTuning as LevelTuning,
    tune_level as tune_level,
)
