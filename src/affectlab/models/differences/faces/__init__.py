"""Differences of what a landmarker finds in two faces."""

from affectlab.models.differences.faces.landmarker import (
    FaceReading,
    Landmarker,
    MediaPipeLandmarker,
)

__all__ = [
    "FaceReading",
    "Landmarker",
    "MediaPipeLandmarker",
]
