"""Finding emotion nouns in text without a model: a lexicon, rules of inflection, and guards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from affectlab.core.errors import InputError, check_once
from affectlab.core.files.toml import parse_toml, read_toml
from affectlab.stimuli.taxonomy.texts import TextBlock

__all__ = [
    "EmotionWord",
    "Family",
    "FunctionWords",
    "Lexicon",
    "LexiconFile",
    "Mention",
    "adjective_forms",
    "excerpt",
    "forms_of",
    "function_words",
    "is_after_subject",
    "is_felt",
    "is_verb_place",
    "load_lexicon",
    "noun_forms",
    "places_of",
    "spans_of",
    "tokens_of",
    "verb_forms",
]

# The file of a lexicon: families of emotion nouns, with the words that name the same states.


_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EmotionWord(_Strict):
    """One emotion noun and what leads to it; a form with a ``?`` counts only where it is felt."""

    noun: _Text
    adjectives: tuple[_Text, ...] = ()
    verbs: tuple[_Text, ...] = ()
    also: tuple[_Text, ...] = ()
    """Forms that no rule gives, phrases among them."""
    unless: tuple[_Text, ...] = ()
    """Words that, right behind, take a form to another meaning."""

    without: tuple[_Text, ...] = ()
    """Forms that a rule makes and that are other words."""

    @field_validator("noun", "adjectives", "verbs", "also", "unless", "without")
    @classmethod
    def _plain(cls, given: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for form in (given,) if isinstance(given, str) else given:
            if form != form.casefold() or form != " ".join(form.split()) or form == "?":
                raise ValueError(f"{form!r} is no word in lower case with single spaces")
        return given

    @property
    def name(self) -> str:
        """The noun without its mark."""
        return self.noun.removesuffix("?")


class Family(_Strict):
    """Words that a reader could put under one label."""

    name: _Text
    polarity: Literal["positive", "negative", "ambiguous", "neutral"] | None = None
    words: Annotated[tuple[EmotionWord, ...], Field(min_length=1)]


class LexiconFile(_Strict):
    """A lexicon; see ``data/emotion_words.toml`` for the built-in one."""

    name: _Text
    source: str = ""
    families: Annotated[tuple[Family, ...], Field(min_length=1)]

    @field_validator("families")
    @classmethod
    def _each_noun_once(cls, given: tuple[Family, ...]) -> tuple[Family, ...]:
        seen: dict[str, str] = {}
        for family in given:
            for word in family.words:
                other = seen.setdefault(word.name, family.name)
                if other != family.name or sum(one.name == word.name for one in family.words) > 1:
                    raise ValueError(f"noun {word.name!r} stands twice; expected each once")
        check_once("family", (family.name for family in given))
        return given


# What the words before a form say about its part of speech, and whether it is felt.


_LOOK_BACK = 6


class FunctionWords(BaseModel):
    """Words that say what another word is; see ``data/function_words.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    feeling: frozenset[str]
    degree: frozenset[str]
    joining: frozenset[str]
    subjects: frozenset[str]
    common: frozenset[str]


@cache
def function_words() -> FunctionWords:
    """Read the words once."""
    text = (files("affectlab.stimuli.taxonomy") / "data" / "function_words.toml").read_text("utf-8")
    return parse_toml(text, FunctionWords, where="built-in function_words.toml")


def is_felt(tokens: Sequence[str], place: int, names_state: Callable[[str], bool]) -> bool:
    """Whether a verb of being or feeling leads to the form, by way of degrees and other states.

    Examples
    --------
    >>> is_felt("i was so happy and content".split(), 5, {"happy"}.__contains__)
    True
    >>> is_felt("the content".split(), 1, {"happy"}.__contains__)
    False
    """
    words = function_words()
    for before in range(place - 1, max(place - 1 - _LOOK_BACK, -1), -1):
        token = tokens[before]
        if token in words.feeling:
            return True
        if token not in words.degree and token not in words.joining and not names_state(token):
            return False
    return False


def is_verb_place(tokens: Sequence[str], place: int) -> bool:
    """Whether the word before expects a verb: "I wonder", "to fear", "don't worry".

    Examples
    --------
    >>> is_verb_place("i wonder".split(), 1), is_verb_place("in wonder".split(), 1)
    (True, False)
    """
    return is_after_subject(tokens, place) or (place > 0 and tokens[place - 1] == "to")


def is_after_subject(tokens: Sequence[str], place: int) -> bool:
    """Whether the word before leaves no room for a noun: "I wonder", but not "led to wonder"."""
    return place > 0 and tokens[place - 1] in function_words().subjects


# Regular forms of English nouns, adjectives and verbs, made by rule from the form one looks up.
#
# Forms are generated rather than cut off: a generated form that does not exist finds nothing,
# while a stem that is cut too short takes two words for one.


_VOWEL_Y = re.compile(r"[^aeiou]y$")
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
_DOUBLES = re.compile(r"^[^aeiou]*[aeiou][bdgmnprt]$")
"""One syllable with one vowel before one consonant: "hug" gives "hugged"."""


def noun_forms(noun: str) -> frozenset[str]:
    """Give a noun and its plural.

    Examples
    --------
    >>> sorted(noun_forms("worry")), sorted(noun_forms("joy"))
    (['worries', 'worry'], ['joy', 'joys'])
    """
    return frozenset({noun, _with_s(noun)})


def adjective_forms(adjective: str) -> frozenset[str]:
    """Give an adjective with its comparatives, its adverb and its noun in -ness.

    Examples
    --------
    >>> sorted(adjective_forms("happy"))
    ['happier', 'happiest', 'happily', 'happiness', 'happy']
    """
    forms = {adjective}
    if " " in adjective:
        return frozenset(forms)
    if _VOWEL_Y.search(adjective):
        stem = f"{adjective[:-1]}i"
        forms |= {f"{stem}er", f"{stem}est", f"{stem}ly", f"{stem}ness"}
    elif len(adjective) <= 5 and not adjective.endswith("ed"):
        stem = adjective + adjective[-1] if _DOUBLES.match(adjective) else adjective
        stem = stem.removesuffix("e")
        forms |= {f"{stem}er", f"{stem}est", f"{adjective}ness", _adverb(adjective)}
    else:
        forms |= {f"{adjective}ness", _adverb(adjective)}
    return frozenset(forms)


def verb_forms(verb: str) -> frozenset[str]:
    """Give a verb with -s, -ed and -ing.

    Examples
    --------
    >>> sorted(verb_forms("worry"))
    ['worried', 'worries', 'worry', 'worrying']
    >>> sorted(verb_forms("adore"))
    ['adore', 'adored', 'adores', 'adoring']
    """
    forms = {verb, _with_s(verb)}
    if _VOWEL_Y.search(verb):
        forms |= {f"{verb[:-1]}ied", f"{verb}ing"}
    elif verb.endswith("e"):
        forms |= {f"{verb}d", f"{verb[:-1]}ing"}
    else:
        stem = verb + verb[-1] if _DOUBLES.match(verb) else verb
        forms |= {f"{stem}ed", f"{stem}ing"}
    return frozenset(forms)


def _with_s(word: str) -> str:
    if _VOWEL_Y.search(word):
        return f"{word[:-1]}ies"
    return f"{word}es" if _SIBILANT.search(word) else f"{word}s"


def _adverb(adjective: str) -> str:
    if adjective.endswith("ic"):
        return f"{adjective}ally"
    if adjective.endswith("le") and adjective[-3:-2] not in tuple("aeiou"):
        return f"{adjective[:-1]}y"
    return f"{adjective}y" if adjective.endswith("ll") else f"{adjective}ly"


_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|['’][^\W\d_]+|[.!?;:]")
_Key = tuple[str, ...]


@dataclass(frozen=True)
class Mention:
    """One place in a text where an emotion is named."""

    term: str
    """The emotion noun."""
    form: str
    """What stands in the text, in lower case."""
    part: str
    """``noun``, ``adjective``, ``verb`` or ``phrase``."""
    place: int
    """Position of its first token."""


@dataclass(frozen=True)
class _Reading:
    term: str
    part: str
    felt: bool
    given: bool
    """Whether the form stands in the file, and was not made by rule."""
    unless: frozenset[str]


class Lexicon:
    """Emotion nouns, and the forms that lead to them; made by :func:`load_lexicon`.

    Examples
    --------
    >>> lexicon = load_lexicon()
    >>> [mention.term for mention in lexicon.find("She was joyful, and a bit frightened.")]
    ['joy', 'fright']
    >>> lexicon.term("happily"), lexicon.family("happiness"), lexicon.polarity("happiness")
    ('happiness', 'joy', 'positive')
    """

    def __init__(self, content: LexiconFile, where: str = "lexicon") -> None:
        self.name = content.name
        self.source = content.source
        self._families: dict[str, tuple[str, str | None]] = {}
        self._readings: dict[_Key, list[_Reading]] = {}
        for family in content.families:
            for word in family.words:
                self._families[word.name] = (family.name, family.polarity)
                self._add(word, where)
        self._longest = max(map(len, self._readings))

    def __len__(self) -> int:
        return len(self._families)

    def __contains__(self, term: object) -> bool:
        return term in self._families

    @property
    def nouns(self) -> tuple[str, ...]:
        """All emotion nouns, in the order of the file."""
        return tuple(self._families)

    def family(self, term: str) -> str | None:
        """Family of a noun; None when the noun is not here."""
        return self._families.get(term, (None, None))[0]

    def polarity(self, term: str) -> str | None:
        """Polarity of a noun's family, where it has one."""
        return self._families.get(term, (None, None))[1]

    def term(self, word: str) -> str | None:
        """Emotion noun that a word or phrase leads to, whatever stands around it; or None."""
        key = _key(word)
        if " ".join(key) in self._families:
            return " ".join(key)
        found = self._readings.get(key)
        return found[0].term if found else None

    def find(self, text: str) -> list[Mention]:
        """Find all mentions in a text, in their order; the longest form at a place counts.

        A negated emotion is a mention, too: "not happy" names happiness.
        """
        return list(self._mentions(tokens_of(text)))

    def mentions(self, tokens: list[str]) -> list[Mention]:
        """Find all mentions among tokens as :func:`tokens_of` gives them."""
        return list(self._mentions(tokens))

    def _mentions(self, tokens: list[str]) -> Iterator[Mention]:
        place = 0
        while place < len(tokens):
            found = self._at(tokens, place)
            if found is None:
                place += 1
                continue
            length, reading = found
            form = " ".join(tokens[place : place + length])
            yield Mention(reading.term, form, reading.part, place)
            place += length

    def _at(self, tokens: list[str], place: int) -> tuple[int, _Reading] | None:
        for length in range(min(self._longest, len(tokens) - place), 0, -1):
            readings = self._readings.get(tuple(tokens[place : place + length]))
            if readings is None:
                continue
            after = tokens[place + length] if place + length < len(tokens) else ""
            verb_place = is_verb_place(tokens, place)
            for reading in sorted(readings, key=lambda one: (one.part == "verb") is not verb_place):
                if after in reading.unless:
                    continue
                if reading.part == "noun" and is_after_subject(tokens, place):
                    continue
                if reading.felt and not is_felt(tokens, place, self._names_state):
                    continue
                return length, reading
        return None

    def _names_state(self, token: str) -> bool:
        return any(one.part == "adjective" for one in self._readings.get((token,), ()))

    def _add(self, word: EmotionWord, where: str) -> None:
        unless = frozenset(word.unless)
        parts = (
            ("noun", noun_forms, (word.noun,)),
            ("adjective", adjective_forms, word.adjectives),
            ("verb", verb_forms, word.verbs),
            ("phrase", lambda form: frozenset({form}), word.also),
        )
        for part, make, given in parts:
            for marked in given:
                form, felt = marked.removesuffix("?"), marked.endswith("?")
                for made in sorted(make(form) - set(word.without)):
                    reading = _Reading(word.name, part, felt, made == form, unless)
                    self._enter(_key(made), reading, where)

    def _enter(self, key: _Key, reading: _Reading, where: str) -> None:
        held = self._readings.setdefault(key, [])
        others = [one for one in held if one.term != reading.term]
        if any(one.given for one in others):
            if reading.given:
                form = " ".join(key)
                raise InputError(
                    f"{where}: {form!r} leads to {others[0].term!r} and to {reading.term!r}; "
                    "expected one noun for each form"
                )
            return
        if reading.given:
            # What the file says outweighs what rules make of other words.
            held[:] = [one for one in held if one.term == reading.term]
        elif others:
            return
        if (reading.part, reading.felt) not in {(one.part, one.felt) for one in held}:
            held.append(reading)


@cache
def _built_in() -> Lexicon:
    text = (files("affectlab.stimuli.taxonomy") / "data" / "emotion_words.toml").read_text("utf-8")
    return Lexicon(parse_toml(text, LexiconFile, where="built-in emotion_words.toml"))


def load_lexicon(path: str | Path | Lexicon | None = None) -> Lexicon:
    """Read a lexicon of emotion words; without a path the built-in one, of English.

    Raises
    ------
    InputError
        When the file cannot be used, or a form leads to two nouns; the sentence says which.

    Examples
    --------
    >>> len(load_lexicon()) > 300
    True
    """
    if isinstance(path, Lexicon):
        return path
    return _built_in() if path is None else Lexicon(read_toml(path, LexiconFile), str(path))


def tokens_of(text: str) -> list[str]:
    """Cut a text into words in lower case, endings such as 'm, and marks that end a clause.

    Examples
    --------
    >>> tokens_of("I'm awe-struck. Truly!")
    ['i', "'m", 'awe-struck', '.', 'truly', '!']
    """
    return [token for token, *_ in spans_of(text)]


def spans_of(text: str) -> list[tuple[str, int, int]]:
    """Cut a text as :func:`tokens_of` does; say where each token begins and ends."""
    return [
        (found.group().casefold().replace("’", "'"), *found.span())
        for found in _TOKEN.finditer(text)
    ]


def _key(form: str) -> _Key:
    return tuple(token for token in tokens_of(form) if token not in ".!?;:")


# Where a term stands in a text, and the words around it.


_AROUND = 6
Spans = Sequence[tuple[str, int, int]]


def excerpt(text: str, spans: Spans, place: int) -> str:
    """Give the words around a token, as they are written."""
    first, last = max(place - _AROUND, 0), min(place + _AROUND, len(spans) - 1)
    words = " ".join(text[spans[first][1] : spans[last][2]].split())
    return ("… " if first else "") + words + (" …" if last < len(spans) - 1 else "")


def forms_of(term: str) -> frozenset[str]:
    """Give the forms that a term which no lexicon knows may have."""
    return noun_forms(term) | adjective_forms(term) | verb_forms(term)


def places_of(block: TextBlock, term: str, lexicon: Lexicon) -> Iterator[tuple[str, str, str]]:
    """Find a term in the texts of a block: name of the text, form and example, once per text."""
    for source, text in zip(block.sources, block.texts, strict=True):
        spans = spans_of(text)
        tokens = [token for token, *_ in spans]
        found = _first(tokens, term, lexicon)
        if found is not None:
            place, form = found
            yield source, form, excerpt(text, spans, place)


def _first(tokens: list[str], term: str, lexicon: Lexicon) -> tuple[int, str] | None:
    if term in lexicon:
        # What stands around it does not matter here: somebody read the text and named the term.
        return next(
            ((k, token) for k, token in enumerate(tokens) if lexicon.term(token) == term),
            next(((m.place, m.form) for m in lexicon.mentions(tokens) if m.term == term), None),
        )
    length = len(term.split())
    forms = forms_of(term)
    for place in range(len(tokens) - length + 1):
        form = " ".join(tokens[place : place + length])
        if form in forms:
            return place, form
    return None
