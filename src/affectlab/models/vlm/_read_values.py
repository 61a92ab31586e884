"""Reading the parts of an answer: values, labels, texts, and objects with known keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from affectlab.errors import InputError
from affectlab.models.vlm._prompt_asked import Asked

__all__ = [
    "MOST_ERRORS",
    "Checked",
    "Value",
    "expected",
    "kind_of",
    "label_of",
    "parts_of",
    "read_value",
    "shown_value",
    "text_of",
]

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
