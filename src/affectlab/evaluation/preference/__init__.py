"""What people prefer, and which metrics see it."""

from affectlab.evaluation.preference.areas import (
    area as area,
    area_ends as area_ends,
    fold_areas as fold_areas,
    without_clusters as without_clusters,
)
from affectlab.evaluation.preference.clusters import PAIR as PAIR, item_table as item_table
from affectlab.evaluation.preference.judged_items import (
    Choices as Choices,
    judged_items as judged_items,
    machine_of as machine_of,
)
from affectlab.evaluation.preference.label_pairs import (
    preference_pairs as preference_pairs,
    random_sides as random_sides,
    top_labels as top_labels,
)
from affectlab.evaluation.preference.metric_scores import (
    MetricScores as MetricScores,
    metric_scores as metric_scores,
)
from affectlab.evaluation.preference.metrics import (
    area_verdict as area_verdict,
    evaluate_preference_metrics as evaluate_preference_metrics,
)
from affectlab.evaluation.preference.preferences import (
    Preferences as Preferences,
    preferences as preferences,
)
from affectlab.evaluation.preference.reaction_pairs import reaction_pairs as reaction_pairs
from affectlab.evaluation.preference.scale import preference_scale as preference_scale
from affectlab.evaluation.preference.verdicts import preference_verdicts as preference_verdicts
