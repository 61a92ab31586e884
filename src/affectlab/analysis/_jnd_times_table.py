"""When the frames of a transition were filmed, and how the score changes between them."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import polars as pl

from affectlab._words import plural
from affectlab.analysis._pair_scores import PairScores
from affectlab.errors import InputError
from affectlab.stimuli._tables import read_table

__all__ = ["PLACES", "SEGMENTS", "FrameSource", "frame_times", "middle_segments"]

FrameSource: TypeAlias = pl.DataFrame | str | Path
"""A table of frames, or its path."""

PLACES = {
    "peak": 1,
    "near_peak": 2,
    "step_2": 2,
    "middle": 3,
    "step_3": 3,
    "near_neutral": 4,
    "step_4": 4,
    "neutral": 5,
}
"""Role of a frame, and its place in the transition; steps stand where 1 JND could not be had."""
SEGMENTS = {"first": (2, 3), "second": (3, 4)}
"""The two segments between the three middle frames, and the places of their ends."""

_COLUMNS = ("actor", "expression", "role", "time_ms")


def frame_times(frames: FrameSource) -> tuple[pl.DataFrame, float]:
    """Read when the frames of each sequence were filmed.

    Parameters
    ----------
    frames
        ``frames.csv`` of ``affectlab stimuli frames``, or such a table: ``actor``, ``expression``,
        ``role``, ``time_ms`` and perhaps ``fps``.

    Returns
    -------
    ``actor``, ``expression``, ``place`` and ``time_ms`` (null where it is not known), one row per
    frame; and the longest time between two frames of any film in milliseconds, ``nan`` where the
    rates are not known.

    Raises
    ------
    InputError
        When a column is missing, a cell is no number, a frame stands twice, or no frame has a time.
    """
    where = f"{frames}: " if isinstance(frames, str | Path) else "the table of frames: "
    table = read_table(frames, "frames") if isinstance(frames, str | Path) else _frame(frames)
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise InputError(
            f"{where}column {missing[0]!r} is missing; expected {', '.join(_COLUMNS)}, found "
            f"{', '.join(table.columns) or 'none'}"
        )
    names = [pl.col(name).cast(pl.String).str.strip_chars() for name in _COLUMNS[:3]]
    times = _number(table, "time_ms", where)
    fps = _number(table, "fps", where) if "fps" in table.columns else None
    known = table.select(*names, times)
    place = pl.col("role").replace_strict(PLACES, default=None, return_dtype=pl.Int64)
    known = known.with_columns(place.alias("place")).filter(pl.col("place").is_not_null())
    if not known.height:
        raise InputError(
            f"{where}no frame has a role such as near_peak or middle; expected five frames of each "
            "transition, as affectlab stimuli frames makes them"
        )
    keys = ["actor", "expression", "place"]
    for name in keys[:2]:
        if (known[name].is_null() | (known[name] == "")).any():
            raise InputError(f"{where}a frame has no {name}; expected a name")
    twice = known.filter(pl.struct(keys).is_duplicated())
    if twice.height:
        one = twice.row(0, named=True)
        raise InputError(
            f"{where}actor {one['actor']!r}, expression {one['expression']!r}: role "
            f"{one['role']!r} stands twice; expected each frame once"
        )
    if known["time_ms"].is_null().all():
        raise InputError(
            f"{where}no frame has a time (time_ms); expected milliseconds: give --fps to affectlab "
            "stimuli frames where films are folders of pictures"
        )
    longest = float("nan")
    if fps is not None and (rates := fps.drop_nulls()).len():
        slowest = float(rates.min())  # type: ignore[arg-type]
        if slowest <= 0:
            raise InputError(f"{where}fps {slowest:g}; expected frames per second above 0")
        longest = 1000 / slowest
    return known.select(*keys, "time_ms"), longest


def middle_segments(scores: PairScores, times: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Give score, error and duration of the segments between the three middle frames.

    Returns
    -------
    ``actor``, ``expression``, ``segment`` (first, second), ``start_ms`` and ``end_ms`` (times of
    its frames, that nearer to the peak first), ``duration_ms``, ``change`` and ``change_se``; and
    what was left out, in words.

    Raises
    ------
    InputError
        When there is no segment, a pair stands twice, or times do not follow the frames.
    """
    intra = scores.intra().frame
    roles = {side: pl.col(f"role_{side}") for side in "ab"}
    places = [
        role.replace_strict(PLACES, default=None, return_dtype=pl.Int64).alias(side)
        for side, role in roles.items()
    ]
    placed = intra.select(
        "actor", pl.col("expression_a").alias("expression"), *places, "value", "se"
    )
    ends = [pl.min_horizontal("a", "b").alias("from"), pl.max_horizontal("a", "b").alias("to")]
    steps = [
        placed.with_columns(*ends)
        .filter((pl.col("from") == start) & (pl.col("to") == end))
        .with_columns(pl.lit(name).alias("segment"))
        for name, (start, end) in SEGMENTS.items()
    ]
    found = pl.concat(steps)
    if not found.height:
        raise InputError(
            "no pair compares near_peak with middle, or middle with near_neutral; expected the "
            "pairs within each transition, as affectlab stimuli pairs makes them"
        )
    twice = found.filter(pl.struct("actor", "expression", "segment").is_duplicated())
    if twice.height:
        one = twice.row(0, named=True)
        raise InputError(
            f"actor {one['actor']!r}, expression {one['expression']!r}: its {one['segment']} "
            "segment has two scores; expected one pair of each two frames"
        )
    keys = ["actor", "expression"]
    at = times.rename({"place": "from", "time_ms": "start_ms"})
    until = times.rename({"place": "to", "time_ms": "end_ms"})
    timed = found.join(at, on=[*keys, "from"], how="left", maintain_order="left").join(
        until, on=[*keys, "to"], how="left", maintain_order="left"
    )
    notes = []
    lacking = timed.filter(pl.col("start_ms").is_null() | pl.col("end_ms").is_null())
    if lacking.height:
        n = lacking.select(keys).n_unique()
        first = lacking.row(0, named=True)
        notes.append(
            f"{plural(n, 'sequence')} without the time of a frame left out, such as "
            f"{first['actor']} {first['expression']}"
        )
    timed = timed.join(lacking.select(keys).unique(), on=keys, how="anti", maintain_order="left")
    if not timed.height:
        raise InputError(
            "no sequence has both scores and times; expected the same actors and expressions in "
            "the scores and in the table of frames"
        )
    _check_order(timed)
    order = list(SEGMENTS)
    return timed.select(
        *keys,
        pl.col("segment").cast(pl.Enum(order)),
        "start_ms",
        "end_ms",
        (pl.col("end_ms") - pl.col("start_ms")).abs().alias("duration_ms"),
        pl.col("value").alias("change"),
        pl.col("se").alias("change_se"),
    ).sort("actor", "expression", "segment", maintain_order=True), notes


def _check_order(timed: pl.DataFrame) -> None:
    """Times rise from frame to frame, or fall, as in a film from rest to the peak."""
    forward = (pl.col("end_ms") - pl.col("start_ms")).sign()
    wrong = timed.with_columns(forward.alias("way")).filter(
        (pl.col("way") == 0) | (pl.col("way").n_unique().over("actor", "expression") > 1)
    )
    if wrong.height:
        one = wrong.row(0, named=True)
        raise InputError(
            f"actor {one['actor']!r}, expression {one['expression']!r}: frames at "
            f"{one['start_ms']:g} and {one['end_ms']:g} ms; expected times that rise from frame to "
            "frame, or fall in a film from rest to the peak"
        )


def _frame(given: object) -> pl.DataFrame:
    from affectlab.ratings._frames import as_frame

    return as_frame(given, what="the table of frames")


def _number(table: pl.DataFrame, name: str, where: str) -> pl.Series:
    """Read a column of numbers, null where a cell is empty."""
    given = table[name]
    if given.dtype == pl.String:
        given = given.str.strip_chars().replace("", None)
    elif not (given.dtype.is_numeric() or given.dtype == pl.Null):
        raise InputError(f"{where}column {name!r} holds {given.dtype} values; expected numbers")
    numbers = given.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & given.is_not_null()) | numbers.is_infinite().fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"{where}row {row + 1}, {name}: {given[row]!r}; expected a number")
    return numbers.fill_nan(None).alias(name)
