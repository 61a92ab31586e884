"""Metrics that are learned from people's preferences."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.preference_metric.data import preference_features, preference_texts
from affectlab.models.preference_metric.metric import PreferenceMetric

if TYPE_CHECKING:
    from affectlab.models.preference_metric.tuned_bart import TunedBartScore

__all__ = [
    "PreferenceMetric",
    "TunedBartScore",
    "preference_features",
    "preference_texts",
]

if not TYPE_CHECKING:
    # Import what needs torch when it is asked for: logistic regression does without.
    __getattr__, __dir__ = lazily(__name__, __all__)
