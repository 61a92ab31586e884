"""Metrics that are learned from people's preferences."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.preference_metric.data import preference_features, preference_texts

if TYPE_CHECKING:
    from affectlab.models.preference_metric.metric import BestSingleMetric, PreferenceMetric
    from affectlab.models.preference_metric.tuned_bart import TunedBartScore

__all__ = [
    "BestSingleMetric",
    "PreferenceMetric",
    "TunedBartScore",
    "preference_features",
    "preference_texts",
]

if not TYPE_CHECKING:
    # Load what needs more than the core when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
