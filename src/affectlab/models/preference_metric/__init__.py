"""Metrics that are learned from people's preferences."""

from typing import TYPE_CHECKING, Any

from affectlab.models.preference_metric._data import PreferenceFeatures, preference_features
from affectlab.models.preference_metric._metric import PreferenceMetric
from affectlab.models.preference_metric._report import PreferenceReport
from affectlab.models.preference_metric._texts import PreferenceTexts, preference_texts

if TYPE_CHECKING:
    from affectlab.models.preference_metric._bart import TunedBartScore
    from affectlab.models.preference_metric._bart_cross import TuningReport

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

_WITH_TORCH = {"TunedBartScore": "_bart", "TuningReport": "_bart_cross"}


def __getattr__(name: str) -> Any:
    """Import what needs torch when it is asked for: logistic regression does without."""
    if name not in _WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WITH_TORCH[name]}"), name)
