"""Steps that cap how many comments of one kind are kept, at random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from affectlab.core.words import plural
from affectlab.stimuli.curation.plan import Cap, Sample
from affectlab.stimuli.curation.pool import cutoffs, lower_median, polars_draw
from affectlab.stimuli.curation.steps.step import Step

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.pool import Pool

__all__ = ["EmotionBalance", "GroupBalance", "LengthBalance", "RandomSample"]


class CapStep(Step):
    """Base of the steps that keep at most a number of comments of each kind.

    The comments with the lowest draws are kept; the draw is a hash of the id, the seed and the
    step's name.
    """

    kind: ClassVar[str]
    """Column whose values are the kinds."""

    def __init__(self, given: Cap | None = None, seed: int = 0) -> None:
        self.given = given or Cap()
        self.seed = seed

    def settings(self) -> dict[str, Any]:
        """The cap and the seed."""
        return {"cap": self.given.cap, "seed": self.seed}

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Find the cap, and the draw up to which comments of each kind are kept."""
        import polars as pl

        counts = pool.counts(self.kind)
        cap = self.median(counts) if self.given.cap == "median" else self.given.cap
        capped = counts.with_columns(pl.lit(cap, pl.Int64).alias("cap"))
        cuts = cutoffs(pool, self.kind, capped, self.name, self.seed)
        return capped.join(cuts, on=self.kind, how="left").sort(self.kind)

    @abstractmethod
    def median(self, counts: pl.DataFrame) -> int:
        """Cap, from ``n`` comments of each kind."""

    def reason(self) -> pl.Expr:
        """Say which comments lie beyond the cap of their kind."""
        import polars as pl

        return pl.when(_beyond(self.name, self.seed)).then(pl.lit("over_cap"))

    def found(self, learned: pl.DataFrame | None) -> str:
        """Say what the cap is."""
        if learned is None or learned.is_empty():
            return ""
        over = learned.height - learned["cut"].null_count()
        return f"cap {learned['cap'][0]:,}, {over:,} of {learned.height:,} above it"


class LengthBalance(CapStep):
    """Caps each length at the number of comments of the median length.

    The median is that of the comments' token counts; of two middle comments the shorter one's.
    """

    name = "length_balance"
    reasons: Mapping[str, str] = {
        "over_cap": "beyond as many comments of one length as have the median length"
    }
    kind = on = "tokens"
    shows = "length"

    def median(self, counts: pl.DataFrame) -> int:
        """Number of comments of the median length."""
        return int(counts["n"][_middle(counts)])

    def found(self, learned: pl.DataFrame | None) -> str:
        """Say what the cap and the median length are."""
        if learned is None or learned.is_empty():
            return ""
        middle = plural(learned["tokens"][_middle(learned)], "token")
        return f"{super().found(learned)}; median length {middle}"


class EmotionBalance(CapStep):
    """Caps each predicted emotion at the median of the emotions' counts.

    A comment counts for the first of its predicted emotions. Comments without one are a kind of
    their own, which is capped but does not enter the median. The median is the lower one.
    """

    name = "emotion_balance"
    reasons: Mapping[str, str] = {
        "over_cap": "beyond as many comments of one emotion as the median emotion has"
    }
    kind = on = "emotion"
    shows = "emotion"
    predicted = True

    def median(self, counts: pl.DataFrame) -> int:
        """Lower median of the emotions' counts."""
        import polars as pl

        named = counts.filter(pl.col("emotion") != "")
        return lower_median((named if named.height else counts)["n"])


class GroupBalance(CapStep):
    """Caps each group at the median of the groups' sizes, the lower one of two."""

    name = "group_balance"
    reasons: Mapping[str, str] = {
        "over_cap": "beyond as many comments of one group as the median group has"
    }
    kind = on = "group"
    shows = "group_size"
    grouped = True

    def median(self, counts: pl.DataFrame) -> int:
        """Lower median of the groups' sizes."""
        return lower_median(counts["n"])


class RandomSample(Step):
    """Draws a number of comments at random; all where there are fewer."""

    name = "sample"

    def __init__(self, given: Sample | None = None, seed: int = 0) -> None:
        self.given = given or Sample()
        self.seed = seed
        size = "all" if self.given.size is None else f"{self.given.size:,}"
        self.reasons = {"not_drawn": f"not among the {size} drawn at random"}

    def settings(self) -> dict[str, Any]:
        """The size and the seed."""
        return {"size": self.given.size, "seed": self.seed}

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Find the draw up to which comments are kept."""
        import polars as pl

        size = pool.n if self.given.size is None else self.given.size
        caps = pl.DataFrame({"n": [pool.n], "cap": [size]})
        return cutoffs(pool, None, caps, self.name, self.seed)

    def reason(self) -> pl.Expr:
        """Say which comments are not drawn."""
        import polars as pl

        return pl.when(_beyond(self.name, self.seed)).then(pl.lit("not_drawn"))


def _beyond(name: str, seed: int) -> pl.Expr:
    """Tell which comments lie beyond the cut that was learned; null where there is none."""
    import polars as pl

    draw, cut = polars_draw(name, seed), pl.col("cut")
    return (draw > cut) | ((draw == cut) & (pl.col("place") > pl.col("cut_place")))


def _middle(counts: pl.DataFrame) -> int:
    """Row of the length that the middle comment has; lengths are sorted."""
    upto = counts["n"].cum_sum()
    return int((upto <= (int(counts["n"].sum()) - 1) // 2).sum())
