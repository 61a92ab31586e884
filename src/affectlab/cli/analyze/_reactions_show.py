"""What ``affectlab analyze reactions`` prints and draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from affectlab.analysis.reactions import (
        EmotionDiversity,
        EmotionMap,
        EmotionWords,
        ReactionAgreement,
        SentimentMatch,
    )
    from affectlab.cli._output import Output

__all__ = ["show_quality", "show_words", "told"]

_SHOWN = 10


def told(match: SentimentMatch) -> dict[str, Any]:
    """Give what the JSON output says of the sentiments."""
    return {
        "match": match.match,
        "chance": match.chance,
        "kappa": match.kappa,
        "counts": match.counts,
        "emotions": match.emotions,
    }


def show_words(
    out: Output, words: EmotionWords, mapped: EmotionMap, diversity: EmotionDiversity
) -> None:
    """Print what the words are and how diverse."""
    import polars as pl

    from affectlab.core.words import percent

    out.head("Reactions")
    out.show(
        f"{diversity.n_reactions:,} reactions of {diversity.n_raters:,} people to "
        f"{diversity.n_pairs:,} pairs of image and caption; {len(words.raw):,} emotion words as "
        f"written are {diversity.n_emotions:,} emotions, {words.corrections().height:,} of them "
        "after correcting the spelling.",
        f"{percent(1 - mapped.unmapped_words)} of the emotions, and "
        f"{percent(1 - mapped.unmapped_answers)} of the reactions, have a label in "
        f"{mapped.taxonomy.name}.",
    )
    if mapped.unmapped:
        out.show(f"Without a label, most frequent first: {', '.join(mapped.unmapped[:_SHOWN])}.")
    out.head("\nMost frequent emotions")
    out.show_frame(mapped.to_frame().head(_SHOWN), ("word", "n", "label", "confidence", "route"))
    out.head("\nDiversity, mean over pairs")
    frame: pl.DataFrame = diversity.means.to_frame().with_columns(
        pl.col("method").str.strip_prefix("mean over pairs: ").alias("measure")
    )
    out.show_frame(frame, ("measure", "value", ("low", "high")))


def show_quality(
    out: Output, match: SentimentMatch | None, agreement: ReactionAgreement | None, why: str
) -> None:
    """Print how far the reasons can be relied on."""
    from affectlab.core.words import number, percent

    out.head("\nQuality")
    if match is not None:
        one = match.match
        out.show(
            f"{percent(one.value)} of the reasons have the sentiment of their emotion (95 % "
            f"interval {number(one.low)} to {number(one.high)}; {percent(match.chance)} by "
            f"chance, kappa {number(match.kappa)})."
        )
    if agreement is None:
        out.show(f"Agreement of reasons: not defined; {why}.")
        return
    two = agreement.higher
    out.show(
        f"Two reasons for the same emotion about the same pair are more alike than two unrelated "
        f"ones in {percent(two.value)} of comparisons (95 % interval {number(two.low)} to "
        f"{number(two.high)}; half would be chance; {agreement.scorer}, "
        f"{agreement.same.size:,} pairs of reasons)."
    )
