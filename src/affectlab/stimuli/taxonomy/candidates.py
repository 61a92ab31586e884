"""Candidate emotion terms: what is named in each block of text, and how often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy.lexicon import Lexicon, excerpt, load_lexicon, places_of, spans_of
from affectlab.stimuli.taxonomy.texts import TextBlock

__all__ = [
    "Candidates",
    "Finder",
    "Found",
    "emotion_candidates",
]

# What was found in one block of text, and how the search went.


@dataclass(frozen=True)
class Found:
    """Emotion terms that something found in a block, and how that went.

    A finder that can fail says so in `outcome` instead of giving no terms: a block without an
    answer is not a block without emotions.
    """

    terms: tuple[str, ...]
    outcome: str = "ok"
    """``ok``, or one word for what went wrong."""
    detail: str = ""
    """What went wrong, in words."""


Finder = Callable[[str], Iterable[str] | Found]
"""Takes the text of a block; gives emotion terms, each once."""

_MOST_WORDS = 5
"""Words of a term; what is longer is a sentence."""
_COLUMNS = ("block", "text", "term", "form", "part", "n", "example")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Emotion terms that texts name; see :func:`emotion_candidates`."""

    mentions: pl.DataFrame
    """``block``, ``text`` (its name; null where the term itself does not stand in the text),
    ``term``, ``form``, ``part``, ``n``, ``example``."""
    blocks: pl.DataFrame
    """``block``, ``texts``, ``n_words``, ``n_terms``, ``outcome``, ``detail``."""
    texts: tuple[TextBlock, ...]
    """The blocks themselves."""
    lexicon: Lexicon
    merges: pl.DataFrame | None = field(default=None)
    """``term``, ``into``, ``why``, ``similarity``, once :func:`merge_terms` brought terms
    together."""

    def __len__(self) -> int:
        return int(self.mentions["term"].n_unique())

    @property
    def n_blocks(self) -> int:
        """Blocks that were searched with success, emotions or not."""
        return int((self.blocks["outcome"] == "ok").sum())

    def terms(self) -> pl.DataFrame:
        """Count terms, most widespread first.

        Returns
        -------
        ``term``, ``family`` and ``polarity`` (null for terms that the lexicon does not have),
        ``n`` mentions, ``n_blocks``, ``share`` of the blocks searched, ``n_texts``, ``in_text``
        (share of its blocks where the term or a form of it stands in the text), ``forms`` with
        their counts, and an ``example``.
        """
        found = (
            self.mentions.group_by("term")
            .agg(
                pl.col("n").sum(),
                pl.col("block").n_unique().cast(pl.Int64).alias("n_blocks"),
                pl.col("text").drop_nulls().n_unique().cast(pl.Int64).alias("n_texts"),
                pl.col("block")
                .filter(pl.col("text").is_not_null())
                .n_unique()
                .cast(pl.Int64)
                .alias("_there"),
                pl.col("example").filter(pl.col("example") != "").first().fill_null(""),
            )
            .join(self._forms(), on="term")
            .with_columns(
                (pl.col("n_blocks") / max(self.n_blocks, 1)).alias("share"),
                (pl.col("_there") / pl.col("n_blocks")).alias("in_text"),
                _looked_up("family", self.lexicon.family),
                _looked_up("polarity", self.lexicon.polarity),
            )
            .sort(["n_blocks", "n", "term"], descending=[True, True, False])
        )
        return found.select(
            *("term", "family", "polarity", "n", "n_blocks", "share", "n_texts", "in_text"),
            *("forms", "example"),
        )

    def _forms(self) -> pl.DataFrame:
        """Forms of each term with their counts, most frequent first."""
        return (
            self.mentions.group_by("term", "form")
            .agg(pl.col("n").sum())
            .sort(["term", "n", "form"], descending=[False, True, False])
            .with_columns(pl.format("{} {}", "form", "n").alias("forms"))
            .group_by("term", maintain_order=True)
            .agg(pl.col("forms").str.join(", "))
        )


def emotion_candidates(
    blocks: Sequence[TextBlock],
    find: Finder | None = None,
    *,
    lexicon: Lexicon | None = None,
    parallel: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Candidates:
    """Find candidate emotion terms in blocks of text (emonet-face, section 3).

    Parameters
    ----------
    blocks
        Blocks, as :func:`text_blocks` makes them.
    find
        Anything that takes a text and gives emotion terms, such as a :class:`ModelFinder`; without
        it the lexicon searches. Terms that the lexicon knows are written as its noun ("joyful" as
        "joy"); others stay as they are, in lower case.
    lexicon
        Emotion words; the built-in ones when not given.
    parallel
        Blocks that `find` is asked about at the same time.
    progress
        Told how many blocks are done, and of how many.

    Raises
    ------
    InputError
        When there is no block, or no block could be searched.

    Examples
    --------
    >>> from affectlab.stimuli.taxonomy import text_blocks
    >>> blocks = text_blocks({"letter": "Joyful at first, then afraid. Oh, the joy!"})
    >>> emotion_candidates(blocks).terms().select("term", "n", "forms").rows()
    [('joy', 2, 'joy 1, joyful 1'), ('fear', 1, 'afraid 1')]
    """
    if not blocks:
        raise InputError("there is no block of text to search")
    words = load_lexicon(lexicon)
    rows: list[dict[str, Any]] = []
    went: list[dict[str, Any]] = []
    searched = (
        ((block, _by_lexicon(block, words), Found(())) for block in blocks)
        if find is None
        else _by_finder(blocks, find, words, parallel)
    )
    for done, (block, found, how) in enumerate(searched, start=1):
        rows += found
        went.append(
            {
                "block": block.number,
                "texts": ", ".join(block.sources),
                "n_words": block.n_words,
                "n_terms": len({row["term"] for row in found}),
                "outcome": how.outcome,
                "detail": how.detail,
            }
        )
        if progress is not None:
            progress(done, len(blocks))
    if all(one["outcome"] != "ok" for one in went):
        raise InputError(
            f"none of {len(went)} blocks could be searched; the first: {went[0]['outcome']} "
            f"({went[0]['detail']})"
        )
    mentions = pl.DataFrame(rows, schema=_schema(), orient="row")
    return Candidates(mentions, pl.DataFrame(went), tuple(blocks), words)


def _schema() -> dict[str, Any]:
    numbers = {"block": pl.Int64(), "n": pl.Int64()}
    return {name: numbers.get(name, pl.String()) for name in _COLUMNS}


def _looked_up(name: str, look: Callable[[str], str | None]) -> pl.Expr:
    return pl.col("term").map_elements(look, return_dtype=pl.String, skip_nulls=False).alias(name)


def _by_lexicon(block: TextBlock, lexicon: Lexicon) -> list[dict[str, Any]]:
    """Count the mentions of a block by text, term and form."""
    counted: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for source, text in zip(block.sources, block.texts, strict=True):
        spans = spans_of(text)
        for mention in lexicon.mentions([token for token, *_ in spans]):
            key = (source, mention.term, mention.form, mention.part)
            if key in counted:
                counted[key]["n"] += 1
            else:
                counted[key] = _row(block, *key, excerpt(text, spans, mention.place))
    return list(counted.values())


def _by_finder(
    blocks: Sequence[TextBlock], find: Finder, lexicon: Lexicon, parallel: int
) -> Iterator[tuple[TextBlock, list[dict[str, Any]], Found]]:
    if parallel <= 1:
        for block in blocks:
            yield block, *_told(block, find(block.text), lexicon)
        return
    pool = ThreadPoolExecutor(parallel)
    try:
        for block, given in zip(blocks, pool.map(lambda one: find(one.text), blocks), strict=True):
            yield block, *_told(block, given, lexicon)
    finally:
        # Whoever interrupts does not wait for all the blocks to come.
        pool.shutdown(cancel_futures=True)


def _told(
    block: TextBlock, given: Iterable[str] | Found, lexicon: Lexicon
) -> tuple[list[dict[str, Any]], Found]:
    """Make rows of the terms that were given for a block; what is no term is named."""
    found = given if isinstance(given, Found) else Found(tuple(given))
    rows: dict[str, list[dict[str, Any]]] = {}
    odd: list[str] = []
    for told in found.terms:
        plain = " ".join(str(told).casefold().split()).strip(".,;:!?\"'()[]*-")
        if not plain or len(plain.split()) > _MOST_WORDS:
            odd.append(str(told))
            continue
        term = lexicon.term(plain) or plain
        if term in rows:
            continue
        there = [
            _row(block, source, term, form, "", example)
            for source, form, example in places_of(block, term, lexicon)
        ]
        rows[term] = there or [_row(block, None, term, plain, "", "")]
    if odd:
        kept = f"{len(odd)} of {len(found.terms)} left out as no terms: {', '.join(odd)[:200]}"
        found = Found(found.terms, found.outcome, "; ".join(filter(None, (found.detail, kept))))
    return [row for part in rows.values() for row in part], found


def _row(
    block: TextBlock, source: str | None, term: str, form: str, part: str, example: str
) -> dict[str, Any]:
    values = (block.number, source, term, form, part, 1, example)
    return dict(zip(_COLUMNS, values, strict=True))
