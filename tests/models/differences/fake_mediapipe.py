"""A module in the place of mediapipe, with the parts of its tasks interface that are used.

Its landmarker finds a face wherever a picture is not all black. Blendshapes are shares of colour;
landmarks are those of :func:`face`, turned and moved by the colour of the first pixel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

SHAPES = ("_neutral", "jawOpen", "mouthSmileLeft", "mouthSmileRight")
MODEL = b"a model, for all the fake knows"


class ImageFormat(IntEnum):
    SRGB = 1


class Image:
    """As mediapipe.Image: an array of bytes that lie together."""

    def __init__(self, image_format: ImageFormat, data: np.ndarray) -> None:
        assert image_format is ImageFormat.SRGB
        if data.dtype != np.uint8 or data.ndim != 3 or not data.flags["C_CONTIGUOUS"]:
            raise ValueError("Unsupported numpy data")
        self.data = data


@dataclass
class BaseOptions:
    model_asset_path: str | None = None
    model_asset_buffer: bytes | None = None


@dataclass
class FaceLandmarkerOptions:
    base_options: BaseOptions
    running_mode: int = 1
    num_faces: int = 1
    min_face_detection_confidence: float = 0.5
    output_face_blendshapes: bool = False


@dataclass
class Seen:
    """What the fake was asked to do."""

    reads: int = 0
    options: list[FaceLandmarkerOptions] = field(default_factory=list)


def face(points: int = 478) -> np.ndarray:
    """Points of a face in shares of the picture, shape (points, 3)."""
    return np.random.default_rng(5).uniform(0.2, 0.8, (points, 3))


def module(seen: Seen) -> ModuleType:
    """Make the module; what it is asked to do is noted."""

    class FaceLandmarker:
        @classmethod
        def create_from_options(cls, options: FaceLandmarkerOptions) -> FaceLandmarker:
            seen.options.append(options)
            if options.base_options.model_asset_buffer != MODEL:
                raise RuntimeError("Unable to open zip archive.\n  trace")
            return cls()

        def detect(self, image: Image) -> Any:
            seen.reads += 1
            red, green, blue = image.data.reshape(-1, 3).mean(axis=0) / 255
            if red + green + blue == 0:
                return SimpleNamespace(face_landmarks=[], face_blendshapes=[])
            if red + green + blue == 3:
                raise RuntimeError("Graph has errors")
            scores = (0.0, red, green, blue)
            shapes = [
                SimpleNamespace(index=index, category_name=name, score=score)
                for index, (name, score) in enumerate(zip(SHAPES, scores, strict=True))
            ]
            moved = face() + [0, red / 10, 0] * (np.arange(478) % 2)[:, None]
            points = [SimpleNamespace(x=x, y=y, z=z) for x, y, z in moved.tolist()]
            return SimpleNamespace(face_landmarks=[points], face_blendshapes=[shapes])

    made = ModuleType("mediapipe")
    vision = SimpleNamespace(
        FaceLandmarker=FaceLandmarker, FaceLandmarkerOptions=FaceLandmarkerOptions
    )
    vars(made).update(
        Image=Image,
        ImageFormat=ImageFormat,
        tasks=SimpleNamespace(BaseOptions=BaseOptions, vision=vision),
    )
    return made


def installed(patch: pytest.MonkeyPatch) -> Seen:
    """Put the fake where Python looks for mediapipe."""
    seen = Seen()
    patch.setitem(__import__("sys").modules, "mediapipe", module(seen))
    return seen
