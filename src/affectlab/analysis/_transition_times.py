"""Times of the frames of a transition."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl

from affectlab._words import joined
from affectlab.analysis._pair_roles import place_of_role
from affectlab.errors import InputError

__all__ = ["with_times"]

_KEYS = ("actor", "expression")


def _times(frames: pl.DataFrame | str | Path) -> pl.DataFrame:
    """Read the time of each frame, null where it is not known."""
    where = "the table of frames"
    if isinstance(frames, str | Path):
        from affectlab.stimuli._tables import read_table

        where, frames = str(frames), read_table(frames, "frames")
    needed = ("actor", "expression", "role", "time_ms")
    missing = [name for name in needed if name not in frames.columns]
    if missing:
        raise InputError(
            f"{where}: column {missing[0]!r} is missing; expected {joined(needed)}, found "
            f"{joined(frames.columns) if frames.columns else 'none'}"
        )
    table = frames.select(needed).with_columns(pl.col(needed[:3]).cast(pl.String).str.strip_chars())
    given = table["time_ms"].cast(pl.String).str.strip_chars().replace("", None)
    time = given.cast(pl.Float64, strict=False)
    wrong = given.is_not_null() & ~time.is_finite().fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"{where}, row {row + 1}, time_ms: {given[row]!r}; expected a number")
    table = table.with_columns(time.alias("time_ms"))
    twice = table.filter(pl.struct(needed[:3]).is_duplicated())
    if twice.height:
        actor, expression, role, _ = twice.row(0)
        raise InputError(
            f"{where}: actor {actor!r}, expression {expression!r} has the role {role!r} twice; "
            "expected once"
        )
    return table


def with_times(points: pl.DataFrame, frames: pl.DataFrame | str | Path) -> pl.DataFrame:
    """Put the time since the peak beside each frame; a film may run from neutral to peak.

    Parameters
    ----------
    points
        ``actor``, ``expression``, ``role``, and whatever else.
    frames
        The same three and ``time_ms``.

    Returns
    -------
    The points with ``time_ms`` since the peak and ``x``, the same; ``nan`` where not known.

    Raises
    ------
    InputError
        When the table of frames lacks a column, holds a time that is no number, or a role twice.
    """
    times = _times(frames)
    whole = points.join(times, on=[*_KEYS, "role"], how="left", maintain_order="left")
    firsts = [role for role in times["role"].unique().drop_nulls() if place_of_role(role) == 1]
    peaks = (
        times.filter(pl.col("role").is_in(firsts))
        .unique(_KEYS)
        .select(*_KEYS, pl.col("time_ms").alias("start"))
    )
    whole = whole.join(peaks, on=_KEYS, how="left", maintain_order="left")
    since = (pl.col("time_ms") - pl.col("start")).abs().fill_null(math.nan)
    return whole.with_columns(since.alias("time_ms"), since.alias("x"))
