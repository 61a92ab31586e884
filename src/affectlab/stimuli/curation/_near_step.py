"""The step that keeps one of several texts that are nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab._words import percent, plural
from affectlab.stimuli.curation._hashing import draws, id_keys
from affectlab.stimuli.curation._plan import NearDuplicates
from affectlab.stimuli.curation._step import Step

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._pool import Pool

__all__ = ["NearDuplicatesStep"]

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

        from affectlab.stimuli.curation._near_duplicates import near_duplicates

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
