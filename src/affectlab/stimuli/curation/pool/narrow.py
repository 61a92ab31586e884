"""Narrow tables of comments that are left: tables that are written once, and masks over their rows.

A step drops some comments and changes nothing else, so that it writes a mask of the rows that stay
and reads only the columns that it looks at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from affectlab.stimuli.curation.pool.parts import Place, part_name, read_part, write_part

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.pool.parts import Work


__all__ = [
    "TallyWork",
    "base_of",
    "begin_masks",
    "found_in_parts",
    "mask_of",
    "narrow_columns",
    "needed",
    "over_parts",
    "read_narrow",
    "write_mask",
]

_BASE = "base.txt"
"""File beside masks that names the folder of the tables, from the folder of the masks."""
_KEPT = "kept"


def base_of(folder: Path) -> Path:
    """Folder with the tables of which a folder holds masks; itself where it holds tables."""
    try:
        told = (folder / _BASE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return folder
    return Path(os.path.normpath(folder / told))


def begin_masks(folder: Path, pool: Path) -> None:
    """Make a folder for masks over the tables of a pool."""
    folder.mkdir()
    told = os.path.relpath(base_of(pool), folder)
    (folder / _BASE).write_text(told, encoding="utf-8")


def mask_of(folder: Path, part: int) -> pl.Series | None:
    """Which rows of the table of a part are left; None for all of them."""
    if base_of(folder) == folder:
        return None
    return read_part(folder / part_name(part))[_KEPT]


def write_mask(kept: pl.Series, folder: Path, part: int) -> None:
    """Write which rows of the table of a part are left."""
    write_part(kept.alias(_KEPT).to_frame(), folder / part_name(part), passing=True)


def read_narrow(folder: Path, part: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read the comments of a part that are left, some columns or all."""
    table = read_part(base_of(folder) / part_name(part), columns)
    mask = mask_of(folder, part)
    return table if mask is None else table.filter(mask)


def narrow_columns(folder: Path) -> list[str]:
    """Names of the columns of the tables."""
    import polars as pl

    first = base_of(folder) / part_name(0)
    return pl.scan_parquet(first, glob=False).collect_schema().names()


def needed(expressions: Iterable[pl.Expr], names: Sequence[str]) -> list[str]:
    """Columns, out of some names, that expressions look at.

    Examples
    --------
    >>> import polars as pl
    >>> needed([pl.col("tokens") > 3, pl.col("cut") < 1], ["place", "tokens"])
    ['tokens']
    >>> needed([pl.all_horizontal(pl.all())], ["deleted", "vulgar"])
    ['deleted', 'vulgar']
    """
    metas = [expression.meta for expression in expressions]
    if any(meta.has_multiple_outputs() for meta in metas):
        return list(names)
    roots = {root for meta in metas for root in meta.root_names()}
    return [name for name in names if name in roots]


# Counts over all comments that are left, made part by part and then put together.


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
