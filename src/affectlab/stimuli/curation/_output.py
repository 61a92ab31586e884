"""What a finished run writes: the corpus, why each other comment went, and the review queue."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab._csv import write_sheet_csv
from affectlab.stimuli.curation._masking import mask_texts
from affectlab.stimuli.curation._narrow import read_narrow
from affectlab.stimuli.curation._tasks import PLACE_BITS, part_name, read_part, write_part
from affectlab.stimuli.curation._texts import TextSettings

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "CorpusWork",
    "DroppedWork",
    "NarrowWork",
    "TextWork",
    "gather_corpus",
    "gather_reasons",
    "gather_review",
    "texts_at",
]

_FILE_ROWS = 250_000
"""Comments in one file of the corpus."""


@dataclass(frozen=True)
class CorpusWork:
    """Writes the comments of a part that are kept, in the order in which they were read."""

    parts: Sequence[Path]
    """Staged files."""
    pool: Path
    """Narrow tables of the comments that are kept."""
    columns: tuple[str, ...]
    """Staged columns that the corpus has beside id, text and group."""
    masking: TextSettings | None
    """How names and religion are masked; None: not at all."""
    folder: Path
    """Where the pieces are written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the piece of one part."""
        import polars as pl

        narrow = read_narrow(self.pool, part)
        if narrow.is_empty():
            return {}
        columns = ["id", "text", "group", *self.columns]
        staged = read_part(self.parts[part], columns=columns)[_rows(narrow["place"])]
        masked = []
        if self.masking is not None:
            texts = staged["text"].fill_null("").to_list()
            masked = [pl.Series("masked", mask_texts(texts, self.masking), pl.String)]
        told = [narrow["labels"].alias("emotions")] if "labels" in narrow.columns else []
        table = pl.DataFrame(
            [
                *staged.select("id", "text"),
                *masked,
                staged["group"],
                narrow["tokens"],
                *told,
                *staged.select(self.columns),
            ]
        )
        write_part(table, self.folder / f"corpus-{part_name(part)}")
        return {}


@dataclass(frozen=True)
class DroppedWork:
    """Writes why comments of a part were dropped, and which of them await review."""

    parts: Sequence[Path]
    """Staged files."""
    steps: Sequence[tuple[str, Path]]
    """Steps that were taken, and the folders with what they dropped."""
    review: tuple[str, str]
    """Step and reason of comments that await review."""
    folder: Path
    """Where the pieces are written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the pieces of one part."""
        import polars as pl

        name = part_name(part)
        tables = [
            read_part(folder / name).with_columns(pl.lit(step).alias("step"))
            for step, folder in self.steps
            if (folder / name).exists()
        ]
        if not tables:
            return {}
        dropped = pl.concat(tables).sort("place")
        staged = read_part(self.parts[part], columns=["id"])
        ids = staged["id"].gather(_rows(dropped["place"]))
        write_part(
            pl.DataFrame([ids, dropped["step"], dropped["reason"]]), self.folder / f"reasons-{name}"
        )
        step, reason = self.review
        queued = dropped.filter(step=step, reason=reason)
        if queued.height:
            texts = texts_at(self.parts, queued["place"]).drop("place")
            write_part(texts, self.folder / f"review-{name}")
        return {}


@dataclass(frozen=True)
class TextWork:
    """Writes the texts of the comments of a part that are left."""

    parts: Sequence[Path]
    """Staged files."""
    pool: Path
    """Narrow tables of the comments that are left."""
    folder: Path
    """Where ``place``, ``id``, ``text`` and ``group`` are written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the texts of one part."""
        places = read_narrow(self.pool, part, ["place"])["place"]
        write_part(texts_at(self.parts, places), self.folder / part_name(part), passing=True)
        return {}


@dataclass(frozen=True)
class NarrowWork:
    """Writes the narrow table of a part with the comments that are left, and no others."""

    pool: Path
    folder: Path
    """Where the table is written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the table of one part."""
        write_part(read_narrow(self.pool, part), self.folder / part_name(part), passing=True)
        return {}


def gather_corpus(pieces: Path, target: Path) -> None:
    """Put the pieces of the corpus together to files of a handy size."""
    for number, table in enumerate(_gathered(sorted(pieces.glob("corpus-*.parquet")))):
        write_part(table, target / part_name(number))


def gather_reasons(pieces: Path, target: Path) -> None:
    """Move the pieces that say why comments went to their folder."""
    for piece in sorted(pieces.glob("reasons-*.parquet")):
        shutil.move(piece, target / piece.name.removeprefix("reasons-"))


def gather_review(pieces: Path, target: Path) -> None:
    """Write the comments that await review to one sheet: ``id``, ``text``, ``group``."""
    write_sheet_csv(read_part(sorted(pieces.glob("review-*.parquet"))), target)


def texts_at(parts: Sequence[Path], places: pl.Series) -> pl.DataFrame:
    """Read the comments at some places: ``place``, ``id``, ``text``, ``group``, in their order."""
    import polars as pl

    ordered = np.sort(places.to_numpy())
    of_part = ordered >> PLACE_BITS
    tables = []
    for part in np.unique(of_part).tolist():
        here = pl.Series("place", ordered[of_part == part])
        table = read_part(parts[part], columns=["id", "text", "group"])[_rows(here)]
        tables.append(table.insert_column(0, here))
    schema = {"place": pl.Int64, "id": pl.String, "text": pl.String, "group": pl.String}
    return pl.concat(tables) if tables else pl.DataFrame(schema=schema)


def _rows(places: pl.Series) -> NDArray[np.int64]:
    """Rows within their part, of the comments at some places."""
    return places.to_numpy() & ((1 << PLACE_BITS) - 1)


def _gathered(pieces: Sequence[Path]) -> Iterator[pl.DataFrame]:
    import polars as pl

    held: list[pl.DataFrame] = []
    for piece in pieces:
        held.append(read_part(piece))
        if sum(table.height for table in held) >= _FILE_ROWS:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)
