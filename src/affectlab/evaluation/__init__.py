"""Do machines agree with people, and when they err, do they err as people do.

Statistics take :class:`~affectlab.ratings.Ratings`, in which models are raters, or plain arrays.
"""

from affectlab.evaluation._alignment import alignment
from affectlab.evaluation._alignment_neutral import neutral_calibrated
from affectlab.evaluation._alignment_pairs import (
    alpha_by_side,
    kappa_of_pairs,
    pair_kinds,
    pairwise_spearman,
    spearman_with_people,
)
from affectlab.evaluation._alignment_published import PublishedTables, published_tables
from affectlab.evaluation._alignment_result import AlignmentResult
from affectlab.evaluation._alt_test import AltTest, alt_test
from affectlab.evaluation._both_wrong import both_wrong
from affectlab.evaluation._both_wrong_result import BothWrong
from affectlab.evaluation._calibration import Calibration, calibration
from affectlab.evaluation._calibration_models import model_calibration
from affectlab.evaluation._ceiling import HumanCeiling, human_ceiling
from affectlab.evaluation._classes import Classes, PeopleAnswers
from affectlab.evaluation._classes_costs import read_costs
from affectlab.evaluation._classes_of import classes_of
from affectlab.evaluation._classes_panel import score_variants
from affectlab.evaluation._classes_rule import Thresholds, load_thresholds
from affectlab.evaluation._classes_truth import read_truth
from affectlab.evaluation._compare_models import ModelComparison, compare_models
from affectlab.evaluation._confusion import Confusion, confusion
from affectlab.evaluation._confusion_multilabel import MultilabelConfusion, multilabel_confusion
from affectlab.evaluation._controls import ControlChecks, control_checks
from affectlab.evaluation._controls_data import CONTROLS, main_runs
from affectlab.evaluation._differences import difference_metrics
from affectlab.evaluation._differences_result import Differences
from affectlab.evaluation._discrepancy import discrepancy
from affectlab.evaluation._equivalence import Equivalence, equivalence
from affectlab.evaluation._evaluate_classification import evaluate_classification
from affectlab.evaluation._evaluate_classification_result import ClassificationResult
from affectlab.evaluation._evaluate_soft_labels import SoftLabels, evaluate_soft_labels
from affectlab.evaluation._fairness import fairness
from affectlab.evaluation._fairness_result import Fairness
from affectlab.evaluation._groups import group_comparison, group_values
from affectlab.evaluation._leaderboard import leaderboard
from affectlab.evaluation._leaderboard_ranks import against_people, possible_ranks
from affectlab.evaluation._leaderboard_table import Board, Entry, Leaderboard, Standing
from affectlab.evaluation._logistic_fit import LogisticFit, logistic_fit
from affectlab.evaluation._metric_preference import evaluate_preference_metrics
from affectlab.evaluation._metric_preference_result import MetricPreferences
from affectlab.evaluation._metric_registry import AnswerMetric, list_metrics, load_metric
from affectlab.evaluation._metrics import acc, acc2, accuracy, ecc, emc, mean_emotional_distance
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS, ClassificationMetric
from affectlab.evaluation._metrics_possible import (
    Possibility,
    SeverityBounds,
    figures_possible,
    severity_bounds,
)
from affectlab.evaluation._metrics_prf import PrecisionRecallF1, precision_recall_f1
from affectlab.evaluation._metrics_table import classification_metrics, metrics_of_confusion
from affectlab.evaluation._outcomes import (
    OUTCOMES,
    OutcomeClass,
    Response,
    classify_outcome,
    looks_like_refusal,
)
from affectlab.evaluation._outcomes_table import OutcomeTable, outcome_table
from affectlab.evaluation._predictions_compare import Comparison, compare_predictions
from affectlab.evaluation._preference_scale import PreferenceScale, preference_scale
from affectlab.evaluation._preference_scores import MetricScores, metric_scores
from affectlab.evaluation._preference_verdicts import preference_verdicts
from affectlab.evaluation._preference_verdicts_words import verdict_sentences
from affectlab.evaluation._preferences import preferences
from affectlab.evaluation._preferences_labels import preference_pairs, top_labels
from affectlab.evaluation._preferences_reactions import reaction_pairs
from affectlab.evaluation._preferences_result import Preferences
from affectlab.evaluation._rater_table import rater_table
from affectlab.evaluation._result_file import Cost, Coverage, DataSet, Metric, ResultFile
from affectlab.evaluation._result_file_make import data_set, human_results
from affectlab.evaluation._result_file_read import parse_result, read_result, write_result
from affectlab.evaluation._scale_map import on_scale
from affectlab.evaluation._score_mapping import NeutralRule, ScoreMapping, Sources
from affectlab.evaluation._score_mapping_file import list_score_mappings, load_score_mapping
from affectlab.evaluation._scorer import affect_scorer
from affectlab.evaluation._separation import metric_sees_preference
from affectlab.evaluation._sides import Sides, sides
from affectlab.evaluation._soft_compare import soft_label_comparison
from affectlab.evaluation._soft_distributions import (
    LabelDistributions,
    label_distributions,
    rater_distributions,
)
from affectlab.evaluation._soft_metrics import soft_label_metrics
from affectlab.evaluation._soft_scores import (
    cross_entropy,
    earth_movers_distance,
    jensen_shannon,
    kullback_leibler,
)
from affectlab.evaluation._wilson import wilson_interval

__all__ = [
    "CLASSIFICATION_METRICS",
    "CONTROLS",
    "OUTCOMES",
    "AlignmentResult",
    "AltTest",
    "AnswerMetric",
    "Board",
    "BothWrong",
    "Calibration",
    "Classes",
    "ClassificationMetric",
    "ClassificationResult",
    "Comparison",
    "Confusion",
    "ControlChecks",
    "Cost",
    "Coverage",
    "DataSet",
    "Differences",
    "Entry",
    "Equivalence",
    "Fairness",
    "HumanCeiling",
    "LabelDistributions",
    "Leaderboard",
    "LogisticFit",
    "Metric",
    "MetricPreferences",
    "MetricScores",
    "ModelComparison",
    "MultilabelConfusion",
    "NeutralRule",
    "OutcomeClass",
    "OutcomeTable",
    "PeopleAnswers",
    "Possibility",
    "PrecisionRecallF1",
    "PreferenceScale",
    "Preferences",
    "PublishedTables",
    "Response",
    "ResultFile",
    "ScoreMapping",
    "SeverityBounds",
    "Sides",
    "SoftLabels",
    "Sources",
    "Standing",
    "Thresholds",
    "acc",
    "acc2",
    "accuracy",
    "affect_scorer",
    "against_people",
    "alignment",
    "alpha_by_side",
    "alt_test",
    "both_wrong",
    "calibration",
    "classes_of",
    "classification_metrics",
    "classify_outcome",
    "compare_models",
    "compare_predictions",
    "confusion",
    "control_checks",
    "cross_entropy",
    "data_set",
    "difference_metrics",
    "discrepancy",
    "earth_movers_distance",
    "ecc",
    "emc",
    "equivalence",
    "evaluate_classification",
    "evaluate_preference_metrics",
    "evaluate_soft_labels",
    "fairness",
    "figures_possible",
    "group_comparison",
    "group_values",
    "human_ceiling",
    "human_results",
    "jensen_shannon",
    "kappa_of_pairs",
    "kullback_leibler",
    "label_distributions",
    "leaderboard",
    "list_metrics",
    "list_score_mappings",
    "load_metric",
    "load_score_mapping",
    "load_thresholds",
    "logistic_fit",
    "looks_like_refusal",
    "main_runs",
    "mean_emotional_distance",
    "metric_scores",
    "metric_sees_preference",
    "metrics_of_confusion",
    "model_calibration",
    "multilabel_confusion",
    "neutral_calibrated",
    "on_scale",
    "outcome_table",
    "pair_kinds",
    "pairwise_spearman",
    "parse_result",
    "possible_ranks",
    "precision_recall_f1",
    "preference_pairs",
    "preference_scale",
    "preference_verdicts",
    "preferences",
    "published_tables",
    "rater_distributions",
    "rater_table",
    "reaction_pairs",
    "read_costs",
    "read_result",
    "read_truth",
    "score_variants",
    "severity_bounds",
    "sides",
    "soft_label_comparison",
    "soft_label_metrics",
    "spearman_with_people",
    "top_labels",
    "verdict_sentences",
    "wilson_interval",
    "write_result",
]
