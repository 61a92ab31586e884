"""Holding an answer against its schema: keys, types and ranges, one sentence for each fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affectlab.models.vlm._prompt_asked import Asked
from affectlab.models.vlm._read_values import (
    MOST_ERRORS,
    Checked,
    Value,
    expected,
    kind_of,
    label_of,
    parts_of,
    read_value,
    shown_value,
    text_of,
)

__all__ = ["checked"]


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
    for key, one in found.items():
        if len(result.errors) >= MOST_ERRORS:
            return
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
    for label, reason in result.reasons.items():
        if not reason and result.values[label]:
            result.rules.append(f"label {label!r}: the reason is empty")
    result.reasons = {label: reason for label, reason in result.reasons.items() if reason}
    named = {label: value for label, value in result.values.items() if label in known}
    result.answer = result.values if asked.left_out != "not rated" else named


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
