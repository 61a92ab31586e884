"""Reading answers: every accepted form says the same, and nothing else is an answer."""

from __future__ import annotations

import json

import pytest
from tests.models.vlm.reading import FREE, INTENSITY, SMALL, TWO, ask, outcome, small

from affectlab.core.errors import InputError
from affectlab.models.vlm.prompts.json_objects import DEPTH, LONGEST
from affectlab.models.vlm.prompts.prompt import build_prompt
from affectlab.models.vlm.prompts.reading import read_answer
from affectlab.protocols import load_protocol
from affectlab.protocols.entries import entry_rows
from affectlab.ratings import Ratings

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
