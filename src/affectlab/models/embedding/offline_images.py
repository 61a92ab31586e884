"""Encoders of images that need no weights: directions of edges, and local patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.embedding.encoder import Encoder, Kind, digest
from affectlab.models.embedding.projections import projection
from affectlab.models.embedding.settings import HogSettings, LbpSettings

if TYPE_CHECKING:
    from PIL import Image
    from scipy.sparse import csr_array


__all__ = [
    "FACE_WIDTH",
    "Box",
    "OfflineImages",
    "cells",
    "edges",
    "faces_encoder",
    "grey",
    "hog_encoder",
    "lbp_encoder",
    "skimage_feature",
]

# Pixels for encoders without weights: a part of an image at a fixed size.


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
            f"the encoders faces, hog and lbp need scikit-image: {install_line('vision')}"
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


FACE_WIDTH = 1152
"""Numbers per face: as many as SigLIP2-so400m gives, so that heads have the sizes of the paper."""

_VERSION = 1
"""Raised whenever the numbers change."""
_FACE_BOX: Box = (0.2, 0.23, 0.8, 0.83)
"""Brows to chin of a centred face: hair, clothes and what is behind stay outside."""
_FACE_SIZE, _FACE_CELL, _FACE_ORIENTATIONS = 160, 8, 8
_WINDOW_CENTRE, _WINDOW_SPREAD = (0.5, 0.57), (0.13, 0.17)
"""Where numbers count most, and how fast they count less outwards, as shares of the square."""
_MEAN, _SPREAD = 0.16, 0.26
"""Of roots of normalised edges in pictures of faces; the same for all, and not fitted to any."""
_FAINT = 0.1
"""Share of the mean energy of edges that is taken for noise."""
_CODES = 10
"""Uniform patterns of 8 neighbours, up to turns, and all others as one."""


@dataclass(frozen=True, eq=False)
class OfflineImages:
    """An encoder that computes each image by itself."""

    name: str
    width: int
    settings: Mapping[str, Any]
    compute: Callable[[Image.Image], NDArray[np.float32]] = field(repr=False)
    kind: ClassVar[Kind] = "image"
    batch: ClassVar[int] = 64

    @property
    def fingerprint(self) -> str:
        """Hash of what decides on the numbers."""
        return digest(self.name, _VERSION, sorted(self.settings.items()))

    def encode(self, batch: Sequence[Image.Image]) -> NDArray[np.float32]:
        """Give one row per image, shape (n, width)."""
        found = np.empty((len(batch), self.width), dtype=np.float32)
        for row, image in enumerate(batch):
            found[row] = self.compute(image)
        return found


def edges(values: NDArray[Any], cell: int, orientations: int) -> NDArray[np.float64]:
    """Give the directions of edges in the cells of a grey image, normalised by their surroundings.

    Histograms of oriented gradients (Dalal and Triggs 2005): in each cell, gradients count by their
    direction. A cell is divided by the root of the mean energy of the 3 x 3 cells around it, to
    which a tenth of that of the whole image is added, so that neither light nor the tone of skin
    counts, and flat parts stay flat. Roots are taken of the result, which makes differences of
    faint edges count as much as those of strong ones.

    Parameters
    ----------
    values
        Shape (size, size).

    Returns
    -------
    ndarray
        Shape (size / cell, size / cell, orientations), not negative; zero in an even image.

    Examples
    --------
    >>> stripes = np.tile([0, 0, 255, 255], (16, 4))
    >>> edges(stripes, 8, 4).argmax(axis=-1)
    array([[0, 0],
           [0, 0]])
    """
    per_side = values.shape[0] // cell
    found = skimage_feature().hog(
        np.asarray(values, dtype=np.float64),
        orientations=orientations,
        pixels_per_cell=(cell, cell),
        # One block of all cells: what normalises them is done below, for all at once.
        cells_per_block=(per_side, per_side),
        block_norm="L2",
        feature_vector=False,
    )[0, 0]
    energy = (found**2).sum(axis=-1)
    padded = np.pad(energy, 1, mode="edge")
    around = sum(
        padded[row : row + per_side, column : column + per_side]
        for row in range(3)
        for column in range(3)
    )
    noise = _FAINT * energy.mean()
    scale = np.sqrt(around / 9 + noise)
    found = np.sqrt(found / np.where(scale > 0, scale, 1.0)[..., None])
    return np.asarray(found, dtype=np.float64)


def faces_encoder() -> Encoder:
    """Make the encoder ``faces``: edges of the middle of a face in a fixed projection.

    The part from the brows to the chin of a centred face is brought to 160 x 160 pixels and its
    edges are counted in 8 directions and 20 x 20 cells (:func:`edges`). Numbers count by a window
    that is highest between nose and mouth and falls off as a normal curve does, so that a fringe
    counts less than a brow. The 3,200 numbers are brought to 1,152 by a fixed sparse random
    projection, which keeps distances up to a few percent.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> calm, glad, other = (
    ...     draw_face(expression, 1.0, person)
    ...     for expression, person in (("neutral", 3), ("joy", 3), ("joy", 3))
    ... )
    >>> rows = faces_encoder().encode([calm, glad, other])
    >>> rows.shape, bool((rows[1] == rows[2]).all()), bool((rows[0] == rows[1]).all())
    ((3, 1152), True, False)
    """
    skimage_feature()
    settings = {
        "size": _FACE_SIZE,
        "cell": _FACE_CELL,
        "orientations": _FACE_ORIENTATIONS,
        "box": list(_FACE_BOX),
        "window": [*_WINDOW_CENTRE, *_WINDOW_SPREAD],
    }
    return OfflineImages("faces", FACE_WIDTH, settings, _face)


def _face(image: Image.Image) -> NDArray[np.float32]:
    found = edges(grey(image, _FACE_SIZE, _FACE_BOX), _FACE_CELL, _FACE_ORIENTATIONS)
    weighed = (found - _MEAN) / _SPREAD * _window()[..., None]
    row: NDArray[np.float64] = _projected() @ weighed.ravel()
    return row.astype(np.float32)


@cache
def _window() -> NDArray[np.float64]:
    """Weights of cells, shape (20, 20), of mean square 1."""
    share = (np.arange(_FACE_SIZE // _FACE_CELL) + 0.5) * _FACE_CELL / _FACE_SIZE
    across, down = (
        np.exp(-0.5 * (((low + (high - low) * share) - middle) / spread) ** 2)
        for low, high, middle, spread in (
            (_FACE_BOX[0], _FACE_BOX[2], _WINDOW_CENTRE[0], _WINDOW_SPREAD[0]),
            (_FACE_BOX[1], _FACE_BOX[3], _WINDOW_CENTRE[1], _WINDOW_SPREAD[1]),
        )
    )
    found = down[:, None] * across[None, :]
    return np.asarray(found / np.sqrt(np.mean(found**2)), dtype=np.float64)


@cache
def _projected() -> csr_array:
    per_side = _FACE_SIZE // _FACE_CELL
    return projection(per_side**2 * _FACE_ORIENTATIONS, FACE_WIDTH)


def hog_encoder(chosen: HogSettings) -> Encoder:
    """Make the encoder ``hog``: edges of the largest square in the middle of an image.

    Raises
    ------
    InputError
        When the size is no multiple of the cell.

    Examples
    --------
    >>> hog_encoder(HogSettings(size=64, cell=16, orientations=6)).width
    96
    """
    if chosen.size % chosen.cell:
        raise InputError(
            f"encoder 'hog': size = {chosen.size} is no multiple of cell = {chosen.cell}"
        )
    skimage_feature()

    def compute(image: Image.Image) -> NDArray[np.float32]:
        found = edges(grey(image, chosen.size), chosen.cell, chosen.orientations)
        return ((found.ravel() - _MEAN) / _SPREAD).astype(np.float32)

    per_side = chosen.size // chosen.cell
    width = per_side**2 * chosen.orientations
    return OfflineImages("hog", width, chosen.model_dump(), compute)


def lbp_encoder(chosen: LbpSettings) -> Encoder:
    """Make the encoder ``lbp``: how often each local pattern occurs in the regions of an image.

    Uniform local binary patterns (Ojala, Pietikäinen and Mäenpää 2002): each pixel is compared with
    8 neighbours at several distances, and only the signs count, so that light that is stronger or
    weaker everywhere changes nothing. Roots of shares are centred and scaled, the same for all
    images.

    Raises
    ------
    InputError
        When the size is no multiple of the grid, or a radius reaches beyond a region.

    Examples
    --------
    >>> lbp_encoder(LbpSettings(size=64, grid=4, radii=(1, 2))).width
    320
    """
    if chosen.size % chosen.grid:
        raise InputError(
            f"encoder 'lbp': size = {chosen.size} is no multiple of grid = {chosen.grid}"
        )
    pattern = skimage_feature().local_binary_pattern
    place = cells(chosen.size, chosen.grid) * _CODES
    per_cell = (chosen.size // chosen.grid) ** 2
    n = chosen.grid**2 * _CODES

    def compute(image: Image.Image) -> NDArray[np.float32]:
        values = grey(image, chosen.size)
        found = [
            np.bincount(
                (place + pattern(values, 8, radius, "uniform").astype(np.int64)).ravel(),
                minlength=n,
            )
            for radius in chosen.radii
        ]
        # Were all patterns as frequent, roots of shares would be the root of a tenth.
        even = np.sqrt(1 / _CODES)
        row: NDArray[np.float64] = np.sqrt(np.concatenate(found) / per_cell) / even - 1
        return row.astype(np.float32)

    settings = {**chosen.model_dump(), "radii": list(chosen.radii)}
    return OfflineImages("lbp", n * len(chosen.radii), settings, compute)
