"""What cannot be mapped is said in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affectlab.analysis.reactions import map_emotions
from affectlab.analysis.reactions.wording import Route
from affectlab.core.errors import InputError


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        ("joy", {}, "expected a list of words, not one text"),
        (["joy", ""], {}, "words hold ''; expected emotion words"),
        (["joy", " \t"], {}, "expected emotion words"),
        (["joy", 3], {}, "words hold 3; expected emotion words"),
        (["joy"], {"min_similarity": 1.2}, "min_similarity = 1.2: expected a number from 0 to 1"),
        (["joy"], {"min_confidence": -1}, "min_confidence = -1: expected a number from 0 to 1"),
        (["joy"], {"given": {"joy": "joi"}}, "did you mean 'joy'?"),
        (
            ["schmaltzy"],
            {"similarity": lambda words, labels: np.zeros((len(words), 2))},
            "gave shape (1, 2); expected (1, 6)",
        ),
        (
            ["schmaltzy"],
            {"similarity": lambda words, labels: np.full((len(words), len(labels)), np.nan)},
            "no finite numbers",
        ),
    ],
)
def test_bad_input_is_one_sentence(words: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as problem:
        map_emotions(words, "ekman", **options)
    assert said in str(problem.value)


def test_routes_below_the_least_confidence_are_left_out_and_say_why() -> None:
    all_of_them = map_emotions(["sadness", "glad"], "ekman")
    sure = map_emotions(["sadness", "glad"], "ekman", min_confidence=0.7)
    assert [one.label for one in all_of_them.entries] == ["sadness", "joy"]
    assert [one.label for one in sure.entries] == ["sadness", None]
    assert (sure.entries[1].route, sure.entries[1].via) == (Route.LOW_CONFIDENCE, "joy (0.60)")


def test_feelings_that_are_denied_or_mixed_are_not_looked_up_by_similarity() -> None:
    def everything_is_joy(words: list[str], labels: list[str]) -> np.ndarray:
        return np.array([[float(label == "joy") for label in labels] for _ in words])

    words = ["not sad", "sadness and fear", "schmaltzy"]
    found = map_emotions(words, "ekman", similarity=everything_is_joy)
    assert [(one.label, one.route) for one in found.entries[:2]] == [
        (None, Route.NEGATED),
        (None, Route.SEVERAL),
    ]
    assert found.entries[2].label == "joy"
    assert found.polarity("not sad") is None
    assert found.polarity("schmaltzy") == "positive"
