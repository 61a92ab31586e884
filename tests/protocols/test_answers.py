"""Whether one answer keeps to its protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.protocols import list_protocols, load_protocol
from affectlab.taxonomy import load_taxonomy

FORTY = load_taxonomy("emonet_face").labels
GO = load_taxonomy("goemotions").labels


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("intensity", {"Amusement": 3, "Awe": 0, "Fear": None}),
        ("intensity", {"jealousy_&_envy": np.int64(7), "hope": np.float64(1.0)}),
        ("verification", {"Awe": True}),
        ("verification", {"Awe": 0}),
        ("verification", {"Awe": np.bool_(True)}),
        ("multilabel", ["joy", "love"]),
        ("multilabel", ["unclear"]),
        ("multilabel", ("neutral",)),
        ("multilabel", {"chosen": {"joy"}}),
        ("difference", 0),
        ("difference", 37.25),
        ("staircase", "same"),
        ("preference", "neither"),
        ("reaction", [{"emotion": "hope", "reason": "The child is smiling."}]),
        ("jspsych", [{"trial_type": "survey", "response": {"Q0": None}}, {}]),
    ],
)
def test_valid_answers(name: str, answer: object) -> None:
    assert load_protocol(name).check(answer) == []


@pytest.mark.parametrize(
    ("name", "answer", "problem"),
    [
        ("intensity", {}, "0 labels are rated; expected at least 1"),
        ("intensity", {"Awe": None}, "0 labels are rated; expected at least 1"),
        ("intensity", {"Awe": 8}, "label 'Awe': 8 is off the scale"),
        ("intensity", {"Awe": 2.5}, "label 'Awe': 2.5 is off the scale"),
        ("intensity", {"Awe": True}, "label 'Awe': True is off the scale"),
        ("intensity", {"Awe": "3"}, "label 'Awe': '3' is off the scale"),
        ("intensity", {"Awe": float("nan")}, "label 'Awe': nan is off the scale"),
        ("intensity", {"Awee": 3, "Awe": 3}, "unknown label 'Awee'; did you mean 'Awe'?"),
        ("intensity", {"Hope": 3, "Optimism": 3}, "is answered twice"),
        ("intensity", {3: 3, "Awe": 1}, "3 is not a label"),
        ("intensity", [3], "answer is of type list"),
        ("intensity", None, "answer is missing"),
        ("verification", {"Awe": None}, "label 'Awe': nothing is answered; expected 0 or 1"),
        ("verification", {"Awe": 2}, "2 is off the scale"),
        ("verification", {"Awe": 1, "Fear": 0}, "2 labels are answered; expected exactly one"),
        ("verification", {}, "0 labels are answered; expected exactly one"),
        ("multilabel", [], "0 labels are chosen; expected at least 1"),
        ("multilabel", ["joy", "unclear"], "'unclear' allows no other choice beside it"),
        ("multilabel", ["joy", "Joy"], "label 'joy' is chosen twice"),
        ("multilabel", ["happi"], "unknown label 'happi'"),
        ("multilabel", [["joy"]], "['joy'] is not a label"),
        ("multilabel", "joy", "answer is of type str; expected a list of labels"),
        ("multilabel", {"chosen": ["joy"], "suggestion": "glee"}, "a label is suggested"),
        ("multilabel", {"chosen": ["joy"], "x": 1}, "key 'x' is not known"),
        ("difference", None, "answer: nothing is answered"),
        ("difference", 100.5, "100.5 is off the scale; expected a number from 0 to 100"),
        ("difference", float("inf"), "inf is off the scale"),
        ("staircase", "Same", "'Same' is off the scale; expected one of: different, same"),
        ("preference", 0, "0 is off the scale"),
        ("reaction", [], "0 entries are given; expected at least 1"),
        ("reaction", [{"emotion": "joy"}], "entry 1: reason is empty"),
        ("reaction", [{"emotion": "joy", "reason": "short"}], "reason has 5 characters"),
        ("reaction", [{"emotion": " ", "reason": "x" * 20}], "entry 1: emotion is empty"),
        ("reaction", [{"emotion": "joy", "reason": "x" * 601}], "expected at most 600"),
        ("reaction", [{"emotion": "joy", "reason": 3}], "entry 1: reason is of type int"),
        ("reaction", [{"emotoin": "joy"}], "entry 1: unknown field 'emotoin'"),
        ("reaction", ["joy"], "entry 1 is of type str"),
        ("reaction", "joy", "answer is of type str"),
        ("jspsych", [], "0 trials are given; expected 1 to 10000"),
        ("jspsych", [{}] * 10_001, "10001 trials are given"),
        ("jspsych", {"rt": 3}, "answer is of type dict; expected a list of trials"),
        ("jspsych", [{}, 3], "trial 2 is of type int; expected its values by name"),
        ("jspsych", [{" ": 3}], "trial 1: a value has no name"),
    ],
)
def test_problems_are_said(name: str, answer: object, problem: str) -> None:
    found = load_protocol(name).check(answer)
    assert any(problem in sentence for sentence in found), found


def test_entries_must_differ_and_be_few() -> None:
    protocol = load_protocol("reaction")
    entry = {"emotion": "Hope", "reason": "The child is smiling."}
    assert protocol.check([entry, {**entry, "emotion": " hope "}]) == [
        "entry 2: 'hope' is given twice"
    ]
    four = [{**entry, "emotion": word} for word in ("hope", "joy", "fear", "awe")]
    assert protocol.check(four) == ["4 entries are given; expected at most 3"]
    assert protocol.check(four[:3]) == []


def test_every_label_needs_a_value_unless_it_may_be_left() -> None:
    protocol = load_protocol("intensity").revise(not_rated=False)
    problem = protocol.check({"Amusement": 3})
    assert problem == [
        "label 'Elation' and 38 more: nothing is answered; every label needs a value"
    ]
    assert protocol.check(dict.fromkeys(FORTY, 0)) == []
    assert protocol.check(dict.fromkeys(FORTY)) != []


def test_limits_on_values_and_suggestions() -> None:
    protocol = load_protocol("intensity").revise(rules={"max_nonzero": 2})
    answer: dict[str, Any] = {"Awe": 1, "Fear": 0, "Pride": 7}
    assert protocol.check(answer) == []
    assert protocol.check({**answer, "Pain": 1}) == ["3 labels are above 0; expected at most 2"]
    pilot = load_protocol("multilabel").revise(rules={"suggestions": True})
    assert pilot.check({"chosen": ["joy"], "suggestion": "glee"}) == []
    assert pilot.check({"chosen": ["joy"], "suggestion": 3}) == [
        "suggestion is of type int; expected text"
    ]


@given(st.dictionaries(st.sampled_from(FORTY), st.none() | st.integers(-2, 9), max_size=8))
def test_ratings_are_valid_exactly_when_on_the_scale(answer: dict[str, int | None]) -> None:
    given_values = [value for value in answer.values() if value is not None]
    valid = bool(given_values) and all(0 <= value <= 7 for value in given_values)
    assert (load_protocol("intensity").check(answer) == []) == valid


@given(st.lists(st.sampled_from([*GO, "unclear"]), max_size=4))
def test_choices_are_valid_exactly_when_the_rules_hold(chosen: list[str]) -> None:
    valid = 0 < len(chosen) == len(set(chosen)) and ("unclear" not in chosen or len(chosen) == 1)
    assert (load_protocol("multilabel").check(chosen) == []) == valid


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3)
        | st.dictionaries(st.sampled_from(["emotion", "reason", "chosen", "joy"]), inner)
    ),
    max_leaves=6,
)


@given(
    st.sampled_from(["intensity", "verification", "multilabel", "difference", "reaction"]), anything
)
def test_any_answer_gets_sentences_and_never_an_exception(name: str, answer: object) -> None:
    assert name in list_protocols()
    found = load_protocol(name).check(answer)
    assert all(isinstance(sentence, str) and sentence for sentence in found)
