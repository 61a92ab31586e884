"""Differences of the geometry of faces: how far their landmarks lie apart."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.files.csv import read_table
from affectlab.core.types import Floats
from affectlab.core.words import shown
from affectlab.models.differences.faces.face_metric import FaceMetric
from affectlab.models.differences.faces.landmarker import (
    FaceReading,
    Landmarker,
    MediaPipeLandmarker,
    check_landmarker,
)
from affectlab.models.differences.metric import (
    FeatureMetric,
    Missing,
    PairPicture,
    PreparedMetric,
    Progress,
    check_file,
)
from affectlab.models.runs import load_arrays

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "LAYOUTS",
    "FiledLandmarks",
    "LandmarkDifference",
    "LandmarkFile",
    "Layout",
    "aligned",
    "check_points",
    "eye_distance",
    "landmark_differences",
    "landmarks",
    "layout_of",
    "read_landmarks",
]

# How far the points of two faces lie apart, once position, size and rotation are taken away.


@dataclass(frozen=True)
class Layout:
    """Which points of a face are which, counted from 0."""

    stable: tuple[int, ...]
    """Points that lie on bone and hardly move with an expression; two faces are aligned by them."""
    left_eye: tuple[int, ...]
    """Points whose mean is the middle of the left eye, such as its two corners."""
    right_eye: tuple[int, ...]


# Corners of the eyes, the bridge of the nose, the temples and the roots of the ears.
_MEDIAPIPE = Layout(
    (33, 133, 263, 362, 168, 6, 197, 195, 5, 127, 356, 234, 454), (263, 362), (33, 133)
)
_MULTI_PIE = Layout((36, 39, 42, 45, 27, 28, 29, 30), (42, 45), (36, 39))
LAYOUTS = {478: _MEDIAPIPE, 468: _MEDIAPIPE, 68: _MULTI_PIE}
"""By the number of points: MediaPipe with and without irises, and the 68 points of Multi-PIE."""


def layout_of(
    n: int,
    stable: Sequence[int] | None = None,
    left_eye: Sequence[int] | None = None,
    right_eye: Sequence[int] | None = None,
) -> Layout:
    """Tell which of `n` points are which.

    Parameters
    ----------
    stable, left_eye, right_eye
        Points that are named instead of those that are known for `n` points.

    Raises
    ------
    InputError
        When nothing is known of so many points, or a number is beyond them.

    Examples
    --------
    >>> layout_of(68).left_eye
    (42, 45)
    """
    known = LAYOUTS.get(n)
    parts: dict[str, tuple[int, ...]] = {}
    for name, given in (("stable", stable), ("left_eye", left_eye), ("right_eye", right_eye)):
        if given is None:
            if known is None:
                raise InputError(
                    f"metric 'landmarks': {n} points of unknown places; expected 478, 468 or 68, "
                    "or the settings stable, left_eye and right_eye"
                )
            parts[name] = getattr(known, name)
            continue
        parts[name] = check_points(name, given, n)
    return Layout(**parts)


def check_points(name: str, given: Sequence[int], n: int) -> tuple[int, ...]:
    """Check numbers of points; raises InputError where one is beyond the `n` that there are."""
    beyond = next((one for one in given if not 0 <= one < n), None)
    if beyond is not None:
        raise InputError(f"metric 'landmarks': {name} names point {beyond}; expected 0 to {n - 1}")
    return tuple(given)


def eye_distance(points: Floats, layout: Layout) -> Floats:
    """Give how far the middles of the two eyes lie apart; shape (n,).

    Parameters
    ----------
    points
        Shape (n, points, 2) or (n, points, 3).
    """
    left = points[:, list(layout.left_eye)].mean(axis=1)
    right = points[:, list(layout.right_eye)].mean(axis=1)
    found: Floats = np.linalg.norm(left - right, axis=1)
    return found


def aligned(first: Floats, second: Floats, layout: Layout) -> tuple[Floats, Floats]:
    """Bring two faces into one frame.

    Each is measured in its own eye distances and centred on the mean of its stable points; the
    second is then turned (never mirrored) so that its stable points lie as close as can be to those
    of the first: the orthogonal Procrustes problem, solved by a singular value decomposition.

    Parameters
    ----------
    first, second
        Shape (n, points, d), d being 2 or 3.

    Returns
    -------
    tuple of ndarray
        Both of the same shape; ``nan`` where the eyes of a face have no distance.
    """
    stable = list(layout.stable)
    a, b = (_plain(points, layout) for points in (first, second))
    known = np.isfinite(a).all(axis=(1, 2)) & np.isfinite(b).all(axis=(1, 2))
    turned = np.full_like(b, np.nan)
    inner = np.einsum("npi,npj->nij", b[known][:, stable], a[known][:, stable])
    u, _, vt = np.linalg.svd(inner)
    # The last axis is turned over where only a mirror would fit better.
    u[:, :, -1] *= np.sign(np.linalg.det(u @ vt))[:, None]
    turned[known] = b[known] @ (u @ vt)
    return a, turned


def _plain(points: Floats, layout: Layout) -> Floats:
    """Take position and size away."""
    centre = points[:, list(layout.stable)].mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (points - centre) / eye_distance(points, layout)[:, None, None]
    return np.where(np.isfinite(found), found, np.nan)


def landmark_differences(
    first: Floats, second: Floats, layout: Layout, points: Sequence[int] | None = None
) -> Floats:
    r"""Mean distance of the points of two faces, in eye distances; shape (n,).

    .. math:: \frac{1}{K} \sum_k \lVert x_k - R\, y_k \rVert

    after :func:`aligned`. It is symmetric: the rotation of the second face to the first is undone
    by that of the first to the second, and rotations keep distances.

    Parameters
    ----------
    first, second
        Shape (n, points, d), d being 2 or 3.
    points
        The points that count; None: all.

    Returns
    -------
    ndarray
        0 where the points are the same, ``nan`` where the eyes of a face have no distance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> face = rng.normal(size=(1, 68, 2))
    >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> round(float(landmark_differences(face, 3 * face @ turn + 5, layout_of(68))[0]), 12)
    0.0
    """
    a, b = aligned(first, second, layout)
    if points is not None:
        a, b = a[:, list(points)], b[:, list(points)]
    found: Floats = np.linalg.norm(a - b, axis=2).mean(axis=1)
    # A decomposition rounds; equal faces are equal.
    found[(first == second).all(axis=(1, 2)) & np.isfinite(found)] = 0.0
    return found


# Landmarks of pictures from a file, where something else has found them.


_EXPECTED = (
    "expected a CSV or Parquet table with the columns file, point, x and y (and z), or an .npz "
    "with an array of shape (points, 2) or (points, 3) for each file"
)


@dataclass(frozen=True, eq=False)
class LandmarkFile:
    """Landmarks by the names of files, all of one shape."""

    where: str
    """The file that they are from, for errors."""
    by_file: dict[str, Floats]
    """Each of shape (points, 2) or (points, 3)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the landmarks of each picture."""
        return next(iter(self.by_file.values())).shape

    def of(self, names: tuple[str, ...]) -> Floats | None:
        """Give the landmarks of a picture by one of its names, None where there are none.

        A name without its folders will do where only one file is called so.
        """
        for name in names:
            if name in self.by_file:
                return self.by_file[name]
        for name in names:
            found = self._short.get(PurePosixPath(name).name, [])
            if len(found) == 1:
                return self.by_file[found[0]]
        return None

    @cached_property
    def _short(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name in self.by_file:
            found[PurePosixPath(name).name].append(name)
        return dict(found)


def read_landmarks(path: str | Path) -> LandmarkFile:
    """Read the landmarks of pictures.

    Parameters
    ----------
    path
        A table (CSV or Parquet) with a row for each point of each picture: ``file`` as pairs name
        it, ``point`` counted from 0, ``x``, ``y``, and perhaps ``z``. Or an ``.npz``, in which each
        array has the name of a file, with shape (points, 2) or (points, 3). In any unit, the same
        for all axes.

    Raises
    ------
    InputError
        When the file cannot be read, a column or a number is missing, or pictures have other
        points than the first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.csv")
    ...     _ = file.write_text("file,point,x,y\\na.png,0,1,2\\na.png,1,3,4\\n")
    ...     read_landmarks(file).of(("a.png",)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    place = Path(path)
    said = shown(place)
    if not place.is_file():
        raise InputError(f"{said}: there is no such file; {_EXPECTED}")
    found = _of_arrays(place, said) if place.suffix == ".npz" else _of_table(place, said)
    first_name, first = next(iter(found.items()))
    for name, points in found.items():
        if points.shape != first.shape:
            raise InputError(
                f"{said}, {shown(name, 80)}: landmarks of shape {points.shape}; expected "
                f"{first.shape}, as {shown(first_name, 80)} has"
            )
    return LandmarkFile(said, found)


def _of_arrays(place: Path, said: str) -> dict[str, Floats]:
    found = {name: np.asarray(part, dtype=np.float64) for name, part in load_arrays(place).items()}
    if not found:
        raise InputError(f"{said} holds no array; {_EXPECTED}")
    for name, part in found.items():
        if part.ndim != 2 or part.shape[1] not in (2, 3) or not len(part):
            raise InputError(
                f"{said}, {shown(name, 80)}: an array of shape {part.shape}; expected (points, 2) "
                "or (points, 3)"
            )
    return found


def _of_table(place: Path, said: str) -> dict[str, Floats]:
    table = read_table(place, "landmarks")
    axes = ["x", "y", *(["z"] if "z" in table.columns else [])]
    require_columns(table, ("file", "point", *axes), f"{said}: ", _EXPECTED)
    if not table.height:
        raise InputError(f"{said}: no rows; {_EXPECTED}")
    plain = table.select(
        pl.col("file").cast(pl.String).str.strip_chars(),
        pl.col("point").cast(pl.Int64, strict=False),
        *(pl.col(axis).cast(pl.Float64, strict=False) for axis in axes),
    )
    bad = plain.select(
        *(
            (pl.col(name).is_null() | (pl.col(name) == "" if name == "file" else False)).alias(name)
            for name in ("file", "point")
        ),
        *(~pl.col(axis).is_finite().fill_null(False).alias(axis) for axis in axes),
    )
    for name in ("file", "point", *axes):
        if bad[name].any():
            row = int(bad[name].arg_max() or 0)
            wanted = {"file": "a name", "point": "a whole number"}.get(name, "a number")
            raise InputError(
                f"{said}, row {row + 1}, {name}: {table[name][row]!r}; expected {wanted}"
            )
    found: dict[str, Floats] = {}
    for (file,), part in plain.group_by("file", maintain_order=True):
        ordered = part.sort("point")
        if ordered["point"].to_list() != list(range(part.height)):
            raise InputError(
                f"{said}, {shown(file, 80)}: points {ordered['point'][0]} to "
                f"{ordered['point'][-1]}, {part.height} in all; expected 0, 1, 2, …, each once"
            )
        found[str(file)] = ordered.select(axes).to_numpy().astype(np.float64)
    return found


_NAMED = ("stable", "left_eye", "right_eye", "points")


class _Geometry(PreparedMetric):
    """Compares landmarks, wherever they are from."""

    name = "landmarks"
    _chosen: dict[str, tuple[int, ...] | None]

    def apart(self, first: Any, second: Any) -> str:
        """Say that two faces have other landmarks."""
        if first.shape == second.shape:
            return ""
        return f"landmarks of shape {first.shape} and {second.shape}; expected the same"

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give the mean distance of the landmarks of each pair; shape (n,)."""
        a, b = np.stack(first), np.stack(second)
        points = self._chosen["points"]
        named = {name: self._chosen[name] for name in _NAMED[:3]}
        layout = layout_of(a.shape[1], **named)
        if points is not None:
            check_points("points", points, a.shape[1])
        return landmark_differences(a, b, layout, points)


class LandmarkDifference(_Geometry, FaceMetric):
    """Distance of landmarks that a landmarker finds; made by :func:`landmarks`."""

    def __init__(self, landmarker: Landmarker, chosen: dict[str, tuple[int, ...] | None]) -> None:
        self._landmarker = landmarker
        self._chosen = chosen
        self.version = landmarker.fingerprint
        self.settings = {"landmarker": landmarker.name, **_said(chosen)}

    def taken(self, reading: FaceReading) -> Floats:
        """Take the landmarks.

        Raises
        ------
        InputError
            When they are no points.
        """
        found = np.asarray(reading.landmarks, dtype=np.float64)
        if found.ndim != 2 or found.shape[1] not in (2, 3) or not np.isfinite(found).all():
            raise InputError(
                f"landmarker {self._landmarker.name!r} gave landmarks of shape {found.shape}; "
                "expected finite numbers of shape (points, 2) or (points, 3)"
            )
        return found


class FiledLandmarks(_Geometry, FeatureMetric):
    """Distance of landmarks that are in a file; made by :func:`landmarks`."""

    def __init__(self, held: LandmarkFile, chosen: dict[str, tuple[int, ...] | None]) -> None:
        self._held = held
        self._chosen = chosen
        found = hashlib.sha256()
        for name in sorted(held.by_file):
            found.update(f"{name}\0".encode())
            found.update(held.by_file[name].tobytes())
        self.version = found.hexdigest()[:32]
        self.settings = {"file": Path(held.where).name, **_said(chosen)}
        # What does not fit is refused before any pair is.
        layout_of(held.shape[0], *(chosen[name] for name in _NAMED[:3]))

    def prepare(self, pictures: Sequence[Image.Image]) -> list[Any]:  # noqa: ARG002
        """Refuse pictures, which nothing in the file tells from one another.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            f"metric {self.name!r}: {self._held.where} names landmarks by files, which pictures in "
            "memory have not; expected rate_differences, or model=FILE to find landmarks"
        )

    def features_of(
        self,
        pictures: Sequence[PairPicture],
        cache: Path | None,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Look the landmarks of pictures up."""
        found: dict[str, Any] = {}
        for picture in pictures:
            points = self._held.of(picture.names)
            found[picture.sha256] = (
                Missing(f"{self._held.where} has no landmarks of it", "empty")
                if points is None
                else points
            )
        return found


def _said(chosen: dict[str, tuple[int, ...] | None]) -> dict[str, Any]:
    return {name: list(part) for name, part in chosen.items() if part is not None}


def landmarks(
    model: str | Path | None = None,
    file: str | Path | None = None,
    stable: Sequence[int] | None = None,
    left_eye: Sequence[int] | None = None,
    right_eye: Sequence[int] | None = None,
    points: Sequence[int] | None = None,
    confidence: float = 0.5,
    landmarker: Landmarker | None = None,
) -> LandmarkDifference | FiledLandmarks:
    """Mean distance of the landmarks of two faces, in eye distances.

    Position, size and rotation of the face are taken away: see
    :func:`affectlab.models.differences.faces.landmarks.aligned`. With landmarks in three
    dimensions, as MediaPipe gives them, turning the head is taken away, too.

    Parameters
    ----------
    model
        The ``.task`` file of MediaPipe's face landmarker.
    file
        Landmarks that something else has found:
        :func:`affectlab.models.differences.faces.landmarks.read_landmarks` says how.
    stable, left_eye, right_eye
        Numbers of points that hardly move, and of those around each eye; needed where there are
        neither 478, 468 nor 68 points.
    points
        Numbers of the points that count, such as those of the mouth; None: all.
    confidence
        From which share on a face counts as found.
    landmarker
        Something else that finds faces, in the place of MediaPipe.

    Raises
    ------
    InputError
        When not exactly one source of landmarks is named, or a setting cannot be used.
    MissingDependencyError
        When mediapipe is needed and not installed.

    Examples
    --------
    >>> landmarks()
    Traceback (most recent call last):
    affectlab.InputError: metric 'landmarks' needs model=FILE, the .task file of MediaPipe's
    face landmarker, or file=FILE, landmarks by file; expected one of the two
    """
    given = dict(zip(_NAMED, (stable, left_eye, right_eye, points), strict=True))
    chosen = {name: _numbers(name, part) for name, part in given.items()}
    sources = [source for source in (model, file, landmarker) if source is not None]
    if len(sources) != 1:
        raise InputError(
            "metric 'landmarks' needs model=FILE, the .task file of MediaPipe's face landmarker, "
            "or file=FILE, landmarks by file; expected one of the two"
        )
    if file is not None:
        return FiledLandmarks(read_landmarks(check_file(file, "file", "landmarks")), chosen)
    if landmarker is not None:
        return LandmarkDifference(check_landmarker(landmarker), chosen)
    place = check_file(model, "model", "landmarks")
    return LandmarkDifference(MediaPipeLandmarker(place, confidence), chosen)


def _numbers(name: str, given: Any) -> tuple[int, ...] | None:
    if given is None:
        return None
    try:
        found = tuple(given)
    except TypeError:
        found = ()
    if not found or any(isinstance(one, bool) or not isinstance(one, int) for one in found):
        raise InputError(
            f"metric 'landmarks': {name} = {given!r}: expected numbers of points, such as [33, 133]"
        )
    return found
