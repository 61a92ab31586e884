"""Random numbers of comments, as expressions of polars and of Daft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab.stimuli.curation._hashing import draws

if TYPE_CHECKING:
    import daft
    import polars as pl

__all__ = ["daft_draw", "polars_draw"]


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
