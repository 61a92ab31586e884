"""Which level of measurement or distance alpha uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.ratings.arrays import require_order
from affectlab.reliability._alpha_levels import (
    Distance,
    DistanceLevel,
    Interval,
    Level,
    Nominal,
    Ordinal,
)
from affectlab.reliability._pairable import Pairable

if TYPE_CHECKING:
    from affectlab.ratings import Scale

__all__ = ["LevelMaker", "LevelName", "level_maker"]

LevelName: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

_LEVELS = ("nominal", "ordinal", "interval", "ratio")
_LEVEL_OF_SCALE: dict[str, LevelName] = {
    "binary": "nominal",
    "nominal": "nominal",
    "ordinal": "ordinal",
    "interval": "interval",
}


class LevelMaker:
    """Makes the level of measurement of one label's ratings."""

    def __init__(self, level: str, distance: Distance | None = None) -> None:
        self.level, self.distance = level, distance

    def __call__(self, part: Pairable) -> Level:
        if self.distance is not None:
            return DistanceLevel(part, self.distance)
        levels: dict[str, type[Nominal | Ordinal | Interval]] = {
            "nominal": Nominal,
            "ordinal": Ordinal,
            "interval": Interval,
        }
        return levels[self.level](part)


def level_maker(
    level: str | None, distance: ArrayLike | Distance | None, scale: Scale | None
) -> tuple[str, LevelMaker]:
    if distance is not None:
        if level is not None:
            raise InputError(f"level {level!r}: expected either a level or a distance, not both")
        return "given distance", LevelMaker("", _distance(distance, scale))
    if level is None:
        if scale is None:
            raise InputError(
                f"an array of ratings has no scale: level is expected to be one of {_LEVELS}"
            )
        level = _LEVEL_OF_SCALE[scale.kind]
    if level not in _LEVELS:
        raise unknown_name("level", str(level), _LEVELS)
    if level != "nominal":
        require_order(scale, f"level {level!r}")
    return level, LevelMaker(level, _ratio if level == "ratio" else None)


def _ratio(first: Floats, second: Floats) -> NDArray[np.float64]:
    total = first + second
    share = np.divide(first - second, total, out=np.zeros(total.shape), where=total != 0)
    return share**2


def _distance(distance: ArrayLike | Distance, scale: Scale | None) -> Distance:
    if callable(distance):
        return distance
    matrix = np.asarray(distance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"distance: expected a square array, got shape {matrix.shape}")
    if np.diagonal(matrix).any():
        raise InputError(
            "distance: expected zeros on the diagonal "
            f"(take 1 from a matrix of costs), got {np.diagonal(matrix).max():g}"
        )
    if not (np.array_equal(matrix, matrix.T) and (matrix >= 0).all()):
        raise InputError("distance: expected a symmetric array without negative numbers")
    known = np.arange(matrix.shape[0], dtype=np.float64)
    if scale is not None and scale.kind != "nominal":
        known = np.asarray(scale.levels(), dtype=np.float64)
    n_known = len(scale.categories) if scale is not None and scale.kind == "nominal" else known.size
    if matrix.shape[0] != n_known:
        raise InputError(
            f"distance: expected one row for each of the {n_known} values of the scale, "
            f"got {matrix.shape[0]}"
        )

    def look_up(first: Floats, second: Floats) -> NDArray[np.float64]:
        return np.asarray(matrix[_position(first, known), _position(second, known)])

    return look_up


def _position(values: Floats, known: Floats) -> NDArray[np.int64]:
    position = np.searchsorted((known[1:] + known[:-1]) / 2, values)
    unknown = np.abs(known[position] - values) > 1e-6
    if unknown.any():
        raise InputError(
            f"value {values[unknown][0]:g}: the distance knows the values "
            f"{known[0]:g} to {known[-1]:g} ({known.size} of them)"
        )
    return position
