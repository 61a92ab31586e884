"""Keeping exactly n comments of a kind, at random, without sorting them all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.stimuli.curation.hashing import DRAW_BITS, draws
from affectlab.stimuli.curation.pool.narrow import found_in_parts, over_parts, read_narrow
from affectlab.stimuli.curation.pool.parts import part_name, write_part

if TYPE_CHECKING:
    import daft
    import polars as pl

    from affectlab.stimuli.curation.pool.pool import Pool


__all__ = [
    "cutoffs",
    "daft_draw",
    "lower_median",
    "polars_draw",
]

_CELLS = 16
"""A histogram of draws has about two to this power cells."""
_LEAST_BITS = 4


@dataclass(frozen=True)
class CellWork:
    """Counts the comments of a part by kind and by the leading bits of their draw."""

    pool: Path
    """Narrow tables of the comments that are left."""
    by: str | None
    kinds: pl.DataFrame
    """``kind``, a number, and its value of the column `by`, unless that is None."""
    bits: int
    """Leading bits of a draw; one number for kind and bits is a cell."""
    name: str
    seed: int
    folder: Path
    """Where counts are written: ``cell`` and ``n``."""
    inside: pl.Series | None = None
    """Cells whose comments are written instead, with ``place``, ``draw`` and ``cell``."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Look at one part."""
        import polars as pl

        table = read_narrow(self.pool, part, ["place", "key", *([self.by] if self.by else [])])
        if self.by is None:
            table = table.with_columns(kind=pl.lit(0, pl.Int64))
        else:
            table = table.join(self.kinds, on=self.by)
        drawn = draws(table["key"].to_numpy(), self.name, self.seed)
        cell = (drawn >> (DRAW_BITS - self.bits)) + table["kind"].to_numpy() * (1 << self.bits)
        found = pl.DataFrame({"place": table["place"], "draw": drawn, "cell": cell})
        if self.inside is None:
            found = found.group_by("cell").agg(pl.len().cast(pl.Int64).alias("n"))
        else:
            found = found.filter(pl.col("cell").is_in(self.inside.implode()))
        write_part(found, self.folder / part_name(part), passing=True)
        return {}


def cutoffs(pool: Pool, by: str | None, caps: pl.DataFrame, name: str, seed: int) -> pl.DataFrame:
    """Find the draw up to which comments are kept, for each kind with more than its cap.

    A histogram of the draws' leading bits tells in which cell the last comment to keep lies; only
    the comments of that cell are looked at. Of two comments with the same draw the one that was
    read first is kept, so that exactly as many are kept as the cap says.

    Parameters
    ----------
    pool
        The comments.
    by
        Column of the kinds; None: all comments are of one kind.
    caps
        The column `by` unless None, ``n`` comments there are, and ``cap`` comments to keep, at
        least 1.
    name, seed
        Of the draw: draws of other names or seeds are independent.

    Returns
    -------
    polars.DataFrame
        The column `by` unless None, ``cut``, ``cut_place``: comments are kept whose draw is below
        `cut`, or equal to it with a place up to `cut_place`. Kinds within their cap are left out.
    """
    import polars as pl

    kinds = [] if by is None else [by]
    over = caps.filter(pl.col("n") > pl.col("cap")).with_row_index("kind")
    over = over.with_columns(pl.col("kind").cast(pl.Int64))
    if over.is_empty():
        return over.with_columns(cut=pl.lit(0, pl.Int64), cut_place=pl.lit(0, pl.Int64)).select(
            *kinds, "cut", "cut_place"
        )
    bits = max(_LEAST_BITS, _CELLS - ceil(log2(over.height)))
    if by is None:
        over = over.with_columns(kind=pl.lit(0, pl.Int64))
    asked = CellWork(pool.folder, by, over.select("kind", *kinds), bits, name, seed, pool.scratch)
    with over_parts(pool.scratch) as folder:
        work = replace(asked, folder=folder)
        told = found_in_parts(pool.where, len(pool.parts), work, folder)
    cells = told.group_by("cell").agg(pl.col("n").sum())
    edges = (
        cells.sort("cell")
        .with_columns(pl.col("cell").floordiv(1 << bits).alias("kind"))
        .with_columns(pl.col("n").cum_sum().over("kind").alias("upto"))
        .join(over.select("kind", "cap"), on="kind")
        .filter(pl.col("upto") >= pl.col("cap"))
        .sort("cell")
        .unique("kind", keep="first", maintain_order=True)
        .select("cell", "kind", (pl.col("cap") - pl.col("upto") + pl.col("n")).alias("rest"))
    )
    with over_parts(pool.scratch) as folder:
        work = replace(asked, folder=folder, inside=edges["cell"])
        inside = found_in_parts(pool.where, len(pool.parts), work, folder)
    return (
        inside.join(edges, on="cell")
        .sort("cell", "draw", "place")
        .with_columns(pl.int_range(1, pl.len() + 1).over("cell").alias("rank"))
        .filter(pl.col("rank") == pl.col("rest"))
        .join(over.select("kind", *kinds), on="kind")
        .select(*kinds, pl.col("draw").alias("cut"), pl.col("place").alias("cut_place"))
    )


def lower_median(counts: pl.Series) -> int:
    """Median of counts; of the two middle ones the lower, so that it is a count that occurs.

    Examples
    --------
    >>> import polars as pl
    >>> lower_median(pl.Series([9, 1, 4])), lower_median(pl.Series([9, 1, 4, 6]))
    (4, 4)
    """
    return int(counts.sort()[(len(counts) - 1) // 2])


# Random numbers of comments, as expressions of polars and of Daft.


def polars_draw(name: str, seed: int) -> pl.Expr:
    """Random numbers of the comments of a table; see :func:`draws`."""
    import polars as pl

    def drawn(keys: pl.Series) -> pl.Series:
        return pl.Series("draw", draws(keys.to_numpy(), name, seed))

    return pl.col("key").map_batches(drawn, return_dtype=pl.Int64)


def daft_draw(name: str, seed: int) -> daft.Expression:
    """Random numbers of the comments of a Daft data frame; see :func:`draws`."""
    import daft

    @daft.func.batch(return_dtype=daft.DataType.int64(), use_process=False)
    def drawn(keys: daft.Series) -> Any:
        return draws(keys.to_arrow().to_numpy(zero_copy_only=False), name, seed)

    return drawn(daft.col("key"))
