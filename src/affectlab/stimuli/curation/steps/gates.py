"""Steps that look at one comment at a time."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from affectlab.core.words import plural
from affectlab.stimuli.curation.hashing import id_keys
from affectlab.stimuli.curation.plan import Length
from affectlab.stimuli.curation.steps.step import Step

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.pool import Pool

__all__ = ["Deleted", "Identity", "Language", "Offensive", "TokenLength"]


class Deleted(Step):
    """Drops comments whose text was deleted or removed, or is empty."""

    name = "deleted"
    reasons: Mapping[str, str] = {"deleted": "the text is [deleted], [removed] or empty"}

    def settings(self) -> dict[str, Any]:
        """Nothing beside how texts are looked at."""
        return {}

    def reason(self) -> pl.Expr:
        """Say which comments were deleted."""
        import polars as pl

        return pl.when("deleted").then(pl.lit("deleted"))


class Language(Step):
    """Drops comments in other languages."""

    name = "language"
    speaks = True

    def __init__(self, languages: tuple[str, ...] = ("en",)) -> None:
        self.reasons = {"other_language": f"not in {', '.join(languages)}"}

    def settings(self) -> dict[str, Any]:
        """Nothing beside how texts are looked at."""
        return {}

    def reason(self) -> pl.Expr:
        """Say which comments are in another language."""
        import polars as pl

        return pl.when(~pl.col("english")).then(pl.lit("other_language"))


class Offensive(Step):
    """Drops comments with offensive or adult words; vulgar ones stay."""

    name = "offensive"
    reasons: Mapping[str, str] = {"offensive": "holds a word of the offensive list"}

    def settings(self) -> dict[str, Any]:
        """Nothing beside how texts are looked at."""
        return {}

    def reason(self) -> pl.Expr:
        """Say which comments hold an offensive word."""
        import polars as pl

        return pl.when("offensive").then(pl.lit("offensive"))


class Identity(Step):
    """Sets comments with words of identity aside until people have looked at them.

    Parameters
    ----------
    decisions
        ``id`` and ``keep``: what reviewers decided; None where nobody has looked yet.
    """

    name = "identity"
    reasons: Mapping[str, str] = {
        "for_review": "holds a word of the identity list and awaits review",
        "reviewed": "dropped by the review",
    }
    on = "key"

    def __init__(self, decisions: pl.DataFrame | None = None) -> None:
        self.decisions = decisions

    def settings(self) -> dict[str, Any]:
        """What reviewers decided, as a hash."""
        if self.decisions is None or self.decisions.is_empty():
            return {}
        told = self.decisions.sort("id").select("id", "keep").write_csv()
        return {"decisions": sha256(told.encode()).hexdigest()[:16]}

    def learn(self, pool: Pool) -> pl.DataFrame:  # noqa: ARG002 - nothing is to be looked at
        """Give what reviewers decided, by the hash of the id."""
        import polars as pl

        if self.decisions is None:
            return pl.DataFrame(schema={"key": pl.Int64, "review_keep": pl.Boolean})
        keys = pl.Series("key", id_keys(self.decisions["id"]))
        return pl.DataFrame([keys, self.decisions["keep"].alias("review_keep")])

    def reason(self) -> pl.Expr:
        """Say which comments await review, and which it dropped."""
        import polars as pl

        identity, keep = pl.col("identity"), pl.col("review_keep")
        return (
            pl.when(identity & keep.is_null())
            .then(pl.lit("for_review"))
            .when(identity & ~keep)
            .then(pl.lit("reviewed"))
        )

    def found(self, learned: pl.DataFrame | None) -> str:
        """Count the decisions that were given."""
        if learned is None or learned.is_empty():
            return ""
        kept = int(learned["review_keep"].sum())
        return f"{plural(learned.height, 'decision')} of reviewers, {kept:,} to keep"


class TokenLength(Step):
    """Drops comments that are too short or too long."""

    name = "length"
    shows = "length"

    def __init__(self, given: Length | None = None) -> None:
        self.given = given or Length()
        self.reasons = {
            "too_short": f"fewer than {plural(self.given.least, 'token')}",
            "too_long": f"more than {plural(self.given.most, 'token')}",
        }

    def settings(self) -> dict[str, Any]:
        """The bounds."""
        return dict(self.given)

    def reason(self) -> pl.Expr:
        """Say which comments are too short or too long."""
        import polars as pl

        return (
            pl.when(pl.col("tokens") < self.given.least)
            .then(pl.lit("too_short"))
            .when(pl.col("tokens") > self.given.most)
            .then(pl.lit("too_long"))
        )
