"""The step that keeps one comment of each id."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._words import plural
from affectlab.stimuli.curation._step import Step

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._pool import Pool

__all__ = ["Repeated"]

_AT_ONCE = 1 << 25
"""Keys that are compared at once, 256 MB of them: a larger pool is taken in ranges of keys."""


class Repeated(Step):
    """Drops rows whose id came before: dumps overlap, and some tables have a row for each rater.

    The row that is read first stays, so that the order of rows matters where rows of one id differ.
    Ids are compared by their 64-bit hash. Among ten million different ids, one pair is confused
    with a probability of 3 in a million.
    """

    name = "repeated"
    reasons: Mapping[str, str] = {"repeated": "a row with the same id came before"}
    on = "key"

    def settings(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Find the ids that come more than once, and the place where each comes first."""
        import daft
        import polars as pl

        key = daft.col("key")
        ranges = ceil(pool.n / _AT_ONCE)
        edges = np.linspace(-(2.0**63), 2.0**63, ranges + 1)[1:-1].astype(np.int64).tolist()
        found = []
        for low, high in zip([None, *edges], [*edges, None], strict=True):
            part = pool.frame.select("key", "place")
            if low is not None:
                part = part.where(key >= low)
            if high is not None:
                part = part.where(key < high)
            keys = np.sort(pool.collect(part.select("key"))["key"].to_numpy())
            twice = np.unique(keys[1:][keys[1:] == keys[:-1]])
            if len(twice):
                rows = pool.joined(part, pl.DataFrame({"key": twice}), ["key"])
                found.append(rows.groupby("key").agg(daft.col("place").min().alias("first_place")))
        schema = {"key": pl.Int64, "first_place": pl.Int64}
        tables = [pl.DataFrame(schema=schema), *(pool.collect(part) for part in found)]
        return pl.concat(tables).sort("key")

    def reason(self) -> pl.Expr:
        """Say which rows repeat an earlier one."""
        import polars as pl

        return pl.when(pl.col("place") > pl.col("first_place")).then(pl.lit("repeated"))

    def found(self, learned: pl.DataFrame | None) -> str:
        """Count the ids that come again."""
        if learned is None or learned.is_empty():
            return ""
        return f"{plural(learned.height, 'id comes', 'ids come')} more than once"
