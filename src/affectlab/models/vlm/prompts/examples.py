"""Solved examples for prompts, and keeping them apart from what is rated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from affectlab.core.errors import InputError
from affectlab.core.files.toml import read_toml
from affectlab.core.words import joined
from affectlab.models.vlm.prompts.checks import checked
from affectlab.models.vlm.prompts.form import Asked
from affectlab.models.vlm.prompts.images import ImageLimits, ImagePart, image_part
from affectlab.models.vlm.prompts.stimulus import (
    Option,
    Part,
    Stimulus,
    check_stimulus,
    shown_parts,
)
from affectlab.models.vlm.prompts.wording import question_words
from affectlab.protocols import Protocol

__all__ = [
    "Example",
    "ShownBeforeError",
    "check_examples",
    "example_parts",
    "example_text",
    "read_examples",
    "repeats_example",
]


class ShownBeforeError(InputError):
    """A stimulus is among the examples, where its answer stands."""


@dataclass(frozen=True)
class Example:
    """One solved example.

    Examples
    --------
    >>> Example({"Amusement": 5}, described="A woman laughs, her head thrown back.").answer
    {'Amusement': 5}
    """

    answer: Any
    """As :meth:`~affectlab.protocols.Protocol.check` takes it: labels with values, one value, a
    list of labels, or a list of entries. Of two options, the name that the scale has for it, the
    first being the first one of `stimulus`."""
    stimulus: Stimulus = field(default_factory=Stimulus)
    """What the example shows."""
    described: str = ""
    """What can be seen, in words; with or without a picture."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Reason for each value above 0 or choice; of the label "" for one value."""
    label: str | None = None
    """The label asked about, for protocols that ask about one at a time."""
    dimensions: Mapping[str, float] = field(default_factory=dict)
    """Value of each dimension that a described prompt asks for beside the labels; their reasons
    are among those of the labels."""
    name: str = ""
    """How errors call it; it is in no prompt."""


def repeats_example(examples: Sequence[Example], stimulus: Stimulus) -> int | None:
    """Give the number of the example that shows a part of a stimulus; None when none does."""
    return next(
        (
            number
            for number, one in enumerate(examples, start=1)
            if _marks(one.stimulus) & _marks(stimulus)
        ),
        None,
    )


def _marks(stimulus: Stimulus) -> set[str]:
    """What tells two stimuli to be the same, whole or in part."""
    marks = {mark for part in stimulus.pictures for mark in (part.sha256, part.pixels)}
    if not stimulus.images and not stimulus.options:
        marks |= {" ".join(text.split()).casefold() for text in stimulus.texts}
    return marks


# Solved examples as parts of a prompt: checked against it, and written as it asks for.


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
        if set(example.dimensions) != {one.name for one in asked.dimensions}:
            wanted = joined([one.name for one in asked.dimensions]) or "none"
            problems = [f"dimensions: expected values of {wanted}"]
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


def example_parts(asked: Asked, examples: Sequence[Example]) -> list[Part]:
    """Give the parts of a prompt that show solved examples, in the form the answer is to have."""
    parts: list[Part] = []
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
    for name, value in example.dimensions.items():
        found[name] = {"reason": example.reasons.get(name, ""), "value": value}
    return found


def _reasons(asked: Asked, example: Example, where: str) -> dict[str, str]:
    try:
        beside = example.dimensions
        return {_named(asked, k): v for k, v in example.reasons.items() if k not in beside}
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


# Reading solved examples from a folder or a TOML file.


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Option(_Table):
    text: str = ""
    image: str | None = None
    labels: tuple[str, ...] = ()


class _One(_Table):
    answer: Any
    image: str | None = None
    images: tuple[str, ...] = ()
    text: str | None = None
    options: tuple[_Option, ...] = ()
    described: str = ""
    reason: str = ""
    reasons: dict[str, str] = Field(default_factory=dict)
    label: str | None = None
    dimensions: dict[str, int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> _One:
        if self.image is not None and self.images:
            raise ValueError("image and images say the same; expected one of them")
        if self.reason and self.reasons:
            raise ValueError("reason and reasons say the same; expected one of them")
        return self


class _File(_Table):
    protocol: str | None = None
    examples: tuple[_One, ...] = Field(min_length=1)


def read_examples(
    path: str | Path, protocol: Protocol, *, limits: ImageLimits | None = None
) -> tuple[Example, ...]:
    """Read solved examples.

    Parameters
    ----------
    path
        A TOML file, or a folder with ``examples.toml``. Each ``[[examples]]`` has an ``answer`` as
        the protocol takes it, what it shows (``image``, ``images``, ``text``, ``options`` or
        ``described``), and where they belong ``reason`` or ``reasons``, ``label`` and
        ``dimensions``. Pictures are found relative to the file.
    protocol
        What the examples must answer.
    limits
        How pictures are encoded.

    Raises
    ------
    InputError
        When the file or a picture cannot be read, or an answer breaks the protocol.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.protocols import load_protocol
    >>> text = '[[examples]]\\nanswer = {Awe = 6}\\ndescribed = "Eyes and mouth wide open."'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "examples.toml").write_text(text)
    ...     read_examples(folder, load_protocol("intensity"))[0].answer
    {'Awe': 6}
    """
    path = Path(path)
    if path.is_dir():
        path = path / "examples.toml"
    content = read_toml(path, _File)
    if content.protocol is not None and content.protocol != protocol.name:
        raise InputError(
            f"{path}: the examples answer protocol {content.protocol!r}, not {protocol.name!r}"
        )
    found = []
    for number, one in enumerate(content.examples, start=1):
        where = f"{path}, example {number}"
        problems = protocol.check(one.answer)
        if problems:
            raise InputError(f"{where}: {problems[0]}")
        found.append(
            Example(
                one.answer,
                _stimulus(one, path.parent, limits, where),
                described=one.described,
                reasons={"": one.reason} if one.reason else one.reasons,
                label=one.label,
                dimensions=one.dimensions,
                name=where,
            )
        )
    return tuple(found)


def _stimulus(one: _One, folder: Path, limits: ImageLimits | None, where: str) -> Stimulus:
    def part(file: str) -> ImagePart:
        place = folder / file
        if not place.is_file():
            raise InputError(f"{where}: image {file!r}: no such file")
        return image_part(place, limits=limits)

    files = one.images if one.image is None else (one.image,)
    return Stimulus(
        images=tuple(part(file) for file in files),
        texts=() if one.text is None else (one.text,),
        options=tuple(
            Option(option.text, None if option.image is None else part(option.image), option.labels)
            for option in one.options
        ),
    )
