"""How different two expressions look: metrics by name, and one that is learned from people.

:func:`difference` compares two pictures, :func:`rate_differences` makes ratings of many pairs, by
metrics that :func:`load_difference_metric` finds: errors of pixels, structural similarity, LPIPS,
embeddings of any encoder, blendshapes and landmarks of faces, or any function of two pictures.
:class:`ExpressionMetric` learns from pairs, scores and embeddings, predicts differences of other
people's faces, and is a loss of torch; :func:`cross_validate` says how well that works on actors
it was not learned from.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.differences.comparison import difference
from affectlab.models.differences.faces import MediaPipeLandmarker
from affectlab.models.differences.metric import DifferenceMetric
from affectlab.models.differences.pairs import holds_answers as holds_answers
from affectlab.models.differences.rate import (
    medians_by_kind as medians_by_kind,
    rate_differences,
    value_ranges as value_ranges,
)
from affectlab.models.differences.registry import list_difference_metrics, load_difference_metric

if TYPE_CHECKING:
    from affectlab.models.differences.learned import (
        ExpressionMetric,
        RidgeDistance,
        SiameseDistance,
        SvrDistance,
        actor_splits,
        cross_validate,
        embed_pairs,
        pair_samples,
        read_scored_pairs,
        strength_search,
    )

__all__ = [
    "DifferenceMetric",
    "ExpressionMetric",
    "MediaPipeLandmarker",
    "RidgeDistance",
    "SiameseDistance",
    "SvrDistance",
    "actor_splits",
    "cross_validate",
    "difference",
    "embed_pairs",
    "list_difference_metrics",
    "load_difference_metric",
    "pair_samples",
    "rate_differences",
    "read_scored_pairs",
    "strength_search",
]

if not TYPE_CHECKING:
    # Load what needs more than the core when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
