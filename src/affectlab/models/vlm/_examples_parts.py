"""Solved examples as parts of a prompt: checked against it, and written as it asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.errors import InputError
from affectlab.models.vlm._examples import Example
from affectlab.models.vlm._prompt_asked import Asked
from affectlab.models.vlm._prompt_image import ImagePart
from affectlab.models.vlm._prompt_stimulus import check_stimulus, shown_parts
from affectlab.models.vlm._prompt_words import question_words
from affectlab.models.vlm._read_check import checked

__all__ = ["check_examples", "example_parts", "example_text"]


def check_examples(asked: Asked, examples: Sequence[Example]) -> None:
    """Refuse examples that do not keep to the form and the rules of a prompt.

    Raises
    ------
    InputError
        When an answer breaks the protocol or the limits of the prompt, when a reason is missing
        that the prompt asks for, or when the example shows nothing or what the protocol does not.
    """
    for number, example in enumerate(examples, start=1):
        where = example.name or f"example {number}"
        stimulus = example.stimulus
        if stimulus.pictures or stimulus.texts or stimulus.options:
            check_stimulus(asked.protocol, stimulus, where)
        if not example.described.strip() and not stimulus.shown:
            raise InputError(f"{where} shows nothing; expected a picture, a text or a description")
        about = _about(asked, example, where)
        problems = about.protocol.check(example.answer)
        if about.label is not None and not problems:
            named = {about.names.name_of(label) for label in example.answer}
            if named != {about.label}:
                problems = [f"the answer is about another label than {about.label!r}"]
        if not problems:
            # What the reader refuses in a model's answer must not stand in an example.
            result = checked(about, _as_asked(about, example, where), ())
            problems = result.errors + about.protocol.check(result.answer) + result.rules
        if problems:
            raise InputError(f"{where}: {problems[0]}")


def _about(asked: Asked, example: Example, where: str) -> Asked:
    """Give the question that an example answers."""
    if asked.label is None:
        if example.label is not None:
            raise InputError(f"{where}: label {example.label!r} is given; expected none")
        return asked
    if example.label is None:
        raise InputError(f"{where}: the label asked about is missing")
    try:
        label = asked.names.name_of(example.label)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if label not in asked.protocol.labels():
        raise InputError(f"{where}: label {label!r} is not one of the protocol")
    return asked.about(label)


def example_parts(asked: Asked, examples: Sequence[Example]) -> list[str | ImagePart]:
    """Give the parts of a prompt that show solved examples, in the form the answer is to have."""
    parts: list[str | ImagePart] = []
    for number, example in enumerate(examples, start=1):
        title = f"Example {number}:"
        about = asked
        if asked.label is not None:
            about = asked.about(asked.names.name_of(str(example.label)))
            title += f" {question_words(about)}"
        parts.append(title)
        parts += shown_parts(example.stimulus, swapped=about.swapped)
        if example.described.strip():
            parts.append(f"What can be seen: {example.described.strip()}")
        parts.append(f"Answer to example {number}: {example_text(about, example)}")
    if parts:
        # After pictures and answers of examples, the question stands too far away.
        parts.append(f"Now what is yours to judge. Question: {question_words(asked)}")
    return parts


def example_text(asked: Asked, example: Example) -> str:
    """Write the answer of an example as a model is to write it."""
    return json.dumps(_as_asked(asked, example, example.name or "example"), ensure_ascii=False)


def _as_asked(asked: Asked, example: Example, where: str) -> dict[str, Any]:
    """Give the answer of an example in the form that is asked for, labels in the order asked."""
    answer = example.answer
    if asked.form == "entries":
        return {"entries": [dict(entry) for entry in answer]}
    if asked.form == "choices":
        chosen = answer["chosen"] if isinstance(answer, Mapping) else answer
        reasons = _reasons(asked, example, where)
        names = [_named(asked, name) for name in chosen]
        items = [{"reason": reasons.get(name, ""), "label": name} for name in names]
        found: dict[str, Any] = {"chosen": items if asked.reasons else names}
        if isinstance(answer, Mapping) and answer.get("suggestion"):
            found["suggestion"] = answer["suggestion"]
        return found
    if asked.form == "one":
        value = next(iter(answer.values())) if asked.label is not None else answer
        reason = {}
        if asked.reasons:
            reasons = {key or asked.label or "": text for key, text in example.reasons.items()}
            reason["reason"] = reasons.get(asked.label or "", "")
        return {**reason, "answer": _written(asked, value)}
    values = {asked.names.name_of(name): value for name, value in answer.items()}
    reasons = _reasons(asked, example, where)
    found = {}
    for key, label in zip(asked.keys, asked.labels, strict=True):
        value = values.get(label)
        if value is None:
            if asked.left_out == "zero" and asked.structured:
                value = 0
            elif asked.structured:
                found[key] = None
                continue
            else:
                continue
        written = _written(asked, value)
        one = {"reason": reasons.get(label, ""), "value": written}
        found[key] = one if asked.reasons else written
    return found


def _reasons(asked: Asked, example: Example, where: str) -> dict[str, str]:
    try:
        return {_named(asked, name): text for name, text in example.reasons.items()}
    except InputError as error:
        raise InputError(f"{where}: reasons: {error}") from None


def _named(asked: Asked, name: str) -> str:
    options = asked.protocol.rules.options
    return name if name in options else asked.names.name_of(name)


def _written(asked: Asked, value: Any) -> Any:
    """Write a value as the prompt asks for it."""
    if value is None:
        return None
    if asked.protocol.scale.kind == "binary":
        return "yes" if value else "no"
    if asked.categories:
        return asked.shown(value)
    return int(value) if float(value).is_integer() else float(value)
