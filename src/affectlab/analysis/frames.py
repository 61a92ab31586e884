"""Frames of transitions: where each stands from peak to rest, and when it was filmed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeAlias

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import numbers_of, require_columns
from affectlab.core.files.csv import read_table

FrameSource: TypeAlias = pl.DataFrame | str | Path
"""A table of frames, or its path."""

PLACES = {
    "peak": 1,
    "near_peak": 2,
    "middle": 3,
    "near_neutral": 4,
    "neutral": 5,
    "step_2": 2,
    "step_3": 3,
    "step_4": 4,
}
"""Role of a frame, and its place in the transition; steps stand where 1 JND could not be had."""
_FRAME = re.compile(r"frame_([1-9][0-9]{0,5})")
_COLUMNS = ("actor", "expression", "role", "time_ms")


def read_frames(frames: FrameSource) -> tuple[pl.DataFrame, str]:
    """Read when frames were filmed: ``actor, expression, role, time_ms`` and perhaps ``fps``.

    Returns
    -------
    The table, times null where they are not known; and what errors call it, with a colon behind.

    Raises
    ------
    InputError
        When it lacks a column, or holds a time that is no number.
    """
    if isinstance(frames, str | Path):
        where, table = f"{frames}: ", read_table(frames, "frames")
    else:
        from affectlab.ratings.files import as_frame

        where = "the table of frames: "
        table = as_frame(frames, what="the table of frames")
    require_columns(table, _COLUMNS, where)
    numbers = {
        name: numbers_of(table, name, where, finite=True)
        for name in ("time_ms", "fps")
        if name in table.columns
    }
    names = pl.col(_COLUMNS[:3]).cast(pl.String).str.strip_chars()
    return table.select(names).with_columns(**numbers), where


def place_of_role(role: str) -> int | None:
    """Give the place of a role, 1 for the peak; None for a role without one.

    Examples
    --------
    >>> place_of_role("near_peak"), place_of_role("step_3"), place_of_role("smile")
    (2, 3, None)
    """
    numbered = _FRAME.fullmatch(role)
    return int(numbered[1]) if numbered else PLACES.get(role)


def placed(intra: pl.DataFrame) -> pl.DataFrame:
    """Put the places of both frames beside pairs of one transition.

    Adds ``place_a``, ``place_b`` and ``last``, the place of the neutral frame: that of the role
    ``neutral``, or of the last frame where frames are only counted.

    Raises
    ------
    InputError
        When a role has no place.
    """
    roles = pl.concat([intra["role_a"], intra["role_b"]]).unique().to_list()
    places = {role: place_of_role(role) for role in roles}
    unknown = sorted(role for role, place in places.items() if place is None)
    if unknown:
        one = intra.filter((pl.col("role_a") == unknown[0]) | (pl.col("role_b") == unknown[0]))
        raise InputError(
            f"pair {one['stimulus'][0]!r}: role {unknown[0]!r}; expected {', '.join(PLACES)}, or "
            "frame_1 (the peak), frame_2, …"
        )
    if not intra.height:
        none = pl.lit(None, dtype=pl.Int64)
        return intra.with_columns(place_a=none, place_b=none, last=none)
    whole = intra.with_columns(
        pl.col(f"role_{side}").replace_strict(places, return_dtype=pl.Int64).alias(f"place_{side}")
        for side in "ab"
    )
    counted = pl.col("role_a").str.starts_with("frame_") & pl.col("role_b").str.starts_with(
        "frame_"
    )
    farthest = pl.max_horizontal("place_a", "place_b")
    return whole.with_columns(
        pl.when(counted.all().over("actor", "expression_a"))
        .then(farthest.max().over("actor", "expression_a"))
        .otherwise(PLACES["neutral"])
        .alias("last")
    )


def between(intra: pl.DataFrame) -> pl.DataFrame:
    """Give ``actor, expression, from, to, value, se`` of pairs of one transition, by place.

    The nearer to the peak comes first; a place is null for a role without one.
    """
    places = [
        pl.col(f"role_{side}").replace_strict(PLACES, default=None, return_dtype=pl.Int64)
        for side in "ab"
    ]
    return intra.select(
        "actor",
        pl.col("expression_a").alias("expression"),
        pl.min_horizontal(places).alias("from"),
        pl.max_horizontal(places).alias("to"),
        "value",
        "se",
    )
