"""Head banks: one small network per label on the embedding of an encoder.

Train a :class:`HeadBank` on embeddings and ratings, calibrate it on neutral stimuli, and let it
rate images; the answers are :class:`~affectlab.ratings.Ratings`. Heads need the extra ``models``,
which is imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.heads.agreement import head_agreement
from affectlab.models.heads.calibration import (
    Intervals,
    Neutral,
    ScaleMap,
    fit_intervals,
    fit_scale_map,
    rising_knots,
)
from affectlab.models.heads.shape import BIG, SMALL, HeadShape, head_shape
from affectlab.models.heads.targets import targets_from

if TYPE_CHECKING:
    from affectlab.models.heads.bank import HeadBank, rated_part
    from affectlab.models.heads.calibration import CalibrationDroppedWarning, NotCalibratedWarning
    from affectlab.models.heads.data import HeadData, stimulus_values
    from affectlab.models.heads.fit import NotTrainedWarning, train_stage
    from affectlab.models.heads.sampling import HeadRows, balanced_rows
    from affectlab.models.heads.stacked import predict_heads
    from affectlab.models.heads.stage import Stage, StageResult
    from affectlab.models.heads.weights import StackedWeights

__all__ = [
    "BIG",
    "SMALL",
    "CalibrationDroppedWarning",
    "HeadBank",
    "HeadData",
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
    "rated_part",
    "rising_knots",
    "stimulus_values",
    "targets_from",
    "train_stage",
]

_LAZY = {
    "CalibrationDroppedWarning": "calibration",
    "HeadBank": "bank",
    "HeadData": "data",
    "HeadRows": "sampling",
    "NotCalibratedWarning": "calibration",
    "NotTrainedWarning": "fit",
    "StackedWeights": "weights",
    "Stage": "stage",
    "StageResult": "stage",
    "balanced_rows": "sampling",
    "predict_heads": "stacked",
    "rated_part": "bank",
    "stimulus_values": "data",
    "train_stage": "fit",
}


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is first used."""
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
