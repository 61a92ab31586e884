"""Metrics that are learned from people's preferences."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Import what needs torch when it is asked for: logistic regression does without."""
    if name == "TunedBartScore":
        return import_module(f"{__name__}.tuned_bart").TunedBartScore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
