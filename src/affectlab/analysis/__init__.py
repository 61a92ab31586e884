"""What structure the answers have: correlations, clusters, words, maps, staircases."""

from affectlab.analysis._clusters import LabelClusters, cluster_labels
from affectlab.analysis._confusion import ConfusionClusters, cluster_confusion
from affectlab.analysis._correlations import LabelCorrelations, label_correlations
from affectlab.analysis._jnd_pooled import PooledJnd, pooled_jnd, pooled_jnds
from affectlab.analysis._jnd_transition import TransitionJnd, transition_jnd
from affectlab.analysis._log_odds import log_odds
from affectlab.analysis._log_odds_result import LogOdds
from affectlab.analysis._map import LabelMap, label_map
from affectlab.analysis._quest import Quest, quest
from affectlab.analysis._quest_function import psychometric_function
from affectlab.analysis._quest_observer import SimulatedObserver, simulate_observer
from affectlab.analysis._quest_settings import QuestSettings
from affectlab.analysis._staircase import FrameStaircase
from affectlab.analysis._staircase_result import StaircaseResult
from affectlab.analysis._tokens import Tokens, tokenize

__all__ = [
    "ConfusionClusters",
    "FrameStaircase",
    "LabelClusters",
    "LabelCorrelations",
    "LabelMap",
    "LogOdds",
    "PooledJnd",
    "Quest",
    "QuestSettings",
    "SimulatedObserver",
    "StaircaseResult",
    "Tokens",
    "TransitionJnd",
    "cluster_confusion",
    "cluster_labels",
    "label_correlations",
    "label_map",
    "log_odds",
    "pooled_jnd",
    "pooled_jnds",
    "psychometric_function",
    "quest",
    "simulate_observer",
    "tokenize",
    "transition_jnd",
]
