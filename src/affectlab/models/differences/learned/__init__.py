"""A metric of how different two expressions look, learned from what people said."""

from affectlab.models.differences.learned.cross_validation import cross_validate as cross_validate
from affectlab.models.differences.learned.expression_metric import (
    ExpressionMetric as ExpressionMetric,
)
from affectlab.models.differences.learned.report import CrossValidation as CrossValidation
from affectlab.models.differences.learned.sources import (
    PairScore as PairScore,
    ScoredPairs as ScoredPairs,
    embed_pairs as embed_pairs,
    read_baselines as read_baselines,
    read_scored_pairs as read_scored_pairs,
)
from affectlab.models.differences.learned.splits import (
    ActorSplit as ActorSplit,
    actor_splits as actor_splits,
)
from affectlab.models.differences.learned.warnings import (
    FallingLossWarning as FallingLossWarning,
    SeenActorWarning as SeenActorWarning,
    SmallScoresWarning as SmallScoresWarning,
    UnfinishedLearningWarning as UnfinishedLearningWarning,
)
