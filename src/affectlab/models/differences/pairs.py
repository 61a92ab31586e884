"""Pairs of pictures from a table, from ratings, or from their files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.words import shown
from affectlab.ratings import Ratings

__all__ = ["SIDES", "PairTable", "find_pairs", "find_pictures", "holds_answers"]

SIDES = ("file_a", "file_b")
_EXPECTED = "expected a table with stimulus, file_a and file_b, or ratings of such stimuli"
_OR_RATINGS = "ratings of such stimuli will do, too"
_OF_ANSWERS = frozenset(
    {"rater", "label", "value", "text", "session", "trial", "trial_kind", "outcome", "rt_ms", "at"}
    | {"rater_kind", "problem"}
)
"""Columns of answers; an attribute of a pair that is called so becomes ``stimulus_…``."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs, each once."""

    frame: pl.DataFrame
    """``stimulus``, ``file_a``, ``file_b`` and whatever else is known of a pair."""
    where: str
    """What it is from, for errors."""
    folder: Path | None
    """Folder of the table, None where it is in memory."""

    def __len__(self) -> int:
        """Number of pairs."""
        return self.frame.height


def find_pairs(pairs: Any) -> PairTable:
    """Read pairs.

    Parameters
    ----------
    pairs
        Ratings of pairs; a data frame or a mapping of columns; a table (CSV, Parquet, …) with the
        columns ``stimulus``, ``file_a`` and ``file_b``, such as ``affectlab stimuli pairs`` writes;
        or a file of ratings, such as ``affectlab study export`` writes.

    Raises
    ------
    InputError
        When the file cannot be read, a column or a name is missing, or a stimulus stands twice.
    """
    if isinstance(pairs, Ratings):
        return _checked(pairs.stimuli, pairs.source or "the ratings", None)
    if isinstance(pairs, str | os.PathLike):
        path = Path(pairs)
        return _checked(_read(path), shown(path), path.parent)
    from affectlab.ratings.files import as_frame

    return _checked(as_frame(pairs, what="the table of pairs"), "the table of pairs", None)


def holds_answers(path: Path) -> bool:
    """Tell whether a file holds answers of raters, by its columns alone.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    return "rater" in _columns(path)


def _columns(path: Path) -> tuple[str, ...]:
    from affectlab.ratings import read_table
    from affectlab.ratings.files import Peek

    if path.is_dir():
        raise InputError(f"{shown(path)} is a folder; {_EXPECTED}")
    peek = Peek.open(path)
    if peek.suffix in (".csv", ".tsv", ".txt") and not peek.is_binary:
        # A file of ratings can be long.
        return tuple(name.strip() for name in peek.header)
    return tuple(read_table(path, names=()).columns)


def _read(path: Path) -> pl.DataFrame:
    from affectlab.ratings import read_ratings, read_table

    columns = _columns(path)
    if "rater" not in columns and {"stimulus", *SIDES} <= set(columns):
        return read_table(path, names=("stimulus", *SIDES))
    try:
        return read_ratings(path).stimuli
    except InputError:
        if "rater" not in columns:
            require_columns(columns, ("stimulus", *SIDES), f"{shown(path)}: ", _OR_RATINGS)
        raise


def _checked(table: pl.DataFrame, where: str, folder: Path | None) -> PairTable:
    require_columns(table, ("stimulus", *SIDES), f"{where}: ", _OR_RATINGS)
    if not table.height:
        raise InputError(f"{where}: no pairs; {_EXPECTED}")
    plain = table.with_columns(
        pl.col("stimulus", *SIDES).cast(pl.String).str.strip_chars().fill_null("")
    )
    for name in ("stimulus", *SIDES):
        empty = plain[name] == ""
        if empty.any():
            row = int(empty.arg_max() or 0)
            who = "" if name == "stimulus" else f" ({shown(plain['stimulus'][row], 80)})"
            raise InputError(f"{where}, row {row + 1}{who}: {name} is empty; expected a name")
    require_distinct(plain, ["stimulus"], f"{where}: ", "each pair once")
    renamed = {
        name: f"stimulus_{name}"
        for name in plain.columns
        if name in _OF_ANSWERS and f"stimulus_{name}" not in plain.columns
    }
    kept = [name for name in plain.columns if name not in _OF_ANSWERS or name in renamed]
    return PairTable(plain.select(kept).rename(renamed), where, folder)


def find_pictures(pairs: PairTable, images: str | Path | None) -> dict[str, Path | str]:
    """Find the file of each picture that pairs name.

    Parameters
    ----------
    images
        Folder of the pictures; None: that of the table. A name without folders, as exported ratings
        have it, may be that of one picture in any folder within it.

    Returns
    -------
    dict
        By the name in the table the path of the file, or what is wrong with it.

    Raises
    ------
    InputError
        When there is no such folder, or none is known.
    """
    folder = pairs.folder if images is None else Path(images)
    if folder is None:
        raise InputError(f"{pairs.where} is in no folder; expected the folder of its images")
    if not folder.is_dir():
        raise InputError(f"{shown(folder)}: there is no such folder; expected that of the images")
    # By names alone: a link in the folder may lead anywhere, whoever put it there.
    inside = Path(os.path.normpath(Path.cwd() / folder))
    tree = _Tree(folder)
    found: dict[str, Path | str] = {}
    names = dict.fromkeys(name for side in SIDES for name in pairs.frame[side].to_list())
    for name in names:
        found[name] = _found(name, folder, inside, tree)
    return found


class _Tree:
    """Files in a folder by their names alone; looked through when it is needed first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, list[Path]] | None = None

    def named(self, name: str) -> list[Path]:
        if self._held is None:
            held: defaultdict[str, list[Path]] = defaultdict(list)
            for path in _within(self._folder):
                held[path.name].append(path)
            self._held = dict(held)
        return self._held.get(name, [])


def _within(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        yield from (Path(place, file) for file in sorted(files))


def _found(name: str, folder: Path, inside: Path, tree: _Tree) -> Path | str:
    """Give the path of a picture, or say why there is none."""
    said = shown(name, 120)
    try:
        target = Path(os.path.normpath(inside / name))
        if not target.is_relative_to(inside):
            return f"file {said!r} lies outside {shown(folder)}; expected a picture in it"
        # The system would follow a link before it goes up: ``link/..`` may be anywhere.
        path = folder / target.relative_to(inside)
        if path.is_file():
            return path
    # A name with a null byte, or one that is too long.
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return f"file {said!r} cannot be read ({reason})"
    if PurePosixPath(name).name == name:
        others = tree.named(name)
        if len(others) == 1:
            return others[0]
        if others:
            return (
                f"file {said!r} is there {len(others)} times in {shown(folder)} "
                f"({shown(others[0].relative_to(folder))}, …); expected names with their folders"
            )
    return f"file {said!r} is not in {shown(folder)}; expected the folder of all images"
