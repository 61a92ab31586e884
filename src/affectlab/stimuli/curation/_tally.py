"""Counts over all comments that are left, made part by part and then put together."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from affectlab.stimuli.curation._narrow import narrow_columns, needed, read_narrow
from affectlab.stimuli.curation._tasks import Place, part_name, read_part, write_part

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._tasks import Work

__all__ = ["TallyWork", "found_in_parts", "over_parts"]


@dataclass(frozen=True)
class TallyWork:
    """Counts the comments of a part, and those for which flags hold, by the values of a column."""

    pool: Path
    """Narrow tables of the comments that are left."""
    by: str
    flags: dict[str, pl.Expr]
    folder: Path
    """Where the counts are written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Count one part."""
        import polars as pl

        columns = narrow_columns(self.pool)
        table = read_narrow(
            self.pool, part, needed([pl.col(self.by), *self.flags.values()], columns)
        )
        sums = [flag.cast(pl.Int64).sum().alias(name) for name, flag in self.flags.items()]
        found = table.group_by(self.by).agg(pl.len().cast(pl.Int64).alias("n"), *sums)
        write_part(found, self.folder / part_name(part), passing=True)
        return {}


@contextmanager
def over_parts(scratch: Path) -> Iterator[Path]:
    """Give a folder for what is found in each part; it is removed in the end."""
    folder = scratch / uuid4().hex
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def found_in_parts(where: Place, n_parts: int, work: Work, folder: Path) -> pl.DataFrame:
    """Do work that writes a small table for each part, and read all of these."""
    replace(where, progress=None).run(n_parts, work, "")
    return read_part([folder / part_name(part) for part in range(n_parts)])
