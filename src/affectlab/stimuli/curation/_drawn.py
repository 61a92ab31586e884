"""Some of the comments that are left, with their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab.stimuli.curation._drawn_numbers import daft_draw
from affectlab.stimuli.curation._draws import cutoffs
from affectlab.stimuli.curation._output import texts_at

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._pool import Pool

__all__ = ["drawn_texts"]

_NAME = "draw"


def drawn_texts(pool: Pool, n: int, seed: int) -> pl.DataFrame:
    """Draw comments of a pool: ``id``, ``text``, ``group``, in the order of the draw."""
    import daft
    import polars as pl

    if not pool.n:
        return texts_at(pool.parts, pl.Series("place", [], pl.Int64)).drop("place")
    cuts = cutoffs(pool, None, pl.DataFrame({"n": [pool.n], "cap": [n]}), _NAME, seed)
    frame = pool.frame.select("place", daft_draw(_NAME, seed).alias("draw"))
    if cuts.height:
        frame = frame.where(daft.col("draw") <= daft.lit(int(cuts["cut"][0])))
    rows = pool.collect(frame).sort("draw", "place").head(n)
    found = texts_at(pool.parts, rows["place"])
    return rows.join(found, on="place", how="left", maintain_order="left").select(
        "id", "text", "group"
    )
