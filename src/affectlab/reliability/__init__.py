"""Can the answers be trusted: agreement of raters, and scores of stimuli.

Every statistic takes :class:`~affectlab.ratings.Ratings` or a plain array of shape (raters, units)
with ``nan`` where there is no rating.
"""

from affectlab.reliability.agreement import (
    brennan_prediger,
    coefficient,
    concordance,
    fleiss_kappa,
    gwet_ac,
    intraclass_correlation,
    krippendorff_alpha,
    list_coefficients,
    over_labels,
    pairwise_kappa,
    percent_agreement,
    random_pair_kappa,
    self_consistency,
    spearman_brown as spearman_brown,
    split_half,
    weighted_kappa,
)
from affectlab.reliability.categories import dawid_skene
from affectlab.reliability.components import (
    group_differences,
    mixed_model,
    variance_components,
)
from affectlab.reliability.consensus import ConsensusFlow as ConsensusFlow, consensus_flow
from affectlab.reliability.correlation import interrater_correlation, mean_spearman, ppca
from affectlab.reliability.duplicates import (
    DuplicateRaters as DuplicateRaters,
    duplicate_raters,
)
from affectlab.reliability.internal_consistency import internal_consistency
from affectlab.reliability.means import reliability_of_means
from affectlab.reliability.planning import (
    PlanModel,
    confidence_at_any_look as confidence_at_any_look,
    enough_ratings,
    pilot_report,
    plan,
    plan_model,
    suggest_stimuli,
)
from affectlab.reliability.rater_agreement import (
    alpha_of_label_sets as alpha_of_label_sets,
    rater_agreement,
)
from affectlab.reliability.screening import (
    batch_overlap,
    choose_golden,
    list_policies,
    load_policy,
    screen,
)
from affectlab.reliability.severity import rater_severity
from affectlab.reliability.stimulus_scores import (
    LabelScores as LabelScores,
    Scores as Scores,
    scores_of as scores_of,
)
from affectlab.reliability.subject_models import (
    mean_opinion_scores,
    opinion_histogram,
    subject_model,
)
from affectlab.reliability.traces import traces

__all__ = [
    "PlanModel",
    "batch_overlap",
    "brennan_prediger",
    "choose_golden",
    "coefficient",
    "concordance",
    "consensus_flow",
    "dawid_skene",
    "duplicate_raters",
    "enough_ratings",
    "fleiss_kappa",
    "group_differences",
    "gwet_ac",
    "internal_consistency",
    "interrater_correlation",
    "intraclass_correlation",
    "krippendorff_alpha",
    "list_coefficients",
    "list_policies",
    "load_policy",
    "mean_opinion_scores",
    "mean_spearman",
    "mixed_model",
    "opinion_histogram",
    "over_labels",
    "pairwise_kappa",
    "percent_agreement",
    "pilot_report",
    "plan",
    "plan_model",
    "ppca",
    "random_pair_kappa",
    "rater_agreement",
    "rater_severity",
    "reliability_of_means",
    "screen",
    "self_consistency",
    "split_half",
    "subject_model",
    "suggest_stimuli",
    "traces",
    "variance_components",
    "weighted_kappa",
]
