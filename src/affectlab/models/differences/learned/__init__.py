"""A metric of how different two expressions look, learned from what people said."""

from affectlab.models.differences.learned.cross_validation import (
    CrossValidation as CrossValidation,
    actor_splits as actor_splits,
    cross_validate as cross_validate,
)
from affectlab.models.differences.learned.distances import (
    RidgeDistance as RidgeDistance,
    SiameseDistance as SiameseDistance,
    SvrDistance as SvrDistance,
    make_learner as make_learner,
    strength_search as strength_search,
)
from affectlab.models.differences.learned.expression_metric import (
    ExpressionMetric as ExpressionMetric,
    FallingLossWarning as FallingLossWarning,
)
from affectlab.models.differences.learned.samples import (
    SmallScoresWarning as SmallScoresWarning,
    pair_samples as pair_samples,
)
from affectlab.models.differences.learned.sources import (
    PairScore as PairScore,
    ScoredPairs as ScoredPairs,
    embed_pairs as embed_pairs,
    read_baselines as read_baselines,
    read_scored_pairs as read_scored_pairs,
)
