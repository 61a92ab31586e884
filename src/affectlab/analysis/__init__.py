"""What structure the answers have: correlations, clusters, words, maps, staircases."""

from affectlab.analysis.circumplex import circumplex
from affectlab.analysis.expressions import asymmetry_tests, expression_differences, score_histograms
from affectlab.analysis.jnd import (
    FrameStaircase,
    jnd_scores,
    jnd_steps,
    jnd_strips,
    jnd_times,
    latency_budget,
    pooled_jnd,
    pooled_jnds,
    psychometric_function,
    quest,
    sampling_interval,
    simulate_observer,
    staircase_runs,
    transition_jnd,
)
from affectlab.analysis.labels import (
    cluster_confusion,
    cluster_labels,
    label_correlations,
    label_map,
)
from affectlab.analysis.pairs import PairScores as PairScores, pair_scores
from affectlab.analysis.transitions import transition_curves, transition_ranges
from affectlab.analysis.words import log_odds, tokenize

__all__ = [
    "FrameStaircase",
    "asymmetry_tests",
    "circumplex",
    "cluster_confusion",
    "cluster_labels",
    "expression_differences",
    "jnd_scores",
    "jnd_steps",
    "jnd_strips",
    "jnd_times",
    "label_correlations",
    "label_map",
    "latency_budget",
    "log_odds",
    "pair_scores",
    "pooled_jnd",
    "pooled_jnds",
    "psychometric_function",
    "quest",
    "sampling_interval",
    "score_histograms",
    "simulate_observer",
    "staircase_runs",
    "tokenize",
    "transition_curves",
    "transition_jnd",
    "transition_ranges",
]
