"""Answers to prompts in others' words: label names with values, however they are wrapped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from affectlab.core.errors import InputError
from affectlab.models.vlm.prompts.form import Asked
from affectlab.models.vlm.prompts.json_objects import LONGEST, Found, find_object

__all__ = ["find_answer"]

_SCORES = ("rating", "value", "score", "intensity", "answer")
"""Keys under which prompts want the value of a label, beside a reason for it."""
_LINE = re.compile(
    r"[\s\-*•\d.)\"'`]*(?P<name>[^:=]{1,150}?)[\s\"'`*]*[:=][\s\"'`*]*"
    r"(?P<value>[+-]?\d+(?:\.\d+)?|yes|no)(?![\w.])",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\W*?(?P<value>[+-]?\d+(?:\.\d+)?|yes|no)\W*", re.IGNORECASE)
_LONGEST_LINE = 500


def find_answer(asked: Asked, text: str | None) -> Found:
    """Find what an answer says of the labels, and give it in the form of our own prompts.

    Parameters
    ----------
    text
        A JSON object whose keys are labels, in any spelling that the taxonomy knows and with a
        group before them (``group|label``), at any depth; or lines with a label, a colon and a
        value; for choices, labels in a list or with commas between them; for one value, that value.

    Returns
    -------
    Found
        What is said of other keys is left out, which its repairs say.
    """
    found = find_object(text)
    said = text or ""
    if len(said) > LONGEST:
        return found
    repairs = dict.fromkeys(found.repairs)
    values: list[tuple[str, Any]] = []
    chosen: list[str] = []
    if found.value is not None:
        for depth, key, value in _leaves(asked, found.value):
            repairs |= {"nested": None} if depth else {}
            (chosen.append(value) if key is None else values.append((key, value)))
    else:
        lines = [_LINE.match(line[:_LONGEST_LINE]) for line in said.splitlines()]
        values = [(line["name"], line["value"].lower()) for line in lines if line is not None]
        chosen = [part.strip() for part in re.split(r"[,;\n]", said)]
        alone = _ALONE.fullmatch(said)
        values += [("", alone["value"].lower())] if alone is not None else []
        repairs = {"lines": None}
    made, others = _made(asked, values, chosen, whole=found.value is None)
    if made is None:
        problem = found.problem or "the answer names no label of the protocol"
        return Found(repairs=tuple(repairs), problem=problem)
    named = Counter(key for key, _ in values if _label(asked, key) is not None)
    twice = sorted(name for name, n in named.items() if n > 1)
    repairs |= {"other_keys": None} if others else {}
    return Found(made, (*found.twice, *twice), tuple(repairs))


def _leaves(
    asked: Asked, found: Mapping[str, Any], depth: int = 0
) -> Iterator[tuple[int, str | None, Any]]:
    """Give keys with their values, and labels of lists without a key."""
    for key, one in found.items():
        if isinstance(one, Mapping):
            known = _label(asked, key) is not None
            score = next((name for name in one if name.casefold() in _SCORES), None)
            numbers = [name for name, value in one.items() if isinstance(value, int | float)]
            if score is None and known and len(numbers) == 1:
                score = numbers[0]
            if score is None or isinstance(one[score], Mapping | list):
                yield from _leaves(asked, one, depth + 1)
            else:
                yield depth, key if known else score, one[score]
        elif isinstance(one, list):
            for item in one:
                if isinstance(item, Mapping):
                    yield from _entry(asked, item, depth + 1)
                elif isinstance(item, str):
                    yield depth, None, item
        else:
            yield depth, key, one


def _entry(asked: Asked, item: Mapping[str, Any], depth: int) -> Iterator[tuple[int, str, Any]]:
    """Give the label and the value of an object that names both."""
    label = next((one for one in item.values() if _label(asked, one) is not None), None)
    score = next((one for one in item.values() if isinstance(one, int | float)), None)
    if label is not None and score is not None:
        yield depth, str(label), score


def _label(asked: Asked, name: object) -> str | None:
    if not isinstance(name, str):
        return None
    bare = name.rpartition("|")[2].strip()
    options = asked.protocol.rules.options if asked.form == "choices" else ()
    if bare in options:
        return bare
    try:
        label = asked.names.name_of(bare)
    except InputError:
        return None
    return label if label in asked.labels else None


def _made(
    asked: Asked, values: list[tuple[str, Any]], chosen: list[str], *, whole: bool
) -> tuple[dict[str, Any] | None, bool]:
    """Put an answer into our own form; and say whether it speaks of other keys, too."""
    labelled = [(key, value) for key, value in values if _label(asked, key) is not None]
    others = len(labelled) < len(values)
    if asked.form == "labels":
        return dict(labelled) or None, others
    if asked.form == "one":
        plain = [value for key, value in values if key.casefold() in ("", *_SCORES)]
        given = [value for _, value in labelled] or plain
        return ({"answer": given[0]} if len(given) == 1 else None), bool(labelled) and others
    names = [one for one in chosen if _label(asked, one) is not None]
    if names and (not whole or len(names) == len([one for one in chosen if one])):
        return {"chosen": names}, len(names) < len(chosen) and not whole
    yes = [key for key, value in labelled if value in (1, True, "1", "yes", "true")]
    return ({"chosen": yes} if labelled else None), others
