"""What people prefer, and which metrics see it."""

from affectlab.evaluation.preference.areas import (
    area,
    drawn_areas,
    edge_interval,
    error_of,
    few_clusters,
    fold_areas,
    logit_interval,
    normal_interval,
)
from affectlab.evaluation.preference.clusters import PAIR, item_table
from affectlab.evaluation.preference.judged_items import Choices, judged_items, machine_of
from affectlab.evaluation.preference.label_pairs import preference_pairs, top_labels
from affectlab.evaluation.preference.metric_scores import MetricScores, metric_scores
from affectlab.evaluation.preference.metrics import (
    area_verdict,
    evaluate_preference_metrics,
)
from affectlab.evaluation.preference.preferences import Preferences, preferences
from affectlab.evaluation.preference.reaction_pairs import reaction_pairs
from affectlab.evaluation.preference.scale import preference_scale
from affectlab.evaluation.preference.verdicts import preference_verdicts

__all__ = [
    "PAIR",
    "Choices",
    "MetricScores",
    "Preferences",
    "area",
    "area_verdict",
    "drawn_areas",
    "edge_interval",
    "error_of",
    "evaluate_preference_metrics",
    "few_clusters",
    "fold_areas",
    "item_table",
    "judged_items",
    "logit_interval",
    "machine_of",
    "metric_scores",
    "normal_interval",
    "preference_pairs",
    "preference_scale",
    "preference_verdicts",
    "preferences",
    "reaction_pairs",
    "top_labels",
]
