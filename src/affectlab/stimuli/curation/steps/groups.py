"""Steps that keep or drop whole groups, such as subreddits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab.core.words import percent, plural, shown
from affectlab.stimuli.curation.emotions import SENTIMENTS
from affectlab.stimuli.curation.plan import AdultGroups, BigGroups, Sentiment
from affectlab.stimuli.curation.steps.step import Step
from affectlab.stimuli.curation.texts import in_list

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.pool import Pool

__all__ = ["AdultGroupsStep", "BigGroupsStep", "SentimentStep"]


class GroupStep(Step):
    """Base of the steps that decide about groups: what is learned holds the reason."""

    on = "group"
    grouped = True

    def reason(self) -> pl.Expr:
        """Say which comments are in a group that is dropped."""
        import polars as pl

        return pl.col("group_reason")


class BigGroupsStep(GroupStep):
    """Drops groups with few comments, and comments without a group."""

    name = "big_groups"
    shows = "group_size"

    def __init__(self, given: BigGroups | None = None) -> None:
        self.given = given or BigGroups()
        self.reasons = {
            "small_group": f"group with fewer than {self.given.least:,} comments",
            "no_group": "comment without a group",
        }

    def settings(self) -> dict[str, Any]:
        """The size from which a group is kept."""
        return dict(self.given)

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Count the comments of each group."""
        import polars as pl

        small = pl.col("n") < self.given.least
        return pool.counts("group").with_columns(
            pl.when(pl.col("group") == "")
            .then(pl.lit("no_group"))
            .when(small)
            .then(pl.lit("small_group"))
            .alias("group_reason")
        )

    def found(self, learned: pl.DataFrame | None) -> str:
        """Say how many groups there are and which one is the largest."""
        import polars as pl

        groups = None if learned is None else learned.filter(pl.col("group") != "")
        return _groups_found(groups, "the largest is", "n")


class AdultGroupsStep(GroupStep):
    """Drops groups that are not safe for work: listed ones, and those whose words say so.

    Parameters
    ----------
    given
        The share of comments with offensive or vulgar words from which a group is dropped.
    listed
        Names of groups, in lower case; ``*`` at the end stands for any ending; see :func:`in_list`.
    """

    name = "adult_groups"
    shows = "group_size"

    def __init__(self, given: AdultGroups | None = None, listed: tuple[str, ...] = ()) -> None:
        self.given = given or AdultGroups()
        self.listed = listed
        least = percent(self.given.share, 1)
        self.reasons = {
            "adult_group": "group on the list of adult groups",
            "profane_group": f"group where {least} or more of the comments hold offensive or "
            "vulgar words",
        }

    def settings(self) -> dict[str, Any]:
        """The share."""
        return dict(self.given)

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Count the comments with offensive or vulgar words in each group."""
        import polars as pl

        profane = pl.col("offensive") | pl.col("vulgar")
        found = pool.counts("group", profane=profane)
        share = pl.col("profane") / pl.col("n")
        return found.with_columns(
            pl.when(in_list(found["group"], self.listed))
            .then(pl.lit("adult_group"))
            .when(share >= self.given.share)
            .then(pl.lit("profane_group"))
            .alias("group_reason")
        )

    def found(self, learned: pl.DataFrame | None) -> str:
        """Say how many groups are dropped."""
        return _groups_found(learned, "", "n")


class SentimentStep(GroupStep):
    """Drops groups that lack a sentiment, or are mostly neutral, by predicted emotions.

    The shares are of all comments of a group; a comment with several emotions may count for
    several sentiments.
    """

    name = "sentiment"
    shows = "sentiment"
    predicted = True

    def __init__(self, given: Sentiment | None = None) -> None:
        self.given = given or Sentiment()
        self._least = {
            "positive": self.given.positive_least,
            "negative": self.given.negative_least,
            "ambiguous": self.given.ambiguous_least,
        }
        self.reasons = {
            "neutral": f"group with more than {percent(self.given.neutral_most, 1)} neutral",
            **{
                f"few_{name}": f"group with less than {percent(least, 1)} {name}"
                for name, least in self._least.items()
            },
        }

    def settings(self) -> dict[str, Any]:
        """The four shares."""
        return dict(self.given)

    def learn(self, pool: Pool) -> pl.DataFrame:
        """Count the sentiments of each group."""
        import polars as pl

        found = pool.counts("group", **{name: pl.col(name) for name in SENTIMENTS})
        shares = found.select(
            "group", "n", *(pl.col(name).truediv("n").alias(f"share_{name}") for name in SENTIMENTS)
        )
        neutral = pl.when(pl.col("share_neutral") > self.given.neutral_most)
        few = [
            pl.when(pl.col(f"share_{name}") < least).then(pl.lit(f"few_{name}"))
            for name, least in self._least.items()
        ]
        first = pl.coalesce(neutral.then(pl.lit("neutral")), *few)
        return shares.with_columns(first.alias("group_reason"))

    def found(self, learned: pl.DataFrame | None) -> str:
        """Say how many groups are dropped."""
        return _groups_found(learned, "", "n")


def _groups_found(learned: pl.DataFrame | None, largest: str, size: str) -> str:
    if learned is None or learned.is_empty():
        return ""
    kept = learned["group_reason"].null_count()
    text = f"{kept:,} of {plural(learned.height, 'group')} kept"
    if not largest:
        return text
    top = learned.sort([size, "group"], descending=[True, False]).row(0, named=True)
    return f"{text}; {largest} {shown(top['group'], 40) or '(none)'} with {top[size]:,} comments"
