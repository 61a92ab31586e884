"""Tables that cannot be screened are refused in one sentence."""

from __future__ import annotations

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import screen


def answers(**columns: list[object]) -> Ratings:
    rows = {
        "stimulus": ["a", "b", "a", "b", "a", "b"],
        "rater": ["r", "r", "s", "s", "t", "t"],
        "value": [1, 2, 1, 3, 2, 3],
    }
    return Ratings(rows | columns, scale="interval 0..4")


def test_texts_are_no_numbers() -> None:
    texts = Ratings({"stimulus": ["a"], "rater": ["r"], "text": ["calm"]}, scale="text")
    with pytest.raises(InputError, match="expected numeric ratings, got ratings on a text scale"):
        screen(texts, policy="p913")


def test_known_answers_are_numbers() -> None:
    with pytest.raises(InputError, match="column 'expected': expected numbers, got String"):
        screen(answers(expected=["one"] * 6), policy="faceexpressions")


def test_a_golden_table_has_both_columns() -> None:
    with pytest.raises(InputError, match="golden table: column 'value' is missing"):
        screen(answers(), policy="faceexpressions", golden=pl.DataFrame({"stimulus": ["a"]}))


def test_golden_answers_of_stimuli_that_nobody_saw_change_nothing() -> None:
    known = {"a": 1.0, "b": 2.0}
    plain = screen(answers(), policy="faceexpressions", golden=known)
    more = screen(answers(), policy="faceexpressions", golden=known | {"never shown": 4.0})
    assert plain.to_frame().equals(more.to_frame())
