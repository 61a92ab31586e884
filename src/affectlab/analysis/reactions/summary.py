"""All that is said of reactions: words, diversity, and how far the reasons can be relied on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.agreement import (
    PairScorer,
    ReactionAgreement,
    agreement_of_reactions,
)
from affectlab.analysis.reactions.copies import NearCopies, near_copies
from affectlab.analysis.reactions.diversity import EmotionDiversity, emotion_diversity
from affectlab.analysis.reactions.machine_written import MachineSigns, machine_signs
from affectlab.analysis.reactions.mapping import EmotionMap, map_emotions
from affectlab.analysis.reactions.popularity import popular_emotions
from affectlab.analysis.reactions.sentiment import (
    Sentiment,
    SentimentMatch,
    sentiment_match,
    sentiments_of,
)
from affectlab.analysis.reactions.table import reaction_table
from affectlab.analysis.reactions.words import EmotionWords, normalise_emotions
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Key, Table
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy

_LIMITS = {"emotions": 10, "diversity": 60}
"""Rows of the tables that people are shown."""
_DRAWN = 25


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReactionSummary(Result):
    """What people felt and why; made by :func:`summarise_reactions`."""

    ratings: Ratings
    """The reactions that this is about, without personal data where that was asked for."""
    words: EmotionWords
    emotions: EmotionMap
    diversity: EmotionDiversity
    sentiment: SentimentMatch | None
    agreement: ReactionAgreement | None
    """None where no two people gave reasons for the same emotion of a pair."""
    copies: NearCopies
    signs: MachineSigns
    popular: Result


def summarise_reactions(
    ratings: Ratings,
    *,
    labels: Taxonomy | str = "goemotions",
    sentiment: Sentiment | None = None,
    scorer: PairScorer | None = None,
    most: int | None = None,
    n_random: int = 1000,
    spelling: bool = True,
    language: str = "en",
    scrub: bool = False,
    seed: int = 0,
) -> ReactionSummary:
    """Sum up reactions: emotion words, how diverse they are, and how far they can be relied on.

    Parameters
    ----------
    ratings
        Reactions; see :func:`reaction_table`.
    labels
        Taxonomy that free words are mapped to: a name or a TOML file.
    sentiment
        Gives the sentiments of texts: does a reason have that of its emotion? None: not asked.
    scorer
        Measure of how alike two reasons are; shared words when not given.
    most
        Compare so many pairs of reasons at most.
    n_random
        Unrelated pairs of reasons.
    spelling
        Correct misspelt emotion words.
    language
        Language of the emotion words.
    scrub
        Take personal data out of the reasons first.
    seed
        Same seed, same result.

    Returns
    -------
    ReactionSummary
        Its parts are ``words``, ``emotions``, ``diversity``, ``sentiment``, ``agreement``,
        ``copies``, ``signs`` and ``popular``; ``ratings`` are the reactions that it is
        about.

    Raises
    ------
    InputError
        When the ratings have no emotions, or the taxonomy is not known.

    References
    ----------
    Deng et al. (2023), Socratis.

    Examples
    --------
    >>> rows = {
    ...     "stimulus": ["a"] * 3, "rater": ["r", "s", "t"],
    ...     "emotion": ["sad", "Saddness", "happy"],
    ...     "text": ["The house was lost.", "They lost the house.", "It is a new start."],
    ... }
    >>> found = summarise_reactions(Ratings(rows, scale="text"))
    >>> found.emotions.label_of
    {'sad': 'sadness', 'happy': 'joy'}
    """
    removed = None
    if scrub:
        from affectlab.stimuli.privacy import scrub_ratings

        ratings, masked = scrub_ratings(ratings)
        removed = masked["text"].counts
    table = reaction_table(ratings)
    stimuli, raters, texts, raw = (
        table[name].to_list() for name in ("stimulus", "rater", "text", "emotion")
    )
    words = normalise_emotions(raw, spelling=spelling, language=language)
    emotions = words.of(raw)
    mapped = map_emotions(words, labels)
    poles = [mapped.polarity(one) for one in emotions]
    diversity = emotion_diversity(stimuli, raters, emotions, polarities=poles)
    match = None
    if sentiment is not None:
        both = (sentiments_of(given, sentiment) for given in (emotions, texts))
        match = sentiment_match(emotions, *both, stimuli=stimuli, raters=raters)
    agreement, why = None, ""
    try:
        agreement = agreement_of_reactions(
            stimuli, raters, emotions, texts, scorer, n_random=n_random, most=most, seed=seed
        )
    except InputError as error:
        if scorer is not None:
            raise
        why = wording.no_agreement(error)
    copies = near_copies(texts, raters, stimuli, captions=table["caption"].to_list())
    signs = machine_signs(texts, raters, seed=seed)
    popular = popular_emotions(stimuli, raters, emotions)
    parts = (mapped, diversity, words, match, agreement, copies, signs, popular)
    tables = [
        replace(one, limit=_LIMITS.get(one.name, 0))
        for part in parts
        if part is not None
        for one in part.tables
    ]
    orderly = (diversity, words, mapped, match, agreement, copies, signs, popular)
    said = [text for part in orderly if part is not None for text in part.sentences]
    if agreement is None:
        said.append(why)
    if removed is not None:
        columns = (Key("kind"), Count("n_found"), Count("n_texts"))
        tables.append(Table("removed", wording.MASKED, removed, columns))
        said.append(wording.masked_text(int(removed["n_found"].sum())))
    return ReactionSummary(
        tuple(tables),
        tuple(said),
        figures_of_reactions(mapped, diversity),
        ratings=ratings,
        words=words,
        emotions=mapped,
        diversity=diversity,
        sentiment=match,
        agreement=agreement,
        copies=copies,
        signs=signs,
        popular=popular,
    )


def figures_of_reactions(mapped: EmotionMap, diversity: EmotionDiversity) -> tuple[Figure, ...]:
    """Declare the commonest words with their labels, and how many emotions a pair has."""
    drawn = min(_DRAWN, len(mapped.entries))
    taxonomy = mapped.taxonomy.name
    return (
        Figure(
            "emotion_words",
            "emotion_words",
            "emotions",
            "Most frequent emotions",
            description=wording.emotions_figure(drawn, diversity.n_emotions, taxonomy),
            options={"polarity": dict(mapped.taxonomy.polarity), "taxonomy": taxonomy},
        ),
        Figure(
            "pair_emotions",
            "pair_emotions",
            "pairs",
            wording.CONFLICT,
            description=wording.conflict_figure(diversity.n_pairs),
        ),
    )
