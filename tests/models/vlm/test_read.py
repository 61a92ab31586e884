"""Reading answers: every accepted form says the same, and nothing else is an answer."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affectlab.errors import InputError
from affectlab.evaluation import Response, classify_outcome
from affectlab.models.vlm._prompt import Prompt, build_prompt
from affectlab.models.vlm._prompt_stimulus import Option, Stimulus
from affectlab.models.vlm._read import Read, read_answer
from affectlab.models.vlm._read_objects import LONGEST, find_object
from affectlab.models.vlm._read_parse import DEPTH
from affectlab.protocols import Protocol, load_protocol
from affectlab.ratings import Ratings
from affectlab.study._entries import entry_rows

INTENSITY = load_protocol("intensity")
SMALL = INTENSITY.revise(
    asks={"taxonomy": None, "group_by": (), "labels": ("joy", "fear", "calm mood")},
)
FREE = build_prompt(SMALL, None)
CAPTION = Stimulus(texts=("a caption",))
TWO = Stimulus(options=(Option("one"), Option("two")))


def ask(name: str, **how: Any) -> tuple[Protocol, Prompt]:
    protocol = load_protocol(name)
    shown = {"text": CAPTION, "image and caption": CAPTION, "two options": TWO}
    return protocol, build_prompt(protocol, shown.get(protocol.stimulus), **how)


def small(text: str | None, **how: Any) -> Read:
    return read_answer(build_prompt(SMALL, None, **how) if how else FREE, SMALL, text)


def outcome(read: Read, text: str) -> str:
    return classify_outcome(
        Response(
            text=text,
            parsed=read.parsed,
            schema_errors=read.schema_errors,
            rule_errors=read.rule_errors,
        )
    )


# Known answers.


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ('{"joy": 3, "fear": 0}', ()),
        ('  {"joy":3,"fear":0}\n', ()),
        ('{"joy": 3.0, "fear": 0e5}', ()),
        ('\ufeff{"joy": 3, "fear": 0}', ()),
        ('```json\n{"joy": 3, "fear": 0}\n```', ("fence",)),
        ('```\n{"joy": 3, "fear": 0}\n```', ("fence",)),
        ('```json\n{"joy": 3, "fear": 0}', ("fence",)),
        (
            'Here you are:\n```python\n{"joy": 3, "fear": 0}\n```\nHope it helps!',
            ("fence", "prose"),
        ),
        ('I see {joy} here. {"joy": 3, "fear": 0} Done.', ("prose",)),
        ('{{"joy": 3, "fear": 0}}', ("prose",)),
        ('{"joy": 3, # a smile\n "fear": 0}', ("comments",)),
        ('{"joy": 3, // a smile\n "fear": 0 /* none */}', ("comments",)),
        ('{"joy": 3, "fear": 0,}', ("trailing_comma",)),
        ("{'joy': 3, 'fear': 0}", ("python",)),
        ("{'joy': 3, 'fear': 0, 'calm mood': None}", ("python",)),
        ('{"joy": +3, "fear": .0}', ("python",)),
        ('[{"joy": 3, "fear": 0}]', ("list",)),
        ('```json\n[{"joy": 3, "fear": 0}]\n```', ("list", "fence")),
        ('{"joy": 3, "fear": 0}\n{"fear": 0, "joy": 3}', ("repeated",)),
        ('<think>{"joy": 1}, or 3?</think>{"joy": 3, "fear": 0}', ("reasoning",)),
        ('or {"joy": 1}?</think>\n{"joy": 3, "fear": 0}', ("reasoning",)),
        ('{"joy": "3", "fear": " 0.0 "}', ("number_as_text",)),
        ('{"Joy": 3, "FEAR": 0}', ("spelling",)),
        ('{"joy": 3, "fear": 0, "calm_mood": null}', ("spelling",)),
        ('{"\\u006aoy": 3, "fear": 0}', ()),
        ("{'\\x6aoy': 3, 'fear': 0}", ("python",)),
        (
            "Sure!\n```\n{'Joy': '3', # big\n 'fear': 0,\n}\n```",
            (
                "fence",
                "prose",
                "python",
                "comments",
                "trailing_comma",
                "spelling",
                "number_as_text",
            ),
        ),
    ],
)
def test_accepted_forms_say_the_same_and_name_what_was_repaired(text, repairs):
    read = small(text)
    assert read.problem == ""
    assert read.schema_errors == read.rule_errors == ()
    assert read.values == {"joy": 3.0, "fear": 0.0, "calm mood": None}
    assert sorted(read.repairs) == sorted(repairs)
    assert outcome(read, text) == "ok"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "there is no text"),
        ("", "there is no text"),
        (" \n", "there is no text"),
        ("joy: 3, fear: 0", "no JSON object"),
        ("I cannot rate the emotions of people.", "no JSON object"),
        ('"{\\"joy\\": 3}"', "no JSON object"),
        ("{joy: 3, fear: 0}", "no JSON object"),
        ("3", "no JSON object"),
        ("[3, 0]", "no JSON object"),
        # Cut off, wherever.
        ('{"joy": 3, "fear": 0', "does not end"),
        ('{"joy": 3, "fear"', "does not end"),
        ('{"joy": 3, "fear": 0,', "does not end"),
        ('{"joy', "not closed"),
        ('{"joy": "3', "does not end"),
        ('```json\n{"joy": 3,\n```', "expected a key"),
        ('[{"joy": 3, "fear": 0}', "one that does not end"),
        ('[{"joy": 3, "fear": 0}, {"joy"', "not closed"),
        ('<think>{"joy": 3, "fear": 0}', "within the model's reasoning"),
        # Not one answer.
        ('{"joy": 3} {"joy": 4}', "several objects that differ"),
        ('{"joy": 1} {"joy": true}', "several objects that differ"),
        ('[{"joy": 3}, {"fear": 0}]', "several"),
        ('{"joy": 3}, "fear": 0}', "closes that was not opened"),
        ('{{"joy": 3}', "opens that is not closed"),
        ('{"joy": 3, "fear": 0} {', "opens that is not closed"),
        # Not values.
        ('{"joy": NaN}', "NaN is not a number"),
        ('{"joy": -Infinity}', "-Infinity is not a number"),
        ('{"joy": nan}', "nan is not a number"),
        ('{"joy": 1e999}', "too large a number"),
        ('{"joy": 05}', "'05' is not a value"),
        ('{"joy": 3_0}', "'3_0' is not a value"),
        ('{"joy": 0x3}', "'0x3' is not a value"),
        ('{"joy": three}', "'three' is not a value"),
        ('{"joy": 3/7}', "expected a comma"),
        ('{"joy": 3 "fear": 0}', "expected a comma"),
        ('{"joy": }', "expected a value"),
        ('{"joy": (3,)}', "expected a value"),
        ('{"joy": {3}}', "expected a key"),
        ('{"joy": __import__("os").getcwd()}', "'__import__' is not a value"),
        ('{"joy": "a\\q"}', "which is not known"),
        ('{"joy": "\\ud800"}', "half a character"),
        ('{"joy": "\ud800"}', "half a character"),
        ('{"joy": "\\UFFFFFFFF"}', "no character"),
        ('{"joy": ' + "[" * DEPTH + "]" * DEPTH + "}", f"more than {DEPTH} deep"),
        ('{"joy": 3}' + " " * LONGEST, f"expected at most {LONGEST}"),
    ],
)
def test_what_is_cut_off_or_unclear_is_no_answer(text, problem):
    read = small(text)
    assert problem in read.problem
    assert read.parsed is None
    assert read.answer is None
    assert read.values == {}
    assert read.rows == ()
    assert not read.usable
    if text and text.strip() and "cannot" not in text:
        assert outcome(read, text) == "unparseable"


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ('{"joy": 8}', ["label 'joy': 8 is off the scale; expected a whole number from 0 to 7"]),
        ('{"joy": -1, "fear": 2.5}', ["-1 is off the scale", "2.5 is off the scale"]),
        ('{"joy": 99999999999999999999}', ["off the scale"]),
        ('{"joy": true}', ["label 'joy': true or false is not an answer"]),
        ('{"joy": "high"}', ["'high' is not an answer; expected a whole number from 0 to 7"]),
        ('{"joy": "5/7"}', ["'5/7' is not an answer"]),
        ('{"joy": ""}', ["'' is not an answer"]),
        ('{"joy": [3]}', ["a list is not an answer"]),
        ('{"joy": {"value": 3}}', ["an object is not an answer"]),
        ('{"sadness": 3}', ["unknown label 'sadness'"]),
        ('{"ratings": {"joy": 3}}', ["unknown label 'ratings'"]),
        ('{"joy": 3, "joy": 3}', ["key 'joy' comes twice"]),
        ('{"joy": 3, "Joy": 4}', ["label 'joy' is answered twice"]),
        ('{"joy": 3, "": 1}', ["unknown label ''"]),
        ('{"joy": 3, "' + "x" * 500 + '": 1}', ["is not known"]),
    ],
)
def test_schema_errors_say_what_is_wrong(text, errors):
    read = small(text)
    assert len(read.schema_errors) == len(errors)
    for found, expected in zip(read.schema_errors, errors, strict=True):
        assert expected in found
    assert read.parsed is not None
    assert read.values == {}
    assert read.answer is None
    assert read.rows == ()
    assert outcome(read, text) == "schema_invalid"


def test_labels_are_known_in_every_spelling_of_the_taxonomy():
    prompt = build_prompt(INTENSITY, None)
    spellings = {
        "Hope": "Hope/Enthusiasm/Optimism",
        "jealousy and envy": "Jealousy & Envy",
        "JEALOUSY_ENVY": "Jealousy & Envy",
        "sexual-lust": "Sexual Lust",
        "Hopelessness": "Helplessness",
    }
    for spelling, label in spellings.items():
        read = read_answer(prompt, INTENSITY, json.dumps({spelling: 4}))
        assert read.values[label] == 4.0
        assert read.repairs == ("spelling",)
    read = read_answer(prompt, INTENSITY, '{"Amusemnt": 4}')
    assert read.schema_errors == ("unknown label 'Amusemnt'; did you mean 'Amusement'?",)


# Rules.


def test_rule_errors_come_from_the_protocol_and_the_prompt():
    five = dict.fromkeys(INTENSITY.labels()[:5], 3)
    for at_most, errors in ((5, 0), (4, 1)):
        prompt = build_prompt(INTENSITY, None, at_most=at_most)
        read = read_answer(prompt, INTENSITY, json.dumps(five))
        assert len(read.rule_errors) == errors
        assert read.schema_errors == ()
        # What is said stays known, for those who look at the failures.
        assert read.values["Amusement"] == 3.0
    assert read.rule_errors == ("5 labels are above 0; expected at most 4",)
    assert outcome(read, "{") == "rule_violation"
    zeros = read_answer(prompt, INTENSITY, json.dumps({**five, "Amusement": 0, "Awe": 0}))
    assert zeros.usable
    empty = read_answer(build_prompt(INTENSITY, None), INTENSITY, "{}")
    assert empty.rule_errors == ("0 labels are rated; expected at least 1",)


def test_what_is_left_out_means_what_the_prompt_says():
    said = '{"joy": 3}'
    free = small(said)
    assert free.values == {"joy": 3.0, "fear": None, "calm mood": None}
    assert free.left_out == ("fear", "calm mood")
    assert [row["label"] for row in free.rows] == ["joy"]
    zero = small(said, left_out="zero")
    assert zero.values == {"joy": 3.0, "fear": 0.0, "calm mood": 0.0}
    assert zero.left_out == ("fear", "calm mood")
    assert [row["value"] for row in zero.rows] == [3.0, 0.0, 0.0]
    assert small('{"joy": 3, "fear": null}', left_out="zero").schema_errors == (
        "label 'fear': null is not an answer; expected a whole number from 0 to 7",
    )
    held = small(said, structured=True)
    assert held.schema_errors == (
        "label 'fear' and 1 more is missing; expected a value for every label",
    )
    nulls = small('{"joy": 3, "fear": null, "calm_mood": null}', structured=True)
    assert nulls.values == free.values
    assert nulls.left_out == ()
    assert nulls.repairs == ()
    every = SMALL.revise(not_rated=False)
    read = read_answer(build_prompt(every, None), every, said)
    assert len(read.schema_errors) == 1
    assert read_answer(build_prompt(every, None, at_most=1), every, said).usable


# Forms.


def test_reasons():
    text = json.dumps(
        {
            "joy": {"reason": " A smile. ", "value": 3},
            "fear": {"reason": "", "value": 0},
            "calm mood": None,
        }
    )
    read = small(text, reasons=True)
    assert read.usable
    assert read.values == {"joy": 3.0, "fear": 0.0, "calm mood": None}
    assert read.reasons == {"joy": "A smile."}
    assert [row["text"] for row in read.rows] == ["A smile.", None]
    none = small('{"joy": {"reason": " ", "value": 3}}', reasons=True)
    assert none.rule_errors == ("label 'joy': the reason is empty",)
    for said, error in [
        ('{"joy": 3}', "label 'joy': found a number; expected an object with 'reason' and 'value'"),
        ('{"joy": {"value": 3}}', "label 'joy': key 'reason' is missing"),
        ('{"joy": {"reason": 1, "value": 3}}', "label 'joy': reason is a number; expected text"),
        (
            '{"joy": {"reason": "", "value": null}}',
            "label 'joy': the value is null; expected a whole number from 0 to 7",
        ),
        ('{"joy": {"reason": "", "value": 1, "sure": 2}}', "label 'joy': key 'sure' is not known"),
    ]:
        assert small(said, reasons=True).schema_errors == (error,)
    line = small('{"joy": {"reason": "two\nlines", "value": 3}}', reasons=True)
    assert line.reasons == {"joy": "two\nlines"}
    assert line.repairs == ("line_break",)


def test_yes_and_no():
    protocol, prompt = ask("verification", label="Awe")
    for said, value, repairs in [
        ('"yes"', 1.0, ()),
        ('"no"', 0.0, ()),
        ('"Yes"', 1.0, ("spelling",)),
        ("true", 1.0, ("yes_no",)),
        ("0", 0.0, ("yes_no",)),
        ('"1"', 1.0, ("yes_no",)),
    ]:
        read = read_answer(prompt, protocol, f'{{"answer": {said}}}')
        assert read.values == {"Awe": value}
        assert read.repairs == repairs
        assert read.usable
        assert read.answer == {"Awe": value}
        assert read.rows == ({"label": "Awe", "value": value, "text": None, "outcome": "ok"},)
    for said in ('{"answer": 2}', '{"answer": "maybe"}', '{"answer": null}', '{"Awe": "yes"}'):
        assert read_answer(prompt, protocol, said).schema_errors
    reasoned = build_prompt(protocol, None, label="Awe", reasons=True)
    read = read_answer(reasoned, protocol, '{"reason": "", "answer": "yes"}')
    assert read.rule_errors == ("the reason is empty",)
    assert read_answer(reasoned, protocol, '{"reason": "", "answer": "no"}').usable


def test_choices():
    protocol, prompt = ask("multilabel")
    read = read_answer(prompt, protocol, '{"chosen": ["Joy", "love"]}')
    assert read.repairs == ("spelling",)
    assert {label for label, value in read.values.items() if value == 1.0} == {"joy", "love"}
    assert set(read.values) == set(protocol.labels())
    assert read.rows[0].keys() == {"label", "value", "text", "outcome", "unclear"}
    assert not read.rows[0]["unclear"]
    unclear = read_answer(prompt, protocol, '{"chosen": ["unclear"]}')
    assert unclear.usable
    assert {(row["value"], row["outcome"], row["unclear"]) for row in unclear.rows} == {
        (None, "refused", True)
    }
    both = read_answer(prompt, protocol, '{"chosen": ["unclear", "joy"]}')
    assert both.rule_errors == ("'unclear' allows no other choice beside it",)
    none = read_answer(prompt, protocol, '{"chosen": []}')
    assert none.rule_errors == ("0 labels are chosen; expected at least 1",)
    for said, error in [
        ('{"chosen": "joy"}', "chosen is text; expected a list of labels"),
        ('{"chosen": ["joy", "Joy"]}', "label 'joy' is chosen twice"),
        ('{"chosen": [1]}', "1 is not a label; expected its name as text"),
        ('{"chosen": ["joy"], "suggestion": "x"}', "key 'suggestion' is not known"),
        ('{"joy": 1}', "key 'chosen' is missing"),
    ]:
        assert read_answer(prompt, protocol, said).schema_errors[0] == error
    three, limited = ask("multilabel", at_most=2)
    many = read_answer(limited, three, '{"chosen": ["joy", "love", "anger"]}')
    assert many.rule_errors == ("3 labels are chosen; expected at most 2",)
    review, prompt = ask("review", reasons=True)
    text = '{"chosen": [{"reason": "Six fingers.", "label": "artefacts"}], "suggestion": null}'
    read = read_answer(prompt, review, text)
    assert read.usable
    assert read.reasons == {"artefacts": "Six fingers."}
    suggested = text.replace("null", '" upside down "')
    assert read_answer(prompt, review, suggested).answer == {
        "chosen": ["artefacts"],
        "suggestion": "upside down",
    }


def test_one_value():
    protocol, prompt = ask("difference")
    read = read_answer(prompt, protocol, '{"answer": 37.5}')
    assert read.values == {"": 37.5}
    assert read.rows == ({"label": None, "value": 37.5, "text": None, "outcome": "ok"},)
    assert read.answer == 37.5
    assert read_answer(prompt, protocol, '{"answer": 101}').schema_errors
    assert read_answer(prompt, protocol, '{"answer": null}').schema_errors


def test_a_letter_is_stored_as_the_option_that_stood_there():
    protocol = load_protocol("preference").revise(scale="nominal:person,machine,both,neither")
    seen = set()
    for seed in range(12):
        prompt = build_prompt(protocol, TWO, order_seed=seed)
        said = {
            letter: read_answer(prompt, protocol, f'{{"answer": "{letter}"}}').values[""]
            for letter in ("A", "B", "both", "neither")
        }
        first, second = ("machine", "person") if prompt.swapped else ("person", "machine")
        assert said == {"A": first, "B": second, "both": "both", "neither": "neither"}
        # Only the letters were shown.
        assert read_answer(prompt, protocol, '{"answer": "person"}').schema_errors
        assert read_answer(prompt, protocol, '{"answer": "a"}').repairs == ("spelling",)
        seen.add(prompt.swapped)
    assert seen == {True, False}


def test_entries_have_the_rows_of_an_export():
    protocol, prompt = ask("reaction")
    entries = [
        {"emotion": " Great  Joy ", "reason": "The dog is home again."},
        {"emotion": "worry", "reason": "It may run away once more."},
    ]
    read = read_answer(prompt, protocol, json.dumps({"entries": entries}))
    assert read.usable
    kept = [{name: text.strip() for name, text in one.items()} for one in entries]
    assert list(read.rows) == list(entry_rows(protocol, kept))
    assert read.values == {"great joy": None, "worry": None}
    twice = read_answer(prompt, protocol, json.dumps({"entries": [entries[1], entries[1]]}))
    assert twice.rule_errors == ("entry 2: 'worry' is given twice",)
    short = read_answer(prompt, protocol, '{"entries": [{"emotion": "joy", "reason": "so"}]}')
    assert short.rule_errors == ("entry 1: reason has 2 characters; expected at least 10",)
    for said in ('{"entries": {}}', '{"entries": [{"emotion": "joy"}]}', '{"entries": ["joy"]}'):
        assert read_answer(prompt, protocol, said).schema_errors


def test_rows_make_ratings():
    import polars as pl

    read = small('{"joy": {"reason": "A smile.", "value": 3}, "fear": null}', reasons=True)
    rows = [{"stimulus": "a", "rater": "m", **row} for row in read.rows]
    ratings = Ratings(pl.DataFrame(rows, infer_schema_length=None), scale=SMALL.scale.spec)
    assert ratings.n_ratings == 1


def test_an_answer_is_read_by_its_own_protocol_alone():
    with pytest.raises(InputError, match="the prompt asks by protocol 'intensity'"):
        read_answer(FREE, load_protocol("review"), "{}")
    with pytest.raises(InputError, match="asks for other labels than the prompt did"):
        read_answer(FREE, INTENSITY, "{}")


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
