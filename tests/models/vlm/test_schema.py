"""Schemas of answers: valid JSON Schema, no wider and no narrower than what the reader takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from affectlab.models.vlm.prompts.prompt import Prompt, build_prompt
from affectlab.models.vlm.prompts.reading import read_answer
from affectlab.models.vlm.prompts.schema import strict_schema
from affectlab.models.vlm.prompts.stimulus import Option, Stimulus
from affectlab.protocols import Protocol, load_protocol

OPTIONS = Stimulus(options=(Option("a"), Option("b")))
SMALL = load_protocol("intensity").revise(
    scale="0-3",
    asks={"taxonomy": None, "group_by": (), "labels": ("joy", "fear", "calm")},
    rules={"min_labels": 0},
)
PICK = load_protocol("review").revise(rules={"min_labels": 0})


def prompts() -> Iterator[tuple[str, Protocol, Prompt]]:
    """Prompts of all forms, in all variants."""
    for reasons in (False, True):
        for structured in (False, True):
            how = {"reasons": reasons, "structured": structured}
            name = f"{'reasons' if reasons else 'bare'}, {'held' if structured else 'free'}"
            every = SMALL.revise(not_rated=False)
            yield f"labels, {name}", SMALL, build_prompt(SMALL, None, order_seed=1, **how)
            yield f"every, {name}", every, build_prompt(every, None, **how)
            yield f"zero, {name}", SMALL, build_prompt(SMALL, None, left_out="zero", **how)
            for protocol in (load_protocol("verification"), PICK, load_protocol("difference")):
                label = "Awe" if protocol.name == "verification" else None
                prompt = build_prompt(protocol, None, label=label, **how)
                yield f"{protocol.name}, {name}", protocol, prompt
            protocol = load_protocol("preference")
            yield f"preference, {name}", protocol, build_prompt(protocol, OPTIONS, **how)
    protocol = load_protocol("reaction")
    shown = Stimulus(texts=("caption",))
    yield "entries", protocol, build_prompt(protocol, shown)


ALL = list(prompts())
NAMES = [name for name, *_ in ALL]


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All schemas of objects within a schema."""
    if schema.get("type") == "object":
        yield schema
    for one in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from objects(one)
    if "items" in schema:
        yield from objects(schema["items"])


def keywords(schema: dict[str, Any]) -> set[str]:
    found = set(schema)
    for one in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        found |= keywords(one)
    return found | (keywords(schema["items"]) if "items" in schema else set())


@pytest.mark.parametrize(("name", "protocol", "prompt"), ALL, ids=NAMES)
def test_schemas_are_closed_and_plain(name, protocol, prompt):
    for schema in (prompt.schema, strict_schema(prompt.schema)):
        Draft202012Validator.check_schema(schema)
        assert json.loads(json.dumps(schema)) == schema
        for one in objects(schema):
            assert one["additionalProperties"] is False
            assert set(one["required"]) <= set(one["properties"])
    strict = strict_schema(prompt.schema)
    known = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
    assert keywords(strict) <= known | {"minimum", "maximum"}
    for one in objects(strict):
        assert one["required"] == list(one["properties"])
    assert strict_schema(strict) == strict


def test_known_schemas():
    def number(*levels: int) -> dict[str, Any]:
        return {"type": "integer", "enum": list(levels)}

    null = {"type": "null"}
    free = build_prompt(SMALL, None).schema
    value = {"anyOf": [number(0, 1, 2, 3), null]}
    assert free == {
        "type": "object",
        "properties": {"joy": value, "fear": value, "calm": value},
        "required": [],
        "additionalProperties": False,
    }
    held = build_prompt(SMALL, None, structured=True).schema
    assert held == {**free, "required": ["joy", "fear", "calm"]}
    assert strict_schema(free) == held
    yes = build_prompt(load_protocol("verification"), None, label="Awe", reasons=True).schema
    assert yes["properties"] == {
        "reason": {"type": "string"},
        "answer": {"type": "string", "enum": ["yes", "no"]},
    }
    slider = build_prompt(load_protocol("difference"), None).schema
    assert slider["properties"]["answer"] == {"type": "number", "minimum": 0, "maximum": 100}
    halves = SMALL.revise(scale="0-1 step 0.5")
    assert build_prompt(halves, None, left_out="zero").schema["properties"]["joy"] == {
        "type": "number",
        "enum": [0, 0.5, 1],
    }
    assert build_prompt(load_protocol("intensity"), None).schema["minProperties"] == 1
    several = build_prompt(load_protocol("multilabel"), Stimulus(texts=("x",)), at_most=3)
    assert several.schema["properties"]["chosen"]["maxItems"] == 3
    assert "unclear" in several.schema["properties"]["chosen"]["items"]["enum"]


def test_keys_of_structured_answers_are_plain():
    protocol = load_protocol("intensity")
    prompt = build_prompt(protocol, None, structured=True, order_seed=5)
    assert "Jealousy_and_Envy" in prompt.keys
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", key) for key in prompt.keys)
    for key, label in zip(prompt.keys, prompt.labels, strict=True):
        line = next(line for line in prompt.text.splitlines() if line.startswith(f"- {label}"))
        assert key == label or line.endswith(f"[key: {key}]")
    read = read_answer(prompt, protocol, json.dumps(dict.fromkeys(prompt.keys, 1)))
    assert read.usable
    assert read.repairs == ()
    assert set(read.values) == set(protocol.labels())
    # Letters that providers do not take are numbered, in the order of the protocol.
    words = SMALL.revise(asks={"labels": ("Freude", "Fürsorge", "Zorn")})
    first, second = (build_prompt(words, None, structured=True, order_seed=n) for n in (1, 2))
    assert set(first.keys) == {"label_1", "label_2", "label_3"}
    pairs = {dict(zip(one.labels, one.keys, strict=True))["Zorn"] for one in (first, second)}
    assert pairs == {"label_3"}
    read = read_answer(first, words, '{"label_1": 1, "label_2": 2, "label_3": null}')
    assert read.values == {"Freude": 1.0, "Fürsorge": 2.0, "Zorn": None}


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 4),
    st.sampled_from(["yes", "no", "A", "both", "fine", "harmful", "", "x", "5"]),
    st.sampled_from([0.5, 2.0, 99.5, 100.5, -0.1]),
)
KEYS = st.sampled_from(
    ["joy", "fear", "calm", "sad", "reason", "value", "answer", "label", "chosen", "suggestion"]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)


def fitting(schema: dict[str, Any], *, nearly: bool) -> st.SearchStrategy[Any]:
    """Answers that fit a schema, or nearly: in most of their parts."""

    def near(one: dict[str, Any]) -> st.SearchStrategy[Any]:
        return fitting(one, nearly=nearly)

    if "anyOf" in schema:
        found = st.one_of([near(one) for one in schema["anyOf"]])
    elif "enum" in schema:
        found = st.sampled_from(schema["enum"])
    elif schema["type"] == "object":
        properties = {name: near(one) for name, one in schema["properties"].items()}
        needed = {name: properties[name] for name in schema["required"]}
        optional = {name: one for name, one in properties.items() if name not in needed}
        found = st.fixed_dictionaries(needed, optional=optional)
    elif schema["type"] == "array":
        found = st.lists(near(schema["items"]), max_size=3)
    else:
        found = {
            "string": st.sampled_from(["raised brows", "a smile that reaches the eyes"]),
            "null": st.none(),
            "number": st.integers(0, 100),
            "integer": st.integers(0, 100),
        }[schema["type"]]
    return st.one_of(found, found, found, TREES) if nearly else found


@pytest.mark.parametrize(("name", "protocol", "prompt"), ALL, ids=NAMES)
def test_the_reader_takes_what_the_schema_takes(name, protocol, prompt):
    # How many and how long is a matter of the protocol's rules, which the reader tells apart.
    counts = {"minItems", "maxItems", "minLength", "maxLength", "minProperties"}

    def typed(schema: Any) -> Any:
        if isinstance(schema, dict):
            return {key: typed(one) for key, one in schema.items() if key not in counts}
        return [typed(one) for one in schema] if isinstance(schema, list) else schema

    validator = Draft202012Validator(typed(prompt.schema))
    seen = {True: 0, False: 0}

    schema = prompt.schema

    @settings(max_examples=50)
    @given(st.one_of(fitting(schema, nearly=False), fitting(schema, nearly=True)))
    def check(answer: Any) -> None:
        if not isinstance(answer, dict):
            return
        read = read_answer(prompt, protocol, json.dumps(answer))
        if set(read.repairs) - {"list", "prose"}:
            # A liberty that the reader takes, and says so; the schema has none.
            return
        chosen = answer.get("chosen")
        if isinstance(chosen, list) and prompt.reasons:
            labels = [one.get("label") for one in chosen if isinstance(one, dict)]
            if len(set(map(str, labels))) < len(labels):
                # Labels that differ in their reasons are not seen to be the same by a schema.
                return
        if name.startswith("review") and answer.get("suggestion", "") is None:
            # Held to the strict schema, a model says null where it suggests nothing.
            return
        fits = validator.is_valid(answer)
        seen[fits] += 1
        assert (not read.schema_errors) is fits, (answer, read.schema_errors)

    check()
    assert min(seen.values()) > 0, seen
