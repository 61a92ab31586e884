"""Taking one step: look at all comments, judge each, write down what became of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError
from affectlab.stimuli.curation._ledger import Entry
from affectlab.stimuli.curation._narrow import (
    base_of,
    begin_masks,
    mask_of,
    narrow_columns,
    needed,
    write_mask,
)
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
    """Where is written which ones are kept, and why others are dropped."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Judge one part; give the number of comments kept, and dropped for each reason."""
        import polars as pl

        reason = self.step.reason().cast(pl.String).alias("reason")
        names = narrow_columns(self.pool)
        on = [] if self.step.on is None else [self.step.on]
        columns = needed([reason, *map(pl.col, ["place", *on])], names)
        table = read_part(base_of(self.pool) / part_name(part), columns)
        mask = mask_of(self.pool, part)
        if mask is None:
            mask = pl.repeat(True, table.height, dtype=pl.Boolean, eager=True)
        else:
            table = table.filter(mask)
        if self.learned is not None:
            learned = self.learned.select(needed([reason, *map(pl.col, on)], self.learned.columns))
            table = _joined(table, learned, self.step.on)
        told = table.select("place", reason)
        gone = told["reason"].is_not_null()
        if gone.any():
            mask = mask.scatter(mask.arg_true().filter(gone), False)
            dropped = told.filter(gone)
            write_part(dropped, self.folder / DROPPED / part_name(part), passing=True)
        write_mask(mask, self.folder / KEPT, part)
        return dict(told["reason"].drop_nulls().value_counts().iter_rows())


def take_step(step: Step, pool: Pool, folder: Path) -> Entry:
    """Take one step, write what became of the comments into its folder, and say what it did."""
    started = perf_counter()
    learned = step.learn(pool)
    if learned is not None:
        learned.write_parquet(folder / LEARNED)
        _check(step, learned, pool)
    (folder / DROPPED).mkdir()
    begin_masks(folder / KEPT, pool.folder)
    work = JudgeWork(step, learned, pool.folder, folder)
    told: Counter[str] = Counter()
    for found in pool.where.run(len(pool.parts), work, step.name):
        told.update(found)
    reasons = {**step.reasons, **dict.fromkeys(sorted({*told} - {*step.reasons}), "")}
    seconds = perf_counter() - started
    kept = pool.n - told.total()
    words = step.found(learned) or ""
    return Entry(step.name, pool.n, kept, reasons, dict(told), words, seconds)


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
    columns = narrow_columns(pool.folder)
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
