"""Faces rated by hsemotion-onnx."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from affectlab.core.errors import InputError, MissingDependencyError, check_choice
from affectlab.models.raters.rater import Face, Rater, Spoken

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["hsemotion_rater"]

_EKMAN = {
    "Anger": "anger",
    "Disgust": "disgust",
    "Fear": "fear",
    "Happiness": "joy",
    "Sadness": "sadness",
    "Surprise": "surprise",
}
_REASONS = {
    "Contempt": "an emotion that Ekman later set apart from the six",
    "Neutral": "the absence of emotion",
}
_FACES = ("opencv", "whole")
_CASCADE = "haarcascade_frontalface_default.xml"


def hsemotion_rater(
    model: str = "enet_b0_8_best_vgaf", faces: Literal["opencv", "whole"] = "opencv"
) -> Rater:
    """Make a rater of hsemotion-onnx, whose networks score seven or eight emotions of a face.

    Follows the interface of hsemotion-onnx 0.3.1: ``HSEmotionRecognizer(model_name=…)`` and its
    ``predict_emotions(face, logits=False)``, which takes a face as an array in the order red,
    green, blue and gives a label and the shares of ``idx_to_class``; models whose name has ``_mtl``
    add valence and arousal, which are left out. It finds no faces itself.

    Parameters
    ----------
    model
        Name of the network, such as ``"enet_b0_8_best_vgaf"`` or ``"enet_b2_7"``.
    faces
        ``"opencv"``: frontal faces are found by the cascade that OpenCV brings along, on which the
        package depends. ``"whole"``: the whole picture is the face.

    Raises
    ------
    InputError
        When a setting cannot be used, or the network cannot be loaded.
    MissingDependencyError
        When hsemotion-onnx is not installed.
    """
    check_choice("way to find faces", faces, _FACES, "rater 'hsemotion'")
    try:
        cv2 = import_module("cv2")
        recognizer = import_module("hsemotion_onnx.facial_emotions").HSEmotionRecognizer
    except ImportError as missing:
        raise MissingDependencyError(
            f"rater 'hsemotion' needs hsemotion-onnx, which cannot be imported ({missing}); "
            "install it with: pip install hsemotion-onnx"
        ) from None
    try:
        network = recognizer(model_name=model)
    # It looks for its weights at home and on the network, which fails in many ways.
    except Exception as problem:
        raise InputError(
            f"rater 'hsemotion': network {model!r} cannot be loaded "
            f"({type(problem).__name__}: {problem})"
        ) from problem
    labels = tuple(str(network.idx_to_class[place]) for place in range(len(network.idx_to_class)))
    cascade = None
    if faces == "opencv":
        cascade = cv2.CascadeClassifier(cv2.data.haarcascades + _CASCADE)

    def one(picture: Image.Image) -> list[Face]:
        pixels = np.asarray(picture)
        boxes = [(0, 0, picture.width, picture.height)]
        if cascade is not None:
            boxes = _boxes(cascade, pixels, cv2)
        return [_face(network, labels, pixels, box) for box in boxes]

    def rate(pictures: Sequence[Image.Image]) -> list[list[Face]]:
        return [one(picture) for picture in pictures]

    return Rater(
        "hsemotion",
        rate,
        labels,
        version=_version(),
        settings={"model": model, "faces": faces},
        join="sum",
        spoken=Spoken(
            "ekman",
            {label: _EKMAN[label] for label in labels if label in _EKMAN},
            {
                label: _REASONS.get(label, "no counterpart")
                for label in labels
                if label not in _EKMAN
            },
        ),
    )


def _boxes(cascade: Any, pixels: Any, cv2: Any) -> list[tuple[int, int, int, int]]:
    """Find frontal faces: left, top, width, height."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    found = cascade.detectMultiScale(grey, scaleFactor=1.1, minNeighbors=5)
    return [(int(left), int(top), int(wide), int(high)) for left, top, wide, high in found]


def _face(network: Any, labels: Sequence[str], pixels: Any, box: tuple[int, int, int, int]) -> Face:
    left, top, wide, high = box
    _, scores = network.predict_emotions(
        np.ascontiguousarray(pixels[top : top + high, left : left + wide]), logits=False
    )
    # Rounding of 32 bits may leave a hair above 1.
    shares = [min(max(float(score), 0.0), 1.0) for score in scores[: len(labels)]]
    return Face(dict(zip(labels, shares, strict=True)), tuple(float(edge) for edge in box))  # type: ignore[arg-type]


def _version() -> str:
    try:
        return version("hsemotion-onnx")
    except PackageNotFoundError:
        return ""
