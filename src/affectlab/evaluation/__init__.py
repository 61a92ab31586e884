"""Do machines agree with people, and when they err, do they err as people do.

Statistics take :class:`~affectlab.ratings.Ratings`, in which models are raters, or plain arrays.
"""

from affectlab.evaluation.classes import (
    classes_of,
    list_score_mappings,
    load_score_mapping,
    read_costs,
    read_truth,
)
from affectlab.evaluation.classification import (
    acc,
    acc2,
    accuracy,
    affect_scorer,
    both_wrong,
    classification_metrics,
    compare_models,
    compare_predictions,
    confusion,
    ecc,
    emc,
    evaluate_classification,
    mean_emotional_distance,
    multilabel_confusion,
    precision_recall_f1,
)
from affectlab.evaluation.controls import control_checks
from affectlab.evaluation.differences import difference_metrics, logistic_fit
from affectlab.evaluation.group_fairness import AnswerMetric, fairness, list_metrics, load_metric
from affectlab.evaluation.human_alignment import (
    alignment,
    alt_test,
    discrepancy,
    equivalence,
    human_ceiling,
)
from affectlab.evaluation.outcomes import (
    OUTCOMES as OUTCOMES,
    OutcomeTable as OutcomeTable,
    Response as Response,
    classify_outcome as classify_outcome,
    looks_like_refusal as looks_like_refusal,
    outcome_table,
)
from affectlab.evaluation.preference import (
    evaluate_preference_metrics,
    metric_scores,
    preference_pairs,
    preference_scale,
    preference_verdicts,
    preferences,
    reaction_pairs,
)
from affectlab.evaluation.protocols import protocol_effects
from affectlab.evaluation.rankings import (
    ResultFile,
    data_set,
    human_results,
    leaderboard,
    write_result,
)
from affectlab.evaluation.rater_comparison import (
    published_tables,
    spearman_with_people,
)
from affectlab.evaluation.recognition import recognition
from affectlab.evaluation.soft_labels import (
    calibration,
    disagreement_metrics,
    evaluate_soft_labels,
    label_distributions,
    soft_label_metrics,
)

__all__ = [
    "AnswerMetric",
    "ResultFile",
    "acc",
    "acc2",
    "accuracy",
    "affect_scorer",
    "alignment",
    "alt_test",
    "both_wrong",
    "calibration",
    "classes_of",
    "classification_metrics",
    "compare_models",
    "compare_predictions",
    "confusion",
    "control_checks",
    "data_set",
    "difference_metrics",
    "disagreement_metrics",
    "discrepancy",
    "ecc",
    "emc",
    "equivalence",
    "evaluate_classification",
    "evaluate_preference_metrics",
    "evaluate_soft_labels",
    "fairness",
    "human_ceiling",
    "human_results",
    "label_distributions",
    "leaderboard",
    "list_metrics",
    "list_score_mappings",
    "load_metric",
    "load_score_mapping",
    "logistic_fit",
    "mean_emotional_distance",
    "metric_scores",
    "multilabel_confusion",
    "outcome_table",
    "precision_recall_f1",
    "preference_pairs",
    "preference_scale",
    "preference_verdicts",
    "preferences",
    "protocol_effects",
    "published_tables",
    "reaction_pairs",
    "read_costs",
    "read_truth",
    "recognition",
    "soft_label_metrics",
    "spearman_with_people",
    "write_result",
]
