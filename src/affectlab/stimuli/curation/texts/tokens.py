"""How many tokens a text has, words and punctuation alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry, callables
from affectlab.stimuli.curation.texts.plugs import wanted_library

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TOKENIZERS", "Tokenizer", "count_tokens"]

Tokenizer = Callable[[str], Iterable[str]]
"""Takes a text and gives its tokens."""

_MOST = 65_535
"""Longest count that a column of 16 bits holds; longer texts are as long."""

# What NLTK's word tokenizer does to a text, as one pattern to count. The order matters: the first
# alternative that fits is taken.
_ALONE = r';@#$%&?!*\[\](){}<>"«»“”„‘’\x{2012}-\x{2015}'
_INSIDE = rf"[^\s\x1c-\x1f{_ALONE}`:,.'\-]"
_ABBREVIATION = r"(?i:mr|mrs|ms|dr|sr|jr|prof|vs|sgt)\."
_TOKEN = "|".join(
    (
        r"\.{2,}",
        r"--",
        r"`+",
        rf"[{_ALONE}]",
        # Abbreviations keep their stop: U.S., e.g., Mr.
        r"(?:\p{L}\.){2,}",
        rf"{_ABBREVIATION}",
        # A word holds single marks, and a comma or colon before a digit: well-known, 1,000, 5:30.
        rf"(?:[:,][0-9]|[.\-]?{_INSIDE})(?:{_INSIDE}|[.'\-]{_INSIDE}|[:,][0-9])*-?",
        r"''",
        r"[:,.'\-]",
    )
)
# Words that are cut in two: do-n't, it-'s, can-not, gon-na.
_CLITIC = r"(?i)[^'\s](?:'(?:s|m|d|ll|re|ve)|n't)(?-u:\b)"
_JOINED = r"(?-u:\b)(?:cannot|gimme|gonna|gotta|lemme|wanna|d'ye|more'n|'tis|'twas)(?-u:\b)"


def count_tokens(texts: pl.Series, tokenizer: str | Tokenizer = "words") -> pl.Series:
    """Count the tokens of texts, punctuation included (goemotions, section 3.1).

    ``"words"`` counts with a pattern what NLTK's word tokenizer would give; ``"treebank"`` is that
    tokenizer itself, with sentences found without a trained model, and ``"tweet"`` is NLTK's
    tokenizer for messages, which keeps emoticons, web addresses and user names in one piece. Both
    need NLTK and are several hundred times slower. On the comments of GoEmotions the first two
    give the same count for 997 in 1,000, and disagree about 3 to 30 tokens once in 40,000.

    Parameters
    ----------
    texts
        Strings; null has no tokens.
    tokenizer
        A name, the name of an entry point of the group ``affectlab.tokenizers``, or a callable
        that takes a text and gives its tokens.

    Returns
    -------
    polars.Series
        ``tokens``, UInt16; texts of more than 65,535 tokens count as that many.

    Raises
    ------
    InputError
        When the tokenizer is not known or does not give tokens, or NLTK is absent.

    Examples
    --------
    >>> import polars as pl
    >>> count_tokens(pl.Series(["I don't know... do you?", "Mr. Smith paid $1,000."])).to_list()
    [8, 6]
    """
    import polars as pl

    if tokenizer == "words":
        counts = _count_words(texts)
    else:
        cut = TOKENIZERS.load(tokenizer)
        given = texts.fill_null("").to_list()
        counts = pl.Series([_length(cut, text) for text in given], dtype=pl.UInt32)
    return counts.clip(upper_bound=_MOST).cast(pl.UInt16).alias("tokens")


def _length(cut: Tokenizer, text: str) -> int:
    found: Any = cut(text)
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise InputError(f"tokenizer: gave {found!r:.60}; expected a list of tokens")
    return sum(1 for _ in found)


def _count_words(texts: pl.Series) -> pl.Series:
    counts = texts.str.count_matches(_TOKEN)
    counts += texts.str.to_lowercase().str.count_matches(_JOINED)
    rows = texts.str.contains("'", literal=True).fill_null(False).arg_true()
    more = texts.gather(rows).str.count_matches(_CLITIC)
    counts = counts.fill_null(0)
    return counts.scatter(rows, counts.gather(rows) + more)


@cache
def _of_nltk(tokenizer: str, kind: str) -> Any:
    return getattr(wanted_library("nltk.tokenize", "nltk", f"the tokenizer {tokenizer!r}"), kind)()


def _tweet(text: str) -> list[str]:
    found: list[str] = _of_nltk("tweet", "TweetTokenizer").tokenize(text)
    return found


def _treebank(text: str) -> list[str]:
    sentences = _of_nltk("treebank", "PunktSentenceTokenizer").tokenize(text)
    words = _of_nltk("treebank", "NLTKWordTokenizer")
    return [word for sentence in sentences for word in words.tokenize(sentence)]


TOKENIZERS = Registry[Any](
    kind="tokenizer",
    group="affectlab.tokenizers",
    accept=callables,
    expected="a function",
    from_modules=False,
    # Words are counted in whole columns.
    ours={"words": _count_words, "treebank": _treebank, "tweet": _tweet},
)
