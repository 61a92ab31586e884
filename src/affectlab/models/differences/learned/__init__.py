"""A metric of how different two expressions look, learned from what people said."""

from affectlab.models.differences.learned.cross_validation import cross_validate
from affectlab.models.differences.learned.expression_metric import ExpressionMetric
from affectlab.models.differences.learned.report import CrossValidation
from affectlab.models.differences.learned.sources import (
    PairScore,
    ScoredPairs,
    embed_pairs,
    read_baselines,
    read_scored_pairs,
)
from affectlab.models.differences.learned.splits import ActorSplit, actor_splits
from affectlab.models.differences.learned.warnings import (
    FallingLossWarning,
    SeenActorWarning,
    SmallScoresWarning,
    UnfinishedLearningWarning,
)

__all__ = [
    "ActorSplit",
    "CrossValidation",
    "ExpressionMetric",
    "FallingLossWarning",
    "PairScore",
    "ScoredPairs",
    "SeenActorWarning",
    "SmallScoresWarning",
    "UnfinishedLearningWarning",
    "actor_splits",
    "cross_validate",
    "embed_pairs",
    "read_baselines",
    "read_scored_pairs",
]
