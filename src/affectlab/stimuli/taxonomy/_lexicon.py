"""Finding emotion nouns in text without a model: a lexicon, rules of inflection, and guards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from affectlab.errors import InputError
from affectlab.stimuli.taxonomy._forms import adjective_forms, noun_forms, verb_forms
from affectlab.stimuli.taxonomy._guards import is_after_subject, is_felt, is_verb_place
from affectlab.stimuli.taxonomy._lexicon_file import EmotionWord, LexiconFile
from affectlab.toml import parse_toml, read_toml

__all__ = ["Lexicon", "Mention", "load_lexicon", "spans_of", "tokens_of"]

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
