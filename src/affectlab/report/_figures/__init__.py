"""Figures of the report, one kind per module; they take plain arrays, not ratings."""

from affectlab.report._figures.alignment import (
    fig_agreement_bars,
    fig_discrepancy,
    fig_equivalence,
    fig_groups_compared,
    fig_kinds_by_label,
)
from affectlab.report._figures.answers import fig_answers, fig_answers_by_label
from affectlab.report._figures.attributes import Panel, fig_attributes
from affectlab.report._figures.calibration import fig_reliability_diagram
from affectlab.report._figures.clusters import fig_confusion_clusters, fig_label_clusters
from affectlab.report._figures.confusion import fig_confusion
from affectlab.report._figures.consensus import fig_consensus_flow
from affectlab.report._figures.contributions import fig_contributions
from affectlab.report._figures.coverage import fig_coverage
from affectlab.report._figures.expression_heatmap import fig_expression_heatmap
from affectlab.report._figures.expression_histograms import (
    HistogramPanel,
    fig_expression_histograms,
)
from affectlab.report._figures.expression_priority import (
    fig_expression_elbow,
    fig_expression_priority,
)
from affectlab.report._figures.fairness import fig_fairness
from affectlab.report._figures.frequencies import fig_frequencies, group_colours
from affectlab.report._figures.intervals import fig_alpha, fig_intervals
from affectlab.report._figures.jnd_strip import JndStrip, fig_jnd_strip
from affectlab.report._figures.jnd_times import fig_jnd_times, fig_latency
from affectlab.report._figures.label_map import fig_label_map
from affectlab.report._figures.layers import fig_layers
from affectlab.report._figures.measures import fig_measures
from affectlab.report._figures.outcomes import fig_outcomes
from affectlab.report._figures.pairs import fig_by_kind, fig_pair_heatmap
from affectlab.report._figures.people_range import fig_people_range
from affectlab.report._figures.plan import fig_plan
from affectlab.report._figures.preference import fig_item_votes, fig_preferences
from affectlab.report._figures.reaction_examples import ReactionExample, fig_reaction_examples
from affectlab.report._figures.reactions import fig_emotion_words, fig_pair_emotions
from affectlab.report._figures.scatter import Scatter, fig_scatter_fit
from affectlab.report._figures.semi_history import (
    fig_semi_quality,
    fig_semi_threshold,
    fig_semi_utilisation,
)
from affectlab.report._figures.staircase import StaircasePanel, fig_staircase
from affectlab.report._figures.transfer import fig_transfer
from affectlab.report._figures.transition_curves import CurvePanel, fig_transition_curves
from affectlab.report._figures.transition_ranges import fig_transition_ranges
from affectlab.report._figures.words import fig_words

__all__ = [
    "CurvePanel",
    "HistogramPanel",
    "JndStrip",
    "Panel",
    "ReactionExample",
    "Scatter",
    "StaircasePanel",
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
