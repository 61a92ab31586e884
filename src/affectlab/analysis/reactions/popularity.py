"""Who named the emotion that most others named, which earns a bonus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from affectlab.core.emotion_words import emotion_key
from affectlab.core.errors import InputError
from affectlab.core.words import popular_without

__all__ = ["PopularEmotions", "popular_emotions"]


@dataclass(frozen=True, repr=False)
class PopularEmotions:
    """The most popular emotions and who named one; made by :func:`popular_emotions`."""

    pairs: pl.DataFrame
    """Per pair ``stimulus``, ``emotions`` (those named by most people, with ``; `` between them)
    and ``n`` (people who named each), ``n_raters``."""
    answers: pl.DataFrame
    """Per person and pair ``rater``, ``stimulus`` and ``earned``."""
    raters: pl.DataFrame
    """Per person ``rater``, ``n_pairs`` and ``n_earned``, those who earned most first."""

    def __repr__(self) -> str:
        earned = int(self.answers["earned"].sum())
        return f"PopularEmotions({earned:,} of {self.answers.height:,} answers earn the bonus)"


def popular_emotions(
    stimuli: Sequence[str], raters: Sequence[str], emotions: Sequence[str]
) -> PopularEmotions:
    """Say which answers named what most others named for the same pair.

    The rule is the one by which a study pays its bonus: a person's own answer is left out of what
    it is held against, at least two others must have named the emotion, and of several that were
    named equally often each counts. Words are compared without case and inflection.

    Parameters
    ----------
    stimuli, raters, emotions
        Pair, person and emotion of each reaction, shape (n,).

    Raises
    ------
    InputError
        When the lengths differ.

    Notes
    -----
    Source: Socratis (2023), section 2.1.

    Examples
    --------
    >>> found = popular_emotions(
    ...     ["a"] * 4, ["r", "s", "t", "u"], ["sad", "Sadness", "sad", "angry"])
    >>> found.answers["earned"].to_list(), found.pairs.row(0)
    ([True, True, True, False], ('a', 'sad', 3, 4))
    """
    if not len(stimuli) == len(raters) == len(emotions):
        raise InputError("stimuli, raters and emotions differ in length; expected one each")
    own: dict[tuple[str, str], set[str]] = defaultdict(set)
    shown: dict[str, Counter[str]] = defaultdict(Counter)
    for stimulus, rater, emotion in zip(stimuli, raters, emotions, strict=True):
        key = emotion_key(emotion)
        own[stimulus, rater].add(key)
        shown[key][emotion] += 1
    name = {key: min(c, key=lambda w: (-c[w], len(w), w)) for key, c in shown.items()}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    people: Counter[str] = Counter()
    for (stimulus, _), keys in own.items():
        counts[stimulus].update(keys)
        people[stimulus] += 1
    answers = [
        (rater, stimulus, bool(keys & popular_without(counts[stimulus], frozenset(keys))))
        for (stimulus, rater), keys in own.items()
    ]
    pairs = []
    for stimulus, found in counts.items():
        most = max(found.values())
        first = sorted(name[key] for key, n in found.items() if n == most)
        pairs.append((stimulus, "; ".join(first), most, people[stimulus]))
    whole = pl.Int64
    told = pl.DataFrame(
        answers,
        schema={"rater": pl.String, "stimulus": pl.String, "earned": pl.Boolean},
        orient="row",
    )
    return PopularEmotions(
        pl.DataFrame(
            pairs,
            schema={"stimulus": pl.String, "emotions": pl.String, "n": whole, "n_raters": whole},
            orient="row",
        ),
        told,
        told.group_by("rater")
        .agg(
            pl.len().cast(whole).alias("n_pairs"),
            pl.col("earned").sum().cast(whole).alias("n_earned"),
        )
        .sort("n_earned", "rater", descending=[True, False]),
    )
