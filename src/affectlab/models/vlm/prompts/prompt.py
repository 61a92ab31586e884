"""A prompt: the question that people read, as it is put to a model, and how to read the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from affectlab.core.errors import InputError, unknown_name
from affectlab.models.vlm.prompts.examples import (
    Example,
    ShownBeforeError,
    check_examples,
    example_parts,
    repeats_example,
)
from affectlab.models.vlm.prompts.form import Asked, LeaveOneOut, plan_asked
from affectlab.models.vlm.prompts.images import ImagePart
from affectlab.models.vlm.prompts.readout import Readout, answers_of
from affectlab.models.vlm.prompts.schema import answer_schema
from affectlab.models.vlm.prompts.stimulus import Stimulus, as_stimulus, check_stimulus, shown_parts
from affectlab.models.vlm.prompts.wording import CLOSING, opening, system_text
from affectlab.protocols import Protocol

__all__ = [
    "Prompt",
    "Style",
    "build_prompt",
    "hint_sentence",
    "hinted_label",
]

# Hints: a label that a picture might show, suggested without being asked for.


def hinted_label(protocol: Protocol, labels: tuple[str, ...], hint: str) -> str:
    """Canonical name of the label hinted at; "" for none.

    Raises
    ------
    InputError
        When the label is not asked for, or the protocol asks about one label at a time, where a
        hint would be the question itself.
    """
    if not hint:
        return ""
    if protocol.answer not in ("ratings", "choices") or protocol.asks.per_trial == "one":
        raise InputError(
            f"hint {hint!r}: protocol {protocol.name!r} does not ask about several labels at once"
        )
    taxonomy = protocol.taxonomy()
    name = hint if taxonomy is None else taxonomy.name_of(hint)
    if name not in labels:
        raise unknown_name("label", hint, labels, "hint")
    return name


def hint_sentence(label: str, what: str = "picture") -> str:
    """Suggest a label, and leave the answer to whoever looks (emonet-face, B.1).

    Examples
    --------
    >>> hint_sentence("Infatuation").split(".")[0]
    'Hint: this picture might show Infatuation'
    """
    return (
        f"Hint: this {what} might show {label}. Please consider it, too. The hint may be wrong: "
        f"whether you see {label}, and how strongly, is for you to judge from what is shown."
    )


Style = Literal["zero-shot", "multi-shot"]
_MAKE = 1
"""Raised whenever the same arguments make another prompt."""


@dataclass(frozen=True)
class Prompt:
    """What a model is asked, and what its answer will mean.

    Made by :func:`build_prompt`.
    """

    system: str
    """What people read before the first trial."""
    parts: tuple[str | ImagePart, ...]
    """Texts and pictures of the one message that follows, in order."""
    schema: dict[str, Any] = field(repr=False)
    """JSON schema of the answer (a subset of draft 2020-12 that providers know)."""
    labels: tuple[str, ...]
    """Labels asked for, in the order asked; empty for a question about the whole."""
    keys: tuple[str, ...]
    """Keys of the answer for `labels`, where it has one for each."""
    protocol: str
    """Name of the protocol."""
    version: str
    """Hash of everything but the stimulus: the same stimulus under the same version is the same
    question."""
    design: str
    """Hash of what all prompts of a run share: `version` without the order of labels and sides, the
    hint, and which label is asked about. Tables name prompts by it."""
    style: Style
    shown: str
    """SHA-256 of the stimulus; for one picture that of its file; "" where nothing is shown."""
    label: str | None = None
    """The label asked about, where a trial asks about one."""
    hint: str = ""
    """The label hinted at."""
    order_seed: int | None = None
    swapped: bool = False
    """Whether the second of two pictures or options came first."""
    at_most: int | None = None
    left_out: LeaveOneOut = "error"
    """What the prompt says of a label without a value: not rated, 0, or not allowed."""
    reasons: bool = False
    structured: bool = False
    n_examples: int = 0
    readout: Readout = "generate"
    answers: Mapping[str, float] = field(default_factory=dict, repr=False)
    """Value of each sign, where an answer is one."""

    @property
    def text(self) -> str:
        """All texts, with a mark in place of each picture; for people to read."""
        shown = [
            part if isinstance(part, str) else f"[picture, {part.width} x {part.height}]"
            for part in self.parts
        ]
        return "\n\n".join([self.system, *shown])

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """All pictures, those of examples first."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


def build_prompt(
    protocol: Protocol,
    image: ImagePart | Stimulus | None,
    *,
    style: Style = "zero-shot",
    examples: Sequence[Example] = (),
    order_seed: int | None = None,
    hint: str = "",
    at_most: int | None = None,
    left_out: Literal["not rated", "zero"] | None = None,
    reasons: bool = False,
    structured: bool = False,
    label: str | None = None,
    readout: Readout = "generate",
) -> Prompt:
    """Put a protocol's question to a model, in the words that people read.

    Instructions, wording, labels with what ``asks.show`` names, groups, scale, anchors and rules
    all come from the protocol; only the sentences about the form of the answer are ours. Both
    styles ask for the same form.

    Parameters
    ----------
    protocol
        How people are asked; :meth:`~affectlab.protocols.Protocol.in_language` gives it in
        another language.
    image
        What to judge: one picture, or a :class:`Stimulus` with pictures, texts and options; None
        shows no picture, as a control.
    style
        ``"multi-shot"`` puts `examples` before the question.
    examples
        Solved examples; needed by, and only allowed with, ``"multi-shot"``.
    order_seed
        Draws the order of labels, and which of two sides comes first where the protocol swaps
        them; the order of the protocol when not given.
    hint
        A label that the picture might show; suggested, not demanded (emonet-face, B.1).
    at_most
        Score the most evident labels only: at most so many may be above 0, or be chosen.
    left_out
        What a label means that has no value in the answer, for protocols that rate all labels. By
        default ``"zero"`` with `at_most`, else ``"not rated"`` where the protocol knows that;
        otherwise every label needs a value. The prompt says which.
    reasons
        Ask for a short visible reason with each value above 0 or choice.
    structured
        The provider holds the model to `schema`: every key is there, null stands for not rated.
    label
        The label to ask about, for protocols that ask about one at a time.
    readout
        How the answer will be read: from a JSON object; from one letter, ``"choice"``; or from the
        probabilities of its first token, ``"logprob"``. The last two ask for one sign.

    Raises
    ------
    InputError
        When the parts do not fit the protocol or each other; when the stimulus is one of the
        examples.

    Notes
    -----
    A label left out is not scored 0 unless the prompt has said so. An answer with `at_most`
    scores says little of the others: they may be absent, or merely weaker.

    Examples
    --------
    >>> from affectlab.protocols import load_protocol
    >>> prompt = build_prompt(load_protocol("intensity"), None, at_most=5, hint="infatuation")
    >>> prompt.hint, len(prompt.labels), prompt.left_out, prompt.shown
    ('Infatuation', 40, 'zero', '')
    """
    if style not in ("zero-shot", "multi-shot"):
        raise InputError(f"style {style!r}: expected 'zero-shot' or 'multi-shot'")
    if (style == "multi-shot") != bool(examples):
        raise InputError(
            f"style {style!r} with {len(examples)} examples: expected examples for 'multi-shot' "
            "and none for 'zero-shot'"
        )
    if readout != "generate" and (reasons or structured or examples):
        raise InputError(
            f"readout {readout!r} asks for one sign; expected no reasons, schema or solved examples"
        )
    stimulus = as_stimulus(image)
    asked = plan_asked(
        protocol,
        label=label,
        order_seed=order_seed,
        at_most=at_most,
        left_out=left_out,
        reasons=reasons,
        structured=structured,
    )
    check_stimulus(asked.protocol, stimulus, "stimulus")
    check_examples(asked, examples)
    repeated = repeats_example(examples, stimulus)
    if repeated is not None:
        raise ShownBeforeError(
            f"example {repeated} shows the stimulus itself; expected examples that are not rated"
        )
    hinted = hinted_label(protocol, asked.labels, hint)
    schema = answer_schema(asked)
    system = system_text(asked)
    head = [opening(asked, readout), *example_parts(asked, examples)]
    foot = ([hint_sentence(hinted, asked.noun)] if hinted else []) + [CLOSING[readout]]
    shown = shown_parts(stimulus, swapped=asked.swapped)
    blank = shown_parts(stimulus, swapped=False, blank=True)
    version = _hash(system, head, blank, foot, schema, asked.swapped)
    return Prompt(
        system=system,
        parts=_joined([*head, *shown, *foot]),
        schema=schema,
        labels=asked.labels,
        keys=asked.keys,
        protocol=protocol.name,
        version=version,
        design=_design(asked, examples, blank, readout),
        style=style,
        shown=stimulus.shown,
        label=asked.label,
        hint=hinted,
        order_seed=order_seed,
        swapped=asked.swapped,
        at_most=at_most,
        left_out=asked.left_out,
        reasons=reasons,
        structured=structured,
        n_examples=len(examples),
        readout=readout,
        answers={} if readout == "generate" else answers_of(asked, readout),
    )


def _design(
    asked: Asked,
    examples: Sequence[Example],
    blank: Sequence[str | ImagePart],
    readout: Readout,
) -> str:
    """Hash what does not change from one stimulus of a run to the next."""
    plain = asked.in_order()
    head = [opening(plain, readout), *example_parts(plain, examples)]
    return _hash(system_text(plain), head, blank, [CLOSING[readout]], answer_schema(plain), False)


def _hash(
    system: str,
    head: Sequence[str | ImagePart],
    blank: Sequence[str | ImagePart],
    foot: Sequence[str],
    schema: object,
    swapped: bool,
) -> str:
    content = {
        "make": _MAKE,
        "system": system,
        # By their source: the bytes that an encoder makes change with its version.
        "parts": [
            part if isinstance(part, str) else [part.sha256, part.encoding]
            for part in (*head, *blank, *foot)
        ],
        "schema": schema,
        "swapped": swapped,
    }
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _joined(parts: Sequence[str | ImagePart]) -> tuple[str | ImagePart, ...]:
    """Put texts that follow each other into one."""
    joined: list[str | ImagePart] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = f"{last}\n\n{part}"
        else:
            joined.append(part)
    return tuple(joined)
