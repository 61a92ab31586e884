"""Pixels for encoders without weights: a part of an image at a fixed size."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import MissingDependencyError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Box", "cells", "grey", "skimage_feature"]

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of the largest square in the middle of an image."""


def skimage_feature() -> ModuleType:
    """Import the features of scikit-image.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    try:
        from skimage import feature
    except ImportError as missing:
        raise MissingDependencyError(
            'the encoders faces, hog and lbp need scikit-image: pip install "affectlab[vision]"'
        ) from missing
    found: ModuleType = feature
    return found


def grey(image: Image.Image, size: int, box: Box = (0.0, 0.0, 1.0, 1.0)) -> NDArray[np.uint8]:
    """Give a part of an image in grey, shape (size, size).

    Examples
    --------
    >>> from PIL import Image
    >>> grey(Image.new("RGB", (90, 40), (255, 0, 0)), 2)
    array([[76, 76],
           [76, 76]], dtype=uint8)
    """
    from PIL import Image

    side = min(image.size)
    left, top = (image.width - side) / 2, (image.height - side) / 2
    part = (
        *(left + side * box[0], top + side * box[1]),
        *(left + side * box[2], top + side * box[3]),
    )
    # A mean over what becomes one pixel: sharper filters ring at the edges of dark hair. Smaller
    # images are drawn larger smoothly.
    smaller = part[2] - part[0] < size
    how = Image.Resampling.BILINEAR if smaller else Image.Resampling.BOX
    return np.asarray(image.convert("L").resize((size, size), how, box=part))


def cells(size: int, per_side: int) -> NDArray[np.int64]:
    """Number the regions of a square image, row by row, for each of its pixels.

    Examples
    --------
    >>> cells(4, 2)
    array([[0, 0, 1, 1],
           [0, 0, 1, 1],
           [2, 2, 3, 3],
           [2, 2, 3, 3]])
    """
    place = np.arange(size) * per_side // size
    return place[:, None] * per_side + place[None, :]
