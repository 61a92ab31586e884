"""All that is said of reactions: words, diversity, and how far the reasons can be relied on."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from affectlab.analysis.reactions.agreement import (
    PairScorer,
    ReactionAgreement,
    agreement_of_reactions,
)
from affectlab.analysis.reactions.copies import NearCopies, near_copies
from affectlab.analysis.reactions.diversity import EmotionDiversity, emotion_diversity
from affectlab.analysis.reactions.machine_written import MachineSigns, machine_signs
from affectlab.analysis.reactions.mapping import EmotionMap, map_emotions
from affectlab.analysis.reactions.popularity import PopularEmotions, popular_emotions
from affectlab.analysis.reactions.sentiment import (
    Sentiment,
    SentimentMatch,
    sentiment_match,
    sentiments_of,
)
from affectlab.analysis.reactions.table import reaction_table
from affectlab.analysis.reactions.words import EmotionWords, normalise_emotions
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Text, Value, YesNo
from affectlab.core.words import number, percent, plural
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy

__all__ = ["ReactionSummary", "figures_of_reactions", "summarise_reactions"]

_SHOWN = 10
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
    popular: PopularEmotions


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
    diversity = emotion_diversity(stimuli, raters, emotions, polarities=poles, seed=seed)
    match = None
    if sentiment is not None:
        both = (sentiments_of(given, sentiment) for given in (emotions, texts))
        match = sentiment_match(emotions, *both, stimuli=stimuli, raters=raters, seed=seed)
    agreement, why = None, ""
    try:
        agreement = agreement_of_reactions(
            stimuli, raters, emotions, texts, scorer, n_random=n_random, most=most, seed=seed
        )
    except InputError as error:
        if scorer is not None:
            raise
        why = f"Agreement of reasons: not defined; {error}."
    copies = near_copies(texts, raters, stimuli, captions=table["caption"].to_list())
    signs = machine_signs(texts, raters, seed=seed)
    popular = popular_emotions(stimuli, raters, emotions)
    return ReactionSummary(
        (
            *_tables(words, mapped, diversity),
            *_quality(match, agreement, copies, signs, popular),
            *(() if removed is None else (_removed(removed),)),
        ),
        (
            *_on_words(words, mapped, diversity),
            *_on_quality(match, agreement, why),
            *_worth_a_look(copies, signs, popular, len(set(raters))),
            *_on_removed(removed),
        ),
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
            description=f"{plural(drawn, 'emotion')} of {diversity.n_emotions:,}, with the label "
            f"of each in {taxonomy} and its polarity.",
            options={"polarity": dict(mapped.taxonomy.polarity), "taxonomy": taxonomy},
        ),
        Figure(
            "pair_emotions",
            "pair_emotions",
            "pairs",
            "How much people differ about a pair",
            description=f"{plural(diversity.n_pairs, 'pair')}: different emotions of each, and the "
            "chance that two people's emotions are of opposite polarity.",
        ),
    )


_MEANS = (Key("measure"), Value(head="mean"), Interval(), Count("n_items", "pairs"))
_PAIRS = (
    Key("stimulus", "pair"),
    Count("n_raters"),
    Count("n_reactions"),
    Count("n_emotions"),
    Number("entropy"),
    Number("difference"),
    Number("conflict"),
)


def _tables(
    words: EmotionWords, mapped: EmotionMap, diversity: EmotionDiversity
) -> tuple[Table, ...]:
    """Give the emotions, how diverse they are, and what each word is taken for."""
    measure = pl.col("method").str.strip_prefix("mean over pairs: ").alias("measure")
    means = diversity.means.to_frame().with_columns(measure)
    emotions = mapped.tables[0]
    return (
        Table("emotions", "Most frequent emotions.", emotions.frame, emotions.columns, _SHOWN),
        Table("diversity", "Diversity, mean over pairs.", means, _MEANS),
        Table("pairs", "Diversity of each pair.", diversity.pairs, _PAIRS, limit=0),
        Table(
            "words", "What each answer is taken for.", words.to_frame(), words.tables[0].columns, 0
        ),
        Table(
            "corrections",
            "Words whose spelling was corrected.",
            words.corrections(),
            words.tables[0].columns,
            limit=0,
        ),
        Table(
            "routes",
            "How words were mapped.",
            mapped.routes(),
            (Key("route"), Count("n_words"), Count("n_answers")),
            limit=0,
        ),
    )


def _quality(
    match: SentimentMatch | None,
    agreement: ReactionAgreement | None,
    copies: NearCopies,
    signs: MachineSigns,
    popular: PopularEmotions,
) -> tuple[Table, ...]:
    tables = [
        Table(
            "copies",
            "Reasons that are nearly copies.",
            copies.rows,
            (Key("row"), Count("group"), Count("n"), Count("n_raters"), Text("kind")),
            limit=0,
        ),
        Table(
            "signs",
            "Signs of machines in reasons.",
            signs.reactions,
            (Key("row"), Key("rater"), Text("sign"), Text("evidence")),
            limit=0,
        ),
        Table(
            "sign_raters",
            "Signs of machines in people.",
            signs.raters,
            (Key("rater"), Text("sign"), Text("evidence"), Count("n")),
            limit=0,
        ),
        Table(
            "bonus",
            "Answers that name what most others named.",
            popular.answers,
            (Key("rater"), Key("stimulus", "pair"), YesNo("earned")),
            limit=0,
        ),
    ]
    estimates = [
        {"about": about, **_row(one)}
        for about, one in (
            ("sentiment", None if match is None else match.match),
            ("agreement", None if agreement is None else agreement.higher),
        )
        if one is not None
    ]
    if estimates:
        columns = (Key("about"), Value(), Interval(), Text("method", spare=True))
        frame = pl.DataFrame(estimates)
        tables.insert(0, Table("quality", "How far reasons can be relied on.", frame, columns, 0))
    if match is not None:
        tables += [
            Table(
                "sentiments",
                "Sentiments of emotions and of their reasons.",
                match.counts,
                (Key("emotion_sentiment"), Key("text_sentiment"), Count("n")),
                limit=0,
            ),
            Table(
                "sentiment_emotions",
                "Emotions whose reasons have another sentiment.",
                match.emotions,
                (Key("emotion"), Text("sentiment"), Count("n"), Number("match")),
                limit=0,
            ),
        ]
    return tuple(tables)


def _row(one: Estimate) -> dict[str, object]:
    names = ("value", "se", "low", "high", "method", "n_items", "n_raters", "n_ratings", "status")
    return {name: getattr(one, name) for name in names}


def _on_words(
    words: EmotionWords, mapped: EmotionMap, diversity: EmotionDiversity
) -> tuple[str, ...]:
    said = [
        f"{diversity.n_reactions:,} reactions of {diversity.n_raters:,} people to "
        f"{diversity.n_pairs:,} pairs of image and caption; {len(words.raw):,} emotion words as "
        f"written are {diversity.n_emotions:,} emotions, {words.corrections().height:,} of them "
        "after correcting the spelling.",
        f"{percent(1 - mapped.unmapped_words)} of the emotions, and "
        f"{percent(1 - mapped.unmapped_answers)} of the reactions, have a label in "
        f"{mapped.taxonomy.name}.",
    ]
    if mapped.unmapped:
        first = ", ".join(mapped.unmapped[:_SHOWN])
        said.append(f"Without a label, most frequent first: {first}.")
    return tuple(said)


def _on_quality(
    match: SentimentMatch | None, agreement: ReactionAgreement | None, why: str
) -> tuple[str, ...]:
    said = []
    if match is not None:
        one = match.match
        said.append(
            f"{percent(one.value)} of the reasons have the sentiment of their emotion (95 % "
            f"interval {number(one.low)} to {number(one.high)}; {percent(match.chance)} by "
            f"chance, kappa {number(match.kappa)})."
        )
    if agreement is None:
        return (*said, why)
    two = agreement.higher
    said.append(
        f"Two reasons for the same emotion about the same pair are more alike than two unrelated "
        f"ones in {percent(two.value)} of comparisons (95 % interval {number(two.low)} to "
        f"{number(two.high)}; half would be chance; {agreement.scorer}, "
        f"{agreement.same.size:,} pairs of reasons)."
    )
    return tuple(said)


def _worth_a_look(
    copies: NearCopies, signs: MachineSigns, popular: PopularEmotions, n_people: int
) -> tuple[str, ...]:
    return (
        f"{copies.rows.height:,} of {copies.n_texts:,} reasons of five words and more are nearly "
        f"the same as another; {copies.captions.height:,} are taken from their caption.",
        f"{plural(signs.reactions['row'].n_unique(), 'reason')} with a phrase that is typical of "
        f"machines; {signs.raters['rater'].n_unique():,} of {signs.n_judged:,} people with "
        f"{signs.min_reactions} reasons or more write suspiciously evenly ({n_people:,} people in "
        "all). These are signs, no verdicts.",
        f"{int(popular.answers['earned'].sum()):,} of {popular.answers.height:,} answers name what "
        "most others named, and would earn a bonus.",
    )


def _removed(counts: pl.DataFrame) -> Table:
    columns = (Key("kind"), Count("n_found"), Count("n_texts"))
    return Table("removed", "Personal data that was masked.", counts, columns)


def _on_removed(counts: pl.DataFrame | None) -> tuple[str, ...]:
    if counts is None:
        return ()
    found = int(counts["n_found"].sum())
    return (
        f"{plural(found, 'piece')} of personal data masked."
        if found
        else "No personal data was found.",
    )
