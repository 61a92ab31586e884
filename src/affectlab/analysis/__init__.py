"""What structure the answers have: correlations, clusters, words, maps."""

from affectlab.analysis._clusters import LabelClusters, cluster_labels
from affectlab.analysis._confusion import ConfusionClusters, cluster_confusion
from affectlab.analysis._correlations import LabelCorrelations, label_correlations
from affectlab.analysis._log_odds import log_odds
from affectlab.analysis._log_odds_result import LogOdds
from affectlab.analysis._map import LabelMap, label_map
from affectlab.analysis._tokens import Tokens, tokenize

__all__ = [
    "ConfusionClusters",
    "LabelClusters",
    "LabelCorrelations",
    "LabelMap",
    "LogOdds",
    "Tokens",
    "cluster_confusion",
    "cluster_labels",
    "label_correlations",
    "label_map",
    "log_odds",
    "tokenize",
]
