"""Taking one step: look at all comments, judge each, write down what became of them."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError
from affectlab.stimuli.curation._ledger import Entry
from affectlab.stimuli.curation._step import Step
from affectlab.stimuli.curation._tasks import part_name, read_part, write_part

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._pool import Pool

__all__ = ["DROPPED", "KEPT", "LEARNED", "take_step"]

KEPT, DROPPED, LEARNED = "kept", "dropped", "learned.parquet"
"""What a step writes into its folder: two folders with a file for each part, and a table."""


@dataclass(frozen=True)
class JudgeWork:
    """Judges the comments of a part."""

    step: Step
    learned: pl.DataFrame | None
    pool: Path
    """Narrow tables of the comments that are left."""
    folder: Path
    """Where the narrow tables of the kept ones are written, and why others are dropped."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Judge one part; give the number of comments kept, and dropped for each reason."""
        import polars as pl

        name = part_name(part)
        table = read_part(self.pool / name)
        columns = table.columns
        if self.learned is not None:
            table = _joined(table, self.learned, self.step.on)
        table = table.with_columns(self.step.reason().cast(pl.String).alias("reason"))
        keep = pl.col("reason").is_null()
        if table["reason"].null_count() == table.height:
            _share(self.pool / name, self.folder / KEPT / name)
            return {}
        write_part(table.filter(keep).select(columns), self.folder / KEPT / name, passing=True)
        dropped = table.filter(~keep).select("place", "reason")
        write_part(dropped, self.folder / DROPPED / name, passing=True)
        return dict(dropped["reason"].value_counts().iter_rows())


def take_step(step: Step, pool: Pool, folder: Path) -> Entry:
    """Take one step, write what became of the comments into its folder, and say what it did."""
    started = perf_counter()
    learned = step.learn(pool)
    if learned is not None:
        learned.write_parquet(folder / LEARNED)
        _check(step, learned, pool)
    for name in (KEPT, DROPPED):
        (folder / name).mkdir()
    work = JudgeWork(step, learned, pool.folder, folder)
    told: Counter[str] = Counter()
    for found in pool.where.run(len(pool.parts), work, step.name):
        told.update(found)
    reasons = {**step.reasons, **dict.fromkeys(sorted({*told} - {*step.reasons}), "")}
    seconds = perf_counter() - started
    kept = pool.n - told.total()
    words = step.found(learned) or ""
    return Entry(step.name, pool.n, kept, reasons, dict(told), words, seconds)


def _share(source: Path, target: Path) -> None:
    """Let a file stand at a second place, without writing it again where the disk allows that."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _joined(table: pl.DataFrame, learned: pl.DataFrame, on: str | None) -> pl.DataFrame:
    """Join what was learned to comments."""
    import polars as pl

    if on is not None:
        return table.join(learned, on=on, how="left", maintain_order="left")
    row = learned.row(0, named=True) if learned.height else dict.fromkeys(learned.columns)
    return table.with_columns(
        pl.lit(value, learned.schema[name]).alias(name) for name, value in row.items()
    )


def _check(step: Step, learned: pl.DataFrame, pool: Pool) -> None:
    """Check that what a step learned can be joined to the comments."""
    name = step.on
    columns = pool.frame.column_names
    if name is None:
        if learned.height > 1:
            raise InputError(f"step {step.name}: what was learned has {learned.height} rows, not 1")
    elif name not in learned.columns or name not in columns:
        raise InputError(f"step {step.name}: there is no column {name} to join by")
    elif learned[name].is_duplicated().any():
        raise InputError(f"step {step.name}: what was learned has a value of {name} twice")
    taken = sorted({*learned.columns} & {*columns} - {name})
    if taken:
        raise InputError(f"step {step.name}: the comments have a column {taken[0]} already")
