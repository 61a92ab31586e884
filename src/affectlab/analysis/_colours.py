"""Colours of labels, and mixes of them that stay readable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab._types import Floats

__all__ = ["GREY", "label_colours", "mixed_colours", "to_oklab", "to_rgb"]

GREY = "#9aa1a9"
"""Colour of stimuli for which no label was chosen, and of the neutral label."""

_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def to_oklab(rgb: Floats) -> Floats:
    """Turn sRGB in [0, 1], shape (n, 3), into OKLab (Ottosson 2020)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T)


def to_rgb(lab: Floats) -> Floats:
    """Turn OKLab, shape (n, 3), into sRGB in [0, 1]; less colourful where sRGB has no such."""
    pale = lab.copy()
    for _ in range(24):
        linear = (pale @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
        outside = ((linear < -1e-6) | (linear > 1 + 1e-6)).any(axis=1)
        if not outside.any():
            break
        pale[outside, 1:] *= 0.93
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def label_colours(n: int, grey: Sequence[int] = ()) -> list[str]:
    """Choose n colours around the hue circle, neighbours alike, every second one lighter.

    Parameters
    ----------
    grey
        Positions that are grey instead, such as that of the neutral label.
    """
    coloured = [k for k in range(n) if k not in set(grey)]
    turn = 2 * np.pi * (np.arange(len(coloured)) / max(len(coloured), 1) + 0.08)
    light = np.where(np.arange(len(coloured)) % 2, 0.75, 0.62)
    chroma = np.where(np.arange(len(coloured)) % 2, 0.13, 0.16)
    lab = np.column_stack([light, chroma * np.cos(turn), chroma * np.sin(turn)])
    colours = [GREY] * n
    for k, colour in zip(coloured, _hex(to_rgb(lab)), strict=True):
        colours[k] = colour
    return colours


def mixed_colours(weights: Floats, colours: Sequence[str]) -> list[str]:
    """Average colours in OKLab, in which equal steps look equal.

    Parameters
    ----------
    weights
        Shape (n, L); a row of zeros is grey.
    colours
        One per label, shape (L,).
    """
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in colours])
    total = weights.sum(axis=1, keepdims=True)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    mixed = _hex(to_rgb(share @ to_oklab(rgb)))
    return [colour if own > 0 else GREY for colour, own in zip(mixed, total[:, 0], strict=True)]


def _hex(rgb: Floats) -> list[str]:
    levels = np.rint(rgb * 255).astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in levels.tolist()]
