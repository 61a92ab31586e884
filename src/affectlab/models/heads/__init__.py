"""Head banks: one small network per label on the embedding of an encoder.

Train a :class:`HeadBank` on embeddings and ratings, calibrate it on neutral stimuli, and let it
rate images; the answers are :class:`~affectlab.ratings.Ratings`. Heads need the extra ``models``,
which is imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.heads._intervals import Intervals, fit_intervals
from affectlab.models.heads._measure import head_agreement
from affectlab.models.heads._neutral import Neutral
from affectlab.models.heads._scale_map import ScaleMap, fit_scale_map, rising_knots
from affectlab.models.heads._shape import BIG, SMALL, HeadShape, head_shape
from affectlab.models.heads._targets import targets_from

if TYPE_CHECKING:
    from affectlab.models.heads._bank import HeadBank
    from affectlab.models.heads._calibrate import (
        CalibrationDroppedWarning,
        NotCalibratedWarning,
    )
    from affectlab.models.heads._fit import NotTrainedWarning
    from affectlab.models.heads._forward import predict_heads
    from affectlab.models.heads._sampling import HeadRows, balanced_rows
    from affectlab.models.heads._stage import Stage, StageResult, train_stage
    from affectlab.models.heads._weights import StackedWeights

__all__ = [
    "BIG",
    "SMALL",
    "CalibrationDroppedWarning",
    "HeadBank",
    "HeadRows",
    "HeadShape",
    "Intervals",
    "Neutral",
    "NotCalibratedWarning",
    "NotTrainedWarning",
    "ScaleMap",
    "StackedWeights",
    "Stage",
    "StageResult",
    "balanced_rows",
    "fit_intervals",
    "fit_scale_map",
    "head_agreement",
    "head_shape",
    "predict_heads",
    "rising_knots",
    "targets_from",
    "train_stage",
]

_LAZY = {
    "CalibrationDroppedWarning": "_calibrate",
    "HeadBank": "_bank",
    "HeadRows": "_sampling",
    "NotCalibratedWarning": "_calibrate",
    "NotTrainedWarning": "_fit",
    "StackedWeights": "_weights",
    "Stage": "_stage",
    "StageResult": "_stage",
    "balanced_rows": "_sampling",
    "predict_heads": "_forward",
    "train_stage": "_stage",
}


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is first used."""
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
