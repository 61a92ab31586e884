"""Who named the emotion that most others named, which earns a bonus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import polars as pl

from affectlab.analysis.reactions import wording
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Table, Text, YesNo
from affectlab.core.words import popular_without
from affectlab.taxonomy import emotion_key


def popular_emotions(
    stimuli: Sequence[str], raters: Sequence[str], emotions: Sequence[str]
) -> Result:
    """Say which answers named what most others named for the same pair.

    The rule is the one by which a study pays its bonus: a person's own answer is left out of what
    it is held against, at least two others must have named the emotion, and of several that were
    named equally often each counts. Words are compared without case and inflection.

    Parameters
    ----------
    stimuli, raters, emotions
        Pair, person and emotion of each reaction, shape (n,).

    Returns
    -------
    Result
        Its tables: ``bonus``, a row per person and pair (``rater, stimulus, earned``); ``popular``,
        one per pair (``stimulus``, ``emotions`` that most people named, with ``; `` between them,
        ``n`` people who named each, ``n_raters``); and ``bonus_raters``, one per person (``rater,
        n_pairs, n_earned``), those who earned most first.

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
    >>> found.to_frame()["earned"].to_list(), found.to_frame("popular").row(0)
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
    whole, text = pl.Int64, pl.String
    bonus = pl.DataFrame(
        answers, {"rater": text, "stimulus": text, "earned": pl.Boolean}, orient="row"
    )
    popular = pl.DataFrame(
        pairs, {"stimulus": text, "emotions": text, "n": whole, "n_raters": whole}, orient="row"
    )
    of_raters = (
        bonus.group_by("rater")
        .agg(
            pl.len().cast(whole).alias("n_pairs"),
            pl.col("earned").sum().cast(whole).alias("n_earned"),
        )
        .sort("n_earned", "rater", descending=[True, False])
    )
    person, pair = Key("rater"), Key("stimulus", "pair")
    return Result(
        (
            Table(
                "bonus",
                "Bonuses by answer.",
                bonus,
                (person, pair, YesNo("earned")),
            ),
            Table(
                "popular",
                wording.POPULAR,
                popular,
                (pair, Text("emotions"), Count("n"), Count("n_raters")),
            ),
            Table(
                "bonus_raters",
                "Bonuses by person.",
                of_raters,
                (person, Count("n_pairs"), Count("n_earned")),
            ),
        ),
        (wording.bonus_text(int(bonus["earned"].sum()), bonus.height),),
    )
