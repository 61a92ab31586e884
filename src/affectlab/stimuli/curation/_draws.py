"""Keeping exactly n comments of a kind, at random, without sorting them all."""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING

from affectlab.stimuli.curation._drawn_numbers import daft_draw
from affectlab.stimuli.curation._hashing import DRAW_BITS

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._pool import Pool

__all__ = ["cutoffs", "lower_median"]

_CELLS = 16
"""A histogram of draws has about two to this power cells."""
_LEAST_BITS = 4


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
    import daft
    import polars as pl
    from daft.functions import shift_right

    kinds = [] if by is None else [by]
    over = caps.filter(pl.col("n") > pl.col("cap")).with_row_index("kind")
    over = over.with_columns(pl.col("kind").cast(pl.Int64))
    if over.is_empty():
        return over.with_columns(cut=pl.lit(0, pl.Int64), cut_place=pl.lit(0, pl.Int64)).select(
            *kinds, "cut", "cut_place"
        )
    bits = max(_LEAST_BITS, _CELLS - ceil(log2(over.height)))
    frame = pool.frame.select("place", "key", *kinds)
    if by is None:
        frame = frame.with_column("kind", daft.lit(0).cast(daft.DataType.int64()))
    else:
        frame = pool.joined(frame, over.select(by, "kind"), [by])
    frame = frame.with_column("draw", daft_draw(name, seed))
    # One number for kind and leading bits: groups of one column are counted several times faster.
    cell = daft.col("kind") * (1 << bits) + shift_right(
        daft.col("draw"), daft.lit(DRAW_BITS - bits)
    )
    frame = frame.select("place", "draw", cell.alias("cell"))
    cells = pool.collect(frame.groupby("cell").agg(daft.col("place").count().alias("n")))
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
    inside = pool.collect(pool.joined(frame, edges.select("cell"), ["cell"]))
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
