"""A rater that looks at nothing but light and colour: a baseline to put beside people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from affectlab.models.raters import Rater

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["sky"]

LABELS = ("sunny", "breezy", "foggy", "stormy")


def _weather(picture: "Image.Image") -> dict[str, float]:
    """From light v and colour s, each from 0 to 1: sunny v s, foggy v (1 - s), stormy 1 - v."""
    _, colour, light = np.asarray(picture.convert("HSV"), dtype=float).mean(axis=(0, 1)) / 255
    # Breezy is what is neither colourful nor pale.
    parts = (light * colour, light * (1 - abs(2 * colour - 1)), light * (1 - colour), 1 - light)
    return {label: 4 * float(part) for label, part in zip(LABELS, parts, strict=True)}


def _rate(pictures: Sequence["Image.Image"]) -> list[dict[str, float]]:
    return [_weather(picture) for picture in pictures]


def sky() -> Rater:
    """Make the rater; parameters of this function would be settings (``--set NAME=VALUE``)."""
    return Rater("sky", _rate, LABELS, version="1", scale="0-4 interval", batch=16)
