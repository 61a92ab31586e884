"""What a prompt asks for, worked out once for its words, its schema and the reading of answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.models.vlm.prompts.published import PublishedPrompt
from affectlab.protocols import Protocol, Question
from affectlab.taxonomy import Taxonomy

__all__ = [
    "DIMENSIONS",
    "PAIRS",
    "Asked",
    "Dimension",
    "Form",
    "LeaveOneOut",
    "Style",
    "Wording",
    "drawn_order",
    "drawn_sides",
    "plan_asked",
]

# In which order labels are asked for, and which side comes first: drawn by a seed.


_LABELS, _SIDES = 1, 2
"""Streams of one seed: the order of labels must not tell which side came first."""


def _generator(seed: int, stream: int) -> np.random.Generator:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"order_seed {seed!r}: expected a whole number from 0 on, or None")
    return np.random.default_rng([int(seed), stream])


def drawn_order(questions: Sequence[Question], seed: int | None) -> tuple[Question, ...]:
    """Shuffle questions by a seed: first their groups, then those of each group.

    Labels that a display keeps together stay together. Without a seed the order is that of the
    protocol, with the labels of each group side by side.

    Examples
    --------
    >>> asked = [Question("?", label) for label in ("joy", "fear", "anger", "love")]
    >>> [one.label for one in drawn_order(asked, 5)]
    ['anger', 'joy', 'love', 'fear']
    """
    groups: dict[tuple[str, ...], list[Question]] = {}
    for question in questions:
        groups.setdefault(question.groups, []).append(question)
    blocks = list(groups.values())
    if seed is not None:
        generator = _generator(seed, _LABELS)
        blocks = [blocks[place] for place in generator.permutation(len(blocks))]
        blocks = [[one[place] for place in generator.permutation(len(one))] for one in blocks]
    return tuple(question for block in blocks for question in block)


def drawn_sides(seed: int | None) -> bool:
    """Draw whether the second of two comes first; never without a seed.

    Examples
    --------
    >>> drawn_sides(None)
    False
    """
    return seed is not None and bool(_generator(seed, _SIDES).integers(2))


Style = Literal["zero-shot", "multi-shot"]
Wording = Literal["protocol", "described"] | PublishedPrompt
"""Whose words ask: the protocol's; the way that EmoNet-Face describes; or a published prompt."""
PAIRS = 25
"""Labels that a described prompt wants values of."""


@dataclass(frozen=True)
class Dimension:
    """A dimension that is rated beside the labels, on a scale of its own."""

    name: str
    low: int
    high: int
    ends: tuple[str, str]
    """What the ends mean."""


DIMENSIONS = (
    Dimension("arousal", 0, 7, ("as calm as in deep sleep", "as stirred up as can be")),
    Dimension("valence", -3, 3, ("very unpleasant", "very pleasant")),
    Dimension("dominance", -3, 3, ("at the mercy of others", "in full control")),
    Dimension("emotional_vulnerability", 0, 5, ("closed and guarded", "open and unprotected")),
)
"""Dimensions and scales of EmoNet-Face's multi-shot prompt."""

LeaveOneOut = Literal["not rated", "zero", "error"]
Form = Literal["labels", "one", "choices", "entries"]

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Property names that every provider with structured answers takes."""


@dataclass(frozen=True)
class Asked:
    """A protocol as it is put to a model."""

    protocol: Protocol
    """With the limits of this prompt among its rules."""
    questions: tuple[Question, ...]
    """In the order asked."""
    keys: tuple[str, ...]
    """Keys of the answer for the labels; empty where it has not one for each."""
    label: str | None
    left_out: LeaveOneOut
    at_most: int | None
    reasons: bool
    structured: bool
    swapped: bool
    pairs: int | None = None
    """Labels that need a value above 0, all others being 0."""
    dimensions: tuple[Dimension, ...] = ()
    published: PublishedPrompt | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in the order asked."""
        return tuple(one.label for one in self.questions if one.label is not None)

    @property
    def form(self) -> Form:
        """Form of the answer: a value for each label, one value, choices, or entries."""
        if self.protocol.answer == "ratings":
            return "one" if self.protocol.asks.per_trial == "one" else "labels"
        if self.protocol.answer == "choices":
            return "choices"
        return "entries" if self.protocol.answer == "entries" else "one"

    @property
    def may_be_null(self) -> bool:
        """Whether null may stand for a label that is not rated."""
        return self.left_out == "not rated"

    @property
    def noun(self) -> str:
        """What is judged, in a word."""
        return "text" if self.protocol.stimulus == "text" else "picture"

    @property
    def names(self) -> Taxonomy:
        """Knows the labels in all their spellings."""
        return self.protocol.taxonomy() or Taxonomy.from_labels(self.labels)

    @property
    def categories(self) -> tuple[str, ...]:
        """Answers to choose from on a scale without numbers, as the prompt calls them."""
        scale = self.protocol.scale
        if scale.kind == "binary":
            return ("yes", "no")
        if self.protocol.stimulus == "two options":
            return ("A", "B", *scale.categories[2:])
        return scale.categories

    def stored(self, category: str) -> str:
        """The category as it is stored: which option stood under a letter is known here alone."""
        if self.protocol.stimulus != "two options":
            return category
        first, second = self.protocol.scale.categories[:2]
        letters = {"A": first, "B": second} if not self.swapped else {"A": second, "B": first}
        return letters.get(category, category)

    def shown(self, category: str) -> str:
        """The other way round: the letter under which a stored option stands."""
        return next(one for one in self.categories if self.stored(one) == category)

    def about(self, label: str | None) -> Asked:
        """The same question about another label, for protocols that ask about one at a time."""
        asked = [one for one in self.protocol.questions() if one.label == label]
        return replace(self, questions=tuple(asked), label=label)

    def in_order(self) -> Asked:
        """Without what is drawn for one stimulus: order, sides, and the label asked about."""
        if self.protocol.asks.per_trial == "one":
            wording = Question(self.protocol.question, "")
            return replace(self, questions=(wording,), swapped=False)
        if not self.labels:
            return replace(self, swapped=False)
        questions = drawn_order(_questions_of(self.protocol), None)
        keys = dict(zip(self.labels, self.keys, strict=False))
        return replace(
            self,
            questions=questions,
            keys=tuple(keys[str(one.label)] for one in questions if keys),
            swapped=False,
        )


_known: dict[int, tuple[Protocol, tuple[Question, ...]]] = {}
_MOST_KNOWN = 32


def _questions_of(protocol: Protocol) -> tuple[Question, ...]:
    """Wordings of a protocol, which never change; tens of thousands of prompts ask for them."""
    held = _known.get(id(protocol))
    # The protocol is kept beside them, so that nothing else gets its number.
    if held is None or held[0] is not protocol:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        held = (protocol, protocol.questions())
        _known[id(protocol)] = held
    return held[1]


def plan_asked(
    protocol: Protocol,
    *,
    label: str | None,
    order_seed: int | None,
    at_most: int | None,
    left_out: Literal["not rated", "zero"] | None,
    reasons: bool,
    structured: bool,
    prompt: Wording = "protocol",
    style: Style = "zero-shot",
) -> Asked:
    """Work out what a prompt asks for.

    Raises
    ------
    InputError
        When the settings do not fit the protocol.
    """
    if protocol.answer == "trials":
        raise InputError(
            f"protocol {protocol.name!r} shows a page of its own, which cannot be put to a model"
        )
    if reasons and protocol.answer == "entries":
        raise InputError(
            f"reasons: protocol {protocol.name!r} asks for texts of its own; expected False"
        )
    questions = drawn_order(_questions_of(protocol), order_seed)
    wanted = _label_asked(protocol, label)
    if wanted is not None:
        questions = tuple(one for one in questions if one.label == wanted)
    labels = tuple(one.label for one in questions if one.label is not None)
    each = protocol.answer == "ratings" and protocol.asks.per_trial == "all"
    pairs: int | None = None
    dimensions: tuple[Dimension, ...] = ()
    if prompt == "described":
        refused = at_most is not None and style == "zero-shot"
        refused |= left_out == "not rated" or structured
        _check_described(protocol, each, len(labels), refused)
        if style == "multi-shot":
            at_most, reasons, dimensions = at_most or _MOST_EVIDENT, True, DIMENSIONS
        else:
            pairs = PAIRS
        left_out = "zero"
    keys = _keys(protocol.labels(), labels, structured) if each else ()
    return Asked(
        protocol=_limited(protocol, at_most, len(labels), each),
        questions=questions,
        keys=tuple(map(_with_group, questions)) if pairs else keys,
        label=wanted,
        left_out=_left_out(protocol, left_out, at_most, each),
        at_most=at_most,
        reasons=reasons,
        structured=structured,
        swapped=protocol.input.swap_sides and drawn_sides(order_seed),
        pairs=pairs,
        dimensions=dimensions,
        published=prompt if isinstance(prompt, PublishedPrompt) else None,
    )


_MOST_EVIDENT = 5
"""Labels above 0 in EmoNet-Face's multi-shot prompt."""


def _with_group(question: Question) -> str:
    """Name a label with its group before it, as EmoNet-Face's zero-shot prompt does."""
    return "|".join((*question.groups, str(question.label)))


def _check_described(protocol: Protocol, each: bool, n_labels: int, refused: bool) -> None:
    scale = protocol.scale
    if not each or n_labels <= PAIRS or scale.low != 0 or scale.categories:
        raise InputError(
            f"prompt 'described' asks for {PAIRS} of more labels, rated all at once from 0 on; "
            f"protocol {protocol.name!r} does not; expected one such as intensity"
        )
    if refused:
        raise InputError(
            "prompt 'described' says itself which labels have a value; expected no at_most, "
            "left_out or structured"
        )


def _label_asked(protocol: Protocol, label: str | None) -> str | None:
    one = protocol.answer == "ratings" and protocol.asks.per_trial == "one"
    if not one:
        if label is not None:
            raise InputError(
                f"label {label!r}: protocol {protocol.name!r} does not ask about one label at a "
                "time; expected None"
            )
        return None
    if label is None:
        raise InputError(
            f"protocol {protocol.name!r} asks about one label at a time; expected its name"
        )
    taxonomy = protocol.taxonomy()
    name = label if taxonomy is None else taxonomy.name_of(label)
    if name not in protocol.labels():
        raise unknown_name("label", label, protocol.labels(), f"protocol {protocol.name}")
    return name


def _limited(protocol: Protocol, at_most: int | None, n_labels: int, each: bool) -> Protocol:
    """Put a prompt's limit among the rules of its protocol."""
    if at_most is None:
        return protocol
    if not (each or protocol.answer == "choices"):
        raise InputError(
            f"at_most {at_most}: protocol {protocol.name!r} does not ask about several labels at "
            "once; expected None"
        )
    if isinstance(at_most, bool) or not isinstance(at_most, int) or not 1 <= at_most <= n_labels:
        raise InputError(f"at_most {at_most!r}: expected 1 to {n_labels}, the number of labels")
    rules = protocol.rules
    key = "max_nonzero" if each else "max_labels"
    limit = min(at_most, getattr(rules, key) or at_most)
    if limit < rules.min_labels and not each:
        raise InputError(f"at_most {at_most}: the protocol asks for at least {rules.min_labels}")
    return protocol.model_copy(update={"rules": rules.model_copy(update={key: limit})})


def _left_out(
    protocol: Protocol,
    wanted: Literal["not rated", "zero"] | None,
    at_most: int | None,
    each: bool,
) -> LeaveOneOut:
    if not each:
        if wanted == "zero" or (wanted == "not rated" and not protocol.not_rated):
            raise InputError(
                f"left_out {wanted!r}: protocol {protocol.name!r} does not rate all labels at once"
            )
        return "not rated" if protocol.not_rated else "error"
    if wanted is None:
        # Who is to score the most evident labels only has looked at the others, too.
        if at_most is not None and protocol.scale.allows(0):
            return "zero"
        return "not rated" if protocol.not_rated else "error"
    if wanted not in ("not rated", "zero"):
        raise InputError(f"left_out {wanted!r}: expected 'not rated' or 'zero', or None")
    if wanted == "not rated" and not protocol.not_rated:
        raise InputError(
            f"left_out 'not rated': protocol {protocol.name!r} wants a value for every label"
        )
    if wanted == "zero" and not protocol.scale.allows(0):
        raise InputError(f"left_out 'zero': expected a scale with a 0, found {protocol.scale}")
    return wanted


def _keys(known: tuple[str, ...], labels: tuple[str, ...], structured: bool) -> tuple[str, ...]:
    """Keys of an answer: names; for structured answers, in the letters that providers take."""
    if not structured:
        return labels
    plain = [re.sub(r"\W+", "_", name.replace("&", " and ")).strip("_") for name in known]
    if len(set(plain)) < len(plain) or not all(map(_PLAIN_KEY.fullmatch, plain)):
        plain = [f"label_{number}" for number in range(1, len(known) + 1)]
    of = dict(zip(known, plain, strict=True))
    return tuple(of[label] for label in labels)
