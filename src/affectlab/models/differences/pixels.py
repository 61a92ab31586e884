"""Differences of pixels: mean squared and mean absolute error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.models.differences.metric import PreparedMetric

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["PixelDifference", "check_size", "check_yes_no", "mae", "mse", "pixels_of", "sizes_of"]

_SMALLEST = 16


def check_size(size: Any, metric: str) -> int | None:
    """Check the setting `size`, to which pictures are made smaller.

    Raises
    ------
    InputError
        When it is neither None nor a whole number from 16 on.
    """
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < _SMALLEST:
        raise InputError(
            f"metric {metric!r}: size = {size!r}: expected a whole number of pixels from "
            f"{_SMALLEST} on"
        )
    return size


def check_yes_no(value: Any, setting: str, metric: str) -> bool:
    """Check a setting that is True or False; raises InputError where it is neither."""
    if not isinstance(value, bool):
        raise InputError(f"metric {metric!r}: {setting} = {value!r}: expected true or false")
    return value


def pixels_of(image: Image.Image, size: int | None, *, grey: bool) -> NDArray[np.uint8]:
    """Give the pixels of a picture in RGB.

    Parameters
    ----------
    size
        Longer side in pixels to which larger pictures are made smaller; None: as they are.
    grey
        Whether to give the luma (ITU-R 601) instead of three colours.

    Returns
    -------
    ndarray
        Shape (height, width, 3), or (height, width) in grey.
    """
    from affectlab.stimuli.frames import View

    if size is not None:
        image = View(size=size).of(image)
    return np.asarray(image.convert("L") if grey else image)


def sizes_of(first: Any, second: Any) -> str:
    """Say that two pictures are not of one size; empty where they are."""
    if first.shape == second.shape:
        return ""
    sizes = [f"{one.shape[1]} x {one.shape[0]}" for one in (first, second)]
    return (
        f"the pictures have {sizes[0]} and {sizes[1]} pixels; expected one size, which this metric "
        "needs"
    )


class PixelDifference(PreparedMetric):
    """Mean squared or mean absolute error of pixels; made by :func:`mse` and :func:`mae`."""

    def __init__(self, name: Literal["mse", "mae"], *, size: Any, grey: Any) -> None:
        self.name = name
        self.version = "1"
        self._power = 2 if name == "mse" else 1
        self._size = check_size(size, name)
        self._grey = check_yes_no(grey, "grey", name)
        self.settings = {"size": self._size, "grey": self._grey}

    def prepare(self, pictures: Sequence[Image.Image]) -> list[NDArray[np.uint8]]:
        """Give the pixels of each picture."""
        return [pixels_of(picture, self._size, grey=self._grey) for picture in pictures]

    def apart(self, first: Any, second: Any) -> str:
        """Say that two pictures are not of one size."""
        return sizes_of(first, second)

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give the mean error of each pair, 0 to 1; shape (n,)."""
        return np.array(
            [self._error(one, other) for one, other in zip(first, second, strict=True)],
            dtype=np.float64,
        )

    def _error(self, first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
        # Whole numbers throughout: the sum is exact, whatever the order.
        gap = np.abs(first.astype(np.int32) - second)
        total = np.sum(gap * gap if self._power == 2 else gap, dtype=np.int64)
        return float(total) / float(255**self._power * gap.size)


def mse(size: int | None = None, grey: bool = False) -> PixelDifference:
    r"""Mean squared error of pixels.

    .. math:: \frac{1}{n} \sum_k (x_k - y_k)^2

    over all pixels and colours, with values from 0 to 1 (FaceExpressions-70k, section 4, Table 2).

    Parameters
    ----------
    size
        Longer side in pixels to which larger pictures are made smaller; None: as they are.
    grey
        Compare the luma instead of the three colours.

    Raises
    ------
    InputError
        When a setting cannot be used.

    Examples
    --------
    >>> from PIL import Image
    >>> black, white = Image.new("RGB", (8, 8)), Image.new("RGB", (8, 8), "white")
    >>> mse().differences([black, black], [black, white]).tolist()
    [0.0, 1.0]
    """
    return PixelDifference("mse", size=size, grey=grey)


def mae(size: int | None = None, grey: bool = False) -> PixelDifference:
    r"""Mean absolute error of pixels: :math:`\frac{1}{n} \sum_k |x_k - y_k|`.

    Values are from 0 to 1 (FaceExpressions-70k, section 4, Table 2).

    Parameters
    ----------
    size, grey
        As for :func:`mse`.

    Raises
    ------
    InputError
        When a setting cannot be used.

    Examples
    --------
    >>> from PIL import Image
    >>> dark, bright = (Image.new("RGB", (8, 8), (v, v, v)) for v in (0, 51))
    >>> mae().differences([dark], [bright]).tolist()
    [0.2]
    """
    return PixelDifference("mae", size=size, grey=grey)
