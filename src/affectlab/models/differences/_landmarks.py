"""Differences of the geometry of faces: how far their landmarks lie apart."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.models.differences._faces import FaceMetric
from affectlab.models.differences._features import FeatureMetric, PairPicture, Progress
from affectlab.models.differences._geometry import (
    check_points,
    landmark_differences,
    layout_of,
)
from affectlab.models.differences._landmarker import (
    FaceReading,
    Landmarker,
    MediaPipeLandmarker,
    check_landmarker,
)
from affectlab.models.differences._landmarks_file import LandmarkFile, read_landmarks
from affectlab.models.differences._metric import Missing, check_file
from affectlab.models.differences._prepared import PreparedMetric

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["FiledLandmarks", "LandmarkDifference", "landmarks"]

_NAMED = ("stable", "left_eye", "right_eye", "points")


class _Geometry(PreparedMetric):
    """Compares landmarks, wherever they are from."""

    name = "landmarks"
    _chosen: dict[str, tuple[int, ...] | None]

    def apart(self, first: Any, second: Any) -> str:
        """Say that two faces have other landmarks."""
        if first.shape == second.shape:
            return ""
        return f"landmarks of shape {first.shape} and {second.shape}; expected the same"

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give the mean distance of the landmarks of each pair; shape (n,)."""
        a, b = np.stack(first), np.stack(second)
        points = self._chosen["points"]
        named = {name: self._chosen[name] for name in _NAMED[:3]}
        layout = layout_of(a.shape[1], **named)
        if points is not None:
            check_points("points", points, a.shape[1])
        return landmark_differences(a, b, layout, points)


class LandmarkDifference(_Geometry, FaceMetric):
    """Distance of landmarks that a landmarker finds; made by :func:`landmarks`."""

    def __init__(self, landmarker: Landmarker, chosen: dict[str, tuple[int, ...] | None]) -> None:
        self._landmarker = landmarker
        self._chosen = chosen
        self.version = landmarker.fingerprint
        self.settings = {"landmarker": landmarker.name, **_said(chosen)}

    def taken(self, reading: FaceReading) -> Floats:
        """Take the landmarks.

        Raises
        ------
        InputError
            When they are no points.
        """
        found = np.asarray(reading.landmarks, dtype=np.float64)
        if found.ndim != 2 or found.shape[1] not in (2, 3) or not np.isfinite(found).all():
            raise InputError(
                f"landmarker {self._landmarker.name!r} gave landmarks of shape {found.shape}; "
                "expected finite numbers of shape (points, 2) or (points, 3)"
            )
        return found


class FiledLandmarks(_Geometry, FeatureMetric):
    """Distance of landmarks that are in a file; made by :func:`landmarks`."""

    def __init__(self, held: LandmarkFile, chosen: dict[str, tuple[int, ...] | None]) -> None:
        self._held = held
        self._chosen = chosen
        found = hashlib.sha256()
        for name in sorted(held.by_file):
            found.update(f"{name}\0".encode())
            found.update(held.by_file[name].tobytes())
        self.version = found.hexdigest()[:32]
        self.settings = {"file": Path(held.where).name, **_said(chosen)}
        # What does not fit is refused before any pair is.
        layout_of(held.shape[0], *(chosen[name] for name in _NAMED[:3]))

    def prepare(self, pictures: Sequence[Image.Image]) -> list[Any]:  # noqa: ARG002
        """Refuse pictures, which nothing in the file tells from one another.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            f"metric {self.name!r}: {self._held.where} names landmarks by files, which pictures in "
            "memory have not; expected rate_differences, or model=FILE to find landmarks"
        )

    def features_of(
        self,
        pictures: Sequence[PairPicture],
        cache: Path | None,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Look the landmarks of pictures up."""
        found: dict[str, Any] = {}
        for picture in pictures:
            points = self._held.of(picture.names)
            found[picture.sha256] = (
                Missing(f"{self._held.where} has no landmarks of it", "empty")
                if points is None
                else points
            )
        return found


def _said(chosen: dict[str, tuple[int, ...] | None]) -> dict[str, Any]:
    return {name: list(part) for name, part in chosen.items() if part is not None}


def landmarks(
    model: str | Path | None = None,
    file: str | Path | None = None,
    stable: Sequence[int] | None = None,
    left_eye: Sequence[int] | None = None,
    right_eye: Sequence[int] | None = None,
    points: Sequence[int] | None = None,
    confidence: float = 0.5,
    landmarker: Landmarker | None = None,
) -> LandmarkDifference | FiledLandmarks:
    """Mean distance of the landmarks of two faces, in eye distances.

    Position, size and rotation of the face are taken away: see
    :func:`affectlab.models.differences._geometry.aligned`. With landmarks in three dimensions,
    as MediaPipe gives them, turning the head is taken away, too.

    Parameters
    ----------
    model
        The ``.task`` file of MediaPipe's face landmarker.
    file
        Landmarks that something else has found:
        :func:`affectlab.models.differences._landmarks_file.read_landmarks` says how.
    stable, left_eye, right_eye
        Numbers of points that hardly move, and of those around each eye; needed where there are
        neither 478, 468 nor 68 points.
    points
        Numbers of the points that count, such as those of the mouth; None: all.
    confidence
        From which share on a face counts as found.
    landmarker
        Something else that finds faces, in the place of MediaPipe.

    Raises
    ------
    InputError
        When not exactly one source of landmarks is named, or a setting cannot be used.
    MissingDependencyError
        When mediapipe is needed and not installed.

    Examples
    --------
    >>> landmarks()
    Traceback (most recent call last):
    affectlab.errors.InputError: metric 'landmarks' needs model=FILE, the .task file of MediaPipe's
    face landmarker, or file=FILE, landmarks by file; expected one of the two
    """
    given = dict(zip(_NAMED, (stable, left_eye, right_eye, points), strict=True))
    chosen = {name: _numbers(name, part) for name, part in given.items()}
    sources = [source for source in (model, file, landmarker) if source is not None]
    if len(sources) != 1:
        raise InputError(
            "metric 'landmarks' needs model=FILE, the .task file of MediaPipe's face landmarker, "
            "or file=FILE, landmarks by file; expected one of the two"
        )
    if file is not None:
        return FiledLandmarks(read_landmarks(check_file(file, "file", "landmarks")), chosen)
    if landmarker is not None:
        return LandmarkDifference(check_landmarker(landmarker), chosen)
    place = check_file(model, "model", "landmarks")
    return LandmarkDifference(MediaPipeLandmarker(place, confidence), chosen)


def _numbers(name: str, given: Any) -> tuple[int, ...] | None:
    if given is None:
        return None
    try:
        found = tuple(given)
    except TypeError:
        found = ()
    if not found or any(isinstance(one, bool) or not isinstance(one, int) for one in found):
        raise InputError(
            f"metric 'landmarks': {name} = {given!r}: expected numbers of points, such as [33, 133]"
        )
    return found
