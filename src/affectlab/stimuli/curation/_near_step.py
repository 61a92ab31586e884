"""The step that keeps one of several texts that are nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab._words import percent, plural
from affectlab.stimuli.curation._plan import NearDuplicates
from affectlab.stimuli.curation._step import Step

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._pool import Pool

__all__ = ["NearDuplicatesStep"]


class NearDuplicatesStep(Step):
    """Drops comments whose text is nearly that of another one that stays."""

    name = "near_duplicates"
    on = "place"

    def __init__(self, given: NearDuplicates | None = None, seed: int = 0) -> None:
        self.given = given or NearDuplicates()
        self.seed = seed
        least = percent(self.given.threshold)
        self.reasons = {"near_duplicate": f"text alike to {least} or more with one that stays"}

    def settings(self) -> dict[str, Any]:
        """The threshold, how it is looked for, and the seed."""
        return {**dict(self.given), "seed": self.seed}

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Find the comments that go, and the one that stays for each: places."""
        import daft
        import polars as pl

        from affectlab.stimuli.curation._near_duplicates import near_duplicates

        # The smallest id stays, so that places of equal length let the first one read stay.
        place = daft.col("place").cast(daft.DataType.string()).lpad(20, "0")
        frame = pool.with_texts().select(place.alias("id"), "text")
        asked = {name: value for name, value in dict(self.given).items() if value is not None}
        found = near_duplicates(frame, **asked, seed=self.seed, folder=pool.scratch.parent)
        return found.select(
            pl.col("id").cast(pl.Int64).alias("place"),
            pl.col("kept_id").cast(pl.Int64).alias("kept_place"),
        )

    def reason(self) -> pl.Expr:
        """Say which comments are nearly the same as one that stays."""
        import polars as pl

        return pl.when(pl.col("kept_place").is_not_null()).then(pl.lit("near_duplicate"))

    def found(self, learned: pl.DataFrame | None) -> str:
        """Count the texts of which there are several."""
        if learned is None or learned.is_empty():
            return ""
        several = learned["kept_place"].n_unique()
        return f"{plural(several, 'text comes', 'texts come')} in several versions"
