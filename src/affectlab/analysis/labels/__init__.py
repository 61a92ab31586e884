"""How labels go together: correlations, trees, clusters and maps."""

from affectlab.analysis.labels.clusters import cluster_confusion, cluster_labels
from affectlab.analysis.labels.correlations import LabelCorrelations, label_correlations
from affectlab.analysis.labels.maps import LabelMap, label_map
from affectlab.analysis.labels.trees import Choice, LabelClusters, bends, complete, label_tree

__all__ = [
    "Choice",
    "LabelClusters",
    "LabelCorrelations",
    "LabelMap",
    "bends",
    "cluster_confusion",
    "cluster_labels",
    "complete",
    "label_correlations",
    "label_map",
    "label_tree",
]
