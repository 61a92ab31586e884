"""What the words before a form say about its part of speech, and whether it is felt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from affectlab.toml import parse_toml

__all__ = ["FunctionWords", "function_words", "is_after_subject", "is_felt", "is_verb_place"]

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
