"""Names of people found by lists of given names and by what stands around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from affectlab.stimuli.curation.texts.plugs import wanted_library
from affectlab.stimuli.curation.texts.words import fold, has_term

__all__ = ["gazetteer"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = re.compile(r"(?<![^\W_])[^\W\d_]+(?:[-'’][^\W\d_]{2,})*(?![^\W_])")
_GOES_ON = re.compile(r"[ ,'’–—-]*")
"""What may stand between two words of one sentence."""
_LOCALES = ("en_US", "en_GB", "en_IE", "en_NZ")
_TITLES = _set(
    "mr mrs ms mx miss mister dr doctor prof professor sir sen senator rep gov governor president "
    "judge coach uncle aunt auntie aunty captain sgt sergeant"
)
_SOLID_TITLES = _set("mr mrs ms mx dr prof sen gov sgt")
"""Titles after which even an unknown word with a capital is a name."""
_BEFORE_THINGS = _set(
    "a an the this that these those my your his her its our their no some any every each of "
    "what which such much more so pure"
)
_BEFORE_PEOPLE = _set(
    "and or but with by for to from told tell asked ask thanks thank love loves hate hates like "
    "likes miss poor when if that because as than did does has is was can could would should hi "
    "hey hello dear congrats meet met see saw know knew named called about then while where so "
    "wish let against between sister brother mother father mom dad friend wife husband girlfriend "
    "boyfriend daughter son cousin"
)
_AFTER_PEOPLE = _set(
    "says said is was has had will would can could did does and who got gets went goes looks "
    "seems just really always never doesn't didn't isn't wasn't won't can't thinks wants knows "
    "made makes should"
)
_NAMED_AFTER = _set("san santa saint st fort lake mount mt port new the")
_OF_PLACES = _set(
    "avenue bay beach bridge building canyon city college county creek day falls garden gardens "
    "harbor heights high hill hills hospital island lake mountain mountains park post pier river "
    "road school square state station street tech tower university valley village woods"
)
_NO_SURNAMES = _set(
    "i i'm i'll i'd i've and or but the is was in on at for to from with of a an my your his her "
    "our their this that you he she it we they who what when where why how not no yes if as so "
    "are be has had have do did does can could will would should monday tuesday wednesday "
    "thursday friday saturday sunday january february march april june july september october "
    "november december"
)


class _Lists(NamedTuple):
    given: frozenset[str]
    """Given names that are nothing else."""
    words: frozenset[str]
    """Given names that are also words."""
    places: frozenset[str]
    """Given names that are mostly places, months and the like."""
    surnames: frozenset[str]
    doubtful: frozenset[str]
    """Words and places together."""
    names: frozenset[str]
    """All given names."""
    signs: tuple[str, ...]
    """Given names and titles: a text without any of them has no name."""


def gazetteer(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Find names of people by lists, in texts in English.

    The given names are those that Faker knows for the United States, the United Kingdom, Ireland
    and New Zealand. A given name with a capital is a name, with the surname after it. One that is
    also a word (*Will*, *Grace*) must stand inside a sentence and not after words such as *the*;
    one that is mostly something else (*Paris*, *May*) must have a title before it or a known
    surname after it. A word after *Mr.* and the like is a name. Names in lower case, surnames and
    user names alone, and given names of few people are missed: a word that is masked by mistake
    is lost to the model, and there are finders by name for more.

    Returns
    -------
    list of lists of (int, int)
        Start and end of each name, as many lists as texts.

    Raises
    ------
    InputError
        When Faker is not installed.

    Examples
    --------
    >>> text = "Will Grace come? Mr. Obama asked John Smith's sister Grace in Paris."
    >>> [text[start:end] for start, end in gazetteer([text])[0]]
    ['Obama', 'John Smith', 'Grace']
    """
    import polars as pl

    lists = _lists()
    # One search for all names leaves few texts to look at closely.
    likely = has_term(fold(pl.Series(texts, dtype=pl.String)), lists.signs)
    return [_names_in(text, lists) if may else [] for text, may in zip(texts, likely, strict=True)]


class _Token(NamedTuple):
    start: int
    end: int
    lower: str
    capital: bool
    shouted: bool
    """All letters are capitals, and there are several."""
    first: bool
    """Opens a sentence, a line or a quotation."""
    near: bool
    """Only one space stands between it and the word before."""


def _names_in(text: str, lists: _Lists) -> list[tuple[int, int]]:
    tokens = _tokens(text)
    titled = _mostly_capitals(tokens, lists)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        length = _name_at(tokens, at, lists, titled) if tokens[at].capital else 0
        if length:
            found.append((tokens[at].start, tokens[at + length - 1].end))
        at += max(length, 1)
    return found


def _name_at(tokens: list[_Token], at: int, lists: _Lists, titled: bool) -> int:
    """Number of words of the name that starts here; 0 for none."""
    token = tokens[at]
    before = tokens[at - 1] if at and tokens[at].near else None
    known = token.lower in lists.given
    if before is not None and before.capital and before.lower in _TITLES:
        solid = before.lower in _SOLID_TITLES and token.lower not in _NO_SURNAMES
        if solid or known or token.lower in lists.surnames | lists.doubtful:
            return 1 + _surnames(tokens, at, lists, titled)
    if before is not None and before.capital and before.lower in _NAMED_AFTER:
        return 0
    after = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1].near else None
    if after is not None and after.capital and after.lower in _OF_PLACES - lists.surnames:
        return 0
    if known and (not token.shouted or len(token.lower) > 3):
        return 1 + _surnames(tokens, at, lists, titled)
    if token.shouted or titled or token.lower not in lists.doubtful:
        return 0
    return _doubtful(tokens, at, lists)


def _doubtful(tokens: list[_Token], at: int, lists: _Lists) -> int:
    """Number of words of a name whose first word is mostly something else; 0 for none."""
    token = tokens[at]
    before = tokens[at - 1].lower if at and not token.first else ""
    after = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1].near else None
    if after is not None and after.capital:
        asks = token.first and token.lower in ("will", "may")
        also_word = after.lower in lists.names
        surname = after.lower in lists.surnames and after.lower not in _OF_PLACES
        return 2 if surname and not (asks and also_word) else 0
    if token.lower in lists.places or not before or before in _BEFORE_THINGS:
        return 0
    follows = after is not None and after.lower in _AFTER_PEOPLE
    return int(before in _BEFORE_PEOPLE or follows)


def _surnames(tokens: list[_Token], at: int, lists: _Lists, titled: bool) -> int:
    """Words after a given name that belong to it, two at most."""
    n = 0
    for token in tokens[at + 1 : at + 3]:
        plain = token.lower not in _NO_SURNAMES and not token.shouted and not titled
        listed = token.lower in lists.surnames
        if not (token.capital and token.near and (plain or listed)):
            break
        n += 1
    return n


def _mostly_capitals(tokens: list[_Token], lists: _Lists) -> bool:
    """A heading or a shouted text, in which capitals say nothing."""
    names = lists.names
    other = [token for token in tokens if token.lower not in names]
    return len(other) > 2 and sum(token.capital for token in other) > 0.6 * len(other)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    end = 0
    for match in _WORD.finditer(text):
        word, gap = match.group(), text[end : match.start()]
        # The stop of an abbreviation such as "Mr." does not end a sentence.
        near = gap == " " or (
            gap == ". " and bool(tokens) and tokens[-1].lower in _TITLES and tokens[-1].capital
        )
        tokens.append(
            _Token(
                match.start(),
                match.end(),
                word.lower().replace("’", "'"),
                word[0].isupper(),
                len(word) > 1 and word.isupper(),
                not tokens or not (near or _GOES_ON.fullmatch(gap)),
                near,
            )
        )
        end = match.end()
    return tokens


@lru_cache(maxsize=1)
def _lists() -> _Lists:
    given: set[str] = set()
    surnames: set[str] = set()
    for locale in _LOCALES:
        module = f"faker.providers.person.{locale}"
        provider = wanted_library(module, "faker", "the gazetteer of names").Provider
        given.update(name.lower() for name in provider.first_names)
        surnames.update(name.lower() for name in provider.last_names)
    words, places = (_own(name) for name in ("name_words.txt", "name_places.txt"))
    given = {name for name in given if len(name) > 2} - words - places
    names = frozenset(given | words | places)
    return _Lists(
        frozenset(given),
        words,
        places,
        frozenset(surnames - _NO_SURNAMES),
        words | places,
        names,
        tuple(sorted(names | _TITLES)),
    )


def _own(name: str) -> frozenset[str]:
    text = (files("affectlab.stimuli.curation") / "data" / name).read_text(encoding="utf-8")
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return frozenset(line for line in lines if line)
