"""A prompt: the question that people read, as it is put to a model, and how to read the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from affectlab.core.errors import InputError, unknown_name
from affectlab.models.vlm.prompts.examples import (
    Example,
    ShownBeforeError,
    check_examples,
    example_parts,
    repeats_example,
)
from affectlab.models.vlm.prompts.form import Asked, LeaveOneOut, Style, Wording, plan_asked
from affectlab.models.vlm.prompts.images import ImagePart
from affectlab.models.vlm.prompts.published import Pieces, PublishedPrompt
from affectlab.models.vlm.prompts.readout import Readout, answers_of
from affectlab.models.vlm.prompts.schema import answer_schema
from affectlab.models.vlm.prompts.sounds import SoundPart
from affectlab.models.vlm.prompts.stimulus import (
    Part,
    Stimulus,
    as_stimulus,
    check_stimulus,
    shown_counts,
    shown_parts,
)
from affectlab.models.vlm.prompts.wording import (
    CLOSING,
    again_words,
    opening,
    question_words,
    system_text,
    value_words,
)
from affectlab.protocols import Protocol

__all__ = [
    "Prompt",
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


_MAKE = 1
"""Raised whenever the same arguments make another prompt."""


@dataclass(frozen=True)
class Prompt:
    """What a model is asked, and what its answer will mean.

    Made by :func:`build_prompt`.
    """

    system: str
    """What people read before the first trial."""
    parts: tuple[Part, ...]
    """Texts, pictures and sounds of the one message that follows, in order."""
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
    """SHA-256 of the stimulus; for one picture or sound that of its file; "" for nothing."""
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
    prompt: Wording = "protocol"
    """Whose words these are."""
    again: tuple[Part, ...] = field(default=(), repr=False)
    """Its parts when it is asked again; none where they are the same."""

    @property
    def text(self) -> str:
        """All texts, with a mark in place of each picture and sound; for people to read."""
        return "\n\n".join([*([self.system] if self.system else []), *map(_said, self.parts)])

    def asked_again(self) -> Prompt:
        """Give the prompt for the second asking and those after it."""
        return replace(self, parts=self.again) if self.again else self

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """All pictures, those of examples first."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


def _said(part: Part) -> str:
    if isinstance(part, ImagePart):
        return f"[picture, {part.width} x {part.height}]"
    return f"[sound, {part.seconds:,.1f} seconds]" if isinstance(part, SoundPart) else part


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
    prompt: Wording = "protocol",
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
    prompt
        Whose words ask: ``"protocol"``; ``"described"``, in our words the way in which EmoNet-Face
        asked (zero-shot: exactly 25 pairs of a key with group and label and a number above 0;
        multi-shot: five labels at most, four dimensions, and a reason with each value); or a
        prompt that :func:`read_prompt_file` has read, which is sent as it is.

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
    if prompt == "described" and readout != "generate":
        raise InputError(f"prompt 'described' asks for numbers; expected no readout {readout!r}")
    stimulus = as_stimulus(image)
    asked = plan_asked(
        protocol,
        label=label,
        order_seed=order_seed,
        at_most=at_most,
        left_out=left_out,
        reasons=reasons,
        structured=structured,
        prompt=prompt,
        style=style,
    )
    if asked.published is not None:
        alone = not (examples or hint or at_most or reasons or structured)
        _check_published(asked, asked.published, readout, alone)
    check_stimulus(asked.protocol, stimulus, "stimulus")
    check_examples(asked, examples)
    repeated = repeats_example(examples, stimulus)
    if repeated is not None:
        raise ShownBeforeError(
            f"example {repeated} shows the stimulus itself; expected examples that are not rated"
        )
    hinted = hinted_label(protocol, asked.labels, hint)
    noun = "sound" if stimulus.sounds else asked.noun
    published = asked.published
    more: tuple[str, ...]
    if published is None:
        system, schema = system_text(asked), answer_schema(asked)
        head = [opening(asked, readout), *example_parts(asked, examples)]
        foot = ([hint_sentence(hinted, noun)] if hinted else []) + [CLOSING[readout]]
        blank = shown_parts(stimulus, swapped=False, blank=True)
        parts = _joined([*head, *shown_parts(stimulus, swapped=asked.swapped), *foot])
        again = _joined([*parts, again_words(asked)])
        more = () if prompt == "protocol" else (again_words(asked),)
    else:
        system, schema, head, foot = "", {}, [], []
        blank = published_parts(asked, published.pieces, stimulus, blank=True)
        parts = tuple(published_parts(asked, published.pieces, stimulus))
        more = (published.sha256, *(str(one) for one in published.again))
        again = ()
        if published.again:
            pieces = (*published.pieces, *published.again)
            again = tuple(published_parts(asked, pieces, stimulus))
    version = _hash(system, [*head, *blank, *foot], schema, asked.swapped, more)
    return Prompt(
        system=system,
        parts=parts,
        schema=schema,
        labels=asked.labels,
        keys=asked.keys,
        protocol=protocol.name,
        version=version,
        design=_design(asked, examples, stimulus, readout, more),
        style=style,
        shown=stimulus.shown,
        label=asked.label,
        hint=hinted,
        order_seed=order_seed,
        swapped=asked.swapped,
        at_most=asked.at_most,
        left_out=asked.left_out,
        reasons=asked.reasons,
        structured=structured,
        n_examples=len(examples),
        readout=readout,
        answers={} if readout == "generate" else answers_of(asked, readout),
        prompt=prompt,
        again=again,
    )


def _check_published(asked: Asked, prompt: PublishedPrompt, readout: Readout, alone: bool) -> None:
    """Refuse what cannot be said in the words of others."""
    protocol, where = asked.protocol, f"prompt {prompt.name}"
    if not alone or readout == "choice":
        raise InputError(
            f"{where} is sent as it was published; expected no examples, hints, at_most, reasons, "
            "structured or readout=choice"
        )
    n_pictures, n_texts, n_options = shown_counts(protocol)
    if protocol.answer == "entries" or n_options:
        raise InputError(
            f"{where}: protocol {protocol.name!r} wants texts or a choice of two, which are read "
            "in its own words only; expected another protocol"
        )
    of_one = prompt.places & {"label", "definition", "words"}
    if bool(of_one) != (asked.label is not None):
        raise InputError(
            f"{where} has {'' if of_one else 'no '}{{label}}; expected a protocol that asks about "
            f"{'one label at a time' if of_one else 'all labels at once'}, unlike {protocol.name!r}"
        )
    lacking = prompt.places & ({"image"} if not n_pictures else set())
    lacking |= prompt.places & ({"text", "caption"} if not n_texts else set())
    if lacking:
        raise InputError(
            f"{where} has {{{min(lacking)}}}; protocol {protocol.name!r} shows {protocol.stimulus}"
        )


def published_parts(
    asked: Asked, pieces: Pieces, stimulus: Stimulus, *, blank: bool = False
) -> list[Part]:
    """Put a question into a published prompt; what has no place in it comes last."""
    question = asked.questions[0]
    said = {
        "label": question.label or "",
        "definition": question.definition,
        "words": ", ".join(question.words),
        "labels": ", ".join(asked.protocol.labels()),
        "question": question_words(asked),
        "scale": value_words(asked),
        "file_name": "stimulus",
    }
    media = shown_parts(
        replace(stimulus, texts=(), options=()), swapped=asked.swapped and not blank, blank=blank
    )[1::2]
    texts: list[Part] = ["<text>" if blank else text for text in stimulus.texts]
    shown = dict.fromkeys(("image", "audio"), media) | dict.fromkeys(("text", "caption"), texts)
    parts: list[Part] = []
    for piece in pieces:
        name = "" if isinstance(piece, str) else piece.name
        parts += [piece] if isinstance(piece, str) else shown.get(name, [said.get(name, "")])
    places = {one.name for one in pieces if not isinstance(one, str)}
    if not places & {"text", "caption"}:
        parts += [part for text in texts for part in ("\n\n", text)]
    if not places & {"image", "audio"}:
        parts += media
    return list(_joined(parts, ""))


def _design(
    asked: Asked,
    examples: Sequence[Example],
    stimulus: Stimulus,
    readout: Readout,
    more: Sequence[str],
) -> str:
    """Hash what does not change from one stimulus of a run to the next."""
    plain = asked.in_order()
    if plain.published is not None:
        parts = published_parts(plain, plain.published.pieces, stimulus, blank=True)
        return _hash("", parts, {}, False, more)
    blank = shown_parts(stimulus, swapped=False, blank=True)
    head = [opening(plain, readout), *example_parts(plain, examples)]
    parts = [*head, *blank, CLOSING[readout]]
    return _hash(system_text(plain), parts, answer_schema(plain), False, more)


def _hash(
    system: str, parts: Sequence[Part], schema: object, swapped: bool, more: Sequence[str]
) -> str:
    content = {
        "make": _MAKE,
        "system": system,
        # By their source: the bytes that an encoder makes change with its version.
        "parts": [
            part if isinstance(part, str) else [part.sha256, part.encoding] for part in parts
        ],
        "schema": schema,
        "swapped": swapped,
        **({"more": list(more)} if more else {}),
    }
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _joined(parts: Sequence[Part], between: str = "\n\n") -> tuple[Part, ...]:
    """Put texts that follow each other into one."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = f"{last}{between}{part}"
        else:
            joined.append(part)
    return tuple(joined)
