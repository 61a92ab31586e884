"""What structure the answers have: correlations, clusters, words, maps, staircases."""

from affectlab.analysis._asymmetry import AsymmetryTests, asymmetry_tests
from affectlab.analysis._clusters import LabelClusters, cluster_labels
from affectlab.analysis._confusion import ConfusionClusters, cluster_confusion
from affectlab.analysis._correlations import LabelCorrelations, label_correlations
from affectlab.analysis._expression_differences import (
    ExpressionDifferences,
    expression_differences,
)
from affectlab.analysis._jnd_pooled import PooledJnd, pooled_jnd, pooled_jnds
from affectlab.analysis._jnd_score import jnd_score, jnd_scores
from affectlab.analysis._jnd_steps import JndSteps, jnd_steps
from affectlab.analysis._jnd_strip import jnd_strip, strip_choices
from affectlab.analysis._jnd_times import JndTimes, jnd_times
from affectlab.analysis._jnd_transition import TransitionJnd, transition_jnd
from affectlab.analysis._latency import LatencyBudget, latency_budget
from affectlab.analysis._log_odds import log_odds
from affectlab.analysis._log_odds_result import LogOdds
from affectlab.analysis._map import LabelMap, label_map
from affectlab.analysis._pair_scores import PairScores, pair_scores
from affectlab.analysis._quest import Quest, quest
from affectlab.analysis._quest_function import psychometric_function
from affectlab.analysis._quest_observer import SimulatedObserver, simulate_observer
from affectlab.analysis._quest_settings import QuestSettings
from affectlab.analysis._sampling_interval import SamplingInterval, common_rate, sampling_interval
from affectlab.analysis._score_histograms import ScoreHistograms, score_histograms
from affectlab.analysis._staircase import FrameStaircase
from affectlab.analysis._staircase_result import StaircaseResult
from affectlab.analysis._tokens import Tokens, tokenize
from affectlab.analysis._transition_curves import TransitionCurves, transition_curves
from affectlab.analysis._transition_ranges import TransitionRanges, transition_ranges

__all__ = [
    "AsymmetryTests",
    "ConfusionClusters",
    "ExpressionDifferences",
    "FrameStaircase",
    "JndSteps",
    "JndTimes",
    "LabelClusters",
    "LabelCorrelations",
    "LabelMap",
    "LatencyBudget",
    "LogOdds",
    "PairScores",
    "PooledJnd",
    "Quest",
    "QuestSettings",
    "SamplingInterval",
    "ScoreHistograms",
    "SimulatedObserver",
    "StaircaseResult",
    "Tokens",
    "TransitionCurves",
    "TransitionJnd",
    "TransitionRanges",
    "asymmetry_tests",
    "cluster_confusion",
    "cluster_labels",
    "common_rate",
    "expression_differences",
    "jnd_score",
    "jnd_scores",
    "jnd_steps",
    "jnd_strip",
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
    "strip_choices",
    "tokenize",
    "transition_curves",
    "transition_jnd",
    "transition_ranges",
]
