"""The step that keeps one comment of each id."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.words import percent, plural
from affectlab.stimuli.curation.hashing import draws, id_keys
from affectlab.stimuli.curation.plan import NearDuplicates
from affectlab.stimuli.curation.steps.step import Step

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.pool import Pool


__all__ = [
    "NearDuplicatesStep",
    "Repeated",
]

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


# The step that keeps one of several texts that are nearly the same.


_DIGITS = 19
"""Digits of the largest number with 63 bits."""


class NearDuplicatesStep(Step):
    """Keeps one of several comments whose texts are nearly the same, or linked by such texts.

    The comment with the lowest draw of its group stays. The draw is a hash of the id, the seed and
    the step's name, so that it depends neither on the order of the comments nor on later draws.
    """

    name = "near_duplicates"
    on = "place"

    def __init__(self, given: NearDuplicates | None = None, seed: int = 0) -> None:
        self.given = given or NearDuplicates()
        self.seed = seed
        least = percent(self.given.threshold)
        self.reasons = {
            "near_duplicate": "linked to one that stays, directly or by a chain, by texts alike to "
            f"{least} or more"
        }

    def settings(self) -> dict[str, Any]:
        """The threshold, how it is looked for, and the seed."""
        return {**dict(self.given), "seed": self.seed}

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Find the comments that go, and the one that stays for each: places."""
        import daft
        import polars as pl

        from affectlab.stimuli.curation.texts import near_duplicates

        name, seed = self.name, self.seed

        @daft.func.batch(return_dtype=daft.DataType.string(), use_process=False)
        def rank(ids: daft.Series, places: daft.Series) -> Any:
            drawn = pl.Series(draws(id_keys(pl.Series(ids.to_arrow())), name, seed))
            both = (drawn, pl.Series(places.to_arrow()))
            high, low = (one.cast(pl.String).str.zfill(_DIGITS) for one in both)
            return (high + low).to_arrow()

        # The smallest of these stays. Places tell apart comments whose ids are the same.
        ranked = rank(daft.col("id"), daft.col("place"))
        frame = pool.with_texts().select(ranked.alias("id"), "text")
        asked = {name: value for name, value in dict(self.given).items() if value is not None}
        found = near_duplicates(frame, **asked, seed=self.seed, path=pool.scratch.parent)
        return found.select(
            pl.col("id").str.slice(_DIGITS).cast(pl.Int64).alias("place"),
            pl.col("kept_id").str.slice(_DIGITS).cast(pl.Int64).alias("kept_place"),
        )

    def reason(self) -> pl.Expr:
        """Say which comments are linked to one that stays."""
        import polars as pl

        return pl.when(pl.col("kept_place").is_not_null()).then(pl.lit("near_duplicate"))

    def found(self, learned: pl.DataFrame | None) -> str:
        """Count the texts of which there are several."""
        if learned is None or learned.is_empty():
            return ""
        several = learned["kept_place"].n_unique()
        return f"{plural(several, 'text comes', 'texts come')} in several versions"
