"""Differences of blendshape coefficients: how far each part of a face is moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.models.differences.distances import DISTANCES, TITLES, check_distance
from affectlab.models.differences.faces.face_metric import FaceMetric
from affectlab.models.differences.faces.landmarker import (
    FaceReading,
    Landmarker,
    MediaPipeLandmarker,
    check_landmarker,
)
from affectlab.models.differences.metric import Missing, check_file

__all__ = ["BlendshapeDifference", "blendshapes"]


class BlendshapeDifference(FaceMetric):
    """Distance of blendshape coefficients; made by :func:`blendshapes`."""

    def __init__(self, landmarker: Landmarker, distance: str) -> None:
        self._landmarker = landmarker
        self._distance = check_distance(distance, "blendshapes")
        self.name = f"blendshapes {TITLES[distance]}"
        self.version = landmarker.fingerprint
        self.settings = {"landmarker": landmarker.name, "distance": distance}

    def taken(self, reading: FaceReading) -> dict[str, float] | Missing:
        """Take the coefficients."""
        if not reading.blendshapes:
            return Missing(
                f"{self._landmarker.name} gives no blendshapes; expected a model that does"
            )
        return dict(reading.blendshapes)

    def apart(self, first: Any, second: Any) -> str:
        """Say that two faces have other coefficients."""
        return "" if first.keys() == second.keys() else "the faces have other coefficients"

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give the distance of each pair; shape (n,)."""
        rows = [
            np.array([[one[name] for name in sorted(one)] for one in side], dtype=np.float64)
            for side in (first, second)
        ]
        return DISTANCES[self._distance](*rows)


def blendshapes(
    model: str | Path | None = None,
    distance: str = "l1",
    confidence: float = 0.5,
    landmarker: Landmarker | None = None,
) -> BlendshapeDifference:
    """Distance of the 52 blendshape coefficients that MediaPipe reads from a face.

    A coefficient says how far a part of the face is moved, such as ``jawOpen`` or ``mouthPucker``
    (Lewis et al. 2014). In FaceExpressions-70k (section 4, Table 3) this came close to the best
    network, with the L1 distance. A picture without a face gets no value.

    Parameters
    ----------
    model
        The ``.task`` file of MediaPipe's face landmarker.
    distance
        ``"l1"``, the sum of absolute differences, or ``"cosine"``, 1 minus the cosine.
    confidence
        From which share on a face counts as found.
    landmarker
        Something else that finds faces, in the place of MediaPipe.

    Raises
    ------
    InputError
        When no file is named, MediaPipe cannot use it, or a setting cannot be used.
    MissingDependencyError
        When mediapipe is not installed.

    Examples
    --------
    >>> blendshapes()
    Traceback (most recent call last):
    affectlab.InputError: metric 'blendshapes' needs model=FILE: expected the .task file of
    MediaPipe's face landmarker
    """
    check_distance(distance, "blendshapes")
    if landmarker is not None:
        return BlendshapeDifference(check_landmarker(landmarker), distance)
    if model is None:
        raise InputError(
            "metric 'blendshapes' needs model=FILE: expected the .task file of MediaPipe's face "
            "landmarker"
        )
    place = check_file(model, "model", "blendshapes")
    return BlendshapeDifference(MediaPipeLandmarker(place, confidence), distance)
