"""The figures of Socratis from reactions, verdicts and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate
from affectlab.core.words import in_brackets, number
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding

if TYPE_CHECKING:
    from affectlab.analysis.reactions import EmotionWords, PairScorer, Sentiment
    from affectlab.core.result import Result
    from affectlab.evaluation.preference import Preferences
    from affectlab.ratings import Ratings

__all__ = [
    "N_RANDOM",
    "agreement_finding",
    "cleaned",
    "data_findings",
    "diversity_note",
    "finding_of",
    "published_notes",
    "sentiment_finding",
    "study_findings",
    "table2_findings",
    "table3_findings",
    "words_note",
]

N_RANDOM = 1000
"""Random pairs of reactions that those to the same pair and emotion are compared with."""
_TABLE_1 = {"machine": 91, "human": 233, "both good": 47, "both bad": 11}
_GROUPS = {"machine": "machine", "human": "human", "both": "both"}


def cleaned(ratings: Ratings) -> tuple[pl.DataFrame, EmotionWords]:
    """Give the table of reactions, and its emotion words brought together."""
    from affectlab.analysis.reactions import normalise_emotions, reaction_table

    table = reaction_table(ratings)
    words = normalise_emotions(table["emotion"].to_list())
    return table.with_columns(pl.Series("word", words.of(table["emotion"].to_list()))), words


def finding_of(found: Estimate) -> Finding:
    """Give an estimate as a finding."""
    return Finding(found.value, found.low, found.high, sampling=True)


def data_findings(ratings: Ratings, table: pl.DataFrame) -> dict[str, Finding]:
    """Count what section 2 counts."""
    people = table.group_by("stimulus").agg(pl.col("rater").n_unique())["rater"]
    found = {
        "data.reactions": table.height,
        "data.emotions": table["emotion"].str.to_lowercase().n_unique(),
        "data.pairs": table["stimulus"].n_unique(),
        "data.raters_per_pair": people.to_numpy().mean(),
    }
    stimuli = ratings.stimuli
    if "source" in stimuli.columns:
        found["data.sources"] = stimuli["source"].n_unique()
    if "stratum" in stimuli.columns:
        found["data.news"] = stimuli.filter(stratum="random").height
        found["data.conflict"] = stimuli.filter(stratum="conflict").height
    return {key: Finding(float(value)) for key, value in found.items()}


def words_note(table: pl.DataFrame, words: EmotionWords) -> str:
    """Say how many emotions there are by three ways of counting."""
    from affectlab.analysis.reactions import map_emotions

    mapped = map_emotions(words, "goemotions")
    return (
        f"{words.to_frame().height:,} emotion words as written are "
        f"{table['emotion'].str.to_lowercase().n_unique():,} without case, and "
        f"{len(words.emotions):,} when spelling and forms are brought together; "
        f"{100 * (1 - mapped.unmapped_answers):.1f} % of the reactions have a label in GoEmotions."
    )


def diversity_note(table: pl.DataFrame, words: EmotionWords) -> str:
    """Say how much people differ over a pair."""
    from affectlab.analysis.reactions import emotion_diversity, map_emotions

    mapped = map_emotions(words, "goemotions")
    found = emotion_diversity(
        table["stimulus"].to_list(),
        table["rater"].to_list(),
        table["word"].to_list(),
        polarities=[mapped.polarity(word) for word in table["word"]],
    ).means
    kinds, differ, conflict = (found[name] for name in ("n_emotions", "difference", "conflict"))
    return (
        f"Of a pair {kinds.value:.1f} emotions are named in the mean; two people name different "
        f"ones with a chance of {number(differ.value)}{in_brackets(differ.low, differ.high)}, and "
        f"ones of opposite signs with {number(conflict.value)}"
        f"{in_brackets(conflict.low, conflict.high)}."
    )


def agreement_finding(
    table: pl.DataFrame,
    words: EmotionWords,
    scorer: PairScorer | None,
    *,
    most: int | None,
    seed: int = 0,
) -> Finding:
    """Compare reactions to the same pair and emotion with 1,000 random pairs."""
    from affectlab.analysis.reactions import agreement_of_reactions

    try:
        found = agreement_of_reactions(
            table["stimulus"].to_list(),
            table["rater"].to_list(),
            words.of(table["emotion"].to_list()),
            table["text"].to_list(),
            scorer,
            n_random=N_RANDOM,
            most=most,
            seed=seed,
        )
    except InputError as problem:
        return Finding(why=str(problem))
    return finding_of(found.higher)


def sentiment_finding(table: pl.DataFrame, words: EmotionWords, sentiment: Sentiment) -> Finding:
    """Compare the sentiment of emotion words with that of their reasons."""
    from affectlab.analysis.reactions import sentiment_match, sentiments_of

    told = words.of(table["emotion"].to_list())
    found = sentiment_match(
        told,
        sentiments_of(told, sentiment),
        sentiments_of(table["text"].to_list(), sentiment),
        stimuli=table["stimulus"].to_list(),
        raters=table["rater"].to_list(),
    )
    return finding_of(found.match)


def study_findings(found: Preferences, judges: int) -> dict[str, Finding]:
    """Count verdicts as Table 1 does, and how many times as often people are preferred."""
    from affectlab.evaluation import preference_verdicts

    verdicts = found.to_frame("verdicts")
    counts = dict(verdicts["verdict"].value_counts().iter_rows())
    numbers = {
        "sampled": verdicts.height,
        "judges": judges,
        "decided": verdicts.height - counts.get("no majority", 0),
        "machine": counts.get("machine", 0),
        "human": counts.get("human", 0),
        "both_good": counts.get("both", 0),
        "both_bad": counts.get("neither", 0),
    }
    made = {f"study.{name}": Finding(float(value)) for name, value in numbers.items()}
    table = preference_verdicts(found)
    ratio = table.frame.filter(measure="ratio").row(0, named=True)
    if ratio["of_what"] == "human to machine":
        made["study.ratio"] = Finding(ratio["value"], ratio["low"], ratio["high"], sampling=True)
    else:
        made["study.ratio"] = Finding(why="the machine is preferred more often")
    return made


def table2_findings(found: Result, metrics: Mapping[str, str]) -> dict[str, Finding]:
    """Give the mean of each metric by verdict; `metrics` has their full names by short ones."""
    made = {}
    for short, name in metrics.items():
        for key, group in _GROUPS.items():
            rows = found.to_frame("means").filter(metric=name, group=group)
            row = rows.row(0, named=True) if rows.height else None
            made[f"table2.{short}.{key}"] = (
                Finding(row["value"], row["low"], row["high"], sampling=True)
                if row is not None and row["n"]
                else Finding(why="no item has this verdict")
            )
    return made


def table3_findings(
    means: Mapping[tuple[str, str], Estimate],
) -> dict[str, Finding]:
    """Give the means of Table 3, by who wrote and the metric."""
    return {f"table3.{who}.{metric}": finding_of(one) for (who, metric), one in means.items()}


def published_notes() -> tuple[str, ...]:
    """Say what the printed counts of Table 1 support, and which printed figures do not fit."""
    from affectlab.evaluation import preference_verdicts, preferences

    table = preference_verdicts(preferences(_TABLE_1), sampled=500)
    ratio = table["ratio", "human to machine"]
    counts = (
        f"Of the printed counts 233 to 91 is {ratio.value:.2f} times as often, with an interval "
        f"of {ratio.low:.2f} to {ratio.high:.2f}: 'over two times' just holds. 118 of 500 items "
        "had no majority, which the paper does not speak of."
    )
    marked = (
        f"† {figure.name}: {figure.inconsistent}."
        for figure in load_published("socratis").figure
        if figure.inconsistent
    )
    return (counts, *marked)
