"""Sequences of frames, from the peak of an expression to neutral, by actor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.files.csv import read_table

__all__ = [
    "FIVE_FRAMES",
    "ExpressionSequences",
    "example_sequences",
    "read_sequences",
]

FIVE_FRAMES = ("peak", "near_peak", "middle", "near_neutral", "neutral")
"""Roles of the five frames of FaceExpressions-70k (section 3.2), in order."""

_COLUMNS = ("actor", "expression", "place", "file")


@dataclass(frozen=True, eq=False)
class ExpressionSequences:
    """Frames of transitions from the peak of an expression to neutral.

    Parameters
    ----------
    frames
        One row per frame: ``actor``, ``expression``, ``place`` (1 for the peak, counting up to the
        neutral frame), ``file``, and ``role`` (a name for the place). Other columns are left out.

    Raises
    ------
    InputError
        When a column or a value is missing, a sequence has a place twice or leaves one out, has
        fewer than two frames, or a file stands twice.

    Examples
    --------
    >>> import polars as pl
    >>> frames = pl.DataFrame({
    ...     "actor": ["ann"] * 2, "expression": ["joy"] * 2, "place": [1, 2],
    ...     "role": ["peak", "neutral"], "file": ["1.png", "2.png"],
    ... })
    >>> ExpressionSequences(frames)
    ExpressionSequences(1 sequence, 1 actor, 1 expression, 2 frames)
    """

    frames: pl.DataFrame

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", _checked(self.frames))

    @property
    def actors(self) -> list[str]:
        """Names of the actors, sorted."""
        return sorted(self.frames["actor"].unique().to_list())

    @property
    def expressions(self) -> list[str]:
        """Names of the expressions, sorted."""
        return sorted(self.frames["expression"].unique().to_list())

    @property
    def per_actor(self) -> pl.DataFrame:
        """Number of sequences of each actor: columns ``actor``, ``n_sequences``."""
        return (
            self.frames.group_by("actor")
            .agg(pl.col("expression").n_unique().alias("n_sequences"))
            .sort("actor")
        )

    def __len__(self) -> int:
        return self.frames.select("actor", "expression").n_unique()

    def __repr__(self) -> str:
        from affectlab.core.words import plural

        parts = (
            plural(len(self), "sequence"),
            plural(len(self.actors), "actor"),
            plural(len(self.expressions), "expression"),
            plural(self.frames.height, "frame"),
        )
        return f"ExpressionSequences({', '.join(parts)})"


def read_sequences(path: str | Path) -> ExpressionSequences:
    """Read a table of frames: CSV or Parquet with actor, expression, place, file, and perhaps role.

    Raises
    ------
    InputError
        When the file cannot be read, or is not what :class:`ExpressionSequences` takes.
    """
    frames = read_table(path, "frames")
    try:
        return ExpressionSequences(frames)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None


def _checked(frames: pl.DataFrame) -> pl.DataFrame:
    require_columns(frames, _COLUMNS)
    if not frames.height:
        raise InputError("no frames: expected one row per frame")
    found = frames.with_columns(
        pl.col("actor", "expression", "file").cast(pl.String).str.strip_chars(),
        pl.col("place").cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False),
    )
    for name in _COLUMNS:
        empty = found[name].is_null() | (found[name].cast(pl.String) == "")
        if empty.any():
            row = int(empty.arg_max() or 0)
            given = frames[name][row]
            wanted = "a whole number from 1" if name == "place" else "a name"
            raise InputError(f"row {row + 1}, {name}: {given!r}; expected {wanted}")
    require_distinct(found, ["file"], expected="each frame once")
    _check_places(found)
    if "role" not in found.columns:
        found = found.with_columns(_roles())
    kept = found.select("actor", "expression", "place", pl.col("role").cast(pl.String), "file")
    return kept.sort("actor", "expression", "place")


def _check_places(found: pl.DataFrame) -> None:
    """Each sequence has the places 1, 2, … up to its neutral frame."""
    places = found.group_by("actor", "expression", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("place").n_unique().alias("distinct"),
        pl.col("place").min().alias("first"),
        pl.col("place").max().alias("last"),
    )
    wrong = places.filter(
        (pl.col("distinct") < pl.col("n"))
        | (pl.col("first") != 1)
        | (pl.col("last") != pl.col("n"))
        | (pl.col("n") < 2)
    )
    if wrong.height:
        one = wrong.row(0, named=True)
        given = found.filter(actor=one["actor"], expression=one["expression"])["place"].sort()
        raise InputError(
            f"actor {one['actor']!r}, expression {one['expression']!r}: places "
            f"{', '.join(map(str, given.to_list()))}; expected 1 (the peak), 2, … up to neutral, "
            "each once and at least two"
        )


def _roles() -> pl.Expr:
    """Names of places: those of the five frames where there are five, otherwise the number."""
    five = pl.len().over("actor", "expression") == len(FIVE_FRAMES)
    named = pl.col("place").replace_strict(
        dict(enumerate(FIVE_FRAMES, start=1)), default=None, return_dtype=pl.String
    )
    counted = pl.format("frame_{}", "place")
    return pl.when(five).then(named).otherwise(counted).alias("role")


# Invented sequences, to try designs out before there are pictures.


def example_sequences(
    actors: int = 8,
    expressions: int = 61,
    *,
    common: int | None = None,
    per_actor: Mapping[int, int] | None = None,
    seed: int = 0,
) -> ExpressionSequences:
    """Make a table of sequences of five frames whose files do not exist.

    Parameters
    ----------
    actors, expressions
        How many there are.
    common
        Expressions that all actors have; None for all of them.
    per_actor
        Number of sequences of actors by their number from 1; others have all. Each expression is
        left to at least one actor where that is possible.
    seed
        Draws which sequences are missing.

    Raises
    ------
    InputError
        When a number is out of range.

    Examples
    --------
    >>> example_sequences(actors=2, expressions=3, common=1, per_actor={2: 2})
    ExpressionSequences(5 sequences, 2 actors, 3 expressions, 25 frames)
    """
    shared = expressions if common is None else common
    counts = {number: (per_actor or {}).get(number, expressions) for number in range(1, actors + 1)}
    if actors < 1 or expressions < 1 or not 0 <= shared <= expressions:
        raise InputError(
            f"actors = {actors}, expressions = {expressions}, common = {shared}: expected at least "
            "one actor and expression, and not more common ones than there are"
        )
    for number, count in counts.items():
        if not shared <= count <= expressions:
            raise InputError(
                f"actor {number}: {count} sequences; expected {shared} to {expressions}"
            )
    rng = np.random.default_rng(seed)
    missing = _missing(counts, expressions, shared, rng)
    rows = [
        {
            "actor": f"actor-{number:02d}",
            "expression": f"expression-{expression + 1:02d}",
            "place": place,
            "role": role,
            "file": f"actor-{number:02d}/expression-{expression + 1:02d}/{role}.png",
        }
        for number in counts
        for expression in range(expressions)
        if (number, expression) not in missing
        for place, role in enumerate(FIVE_FRAMES, start=1)
    ]
    return ExpressionSequences(pl.DataFrame(rows))


def _missing(
    counts: Mapping[int, int], expressions: int, shared: int, rng: np.random.Generator
) -> set[tuple[int, int]]:
    """Draw what is missing, so that each expression that not all share is missing somewhere."""
    rare = rng.permutation(expressions)[shared:]
    lacking = np.zeros(expressions, dtype=int)
    missing: set[tuple[int, int]] = set()
    for number, count in counts.items():
        order = rng.permutation(rare)
        chosen = order[np.argsort(lacking[order], kind="stable")][: expressions - count]
        lacking[chosen] += 1
        missing.update((number, int(expression)) for expression in chosen)
    return missing
