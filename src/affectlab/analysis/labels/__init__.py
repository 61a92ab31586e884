"""How labels go together: correlations, trees, clusters and maps."""

from affectlab.analysis.labels.clusters import (
    cluster_confusion as cluster_confusion,
    cluster_labels as cluster_labels,
)
from affectlab.analysis.labels.correlations import (
    LabelCorrelations as LabelCorrelations,
    label_correlations as label_correlations,
)
from affectlab.analysis.labels.maps import LabelMap as LabelMap, label_map as label_map
from affectlab.analysis.labels.trees import (
    LabelClusters as LabelClusters,
    bends as bends,
    complete as complete,
    label_tree as label_tree,
)
from affectlab.analysis.labels.wording import Choice as Choice, chosen_text as chosen_text
