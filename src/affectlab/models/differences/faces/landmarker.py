"""What finds the parts of a face in a picture: an interface, and MediaPipe behind it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.types import Floats, Image

__all__ = ["FaceReading", "Landmarker", "MediaPipeLandmarker", "check_landmarker"]

_HINT = (
    "expected a file such as face_landmarker.task, which Google publishes; the package brings no "
    "model along"
)


@dataclass(frozen=True, eq=False)
class FaceReading:
    """What a landmarker found in one face."""

    landmarks: Floats
    """Places of points in pixels, shape (points, 2) or (points, 3)."""
    blendshapes: Mapping[str, float] = field(default_factory=dict)
    """How far each part of the face is moved, 0 to 1, by name; empty where it does not say."""


@runtime_checkable
class Landmarker(Protocol):
    """Finds the parts of a face."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides on what it finds."""
        ...

    def read(self, image: Image.Image) -> FaceReading | None:
        """Read the face in a picture in RGB; None where there is none."""
        ...


def check_landmarker(found: Any) -> Landmarker:
    """Check that something is a landmarker.

    Raises
    ------
    InputError
        When it has no name, fingerprint or read.
    """
    if isinstance(found, Landmarker) and callable(found.read):
        return found
    raise InputError(
        f"landmarker: {type(found).__name__}; expected an object with name, fingerprint and read"
    )


class MediaPipeLandmarker:
    """The face landmarker of MediaPipe: 478 points and 52 blendshape coefficients.

    Follows the tasks interface of mediapipe 0.10 to 1.2. Depth has the unit of width, and grows
    away from the camera.

    Parameters
    ----------
    model
        The ``.task`` file.
    confidence
        From which share on a face counts as found, 0 to 1.

    Raises
    ------
    InputError
        When there is no such file, or MediaPipe cannot use it.
    MissingDependencyError
        When mediapipe is not installed.

    Examples
    --------
    >>> MediaPipeLandmarker("nowhere.task")
    Traceback (most recent call last):
    affectlab.InputError: nowhere.task: there is no such file; expected a file such as
    face_landmarker.task, which Google publishes; the package brings no model along
    """

    name = "mediapipe"

    def __init__(self, model: str | Path, confidence: float = 0.5) -> None:
        place = Path(model)
        if not place.is_file():
            raise InputError(f"{place}: there is no such file; {_HINT}")
        if (
            isinstance(confidence, bool)
            or not isinstance(confidence, int | float)
            or not 0 < confidence <= 1
        ):
            raise InputError(f"confidence = {confidence!r}: expected a share above 0, up to 1")
        self._mediapipe = _installed()
        try:
            content = place.read_bytes()
        except OSError as error:
            raise InputError(f"{place} cannot be read ({error.strerror or error})") from None
        found = hashlib.sha256(content)
        found.update(f"{_version()} {confidence}".encode())
        self.fingerprint = found.hexdigest()[:32]
        self._landmarker = _landmarker(self._mediapipe, content, place, float(confidence))

    def read(self, image: Image.Image) -> FaceReading | None:
        """Read the face in a picture in RGB; None where there is none.

        Raises
        ------
        InputError
            When MediaPipe fails on the picture.
        """
        module = self._mediapipe
        pixels = np.ascontiguousarray(image, dtype=np.uint8)
        try:
            shown = module.Image(image_format=module.ImageFormat.SRGB, data=pixels)
            found = self._landmarker.detect(shown)
        except (ValueError, RuntimeError) as error:
            raise InputError(f"mediapipe fails on a picture ({_first(error)})") from None
        if not found.face_landmarks:
            return None
        # Three decimals of a pixel: more is noise, and less to be kept.
        size = np.array([image.width, image.height, image.width], dtype=np.float64)
        points = np.array([[one.x, one.y, one.z or 0.0] for one in found.face_landmarks[0]])
        shapes = found.face_blendshapes[0] if found.face_blendshapes else []
        return FaceReading(
            np.round(points * size, 3),
            {str(one.category_name): round(float(one.score), 6) for one in shapes},
        )


def _installed() -> Any:
    try:
        return import_module("mediapipe")
    except ImportError as missing:
        raise MissingDependencyError(
            "the landmarks and blendshapes of a picture need mediapipe: pip install mediapipe"
        ) from missing


def _version() -> str:
    try:
        return version("mediapipe")
    except PackageNotFoundError:
        return "unknown"


def _landmarker(module: Any, content: bytes, place: Path, confidence: float) -> Any:
    vision = module.tasks.vision
    options = vision.FaceLandmarkerOptions(
        base_options=module.tasks.BaseOptions(model_asset_buffer=content),
        num_faces=1,
        min_face_detection_confidence=confidence,
        output_face_blendshapes=True,
    )
    try:
        return vision.FaceLandmarker.create_from_options(options)
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{place}: mediapipe cannot use it ({_first(error)}); {_HINT}") from None


def _first(error: BaseException) -> str:
    return " ".join(str(error).split())[:160].rstrip(".") or type(error).__name__
