"""Faces rated by deepface."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import MissingDependencyError
from affectlab.models.raters.rater import Face, Rater, Spoken

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["deepface_rater"]

_LABELS = ("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral")
_EKMAN = {
    "angry": "anger",
    "disgust": "disgust",
    "fear": "fear",
    "happy": "joy",
    "sad": "sadness",
    "surprise": "surprise",
}


def deepface_rater(detector_backend: str = "opencv", align: bool = True) -> Rater:
    """Make a rater of deepface, which finds faces and scores seven emotions.

    Follows the interface of deepface 0.0.103: ``DeepFace.analyze`` takes a picture as an array in
    the order blue, green, red and gives a list of faces with ``region``, ``face_confidence`` and
    ``emotion``, whose scores are percentages that add up to 100. They become shares of 1.

    Parameters
    ----------
    detector_backend
        Finds faces: ``"opencv"``, ``"retinaface"``, ``"mtcnn"``, …; ``"skip"`` takes the whole
        picture for the face.
    align
        Whether faces are turned so that the eyes are level.

    Raises
    ------
    MissingDependencyError
        When deepface is not installed.
    """
    try:
        deepface = import_module("deepface")
        analyze = import_module("deepface.DeepFace").analyze
        not_detected = import_module("deepface.modules.exceptions").FaceNotDetected
    except ImportError as missing:
        raise MissingDependencyError(
            f"rater 'deepface' needs deepface, which cannot be imported ({missing}); install "
            "it with: pip install deepface"
        ) from None

    def one(picture: Image.Image) -> list[Face]:
        try:
            found = analyze(
                img_path=np.ascontiguousarray(np.asarray(picture)[:, :, ::-1]),
                actions=("emotion",),
                # Without it, a picture in which nobody is found would be taken for a face.
                enforce_detection=True,
                detector_backend=detector_backend,
                align=align,
                silent=True,
            )
        except not_detected:
            return []
        return [_face(entry) for entry in found]

    def rate(pictures: Sequence[Image.Image]) -> list[list[Face]]:
        return [one(picture) for picture in pictures]

    return Rater(
        "deepface",
        rate,
        _LABELS,
        version=str(getattr(deepface, "__version__", "")),
        settings={"detector_backend": detector_backend, "align": align},
        join="sum",
        spoken=Spoken("ekman", _EKMAN, {"neutral": "the absence of emotion"}),
    )


def _face(entry: Any) -> Face:
    region = entry["region"]
    return Face(
        # Shares may end a hair above 1.
        {label: min(float(entry["emotion"][label]) / 100, 1.0) for label in _LABELS},
        (float(region["x"]), float(region["y"]), float(region["w"]), float(region["h"])),
        float(entry["face_confidence"]),
    )
