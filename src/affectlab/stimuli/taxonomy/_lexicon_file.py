"""The file of a lexicon: families of emotion nouns, with the words that name the same states."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

__all__ = ["EmotionWord", "Family", "LexiconFile"]

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
        names = [family.name for family in given]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"family {twice[0]!r} stands twice; expected each once")
        return given
