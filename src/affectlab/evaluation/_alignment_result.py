"""What an alignment found: the verdicts, and the tables behind them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from affectlab.estimates import Estimates
from affectlab.evaluation._alt_test import AltTest
from affectlab.evaluation._ceiling import HumanCeiling
from affectlab.evaluation._equivalence import Verdict

__all__ = ["AlignmentResult"]


@dataclass(frozen=True)
class AlignmentResult:
    """Models beside people.

    The first measure decides: kappa, or Lin's concordance on a scale without steps.
    """

    sentences: tuple[str, ...]
    """A verdict per model, in words that may be printed as they are."""
    verdicts: dict[str, Verdict]
    """Model to ``inside`` (the human range), ``below``, ``above``, ``not shown``, ``undefined``."""
    notes: tuple[str, ...]
    """What a reader has to know about the comparison."""
    agreement: Estimates
    """By ``measure`` and ``rater``: each model with people."""
    difference: Estimates
    """By ``measure`` and ``rater``: the model with people less people with one another, on the same
    stimuli and labels, and for Spearman with the same panels. Beside it ``agreement``, ``people``,
    ``margin``, ``p_lower``, ``p_upper``, ``p``, ``p_holm`` (for all
    models together), ``test_low`` and ``test_high`` (the interval of
    coverage 1 - 2 alpha, which decides), ``verdict``, ``at_least`` (not worse than a person by the
    margin), ``df``, ``people_share`` (of the variance, due to the choice of people),
    ``n_labels``, ``coverage``, ``people_below`` (people who agree less with the others than the
    model does) and ``n_people``."""
    by_label: Estimates
    """By ``measure``, ``rater``, ``label``: the difference, with ``agreement`` and ``people``."""
    ceiling: HumanCeiling
    """People against the other people, on all stimuli."""
    alt: AltTest
    """The alternative-annotator test."""
    margin: float
    alpha: float
    """Level of each of the two one-sided tests."""
    primary: str
    """The measure that decides."""
    measure_words: str
    """Its name in a sentence."""
    pooled: bool = False
    """Whether it is from disagreement pooled over pairs, since people share few stimuli."""

    @property
    def pair_words(self) -> str:
        """Name of the measure of one pair."""
        return self.measure_words.removeprefix("pooled ")

    def to_frame(self) -> pl.DataFrame:
        """One row per model, with the columns of the measure that decides.

        ``rater``, ``rater_kind``, ``verdict``, ``measure``, ``agreement``, ``people``,
        ``difference``, ``low``, ``high``, ``test_low``, ``test_high``, ``p``, ``p_holm``,
        ``at_least``;
        ``spearman``, ``spearman_people``, ``spearman_difference``, ``spearman_low``,
        ``spearman_high``, ``spearman_labels`` (null on a nominal scale); ``people_below``,
        ``n_people``;
        ``winning_rate``, ``advantage``, ``passed``; ``n_items``, ``n_labels``, ``n_ratings``,
        ``coverage``, ``margin``, ``epsilon``, ``status``.
        """
        frame = self.difference.to_frame()
        first = frame.filter(pl.col("measure") == self.primary)
        second = frame.filter(pl.col("measure") == "spearman").select(
            "rater",
            spearman="agreement",
            spearman_people="people",
            spearman_difference="value",
            spearman_low="low",
            spearman_high="high",
            spearman_labels="n_labels",
        )
        alt = self.alt.to_frame().select(
            "rater", "advantage", "passed", "epsilon", winning_rate="value"
        )
        joined = first.join(second, on="rater", how="left", maintain_order="left").join(
            alt, on="rater", how="left", maintain_order="left"
        )
        return joined.rename({"value": "difference"}).select(
            *("rater", "rater_kind", "verdict", "measure", "agreement", "people", "difference"),
            *("low", "high", "test_low", "test_high", "p", "p_holm", "at_least"),
            *("spearman", "spearman_people"),
            *("spearman_difference", "spearman_low", "spearman_high", "spearman_labels"),
            *("people_below", "n_people"),
            *("winning_rate", "advantage", "passed", "n_items", "n_labels", "n_ratings"),
            *("coverage", "margin", "epsilon", "status"),
        )

    def people_frame(self) -> pl.DataFrame:
        """One row per person: ``rater`` and each measure, against the other people."""
        frame = self.ceiling.people_frame().select("measure", "rater", "value")
        names = frame["measure"].unique(maintain_order=True).to_list()
        table = frame.filter(pl.col("measure") == names[0]).select("rater", **{names[0]: "value"})
        for name in names[1:]:
            other = frame.filter(pl.col("measure") == name).select("rater", **{name: "value"})
            table = table.join(other, on="rater", how="left", maintain_order="left")
        return table

    def models_frame(self) -> pl.DataFrame:
        """One row per model: ``rater`` and each measure, against people."""
        frame = self.difference.to_frame()
        names = frame["measure"].unique(maintain_order=True).to_list()
        table = frame.filter(pl.col("measure") == names[0]).select(
            "rater", **{names[0]: "agreement"}
        )
        for name in names[1:]:
            other = frame.filter(pl.col("measure") == name).select("rater", **{name: "agreement"})
            table = table.join(other, on="rater", how="left", maintain_order="left")
        return table

    def __repr__(self) -> str:
        return f"AlignmentResult({len(self.verdicts)} models: {', '.join(self.verdicts.values())})"
