"""Files that a metric learns from: pairs with scores, pictures, and what other metrics say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.types import by_name
from affectlab.core.words import joined, shown
from affectlab.models.differences.learned.cross_validation import values_by_rater
from affectlab.models.differences.learned.samples import check_scale, scored_ratings

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings
else:
    Embeddings = by_name("affectlab.models.embedding", "Embeddings")

__all__ = ["PairScore", "ScoredPairs", "embed_pairs", "read_baselines", "read_scored_pairs"]

PairScore: TypeAlias = Literal["subject-model", "mean"]
"""How ratings of a pair become its score."""

_ATTRIBUTES = ("actor", "file_a", "file_b")


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs with a score for each; see :func:`read_scored_pairs`."""

    frame: pl.DataFrame
    """``stimulus`` and ``kind`` where they are known, ``actor``, ``file_a``, ``file_b``,
    ``value``."""
    said: str = "scores as given"
    """How scores came about."""
    rated: bool = False
    """Whether they were made from ratings."""
    notes: tuple[str, ...] = ()

    @property
    def attributes(self) -> pl.DataFrame | None:
        """Table of the pairs without scores; None where they have no names."""
        if "stimulus" not in self.frame.columns:
            return None
        name = pl.col("stimulus").cast(pl.String).str.strip_chars()
        return self.frame.drop("value").with_columns(name)


def read_scored_pairs(
    path: str | Path,
    pairs: str | Path | None = None,
    *,
    scale: str | None = None,
    score: PairScore = "subject-model",
) -> ScoredPairs:
    """Read a table with a score for each pair, or ratings of pairs.

    Parameters
    ----------
    path
        A table with ``value``, or with ``rater`` as well: ratings.
    pairs
        Table of the pairs, with ``stimulus``, ``actor``, ``file_a`` and ``file_b``, where the file
        does not say what they are of.
    scale
        Scale of the ratings, such as ``"0-100 interval"``.
    score
        How ratings become scores.

    Raises
    ------
    InputError
        When a column is missing, a pair stands twice, or ratings are on another scale.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> table = {"actor": ["ann"], "file_a": ["a.png"], "file_b": ["b.png"], "value": [60.0]}
    >>> with TemporaryDirectory() as folder:
    ...     pl.DataFrame(table).write_csv(Path(folder) / "scores.csv")
    ...     pairs = read_scored_pairs(Path(folder) / "scores.csv")
    >>> pairs.said, pairs.frame["value"].to_list()
    ('scores as given', [60.0])
    """
    from affectlab.ratings import Ratings, read_ratings

    path = Path(path)
    table = _table(path)
    told = None if pairs is None else _pairs(Path(pairs))
    if "rater" not in table.columns:
        if "value" not in table.columns:
            raise InputError(
                f"{shown(path)}: no column 'rater' and none 'value'; expected ratings, or a table "
                f"with a score for each pair; found {joined(table.columns)}"
            )
        return ScoredPairs(_joined(table, told, path))
    ratings: Any = read_ratings(path, scale=scale)
    if not isinstance(ratings, Ratings):
        raise InputError(f"{shown(path)}: expected ratings of pairs")
    check_scale(ratings)
    scored, notes = scored_ratings(ratings, score)
    frame = scored.join(ratings.stimuli, on="stimulus", how="left", maintain_order="left")
    name = {"mean": "mean opinion scores", "subject-model": "subject model"}[score]
    said = f"{name} of {ratings.answers().n_raters:,} raters"
    return ScoredPairs(_joined(frame, told, path), said, True, (*notes, *ratings.warnings))


def _table(path: Path) -> pl.DataFrame:
    """Read a table whose names stay text, exactly."""
    from affectlab.ratings import read_table

    there = read_table(path, names=()).columns
    return read_table(
        path, names=[name for name in ("stimulus", "kind", *_ATTRIBUTES) if name in there]
    )


def _pairs(path: Path) -> pl.DataFrame:
    table = _table(path)
    where = f"{shown(path)}: "
    require_columns(table, ("stimulus", *_ATTRIBUTES), where)
    require_distinct(table, ["stimulus"], where, "each pair once")
    names = ("stimulus", "kind", *_ATTRIBUTES)
    return table.select(name for name in names if name in table.columns)


def _joined(table: pl.DataFrame, told: pl.DataFrame | None, path: Path) -> pl.DataFrame:
    where = f"{shown(path)}: "
    if told is not None:
        require_columns(table, ["stimulus"], where, "by it --pairs is joined")
        own = table.with_columns(pl.col("stimulus").cast(pl.String))
        new = [name for name in told.columns if name == "stimulus" or name not in own.columns]
        table = own.join(told.select(new), on="stimulus", how="left", maintain_order="left")
    require_columns(table, _ATTRIBUTES, where, "or give the table of pairs: --pairs pairs.csv")
    names = ("stimulus", "kind", *_ATTRIBUTES, "value")
    return table.select(name for name in names if name in table.columns)


def read_baselines(paths: Sequence[str | Path]) -> dict[str, pl.DataFrame]:
    """Read what other metrics say of pairs, by name, so that more means more different.

    Parameters
    ----------
    paths
        Ratings that :func:`rate_differences` gave.

    Raises
    ------
    InputError
        When a file holds answers of people, or a metric comes twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.models.differences import rate_differences
    >>> from affectlab.simulate import face_specs, save_faces
    >>> with TemporaryDirectory() as folder:
    ...     joy, fear = save_faces(folder, face_specs(1, ["joy", "fear"]), size=48)["file"]
    ...     pairs = {"stimulus": ["one"], "file_a": [joy], "file_b": [fear]}
    ...     mse = rate_differences(pairs, "mse", images=folder)
    ...     _ = mse.write(Path(folder) / "mse.csv")
    ...     read_baselines([Path(folder) / "mse.csv"])["mse"].columns
    ['stimulus', 'value']
    """
    from affectlab.ratings import Ratings, read_ratings

    found: dict[str, pl.DataFrame] = {}
    for path in map(Path, paths):
        ratings: Any = read_ratings(path)
        models = isinstance(ratings, Ratings) and set(ratings.rater_kinds) <= {"model", "baseline"}
        if not models:
            raise InputError(
                f"--baseline: {shown(path)} holds answers of people; expected ratings that "
                "affectlab rate wrote"
            )
        for name, values in values_by_rater(ratings).items():
            if name in found:
                raise InputError(
                    f"--baseline: metric {shown(name, 80)!r} comes twice; expected each once"
                )
            found[name] = values
    return found


def embed_pairs(
    pairs: pl.DataFrame,
    encoder: Any,
    images: str | Path,
    *,
    cache: str | Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Embeddings:
    """Embed the pictures that pairs name, each once.

    Parameters
    ----------
    pairs
        Columns ``file_a`` and ``file_b``.
    encoder, cache, progress
        As for :func:`affectlab.models.embedding.embed`.
    images
        Folder of the pictures.

    Raises
    ------
    InputError
        When a picture is missing, or the encoder cannot be loaded.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import face_specs, save_faces
    >>> with TemporaryDirectory() as folder:
    ...     joy, fear = save_faces(folder, face_specs(1, ["joy", "fear"]), size=48)["file"]
    ...     pairs = pl.DataFrame({"file_a": [joy], "file_b": [fear]})
    ...     len(embed_pairs(pairs, "hog", folder))
    2
    """
    from affectlab.models.differences.pairs import PairTable, find_pictures
    from affectlab.models.embedding import embed

    named = pairs.drop_nulls(["file_a", "file_b"]).with_columns(
        pl.col("file_a", "file_b").cast(pl.String).str.strip_chars()
    )
    found = find_pictures(PairTable(named, "the pairs", Path(images)), images)
    wrong = [said for said in found.values() if isinstance(said, str)]
    if wrong:
        raise InputError(f"{wrong[0]} ({len(wrong):,} of {len(found):,} pictures)")
    return embed(found, encoder, cache=cache, progress=progress)
