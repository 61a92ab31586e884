"""Faces rated by py-feat."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from affectlab.core.errors import InputError, MissingDependencyError, check_choice
from affectlab.models.raters.rater import Face, Rater, Spoken

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["pyfeat_rater"]

_LABELS = {
    "v2": ("Neutral", "Happy", "Sad", "Surprise", "Fear", "Disgust", "Anger"),
    "v1": ("anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral"),
}
"""Columns of emotions of each detector."""
_DETECTORS = {"v2": "Detectorv2", "v1": "Detectorv1"}
_EKMAN = {
    "anger": "anger",
    "disgust": "disgust",
    "fear": "fear",
    "happy": "joy",
    "happiness": "joy",
    "sad": "sadness",
    "sadness": "sadness",
    "surprise": "surprise",
}


def pyfeat_rater(
    detector: Literal["v2", "v1"] = "v2",
    device: str = "cpu",
    threshold: float = 0.5,
    batch: int = 8,
) -> Rater:
    """Make a rater of py-feat, whose detector finds faces and scores seven emotions.

    Follows the interface of py-feat 2.1 (``Detectorv2`` and ``Detectorv1``, ``detect(files,
    data_type="image", …)``, which gives a ``Fex`` with the columns ``input``, ``FaceRectX`` to
    ``FaceScore`` and those of its emotions). Scores are shares that add up to 1.

    Parameters
    ----------
    detector
        ``"v2"``, one network for everything, or ``"v1"``, whose emotions come from ResMaskNet.
    device
        Where it runs: ``"cpu"``, ``"cuda"``, ``"mps"`` or ``"auto"``.
    threshold
        Confidence from which on something counts as a face, in [0, 1].
    batch
        Pictures that it is given at a time.

    Raises
    ------
    InputError
        When a setting cannot be used.
    MissingDependencyError
        When py-feat is not installed.
    """
    check_choice("detector", detector, _DETECTORS, "rater 'pyfeat'")
    if not 0 <= threshold <= 1:
        raise InputError(f"rater 'pyfeat': threshold = {threshold}; expected 0 to 1")
    try:
        feat = import_module("feat")
    except ImportError as missing:
        raise MissingDependencyError(
            f"rater 'pyfeat' needs py-feat, which cannot be imported ({missing}); install it "
            "with: pip install py-feat"
        ) from None
    kind = getattr(feat, _DETECTORS[detector], None)
    version = str(getattr(feat, "__version__", ""))
    if kind is None:
        raise InputError(
            f"rater 'pyfeat': py-feat {version} has no {_DETECTORS[detector]}; expected "
            "version 2.1 or later"
        )
    # Who a face belongs to is not asked, and the embedding that would tell is not made.
    found = kind(device=device, identity_model=None)
    labels = _LABELS[detector]
    targets = {own: _EKMAN[own.lower()] for own in labels if own.lower() in _EKMAN}
    neutral = next(own for own in labels if own.lower() == "neutral")

    def rate(pictures: Sequence[Image.Image]) -> list[list[Face]]:
        return _rated(found, labels, threshold, pictures)

    return Rater(
        "pyfeat",
        rate,
        labels,
        version=version,
        settings={"detector": detector, "threshold": threshold},
        batch=batch,
        join="sum",
        spoken=Spoken("ekman", targets, {neutral: "the absence of emotion"}),
    )


def _rated(
    detector: Any, labels: Sequence[str], threshold: float, pictures: Sequence[Image.Image]
) -> list[list[Face]]:
    """Hand the pictures over as files, and sort the rows by them."""
    with tempfile.TemporaryDirectory(prefix="affectlab-") as folder:
        files = [str(Path(folder) / f"{row}.png") for row in range(len(pictures))]
        for picture, file in zip(pictures, files, strict=True):
            picture.save(file)
        # One at a time: pictures of several sizes make no batch.
        fex = detector.detect(
            files,
            data_type="image",
            batch_size=1,
            face_detection_threshold=threshold,
            progress_bar=False,
        )
        faces: dict[str, list[Face]] = {file: [] for file in files}
        for row in fex.to_dict("records"):
            box = [float(row[f"FaceRect{edge}"]) for edge in ("X", "Y", "Width", "Height")]
            # A picture without a face has a row without a box.
            if any(math.isnan(edge) for edge in box):
                continue
            scores = {label: float(row[label]) for label in labels}
            place = (box[0], box[1], box[2], box[3])
            faces[str(row["input"])].append(Face(scores, place, float(row["FaceScore"])))
    return list(faces.values())
