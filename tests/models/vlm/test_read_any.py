"""Reading answers: any answer in any accepted form, and hostile texts."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st
from tests.models.vlm.reading import FREE, SMALL, ask

from affectlab.models.vlm.prompts.json_objects import LONGEST, find_object
from affectlab.models.vlm.prompts.prompt import Prompt, build_prompt
from affectlab.models.vlm.prompts.reading import read_answer
from affectlab.protocols import Protocol

# Every accepted form of any answer.


def dumped(
    value: Any,
    text_of: Callable[[str], str],
    words: tuple[str, str, str] = ("true", "false", "null"),
    comma: str = ", ",
    last: str = "",
) -> str:
    """Write an object with chosen quotation marks, commas, and what stands before an end."""

    def write(one: Any) -> str:
        if one is None:
            return words[2]
        if isinstance(one, bool):
            return words[0] if one else words[1]
        if isinstance(one, str):
            return text_of(one)
        if isinstance(one, dict):
            inner = [f"{text_of(key)}: {write(item)}" for key, item in one.items()]
            return "{" + comma.join(inner) + (last if inner else "") + "}"
        if isinstance(one, list):
            return "[" + comma.join(map(write, one)) + (last if one else "") + "]"
        return repr(one)

    return write(value)


def json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


PYTHON = ("True", "False", "None")
FORMS: dict[str, Callable[[Any], str]] = {
    "json": json.dumps,
    "json, indented, other letters": lambda one: json.dumps(one, indent=3, ensure_ascii=False),
    "json, no spaces": lambda one: json.dumps(one, separators=(",", ":")),
    "python": repr,
    "fence": lambda one: f"```json\n{json.dumps(one)}\n```",
    "fence, python": lambda one: f"Result:\n```python\nanswer = {one!r}\n```\nThat is all.",
    "prose": lambda one: f"Let me see, [1] {{label}} 'quoted. \n{json.dumps(one)}\nI'm sure.",
    "hash comments": lambda one: dumped(
        one, json_text, comma=", # so } it { is\n", last=" # end\n"
    ),
    "slash comments": lambda one: dumped(
        one, json_text, comma=" // \"so\n, /* { ' */", last="//\n"
    ),
    "trailing commas": lambda one: dumped(one, json_text, last=", "),
    "python, all liberties": lambda one: dumped(one, repr, PYTHON, ", # why\n", ",  # end\n"),
    "list": lambda one: f"[ {json.dumps(one)} ]",
    "twice": lambda one: f"{json.dumps(one)}\n\n```json\n{one!r}\n```",
    "reasoning": lambda one: f"<think>\n{{'a': 1}} or {{ ...\n</think>\n\n{json.dumps(one)}",
}

REASON = st.text(st.characters(exclude_categories=("Cs",)), max_size=30).map(str.strip)
SEEN = REASON.filter(bool)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Protocol, Prompt, Any, dict[str, Any], dict[str, str]]:
    """A protocol, a prompt, a valid answer in its form, its values and its reasons."""
    kind = draw(st.sampled_from(["labels", "one", "number", "choices", "entries"]))
    reasons = draw(st.booleans()) and kind != "entries"
    if kind == "labels":
        prompt = build_prompt(SMALL, None, reasons=reasons)
        value = st.one_of(st.none(), st.integers(0, 7))
        labels = st.sampled_from(SMALL.labels())
        said = draw(st.dictionaries(labels, value, min_size=1))
        said[draw(labels)] = draw(st.integers(0, 7))
        told = {label: draw(SEEN) for label, one in said.items() if one}
        form = {
            label: {"reason": told.get(label, ""), "value": one}
            if reasons and one is not None
            else one
            for label, one in said.items()
        }
        values = {label: said.get(label) for label in SMALL.labels()}
        return SMALL, prompt, form, values, told if reasons else {}
    if kind in ("one", "number"):
        name, label = ("verification", "Awe") if kind == "one" else ("difference", None)
        protocol, prompt = ask(name, label=label, reasons=reasons)
        one = draw(st.sampled_from(["yes", "no"]) if label else st.floats(0, 100))
        told = {label or "": draw(SEEN)}
        form = {"reason": told[label or ""], "answer": one} if reasons else {"answer": one}
        value = float(one == "yes") if label else one
        return protocol, prompt, form, {label or "": value}, told if reasons else {}
    if kind == "choices":
        protocol, prompt = ask("multilabel", reasons=reasons)
        chosen = draw(st.lists(st.sampled_from(protocol.labels()), min_size=1, unique=True))
        told = {label: draw(SEEN) for label in chosen}
        items = [{"reason": told[one], "label": one} for one in chosen] if reasons else chosen
        values = {label: float(label in chosen) for label in protocol.labels()}
        return protocol, prompt, {"chosen": items}, values, told if reasons else {}
    protocol, prompt = ask("reaction")
    words = draw(st.lists(st.sampled_from(["joy", "calm", "awe"]), min_size=1, unique=True))
    why = REASON.map(lambda text: f"because {text}.")
    entries = [{"emotion": word, "reason": draw(why)} for word in words]
    return protocol, prompt, {"entries": entries}, dict.fromkeys(words), {}


@pytest.mark.parametrize("form", list(FORMS))
@settings(max_examples=60)
@given(answers())
def test_any_valid_answer_reads_the_same_in_every_accepted_form(form, case):
    protocol, prompt, said, values, reasons = case
    text = FORMS[form](said)
    read = read_answer(prompt, protocol, text)
    assert read.problem == ""
    assert read.schema_errors == ()
    assert not [one for one in read.rule_errors if "characters" not in one]
    assert read.values == values
    assert read.reasons == reasons
    assert read.parsed == said
    liberties = {"json", "json, indented, other letters", "json, no spaces"}
    assert (not read.repairs) == (form in liberties)


@pytest.mark.long
@settings(max_examples=150)
@given(answers(), st.sampled_from(list(FORMS)), st.data())
def test_an_answer_that_was_cut_off_is_never_read(case, form, data):
    protocol, prompt, said, values, _ = case
    text = FORMS[form](said)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    read = read_answer(prompt, protocol, cut)
    if read.parsed is None:
        assert read.values == {}
        return
    # Only what comes after the object was lost: its end is there.
    assert read.parsed == said
    assert read.values == values


# Hostile text.


WORDS = r"""
{"joy":3 { } [ ] " ' \ , : ```json # // /* */ "fear": null None NaN <think> </think> 1e5 - 0 [[[[
"joy" {'joy':1} {"joy":1} … "reason" {{ }} "answer":"yes" {"chosen":["fine"]} {"answer":"no"}
"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\x00", "\ud83d", "\u2028", "\ufeff"])


@settings(max_examples=400)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=25).map("".join)), st.booleans())
@example("{" * 5000, False)
@example('{"joy":' * 5000, False)
@example("[" * 5000 + '{"joy": 1}', True)
def test_no_text_raises(text, reasons):
    for protocol, prompt in (
        (SMALL, build_prompt(SMALL, None, reasons=reasons)),
        ask("verification", label="Awe", reasons=reasons),
        ask("reaction"),
        ask("review", reasons=reasons),
    ):
        read = read_answer(prompt, protocol, text)
        assert (read.parsed is None) == bool(read.problem)
        assert read.parsed is None or isinstance(read.parsed, dict)
        json.dumps(read.parsed, allow_nan=False)
        assert all(
            value is None or isinstance(value, str) or math.isfinite(value)
            for value in read.values.values()
        )
        if read.usable:
            assert protocol.check(read.answer) == []
        else:
            assert read.problem or read.schema_errors or read.rule_errors


MEGABYTE = 1_000_000
GARBAGE = {
    "letters": "x" * MEGABYTE,
    "braces": "{" * MEGABYTE,
    "nested": '{"a":' * (LONGEST // 6),
    "lists": '{"a":' + "[" * (LONGEST - 20),
    "pairs": "{ }" * (LONGEST // 3),
    "prose braces": "{a}" * (LONGEST // 3),
    "open comments": "{/*}" * (LONGEST // 4),
    "hash comments": "{#}" * (LONGEST // 3),
    "quotes": '{"' * (LONGEST // 2),
    "escapes": '{"a": "' + "\\u0041" * (LONGEST // 6 - 10) + '"}',
    "backslashes": '{"a": "' + "\\" * (LONGEST - 20),
    "fences": "```\n" * (LONGEST // 4),
    "thoughts": "<think>" * (LONGEST // 7),
    "digits": '{"a": ' + "9" * (LONGEST - 20) + "}",
    "signs": '{"a": ' + "-" * (LONGEST - 20) + "}",
    "keys": "{" + ",".join(f'"k{n}": 1' for n in range(15_000)) + "}",
    "long keys": "{" + ",".join(f'"{"x" * 90}{n}": 1' for n in range(1_500)) + "}",
    "equal objects": '{"joy": 1}' * (LONGEST // 10),
    "spaces": '{"joy": 1' + " " * (LONGEST - 20) + "}",
}


@pytest.mark.parametrize("name", list(GARBAGE))
def test_no_garbage_takes_long(name):
    text = GARBAGE[name]
    begun = time.process_time()
    for protocol, prompt in ((SMALL, FREE), ask("reaction")):
        read = read_answer(prompt, protocol, text)
        assert len(read.schema_errors) <= 20
        assert all(len(error) < 400 for error in (*read.schema_errors, read.problem))
    # Reading takes a few hundredths of a second; what grows with the square takes minutes.
    assert time.process_time() - begun < 10


def test_a_search_finds_what_it_should():
    assert find_object('{"a": [1, {"b": null}]}').value == {"a": [1, {"b": None}]}
    assert find_object("{}").value == {}
    assert find_object('{"a": 1, "a": 2}').twice == ("a",)
    assert find_object('{"a": {"b": 1, "b": 1}}').twice == ("b",)
