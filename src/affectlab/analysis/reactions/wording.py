"""What people wrote about their emotions in words: one template for each kind of fact."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from affectlab.core.words import count, number, percent, plural

MEASURES = {
    "n_raters": "people per pair",
    "n_reactions": "reactions per pair",
    "n_emotions": "distinct emotions per pair",
    "entropy": "entropy of the emotions of a pair, bits",
    "entropy_corrected": "the same, corrected for few answers (Chao and Shen)",
    "difference": "two people name different emotions",
    "conflict": "two people's emotions are of opposite polarity",
    "both_poles": "positive and negative emotions named for one pair",
    "own_conflict": "one person names both poles, share of people",
}
"""Measures of diversity."""
AGREEMENT = "Agreement of reasons."
CONFLICT = "Diversity of emotions within pairs"
POPULAR = "Most popular emotions of each pair."
SENTIMENT = "Agreement of reasons with the sentiment of the emotion."
SENTIMENT_METHOD = "share of reactions with the sentiment of their emotion"
SENTIMENTS = "Sentiments of emotions and of their reasons."
SENTIMENT_EMOTIONS = "Emotions, the most mismatched first."
NOT_MASKED = "No personal data was found."
MASKED = "Personal data that was masked."


class Route(StrEnum):
    """How the label of a word was found, from the surest on, or why there is none."""

    GIVEN = "given"
    NAME = "name"
    ALIAS = "alias"
    DESCRIPTOR = "descriptor"
    FORM = "form"
    SYNONYM = "synonym"
    TAXONOMY = "other taxonomy"
    SIMILARITY = "similarity"
    # There is no label.
    UNKNOWN = "unknown word"
    DOUBTFUL = "doubtful"
    NEGATED = "negated"
    SEVERAL = "several emotions"
    LOW_CONFIDENCE = "low confidence"


class Step(StrEnum):
    """What was done to an answer to find the emotion it stands for."""

    CASE = "case"
    FILLER = "filler words"
    MISSPELT = "misspelt"
    CONFUSED = "confused"
    JOINED = "joined"
    FORM = "word form"


class Sign(StrEnum):
    """Signs that a machine wrote a reason, or all reasons of a person."""

    ASSISTANT = "assistant"
    """It speaks as an assistant."""
    STOCK = "stock phrase"
    """It holds a stock phrase of language models."""
    LENGTHS = "even lengths"
    """Lengths are more alike than by chance."""
    OPENINGS = "same openings"


def words_text(n: int, n_emotions: int, n_corrected: int) -> str:
    """Say how many emotions the answers name."""
    return (
        f"{plural(n, 'emotion word')} as written, {plural(n_emotions, 'emotion')}; "
        f"{count(n_corrected)} with corrected spelling."
    )


def mapped_text(words: float, answers: float, taxonomy: str) -> str:
    """Say how much has a label."""
    return (
        f"{percent(words)} of the emotions and {percent(answers)} of the reactions have a label in "
        f"{taxonomy}."
    )


def unmapped_text(words: Sequence[str]) -> str:
    """Name the most frequent words without a label."""
    return f"Most frequent without a label: {', '.join(words)}."


def lengths_evidence(mean: float, sd: float, usual: float) -> str:
    """Say how alike the lengths of a person's reasons are."""
    return f"mean length {mean:.1f} words, SD {sd:.1f} (median of random samples: {usual:.1f})"


def openings_evidence(start: str, n: int, of: int) -> str:
    """Say how many reasons of a person begin alike."""
    return f"“{start} …” opens {n} of {of}"


def signs_text(n: int, n_people: int, n_judged: int, least: int, n_raters: int) -> str:
    """Say how many signs of machines there are."""
    return (
        f"{plural(n, 'reason')} with a phrase typical of machines; signs in {count(n_people)} of "
        f"{plural(n_judged, 'person', 'people')} with {least} reasons or more "
        f"({count(n_raters)} in all). No sign is proof."
    )


def agreement_method(scorer: str) -> str:
    """Name the statistic of agreement between reasons."""
    return f"P(higher), ties half: {scorer}"


def agreement_text(row: dict[str, float], confidence: float, scorer: str, n: int) -> str:
    """Say how often reasons for one emotion are more alike than unrelated ones."""
    return (
        "Two reasons for the same emotion about the same pair are more alike than two unrelated "
        f"ones in {percent(row['value'])} of comparisons ({_interval(row, confidence)}; chance "
        f"{percent(0.5)}; {scorer}, {plural(n, 'pair')} of reasons)."
    )


def no_agreement(why: object) -> str:
    """Say why agreement of reasons is not defined."""
    return f"Agreement of reasons: not defined; {why}."


def sentiment_text(row: dict[str, float], confidence: float, chance: float, kappa: float) -> str:
    """Say how many reasons have the sentiment of their emotion."""
    return (
        f"{percent(row['value'])} of the reasons have the sentiment of their emotion "
        f"({_interval(row, confidence)}; {percent(chance)} by chance, kappa {number(kappa)})."
    )


def _interval(row: dict[str, float], confidence: float) -> str:
    return f"{100 * confidence:g} % interval {number(row['low'])} to {number(row['high'])}"


def copies_text(n: int, of: int, min_words: int, n_from_captions: int) -> str:
    """Say how many reasons are nearly copies."""
    return (
        f"{count(n)} of {plural(of, 'reason')} of {min_words} words or more nearly equal another; "
        f"{count(n_from_captions)} nearly equal part of their caption."
    )


def diversity_method(measure: str) -> str:
    """Name the statistic of a measure of diversity."""
    return f"mean over pairs: {MEASURES[measure]}"


def diversity_text(n: int, n_raters: int, n_pairs: int, n_emotions: int) -> str:
    """Say how many reactions there are."""
    return (
        f"{plural(n, 'reaction')} of {plural(n_raters, 'person', 'people')} to "
        f"{plural(n_pairs, 'pair')} of image and caption, with {plural(n_emotions, 'emotion')}."
    )


def bonus_text(n: int, of: int) -> str:
    """Say how many answers would earn a bonus."""
    return f"{count(n)} of {plural(of, 'answer')} name what most others named, and earn a bonus."


def masked_text(n: int) -> str:
    """Say how much personal data was masked."""
    return f"{plural(n, 'piece')} of personal data masked." if n else NOT_MASKED


def emotions_figure(n: int, of: int, taxonomy: str) -> str:
    """Describe the figure of the most frequent emotions."""
    return f"{count(n)} of {plural(of, 'emotion')}, with labels and polarity of {taxonomy}."


def conflict_figure(n: int) -> str:
    """Describe the figure of how much people differ about a pair."""
    return f"Emotions, and opposite polarity of two people's emotions; {plural(n, 'pair')}."
