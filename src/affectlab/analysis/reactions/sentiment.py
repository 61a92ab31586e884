"""Whether a reaction has the sentiment of the emotion that it explains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.means import codes_of, ratio_estimates
from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Bools

Sentiment = Callable[[list[str]], Sequence[str | None]]
"""Takes texts and gives the sentiment of each, None where it has none."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SentimentMatch(Result):
    """How often reactions have the sentiment of their emotion; made by :func:`sentiment_match`."""

    match: Estimate
    """Share of the reactions whose two sentiments are the same."""
    chance: float
    """Share that would be the same if the two were unrelated."""
    kappa: float
    """Agreement beyond chance; ``nan`` when chance alone makes all agree."""


def sentiments_of(texts: Sequence[str], sentiment: Sentiment) -> list[str | None]:
    """Ask a sentiment function for n texts, each different text once.

    Raises
    ------
    InputError
        When it gives another number of answers, or an answer that is neither a text nor None.

    Examples
    --------
    >>> sentiments_of(["good", "", "good"], lambda texts: ["positive"] * len(texts))
    ['positive', None, 'positive']
    """
    different = [text for text in dict.fromkeys(texts) if text.strip()]
    found = list(sentiment(different)) if different else []
    if len(found) != len(different):
        raise InputError(
            f"sentiment: gave {len(found):,} answers to {len(different):,} texts; expected one each"
        )
    wrong = next((one for one in found if not isinstance(one, str | None)), None)
    if wrong is not None:
        raise InputError(
            f"sentiment: gave {wrong!r:.60}; expected the name of a sentiment, or None"
        )
    known = dict(zip(different, found, strict=True))
    return [known.get(text) for text in texts]


def sentiment_match(
    emotions: Sequence[str],
    of_emotion: Sequence[str | None],
    of_text: Sequence[str | None],
    *,
    stimuli: Sequence[str],
    raters: Sequence[str],
    by: Literal["rater", "stimulus"] = "rater",
    confidence: float = 0.95,
) -> SentimentMatch:
    """Measure how often a reaction has the sentiment of the emotion word that it explains.

    Reactions of which the word or the text has no sentiment are left out. A share alone says
    little where most reactions are of one sentiment: the share by chance and kappa stand beside it.
    A mismatch need not be an error; *hungry* with a text about good food is none.

    Parameters
    ----------
    emotions
        The emotion of each reaction, shape (n,).
    of_emotion, of_text
        Sentiment of the emotion word and of the text; see :func:`sentiments_of`, or the polarity
        of the labels that words are mapped to.
    stimuli, raters
        Pair and person of each reaction.
    by
        What the interval is about: other people, or other pairs. Where each person reacted to
        one pair only, as in the published data, whole people are smaller clusters than whole pairs.
    confidence
        Coverage of the interval.

    Returns
    -------
    SentimentMatch
        Its tables: ``sentiment``, the estimate; ``sentiments``, how often each pair of sentiments
        occurs; and ``sentiment_emotions``, a row per emotion (``sentiment`` null when its answers
        differ, ``n``, ``match``), those with most mismatches first.

        ``match`` is the estimate, ``chance`` the share by chance, ``kappa`` agreement
        beyond it.

    Raises
    ------
    InputError
        When the lengths differ or `by` is neither.

    Notes
    -----
    Source: Socratis (2023), section 2.2: 87.15 % with a T5 model of two sentiments.

    Examples
    --------
    >>> found = sentiment_match(
    ...     ["sad", "awe"], ["negative", "positive"], ["negative", "negative"],
    ...     stimuli=["a", "b"], raters=["r", "s"])
    >>> found.match.value, found.chance, found.kappa
    (0.5, 0.5, 0.0)
    """
    columns = {"emotions": emotions, "of_emotion": of_emotion, "of_text": of_text}
    columns |= {"stimuli": stimuli, "raters": raters}
    n = len(emotions)
    for name, column in columns.items():
        if len(column) != n:
            raise InputError(f"{name}: {len(column)} entries for {n} reactions; expected one each")
    check_choice("cluster", by, ("rater", "stimulus"), "by")
    pairs = list(zip(of_emotion, of_text, strict=True))
    defined = np.array([a is not None and b is not None for a, b in pairs], dtype=bool)
    matches = np.array([a is not None and a == b for a, b in pairs], dtype=bool)
    clusters, _ = codes_of(raters if by == "rater" else stimuli)
    kept = np.flatnonzero(defined).tolist()
    match = ratio_estimates(
        {"of": ["match"]},
        matches[:, None].astype(np.float64),
        defined[:, None].astype(np.float64),
        clusters,
        method=[wording.SENTIMENT_METHOD],
        confidence=confidence,
        n_items=len({stimuli[k] for k in kept}),
        n_raters=len({raters[k] for k in kept}),
        bounds=(0.0, 1.0),
        units="raters" if by == "rater" else "stimuli",
    )["match"]
    counts, chance = _table([pairs[k] for k in kept])
    kappa = (match.value - chance) / (1 - chance) if chance < 1 else float("nan")
    of_one = _emotions(emotions, of_emotion, matches, defined)
    table = Estimates.collect({"of": ["sentiment"]}, [match]).tables[0]
    ends = {"value": match.value, "low": match.low, "high": match.high}
    both = (Key("emotion_sentiment"), Key("text_sentiment"), Count("n"))
    of_emotions = (Key("emotion"), Text("sentiment"), Count("n"), Number("match"))
    return SentimentMatch(
        (
            replace(table, name="sentiment", caption=wording.SENTIMENT),
            Table("sentiments", wording.SENTIMENTS, counts, both),
            Table(
                "sentiment_emotions",
                wording.SENTIMENT_EMOTIONS,
                of_one,
                of_emotions,
            ),
        ),
        (wording.sentiment_text(ends, confidence, chance, kappa),),
        match=match,
        chance=chance,
        kappa=kappa,
    )


def _table(pairs: list[tuple[str | None, str | None]]) -> tuple[pl.DataFrame, float]:
    names = ("emotion_sentiment", "text_sentiment")
    frame = pl.DataFrame(pairs, schema=dict.fromkeys(names, pl.String), orient="row")
    counts = frame.group_by(names).agg(pl.len().cast(pl.Int64).alias("n")).sort(names)
    if not pairs:
        return counts, float("nan")
    shares = [frame[name].value_counts(normalize=True, name="share") for name in names]
    joint = shares[0].join(shares[1], left_on=names[0], right_on=names[1], how="inner")
    return counts, float((joint["share"] * joint["share_right"]).sum())


def _emotions(
    emotions: Sequence[str], of_emotion: Sequence[str | None], matches: Bools, defined: Bools
) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "emotion": list(emotions),
            "sentiment": list(of_emotion),
            "m": matches,
            "defined": defined,
        },
        schema_overrides={"emotion": pl.String, "sentiment": pl.String},
    )
    one = pl.col("sentiment").n_unique() == 1
    return (
        frame.filter("defined")
        .group_by("emotion")
        .agg(
            pl.when(one).then(pl.col("sentiment").first()).alias("sentiment"),
            pl.len().cast(pl.Int64).alias("n"),
            pl.col("m").mean().alias("match"),
            (~pl.col("m")).sum().alias("missed"),
        )
        .sort("missed", "emotion", descending=[True, False])
        .drop("missed")
    )
