"""Figures of the report, one kind per module; they take plain arrays, not ratings."""

from affectlab.report.figures.agreement import (
    fig_by_kind,
    fig_consensus_flow,
    fig_pair_heatmap,
    fig_plan,
)
from affectlab.report.figures.alignment import (
    fig_agreement_bars,
    fig_discrepancy,
    fig_equivalence,
    fig_people_range,
)
from affectlab.report.figures.answers import (
    draw_outcomes,
    fig_answers,
    fig_answers_by_label,
    fig_outcomes,
)
from affectlab.report.figures.attributes import Panel, fig_attributes, fig_coverage
from affectlab.report.figures.classification import (
    draw_confusion,
    fig_confusion,
    fig_reliability_diagram,
)
from affectlab.report.figures.expressions import (
    CurvePanel,
    HistogramPanel,
    fig_expression_elbow,
    fig_expression_heatmap,
    fig_expression_histograms,
    fig_expression_priority,
    fig_transition_curves,
    fig_transition_ranges,
)
from affectlab.report.figures.groups import fig_fairness, fig_groups_compared, fig_kinds_by_label
from affectlab.report.figures.intervals import (
    draw_intervals,
    fig_alpha,
    fig_intervals,
    fig_measures,
)
from affectlab.report.figures.jnd import (
    JndStrip,
    StaircasePanel,
    fig_jnd_strip,
    fig_jnd_times,
    fig_latency,
    fig_staircase,
)
from affectlab.report.figures.labels import (
    fig_confusion_clusters,
    fig_frequencies,
    fig_label_clusters,
    fig_label_map,
    fig_words,
    group_colours,
)
from affectlab.report.figures.preference import fig_item_votes, fig_preferences
from affectlab.report.figures.reactions import (
    ReactionExample,
    fig_emotion_words,
    fig_pair_emotions,
    fig_reaction_examples,
)
from affectlab.report.figures.scatter import Scatter, fig_scatter_fit
from affectlab.report.figures.trained_models import (
    fig_contributions,
    fig_layers,
    fig_semi_quality,
    fig_semi_threshold,
    fig_semi_utilisation,
    fig_transfer,
)

__all__ = [
    "CurvePanel",
    "HistogramPanel",
    "JndStrip",
    "Panel",
    "ReactionExample",
    "Scatter",
    "StaircasePanel",
    "draw_confusion",
    "draw_intervals",
    "draw_outcomes",
    "fig_agreement_bars",
    "fig_alpha",
    "fig_answers",
    "fig_answers_by_label",
    "fig_attributes",
    "fig_by_kind",
    "fig_confusion",
    "fig_confusion_clusters",
    "fig_consensus_flow",
    "fig_contributions",
    "fig_coverage",
    "fig_discrepancy",
    "fig_emotion_words",
    "fig_equivalence",
    "fig_expression_elbow",
    "fig_expression_heatmap",
    "fig_expression_histograms",
    "fig_expression_priority",
    "fig_fairness",
    "fig_frequencies",
    "fig_groups_compared",
    "fig_intervals",
    "fig_item_votes",
    "fig_jnd_strip",
    "fig_jnd_times",
    "fig_kinds_by_label",
    "fig_label_clusters",
    "fig_label_map",
    "fig_latency",
    "fig_layers",
    "fig_measures",
    "fig_outcomes",
    "fig_pair_emotions",
    "fig_pair_heatmap",
    "fig_people_range",
    "fig_plan",
    "fig_preferences",
    "fig_reaction_examples",
    "fig_reliability_diagram",
    "fig_scatter_fit",
    "fig_semi_quality",
    "fig_semi_threshold",
    "fig_semi_utilisation",
    "fig_staircase",
    "fig_transfer",
    "fig_transition_curves",
    "fig_transition_ranges",
    "fig_words",
    "group_colours",
]
