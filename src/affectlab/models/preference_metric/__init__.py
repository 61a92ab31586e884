"""Metrics that are learned from people's preferences."""

from typing import TYPE_CHECKING, Any

from affectlab.models.preference_metric.data import (
    PreferenceFeatures,
    PreferenceTexts,
    preference_features,
    preference_texts,
)
from affectlab.models.preference_metric.metric import PreferenceMetric, PreferenceReport

if TYPE_CHECKING:
    from affectlab.models.preference_metric.tuned_bart import TunedBartScore, TuningReport

__all__ = [
    "PreferenceFeatures",
    "PreferenceMetric",
    "PreferenceReport",
    "PreferenceTexts",
    "TunedBartScore",
    "TuningReport",
    "preference_features",
    "preference_texts",
]

_WITH_TORCH = {"TunedBartScore": "tuned_bart", "TuningReport": "tuned_bart"}


def __getattr__(name: str) -> Any:
    """Import what needs torch when it is asked for: logistic regression does without."""
    if name not in _WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WITH_TORCH[name]}"), name)
