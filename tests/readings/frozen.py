"""What was frozen of each input, what is read of it now, and how the two differ."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import polars as pl
from tests.committed import ROOT, at_commit
from tests.readings.inputs import inputs

from affectlab.core.errors import InputError
from affectlab.ratings import GuessedColumnsWarning, GuessedScalesWarning, Ratings, read_ratings
from affectlab.ratings.schema import ROW_COLUMNS

FILE = ROOT / "tests" / "data" / "readings.parquet"
_TOLD = (GuessedColumnsWarning, GuessedScalesWarning)
_SHOWN = 3


class Part(NamedTuple):
    """A part of a reading; what it does not have is empty.

    ``what`` is an ``answer``, the ``scale`` of a label, the ``kind`` of a rater, a column that
    ``describes`` raters, stimuli or answers, a kind of warning that was ``told``, or the sentence
    with which the file was ``refused``.
    """

    what: str
    stimulus: str | None = None
    rater: str | None = None
    label: str | None = None
    value: float | None = None
    word: str | None = None
    """The category or text of an answer, the scale, the kind, the column, or the sentence."""
    apart: str | None = None
    """Session, trial and the like of an answer."""

    def __str__(self) -> str:
        parts = [f"{name} {one!r}" for name, one in zip(self._fields[1:], self[1:], strict=True)]
        return f"{self.what}: " + ", ".join(
            said for said, one in zip(parts, self[1:], strict=True) if one is not None
        )


Reading = list[Part]
_SCHEMA = {
    "input": pl.String,
    **dict.fromkeys(Part._fields, pl.String),
    "value": pl.Float64,
}


def now(name: str) -> Reading:
    """Read an input in an empty folder.

    Raises
    ------
    pytest.skip.Exception
        When a library is missing that writes the input.
    """
    given = inputs()[name]
    # Names of folders differ, and stand in sentences.
    with tempfile.TemporaryDirectory(prefix="readings-") as folder:
        file = given.write(Path(folder))
        with warnings.catch_warnings(record=True) as noted, patch.dict(os.environ):
            warnings.simplefilter("always")
            try:
                ratings = read_ratings(file, **given.options)
            except InputError as error:
                return [Part("refused", word=str(error).replace(folder, "…"))]
    told = {one.category.__name__ for one in noted if issubclass(one.category, _TOLD)}
    return [*_parts(ratings), *(Part("told", word=one) for one in sorted(told))]


def _parts(ratings: Ratings) -> Iterator[Part]:
    for label, scale in ratings.scales.items():
        yield Part("scale", label=label, word=str(scale))
    for rater, kind in zip(ratings.rater_names, ratings.rater_kinds, strict=True):
        yield Part("kind", rater=rater, word=kind)
    frame = ratings.frame
    apart = [name for name in ROW_COLUMNS if name in frame.columns and name != "text"]
    own = {"stimulus", "rater", "label", "value", "text", *ROW_COLUMNS}
    for of, table in (("raters", ratings.raters), ("stimuli", ratings.stimuli), ("", frame)):
        for column in table.columns:
            if column not in own - ({"text"} if of == "stimuli" else set()):
                yield Part("describes", label=of or "answers", word=column)
    for row in frame.iter_rows(named=True):
        label = row.get("label") or ""
        scale = ratings.scales[label] if label else ratings.scale
        value, word = row["value"], row.get("text")
        if scale.categories and value is not None:
            word = scale.categories[int(value - (scale.low or 0))]
        said = [f"{name}={row[name]}" for name in apart if row[name] is not None]
        yield Part(
            "answer", row["stimulus"], row["rater"], label, value, word, " ".join(said) or None
        )


def differences(was: Reading, after: Reading) -> list[tuple[str, Part]]:
    """List the parts that are gone, and those that are new; nothing: both are the same."""
    had, has = Counter(map(_key, was)), Counter(map(_key, after))
    gone = [("gone", one) for one in was if had[_key(one)] > has[_key(one)]]
    return gone + [("new", one) for one in after if has[_key(one)] > had[_key(one)]]


def _key(part: Part) -> tuple[Any, ...]:
    """Give a part such that two that are equal have equal keys; NaN is no value."""
    return tuple(None if one != one else one for one in part)


def told(found: Mapping[str, list[tuple[str, Part]]], most: int = _SHOWN) -> str:
    """Say what differs: a line for each input, and the first parts of each kind."""
    lines = []
    for name, parts in found.items():
        lines.append(name)
        for way in ("gone", "new"):
            own = [part for kind, part in parts if kind == way]
            lines += [f"  {way} {part}" for part in own[:most]]
            lines += [f"  and {len(own) - most} more {way}"] * (len(own) > most)
    return "\n".join(lines)


def read(commit: str | None = None) -> dict[str, Reading]:
    """Read what was frozen, in the working tree or at a commit."""
    found: dict[str, Reading] = {}
    for name, *part in pl.read_parquet(at_commit(FILE, commit)).iter_rows():
        found.setdefault(name, []).append(Part(*part))
    return found


def write(frozen: Mapping[str, Reading]) -> None:
    """Freeze readings."""
    rows = [(name, *part) for name in sorted(frozen) for part in frozen[name]]
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    frame.write_parquet(FILE, compression="zstd", compression_level=19, statistics=False)
