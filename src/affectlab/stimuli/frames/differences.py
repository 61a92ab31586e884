"""How different two pictures are: by the pixels, or by any function that is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.stimuli.frames.pictures import UnusableError, View
from affectlab.stimuli.frames.transition import Transition, kept_at_once

__all__ = ["DIFFERENCES", "Difference", "GreyDifference", "Looks", "difference_of", "name_of"]

Difference = Callable[[Image.Image, Image.Image], float]
"""Says how different two pictures are, 0 for the same; they are upright, RGB and of one size."""

_SIDE = 128
"""Longer side of the grey pictures that are compared, in pixels."""
_MOST_SMALL = 100_000_000
"""Pixels of the grey pictures of one transition, eight bytes each: 0.8 GB, or 6,000 frames."""
_WINDOW = 11
_SIGMA = 1.5
_K1, _K2 = 0.01, 0.03


@dataclass(frozen=True)
class GreyDifference:
    """A difference of small grey pictures.

    Steps from frame to frame add up only where a difference behaves like a distance. So both are
    roots: the mean square error, and 1 - SSIM, grow with the square of a small change, and at half
    the frame rate their sum over a film would be twice as large.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> ssim = DIFFERENCES["ssim"]
    >>> faces = [draw_face("joy", intensity, size=64) for intensity in (0, 0.2, 1)]
    >>> ssim(faces[0], faces[0]), ssim(faces[0], faces[1]) < ssim(faces[0], faces[2])
    (0.0, True)
    """

    name: str
    compare: Callable[[Floats, Floats], float]
    """Takes two grey pictures of shape (height, width), values from 0 to 1."""

    def __call__(self, first: Image.Image, second: Image.Image) -> float:
        """Compare two pictures of the same size."""
        return self.compare(self.prepare(first), self.prepare(second))

    def prepare(self, image: Image.Image) -> Floats:
        """Make a picture grey and small: shape (height, width), longer side at most 128.

        Raises
        ------
        UnusableError
            When a side has fewer than 11 pixels.
        """
        grey = image.convert("L")
        longer = max(grey.size)
        if longer > _SIDE:
            width, height = (max(1, round(side * _SIDE / longer)) for side in grey.size)
            grey = grey.resize((width, height), Image.Resampling.BOX)
        if min(grey.size) < _WINDOW:
            raise UnusableError(
                f"pictures of {image.width} x {image.height} pixels are too small or too narrow "
                f"to compare; expected {_WINDOW} on the shorter side where the longer has {_SIDE}"
            )
        return np.asarray(grey, dtype=np.float64) / 255


def _rmse(first: Floats, second: Floats) -> float:
    return float(np.sqrt(np.mean((first - second) ** 2)))


def _ssim(first: Floats, second: Floats) -> float:
    r"""Give :math:`\sqrt{1 - \mathrm{SSIM}}`.

    Windows are Gaussian of 1.5 pixels (11 x 11) and stay within the picture, as in Wang et al.
    (2004), with :math:`K_1 = .01, K_2 = .03`.
    """
    from scipy.ndimage import gaussian_filter

    def mean(values: Floats) -> Floats:
        inner = slice(_WINDOW // 2, -(_WINDOW // 2))
        # Cut at 5 pixels on each side, so that windows have 11.
        found: Floats = gaussian_filter(values, _SIGMA, radius=_WINDOW // 2)[inner, inner]
        return found

    a, b = mean(first), mean(second)
    var_a, var_b = mean(first * first) - a * a, mean(second * second) - b * b
    both = mean(first * second) - a * b
    c1, c2 = _K1**2, _K2**2
    like = ((2 * a * b + c1) * (2 * both + c2)) / ((a * a + b * b + c1) * (var_a + var_b + c2))
    return math.sqrt(max(0.0, 1.0 - float(like.mean())))


DIFFERENCES = {
    one.name: one for one in (GreyDifference("ssim", _ssim), GreyDifference("rmse", _rmse))
}
"""Differences by name: ``ssim``, the root of 1 - SSIM, and ``rmse``, the root mean square error."""


def difference_of(difference: str | Difference) -> Difference:
    """Look a difference up by its name; a function is its own.

    Raises
    ------
    InputError
        When no difference has the name.
    """
    if callable(difference):
        return difference
    check_choice("difference", difference, DIFFERENCES)
    return DIFFERENCES[difference]


def name_of(difference: Difference) -> str:
    """Name a difference in records."""
    return str(getattr(difference, "name", getattr(difference, "__qualname__", repr(difference))))


class Looks:
    """Frames of one transition as a difference sees them.

    Pictures for the built-in differences are small and stay in memory, so that each frame is
    opened once; for any other function frames are opened as they are needed.
    """

    def __init__(self, transition: Transition, view: View, difference: Difference) -> None:
        self._transition = transition
        self._view = view
        self._difference = difference
        self._kept: list[Floats] | None = None

    def __len__(self) -> int:
        return len(self._transition.frames)

    def steps(self) -> Floats:
        """Compare each frame with the next, as filmed: shape (n - 1,)."""
        if isinstance(self._difference, GreyDifference):
            seen = self._prepared(self._difference)
            return self._checked(map(self._difference.compare, seen, seen[1:]))
        images = self._transition.images(range(len(self)), self._view)
        found, before = [], next(images)
        for image in images:
            found.append(self._difference(before, image))
            before = image
        return self._checked(found)

    def from_frame(self, index: int) -> Floats:
        """Compare one frame with every frame: shape (n,)."""
        if isinstance(self._difference, GreyDifference):
            seen = self._prepared(self._difference)
            return self._checked(self._difference.compare(seen[index], other) for other in seen)
        (anchor,) = self._transition.images([index], self._view)
        images = self._transition.images(range(len(self)), self._view)
        return self._checked(self._difference(anchor, image) for image in images)

    def among(self, indices: Sequence[int]) -> Floats:
        """Compare some frames with one another: shape (k, k)."""
        k = len(indices)
        found = np.zeros((k, k))
        # In the order in which they were filmed, so that no more than one has to wait.
        wanted = sorted(set(indices))
        images = self._transition.images(wanted, self._view)
        compare: Callable[[Any, Any], float] = self._difference
        seen: dict[int, Any]
        if isinstance(self._difference, GreyDifference):
            compare = self._difference.compare
            seen = dict(zip(wanted, map(self._difference.prepare, images), strict=True))
        else:
            seen = dict(zip(wanted, kept_at_once(images), strict=True))
        for first in range(k):
            for second in range(first):
                value = self._checked([compare(seen[indices[first]], seen[indices[second]])])[0]
                found[first, second] = found[second, first] = value
        return found

    def _prepared(self, difference: GreyDifference) -> list[Floats]:
        if self._kept is None:
            images = self._transition.images(range(len(self)), self._view)
            kept: list[Floats] = []
            pixels = 0
            for image in images:
                kept.append(difference.prepare(image))
                pixels += kept[-1].size
                if pixels > _MOST_SMALL:
                    raise UnusableError(
                        f"{len(self):,} frames are too many to compare; expected one transition"
                    )
            self._kept = kept
        return self._kept

    def _checked(self, values: Iterable[Any]) -> Floats:
        given = list(values)
        try:
            found = np.array([float(value) for value in given], dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InputError(
                f"the difference {name_of(self._difference)!r} gave no number ({problem})"
            ) from None
        if not (np.isfinite(found).all() and (found >= 0).all()):
            raise InputError(
                f"the difference {name_of(self._difference)!r} gave "
                f"{found[~(np.isfinite(found) & (found >= 0))][0]}; expected numbers from 0 up"
            )
        return found
