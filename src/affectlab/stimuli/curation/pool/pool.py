"""The comments that are left, as narrow tables on disk, and what steps ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.types import daft
from affectlab.stimuli.curation.pool.narrow import (
    TallyWork,
    base_of,
    found_in_parts,
    over_parts,
    read_narrow,
)
from affectlab.stimuli.curation.pool.parts import (
    PLACE_BITS,
    Place,
    daft_parts,
    part_name,
    read_part,
    write_part,
)
from affectlab.stimuli.curation.pool.state import begin_stage

__all__ = [
    "NarrowWork",
    "Pool",
    "TextWork",
    "texts_at",
]


@dataclass(frozen=True, eq=False)
class Pool:
    """Comments that are left when a step begins; see :class:`Step` for the columns."""

    folder: Path
    """Narrow tables, one for each part, or masks over their rows."""
    n: int
    """Number of comments."""
    parts: Sequence[Path]
    """Staged files with the texts."""
    scratch: Path
    """Folder for pieces of a passing nature."""
    where: Place = field(default_factory=Place)
    """Where work is done."""
    _counts: dict[tuple[str, ...], pl.DataFrame] = field(default_factory=dict, repr=False)

    @property
    def frame(self) -> daft.DataFrame:
        """One row per comment, without texts, as a Daft data frame that is read when used."""
        if base_of(self.folder) == self.folder:
            return daft_parts(self.folder)
        written, unfinished = (self.folder.with_name(name) for name in ("frame", "frame.new"))
        if not written.exists():
            begin_stage(unfinished)
            work = NarrowWork(self.folder, unfinished)
            self.where.run(len(self.parts), work, "reading comments")
            unfinished.rename(written)
        return daft_parts(written)

    def counts(self, by: str, **flags: pl.Expr | daft.Expression) -> pl.DataFrame:
        """Count comments, and those for which flags hold, for each value of a column.

        Flags are expressions of polars, or of Daft, which takes longer. Gives `by`, ``n`` and one
        column for each flag, sorted by `by`; memory grows with the number of values.
        """
        asked = (by, *(f"{name}={flag}" for name, flag in flags.items()))
        known = next((one for one in self._counts if asked == one[: len(asked)]), asked)
        if known not in self._counts:
            self._counts[known] = self._counted(by, flags)
        return self._counts[known].select(by, "n", *flags)

    def _counted(self, by: str, flags: dict[str, Any]) -> pl.DataFrame:
        import daft

        if all(isinstance(flag, pl.Expr) for flag in flags.values()):
            with over_parts(self.scratch) as folder:
                work = TallyWork(self.folder, by, flags, folder)
                told = found_in_parts(self.where, len(self.parts), work, folder)
            return told.group_by(by).agg(pl.all().sum()).sort(by)
        named = [flag.cast(daft.DataType.int64()).alias(name) for name, flag in flags.items()]
        sums = [daft.col(name).sum() for name in flags]
        frame = self.frame.select(by, "place", *named).groupby(by)
        return self.collect(frame.agg(daft.col("place").count().alias("n"), *sums)).sort(by)

    def with_texts(self) -> daft.DataFrame:
        """Give ``place``, ``id``, ``text`` and ``group`` of the comments, read from disk."""
        begin_stage(self.scratch)
        work = TextWork(self.parts, self.folder, self.scratch)
        self.where.run(len(self.parts), work, "reading texts")
        return daft_parts(self.scratch)

    @staticmethod
    def collect(frame: daft.DataFrame) -> pl.DataFrame:
        """Compute a small Daft data frame, as polars; unsigned counts become signed."""
        found = pl.DataFrame(frame.to_arrow())
        return found.with_columns(pl.col(pl.UInt64).cast(pl.Int64))

    @staticmethod
    def joined(
        frame: daft.DataFrame, table: pl.DataFrame, on: Sequence[str], how: Any = "inner"
    ) -> daft.DataFrame:
        """Join a small table to a Daft data frame."""
        import daft

        told = daft.from_arrow(table.to_arrow(compat_level=pl.CompatLevel.oldest()))
        return frame.join(told, on=list(on), how=how)


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


def texts_at(parts: Sequence[Path], places: pl.Series) -> pl.DataFrame:
    """Read the comments at some places: ``place``, ``id``, ``text``, ``group``, in their order."""
    ordered = np.sort(places.to_numpy())
    of_part = ordered >> PLACE_BITS
    tables = []
    for part in np.unique(of_part).tolist():
        here = pl.Series("place", ordered[of_part == part])
        table = read_part(parts[part], columns=["id", "text", "group"])[rows_within(here)]
        tables.append(table.insert_column(0, here))
    schema = {"place": pl.Int64, "id": pl.String, "text": pl.String, "group": pl.String}
    return pl.concat(tables) if tables else pl.DataFrame(schema=schema)


def rows_within(places: pl.Series) -> NDArray[np.int64]:
    """Rows within their part, of the comments at some places."""
    return places.to_numpy() & ((1 << PLACE_BITS) - 1)
