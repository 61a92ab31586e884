"""Landmarks of pictures from a file, where something else has found them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np
import polars as pl

from affectlab._types import Floats
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.models._store import load_arrays
from affectlab.stimuli._tables import read_table

__all__ = ["LandmarkFile", "read_landmarks"]

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
    for name in ("file", "point", *axes):
        if name not in table.columns:
            raise InputError(f"{said}: no column {name!r}; {_EXPECTED}")
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
