"""The comments that are left, as narrow tables on disk, and what steps ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.stimuli.curation._output import TextWork
from affectlab.stimuli.curation._state import begin_stage
from affectlab.stimuli.curation._tasks import Place, daft_parts

if TYPE_CHECKING:
    import polars as pl
    from daft import DataFrame, Expression

__all__ = ["Pool"]


@dataclass(frozen=True, eq=False)
class Pool:
    """Comments that are left when a step begins; see :class:`Step` for the columns."""

    folder: Path
    """Narrow tables, one for each part."""
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
    def frame(self) -> DataFrame:
        """One row per comment, without texts, as a Daft data frame that is read when used."""
        return daft_parts(self.folder)

    def counts(self, by: str, **flags: Expression) -> pl.DataFrame:
        """Count comments, and those for which flags hold, for each value of a column.

        Gives `by`, ``n`` and one column for each flag, sorted by `by`; memory grows with the number
        of values.
        """
        import daft

        asked = (by, *(f"{name}={flag}" for name, flag in flags.items()))
        known = next((one for one in self._counts if asked == one[: len(asked)]), asked)
        if known not in self._counts:
            named = [flag.cast(daft.DataType.int64()).alias(name) for name, flag in flags.items()]
            sums = [daft.col(name).sum() for name in flags]
            frame = self.frame.select(by, "place", *named).groupby(by)
            counted = frame.agg(daft.col("place").count().alias("n"), *sums)
            self._counts[known] = self.collect(counted).sort(by)
        return self._counts[known].select(by, "n", *flags)

    def with_texts(self) -> DataFrame:
        """Give ``place``, ``id``, ``text`` and ``group`` of the comments, read from disk."""
        begin_stage(self.scratch)
        work = TextWork(self.parts, self.folder, self.scratch)
        self.where.run(len(self.parts), work, "reading texts")
        return daft_parts(self.scratch)

    @staticmethod
    def collect(frame: DataFrame) -> pl.DataFrame:
        """Compute a small Daft data frame, as polars; unsigned counts become signed."""
        import polars as pl

        found = pl.DataFrame(frame.to_arrow())
        return found.with_columns(pl.col(pl.UInt64).cast(pl.Int64))

    @staticmethod
    def joined(
        frame: DataFrame, table: pl.DataFrame, on: Sequence[str], how: Any = "inner"
    ) -> DataFrame:
        """Join a small table to a Daft data frame."""
        import daft
        import polars as pl

        told = daft.from_arrow(table.to_arrow(compat_level=pl.CompatLevel.oldest()))
        return frame.join(told, on=list(on), how=how)
