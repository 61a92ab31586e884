"""Differences of what a landmarker finds in two faces."""

from affectlab.models.differences.faces.landmarker import (
    FaceReading as FaceReading,
    Landmarker as Landmarker,
    MediaPipeLandmarker as MediaPipeLandmarker,
)
