"""Holding an answer against its schema: keys, types and ranges, one sentence for each fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from affectlab.core.errors import InputError
from affectlab.models.vlm.prompts.form import Asked, Dimension

__all__ = [
    "MOST_ERRORS",
    "Checked",
    "Value",
    "checked",
    "expected",
    "kind_of",
    "label_of",
    "parts_of",
    "read_value",
    "shown_value",
    "text_of",
]

# Reading the parts of an answer: values, labels, texts, and objects with known keys.


MOST_ERRORS = 20
"""Faults that are told; a text without sense could have thousands."""
_LONGEST_NAME = 100
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})")
_YES_NO = {"yes": 1.0, "no": 0.0}

Value = float | str | None


@dataclass
class Checked:
    """What an answer holds, and what its schema has against it."""

    answer: Any = None
    """As the protocol checks it."""
    values: dict[str, Value] = field(default_factory=dict)
    """Of the labels asked for; of the label "" for a question about the whole."""
    reasons: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    dimensions: dict[str, float] = field(default_factory=dict)
    entries: list[dict[str, str]] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    repairs: dict[str, None] = field(default_factory=dict)


def read_value(asked: Asked, value: Any, where: str, result: Checked) -> Value:
    """Read one value of the protocol's scale."""
    if value is None and asked.may_be_null:
        return None
    found: Value
    if asked.protocol.scale.kind == "binary":
        found = _yes_or_no(value, result)
    elif asked.categories:
        found = _category(asked, value, result)
    else:
        found = _number(value, result)
        if found is not None and not asked.protocol.scale.allows(found):
            result.errors.append(
                f"{where}: {shown_value(value)} is off the scale; expected {expected(asked)}"
            )
            return None
    if found is None:
        result.errors.append(
            f"{where}: {shown_value(value)} is not an answer; expected {expected(asked)}"
        )
    return found


def _yes_or_no(value: Any, result: Checked) -> float | None:
    if isinstance(value, str):
        folded = value.strip().casefold()
        if folded in _YES_NO:
            if value not in _YES_NO:
                result.repairs["spelling"] = None
            return _YES_NO[folded]
        if folded not in ("0", "1"):
            return None
        value = int(folded)
    if not isinstance(value, bool | int | float) or value not in (0, 1):
        return None
    result.repairs["yes_no"] = None
    return float(value)


def _category(asked: Asked, value: Any, result: Checked) -> str | None:
    if not isinstance(value, str):
        return None
    folded = value.strip().casefold()
    for category in asked.categories:
        if value == category:
            return asked.stored(category)
    alike = [one for one in asked.categories if one.casefold() == folded]
    if len(alike) != 1:
        return None
    result.repairs["spelling"] = None
    return asked.stored(alike[0])


def _number(value: Any, result: Checked) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        result.repairs["number_as_text"] = None
        return float(value)
    return None


def label_of(asked: Asked, name: object, result: Checked) -> str | None:
    """Find the label that a key or a choice stands for."""
    options = asked.protocol.rules.options if asked.form == "choices" else ()
    if not isinstance(name, str):
        result.errors.append(f"{shown_value(name)} is not a label; expected its name as text")
        return None
    if name in asked.keys:
        return asked.labels[asked.keys.index(name)]
    if name in options or name in asked.labels:
        if asked.keys:
            result.repairs["spelling"] = None
        return name
    if len(name) > _LONGEST_NAME:
        result.errors.append(f"label {shown_value(name)} is not known")
        return None
    if asked.pairs is not None or asked.published is not None:
        # A label with its group before it, whatever the group is.
        name = name.rpartition("|")[2]
    folded = name.strip().casefold()
    option = next((one for one in options if one.casefold() == folded), None)
    try:
        label = option or asked.names.name_of(name)
    except InputError as error:
        known = str(error).partition(": ")[2] or str(error)
        result.errors.append(known)
        return None
    if option is None and label not in asked.labels:
        result.errors.append(f"label {label!r} is not asked for")
        return None
    result.repairs["spelling"] = None
    return label


def parts_of(
    found: object, names: tuple[str, ...], where: str, result: Checked
) -> Mapping[str, Any] | None:
    """Give an object that has exactly the keys it should have; None with what is wrong noted."""
    place = f"{where}: " if where else ""
    if not isinstance(found, Mapping):
        keys = " and ".join(repr(name) for name in names)
        result.errors.append(f"{place}found {kind_of(found)}; expected an object with {keys}")
        return None
    missing = [name for name in names if name not in found]
    extra = [key for key in found if key not in names]
    result.errors += [f"{place}key {name!r} is missing" for name in missing]
    result.errors += [f"{place}key {shown_value(key)} is not known" for key in extra[:MOST_ERRORS]]
    return None if missing else found


def text_of(value: object, where: str, result: Checked) -> str:
    if isinstance(value, str):
        return value.strip()
    result.errors.append(f"{where} is {kind_of(value)}; expected text")
    return ""


def expected(asked: Asked) -> str:
    if asked.categories:
        return " or ".join(repr(one) for one in asked.categories)
    return str(asked.protocol.scale)


def kind_of(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")


def shown_value(value: object) -> str:
    if value is None or isinstance(value, list | dict | bool):
        return kind_of(value)
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def checked(asked: Asked, found: Mapping[str, Any], twice: tuple[str, ...]) -> Checked:
    """Hold an object against the schema of a prompt; it never raises, whatever the object holds."""
    result = Checked()
    result.errors += [f"key {shown_value(key)} comes twice" for key in twice[:MOST_ERRORS]]
    {"labels": _labels, "one": _one, "choices": _choices, "entries": _entries}[asked.form](
        asked, found, result
    )
    del result.errors[MOST_ERRORS:]
    return result


def _labels(asked: Asked, found: Mapping[str, Any], result: Checked) -> None:
    """Read a value for each label."""
    given: dict[str, Value] = {}
    dimensions = {one.name: one for one in asked.dimensions}
    for key, one in found.items():
        if len(result.errors) >= MOST_ERRORS:
            return
        if key in dimensions:
            _dimension(dimensions[key], one, result)
            continue
        label = label_of(asked, key, result)
        if label is None:
            continue
        if label in given:
            result.errors.append(f"label {label!r} is answered twice")
            continue
        given[label] = _rated(asked, label, one, result)
    known = set(given)
    for label in asked.protocol.labels():
        if label in known:
            result.values[label] = given[label]
            continue
        result.left_out.append(label)
        result.values[label] = 0.0 if asked.left_out == "zero" else None
    if result.left_out and (asked.left_out == "error" or asked.structured):
        more = len(result.left_out) - 1
        others = f" and {more} more" if more else ""
        result.errors.append(
            f"label {result.left_out[0]!r}{others} is missing; expected a value for every label"
        )
    result.errors += [
        f"{name!r} is missing" for name in dimensions if name not in {*result.dimensions, *found}
    ]
    if asked.pairs is not None:
        if len(given) != asked.pairs:
            result.rules.append(f"{len(given)} pairs; expected exactly {asked.pairs}")
        result.rules += [f"label {label!r} has 0" for label, one in given.items() if not one]
    for label, reason in result.reasons.items():
        if not reason and result.values.get(label, 0):
            result.rules.append(f"label {label!r}: the reason is empty")
    result.reasons = {label: reason for label, reason in result.reasons.items() if reason}
    named = {label: value for label, value in result.values.items() if label in known}
    result.answer = result.values if asked.left_out != "not rated" else named


def _dimension(dimension: Dimension, one: Any, result: Checked) -> None:
    """Read what is said of a dimension, on its own scale."""
    parts = parts_of(one, ("reason", "value"), dimension.name, result)
    if parts is None:
        return
    value = _number(parts["value"], result)
    if value is None or not value.is_integer() or not dimension.low <= value <= dimension.high:
        result.errors.append(
            f"{dimension.name}: {shown_value(parts['value'])} is not an answer; expected a whole "
            f"number from {dimension.low} to {dimension.high}"
        )
        return
    result.dimensions[dimension.name] = value
    if reason := text_of(parts["reason"], f"{dimension.name}: reason", result):
        result.reasons[dimension.name] = reason


def _rated(asked: Asked, label: str, one: Any, result: Checked) -> Value:
    """Read what is said of one label."""
    where = f"label {label!r}"
    if asked.reasons and not (one is None and asked.may_be_null):
        parts = parts_of(one, ("reason", "value"), where, result)
        if parts is None:
            return None
        result.reasons[label] = text_of(parts["reason"], f"{where}: reason", result)
        one = parts["value"]
        if one is None:
            result.errors.append(f"{where}: the value is null; expected {expected(asked)}")
            return None
    return read_value(asked, one, where, result)


def _one(asked: Asked, found: Mapping[str, Any], result: Checked) -> None:
    """Read the one value of an answer."""
    wanted = ("reason", "answer") if asked.reasons else ("answer",)
    parts = parts_of(found, wanted, "", result)
    if parts is None:
        return
    value = read_value(asked, parts["answer"], "answer", result)
    name = asked.label or ""
    if asked.reasons:
        reason = text_of(parts["reason"], "reason", result)
        if reason:
            result.reasons[name] = reason
        elif value:
            result.rules.append("the reason is empty")
    result.values[name] = value
    result.answer = value if asked.label is None else {asked.label: value}


def _choices(asked: Asked, found: Mapping[str, Any], result: Checked) -> None:
    """Read the labels that were chosen."""
    suggests = asked.protocol.rules.suggestions
    wanted = ("chosen", "suggestion") if suggests else ("chosen",)
    given = {"suggestion": "", **found} if suggests else found
    parts = parts_of(given, wanted, "", result)
    if parts is None:
        return
    if not isinstance(parts["chosen"], list):
        result.errors.append(f"chosen is {kind_of(parts['chosen'])}; expected a list of labels")
        return
    for number, one in enumerate(parts["chosen"], start=1):
        if len(result.errors) >= MOST_ERRORS:
            return
        reason = ""
        if asked.reasons:
            item = parts_of(one, ("reason", "label"), f"choice {number}", result)
            if item is None:
                continue
            reason = text_of(item["reason"], f"choice {number}: reason", result)
            one = item["label"]
        label = label_of(asked, one, result)
        if label is None:
            continue
        if label in result.chosen:
            result.errors.append(f"label {label!r} is chosen twice")
            continue
        result.chosen.append(label)
        if reason:
            result.reasons[label] = reason
        elif asked.reasons and label not in asked.protocol.rules.options:
            result.rules.append(f"label {label!r}: the reason is empty")
    suggestion = None
    if suggests and parts["suggestion"] is not None:
        suggestion = text_of(parts["suggestion"], "suggestion", result) or None
    result.answer = {"chosen": list(result.chosen)}
    if suggestion is not None:
        result.answer["suggestion"] = suggestion
    options = set(asked.protocol.rules.options)
    # Who chose nothing but options, such as "unclear", has said nothing of the labels.
    declined = bool(result.chosen) and set(result.chosen) <= options
    for label in asked.protocol.labels():
        result.values[label] = None if declined else float(label in result.chosen)


def _entries(asked: Asked, found: Mapping[str, Any], result: Checked) -> None:
    """Read entries in the model's own words."""
    parts = parts_of(found, ("entries",), "", result)
    if parts is None:
        return
    if not isinstance(parts["entries"], list):
        result.errors.append(f"entries is {kind_of(parts['entries'])}; expected a list of entries")
        return
    names = tuple(one.name for one in asked.protocol.fields)
    for number, one in enumerate(parts["entries"], start=1):
        if len(result.errors) >= MOST_ERRORS:
            return
        entry = parts_of(one, names, f"entry {number}", result)
        if entry is not None:
            result.entries.append(
                {name: text_of(entry[name], f"entry {number}: {name}", result) for name in names}
            )
    result.answer = result.entries
