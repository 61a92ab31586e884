"""JSON schemas of answers, in the subset of draft 2020-12 that providers of models know."""

from __future__ import annotations

from typing import Any

from affectlab.models.vlm.prompts.form import Asked
from affectlab.protocols import EntryField

__all__ = ["Schema", "answer_schema", "strict_schema"]

Schema = dict[str, Any]

_MOST_LEVELS = 101
"""Levels of a scale up to which they are listed; more are given by their ends."""
_UNKNOWN_TO_STRICT = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties"}
)
"""Keywords that providers refuse when they hold a model to a schema."""


def answer_schema(asked: Asked) -> Schema:
    """Give the schema of an answer.

    Returns
    -------
    An object without further properties. A key is required unless its label may be left out;
    labels stand in the order asked.
    """
    if asked.form == "labels":
        value = _value(asked)
        if asked.reasons:
            value = _object({"reason": _text(), "value": value})
        one = _or_null(asked, value)
        required = asked.structured or asked.left_out == "error"
        found = _object(dict.fromkeys(asked.keys, one), required=required)
        if asked.pairs is not None:
            return {**found, "minProperties": asked.pairs, "maxProperties": asked.pairs}
        for dimension in asked.dimensions:
            ends = {"minimum": dimension.low, "maximum": dimension.high}
            wanted = _object({"reason": _text(), "value": {"type": "integer", **ends}})
            found["properties"][dimension.name] = wanted
            found["required"] = [*found["required"], dimension.name]
        least = asked.protocol.rules.min_labels
        if not required and asked.left_out == "not rated" and least:
            found["minProperties"] = least
        return found
    if asked.form == "one":
        reason = {"reason": _text()} if asked.reasons else {}
        return _object({**reason, "answer": _or_null(asked, _value(asked))})
    if asked.form == "choices":
        return _choices(asked)
    entry = _object({one.name: _field(one) for one in asked.protocol.fields})
    return _object({"entries": _list(asked, entry)})


def strict_schema(schema: Schema) -> Schema:
    """Give the variant of a schema for providers that hold a model to it, such as OpenAI.

    Every property is required, and one that might have been left out may be null; keywords that
    such providers refuse are left out, which the reader of the answer checks anyway.

    Examples
    --------
    >>> strict_schema({"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}},
    ...                "required": [], "additionalProperties": False})["properties"]
    {'a': {'anyOf': [{'type': 'string'}, {'type': 'null'}]}}
    """
    found = {key: value for key, value in schema.items() if key not in _UNKNOWN_TO_STRICT}
    if "properties" in found:
        needed = set(found.get("required", ()))
        found["properties"] = {
            name: strict_schema(one) if name in needed else _nullable(strict_schema(one))
            for name, one in found["properties"].items()
        }
        found["required"] = list(found["properties"])
    if "items" in found:
        found["items"] = strict_schema(found["items"])
    if "anyOf" in found:
        found["anyOf"] = [strict_schema(one) for one in found["anyOf"]]
    return found


def _value(asked: Asked) -> Schema:
    if asked.categories:
        return {"type": "string", "enum": list(asked.categories)}
    scale = asked.protocol.scale
    low, high, step = scale.low or 0.0, scale.high or 0.0, scale.step
    if step is not None and round((high - low) / step) < _MOST_LEVELS:
        levels = [low + k * step for k in range(round((high - low) / step) + 1)]
        whole = all(level.is_integer() for level in levels)
        return {
            "type": "integer" if whole else "number",
            "enum": [int(level) if whole else round(level, 12) for level in levels],
        }
    kind = "integer" if step == 1 and low.is_integer() else "number"
    ends = [int(end) if end.is_integer() else end for end in (low, high)]
    return {"type": kind, "minimum": ends[0], "maximum": ends[1]}


def _or_null(asked: Asked, schema: Schema) -> Schema:
    return _nullable(schema) if asked.may_be_null else schema


def _nullable(schema: Schema) -> Schema:
    if {"type": "null"} in schema.get("anyOf", ()):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _choices(asked: Asked) -> Schema:
    names = [*asked.labels, *asked.protocol.rules.options]
    label: Schema = {"type": "string", "enum": names}
    item = _object({"reason": _text(), "label": label}) if asked.reasons else label
    found = _list(asked, item)
    if not asked.reasons:
        found["uniqueItems"] = True
    suggestion = {"suggestion": _text()} if asked.protocol.rules.suggestions else {}
    schema = _object({"chosen": found, **suggestion})
    # A suggestion may be left out; it stands among the properties all the same.
    schema["required"] = ["chosen"]
    return schema


def _field(one: EntryField) -> Schema:
    return {"type": "string", "minLength": one.min_length, "maxLength": one.max_length}


def _list(asked: Asked, item: Schema) -> Schema:
    rules = asked.protocol.rules
    found: Schema = {"type": "array", "items": item}
    if rules.min_labels:
        found["minItems"] = rules.min_labels
    if rules.max_labels is not None:
        found["maxItems"] = rules.max_labels
    return found


def _text() -> Schema:
    return {"type": "string"}


def _object(properties: dict[str, Schema], *, required: bool = True) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required else [],
        "additionalProperties": False,
    }
