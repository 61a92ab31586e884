"""How labels go together: correlations, trees, clusters and maps."""

from affectlab.analysis.labels.clusters import (
    ConfusionClusters,
    LabelClusters,
    cluster_confusion,
    cluster_labels,
    tree_result,
)
from affectlab.analysis.labels.correlations import LabelCorrelations, label_correlations
from affectlab.analysis.labels.maps import LabelMap, label_map
from affectlab.analysis.labels.trees import (
    Choice,
    bends,
    choose,
    cut_into,
    numbered,
    silhouette,
    tree_of,
)

__all__ = [
    "Choice",
    "ConfusionClusters",
    "LabelClusters",
    "LabelCorrelations",
    "LabelMap",
    "bends",
    "choose",
    "cluster_confusion",
    "cluster_labels",
    "cut_into",
    "label_correlations",
    "label_map",
    "numbered",
    "silhouette",
    "tree_of",
    "tree_result",
]
