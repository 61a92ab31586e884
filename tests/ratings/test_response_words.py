"""Answers in words: which have an order, which are none, and which stay categories."""

from __future__ import annotations

import warnings

import pytest

from affectlab.ratings import Ratings, StepKind, read_ratings
from affectlab.ratings.response_words import _LADDERS, in_order, is_no_answer
from affectlab.ratings.steps import guess


def read(*words: str | None, **options: object) -> Ratings:
    rows = {
        "stimulus": [f"s{k}" for k in range(len(words))],
        "rater": ["x"] * len(words),
        "value": list(words),
    }
    with warnings.catch_warnings(action="ignore"):
        return read_ratings(rows, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("ladder", _LADDERS)
def test_no_wording_names_a_level_twice(ladder: tuple[str, ...]) -> None:
    assert len(set(ladder)) == len(ladder)


@pytest.mark.parametrize(
    "ordered",
    [
        ("Strongly disagree", "Somewhat disagree", "Neither agree nor disagree", "Agree"),
        ("not at all", "a little", "moderately", "quite a bit", "extremely"),
        ("Not at all sad", "Slightly sad", "Extremely sad"),
        ("1 - not at all", "2 - somewhat", "3 - very"),
        ("very negative", "negative", "neutral", "positive", "very positive"),
        ("Trifft gar nicht zu", "Trifft eher nicht zu", "Trifft voll und ganz zu"),
        ("gar nicht", "ein bisschen", "einigermaßen", "erheblich", "äußerst"),
        ("pas du tout d’accord", "plutôt d’accord", "tout à fait d’accord"),
        ("nada", "un poco", "bastante", "mucho"),
        ("per niente", "poco", "abbastanza", "molto"),
        ("discordo totalmente", "discordo", "concordo", "concordo totalmente"),
        ("helemaal niet", "een beetje", "heel erg"),
        ("zdecydowanie się nie zgadzam", "raczej się zgadzam", "zdecydowanie się zgadzam"),
    ],
)
def test_words_of_many_languages_have_their_order(ordered: tuple[str, ...]) -> None:
    assert in_order(reversed(ordered)) == ordered
    assert read(*reversed(ordered)).scale.categories == ordered


@pytest.mark.parametrize(
    "words",
    [
        ("positive", "negative", "neutral"),
        ("joy", "fear", "neutral"),
        ("agree", "disagree"),
        ("never", "extremely", "agree"),
        ("don't know", "yes", "no"),
    ],
)
def test_categories_stay_without_an_order(words: tuple[str, ...]) -> None:
    r = read(*words)
    assert (r.scale.kind, r.n_ratings) == ("nominal", len(words))


def test_what_is_no_answer_is_told() -> None:
    r = read("never", "often", "k.A.", "always", "Prefer not to say")
    assert (r.scale.categories, r.value.tolist()) == (("never", "often", "always"), [1, 2, 3])
    assert r.history == (
        guess(StepKind.ORDERED_WORDS, words=["never", "often", "always"]),
        guess(StepKind.NO_ANSWER_WORDS, words=["Prefer not to say", "k.A."], n=2),
    )
    assert is_no_answer(" Keine  Angabe ")


def test_what_is_declared_goes_first() -> None:
    assert (
        read("never", "often", "k.A.", "always", scale="nominal:never,often,always,k.A.").n_ratings
        == 4
    )
    turned = read("never", "often", "always", scale="ordinal:always,often,never")
    assert turned.value.tolist() == [3, 2, 1]
