"""How something is asked: defined once, used by page, prompt, validator and reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from affectlab.core.errors import InputError, check_once, unknown_name
from affectlab.protocols.parts import (
    TRANSLATED,
    Asks,
    Checks,
    EntryField,
    Input,
    Part,
    Routing,
    Rules,
    Staircase,
    Translation,
    check_wording,
    fill,
)
from affectlab.protocols.scale import ScaleSpec
from affectlab.taxonomy import Taxonomy, load_taxonomy

Stimulus = Literal["image", "image pair", "image and caption", "text", "two options", "own page"]
AnswerKind = Literal["ratings", "value", "choices", "entries", "trials"]


@dataclass(frozen=True)
class Question:
    """One wording as a rater or a model gets it."""

    text: str
    label: str | None = None
    """The label asked about; None for a question about the stimulus as a whole."""
    definition: str = ""
    words: tuple[str, ...] = ()
    emoji: str = ""
    groups: tuple[str, ...] = ()
    """Groups by which the display is arranged: row, then column."""


class Protocol(Part):
    """A protocol: labels, scale, wording, constraints, and the routing of its questions.

    A protocol never changes; :meth:`revise` makes another one.

    Examples
    --------
    >>> from affectlab.protocols import load_protocol
    >>> protocol = load_protocol("intensity")
    >>> protocol.questions()[0].text
    'How strongly does this face show Amusement?'
    >>> protocol.check({"Amusement": 9})
    ["label 'Amusement': 9 is off the scale; expected a whole number from 0 to 7"]
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    title: str = ""
    version: str = "1"
    source: str = ""
    """The publication it follows."""
    stimulus: Stimulus
    """What is shown."""
    question: str = Field(min_length=1)
    """Wording, with places such as ``{label}``, ``{definition}``, ``{words}``."""
    prompt: str = ""
    """Wording over a trial that asks for all labels at once, where `question` names one label."""
    instructions: str = ""
    """What raters and models read before the first trial."""
    answer: AnswerKind
    """``ratings``: a value for each label; ``value``: one value; ``choices``: labels;
    ``entries``: texts in named fields; ``trials``: what a page of the study's own recorded."""
    scale: ScaleSpec = ScaleSpec(kind="text")
    anchors: tuple[str, str] | None = None
    """Words at the low and the high end of the scale."""
    legend: str = ""
    """What stands over the labels to choose from; where it is empty, that of the page."""
    note: str = ""
    """Wording over the field of `rules.suggestions`; where it is empty, that of the page."""
    not_rated: bool = False
    """Whether a label may be left without a value, which is not the same as 0."""
    asks: Asks = Asks()
    fields: tuple[EntryField, ...] = ()
    rules: Rules = Rules()
    input: Input = Input()
    routing: Routing = Routing()
    checks: Checks = Checks()
    staircase: Staircase | None = None
    translations: dict[str, Translation] = Field(default_factory=dict)
    """What people read in other languages, by two-letter code (ISO 639)."""

    @field_validator("translations")
    @classmethod
    def _codes(cls, found: dict[str, Translation]) -> dict[str, Translation]:
        for code in found:
            if not (len(code) == 2 and code.isascii() and code.islower()):
                raise ValueError(f"{code!r}: expected a two-letter code, such as 'de'")
        return found

    @field_validator("question")
    @classmethod
    def _wording(cls, text: str) -> str:
        return check_wording(text)

    @model_validator(mode="after")
    def _fits(self) -> Protocol:
        has_labels = self.asks.taxonomy is not None or bool(self.asks.labels)
        if self.answer in ("ratings", "choices") and not has_labels:
            raise ValueError(
                f"answers of kind {self.answer!r} need labels: asks.taxonomy or asks.labels"
            )
        if self.answer in ("ratings", "value") and self.scale.kind == "text":
            raise ValueError(f"answers of kind {self.answer!r} need a scale of values, not text")
        if (self.answer == "entries") != bool(self.fields):
            raise ValueError("fields belong to answers of kind 'entries', which need at least one")
        if self.stimulus == "two options" and len(self.scale.categories) < 2:
            raise ValueError(
                "two options need a nominal scale whose first two choices stand for them"
            )
        if (self.stimulus == "own page") != (self.answer == "trials"):
            raise ValueError("a custom page needs answer = 'trials', and the reverse")
        names = [field.name for field in self.fields]
        check_once("field", names)
        if self.rules.distinct is not None and self.rules.distinct not in names:
            raise ValueError(f"rules.distinct: no field is named {self.rules.distinct!r}")
        if self.anchors is not None and self.scale.kind not in ("ordinal", "interval"):
            raise ValueError("anchors belong to a scale with a low and a high end")
        if self.input.start is not None and not self.scale.allows(self.input.start):
            raise ValueError(f"input.start {self.input.start:g} is off the scale")
        if self.answer == "choices" and self.scale.kind != "binary":
            raise ValueError("answers of kind 'choices' are stored on a binary scale")
        if self.staircase is not None and not (
            self.answer == "value" and len(self.scale.categories) == 2
        ):
            raise ValueError(
                "a staircase needs answers of kind 'value' on a nominal scale of two categories, "
                "the first of which says that a difference was seen"
            )
        if self.not_rated and self.answer != "ratings":
            raise ValueError("not_rated belongs to answers of kind 'ratings'")
        for code, translation in self.translations.items():
            if translation.anchors is not None and self.anchors is None:
                raise ValueError(f"translations.{code}.anchors: the protocol has no anchors")
            for name in translation.fields:
                if name not in names:
                    raise ValueError(f"translations.{code}.fields: no field is named {name!r}")
        return self

    def revise(self, **changes: Any) -> Protocol:
        """A protocol with some keys changed; a table changes only the keys given.

        Another wording has no translations but those that are given with it.

        Raises
        ------
        InputError
            When the changed protocol does not hold together.

        Examples
        --------
        >>> from affectlab.protocols import load_protocol
        >>> words = load_protocol("verification").revise(asks={"taxonomy": "ekman"})
        >>> words.labels()[:2]
        ('anger', 'disgust')
        """
        content = self.model_dump(exclude_unset=True)
        for translation in content.get("translations", {}).values():
            for key in set(TRANSLATED) & set(changes):
                translation.pop(key, None)
        for key, value in changes.items():
            old = content.get(key)
            if key == "translations" and isinstance(value, dict):
                # A table of tables: of each language, too, only the keys given change.
                value = {
                    code: {**(old or {}).get(code, {}), **one} if isinstance(one, dict) else one
                    for code, one in value.items()
                }
            if key != "scale" and isinstance(old, dict) and isinstance(value, dict):
                content[key] = {**old, **value}
            else:
                content[key] = value
        try:
            revised = Protocol.model_validate(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "protocol"
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"protocol {self.name}, revised: {place}: {message}") from None
        revised.questions()
        return revised

    def in_language(self, language: str) -> Protocol:
        """The protocol as people read it in a language; texts without a translation stay.

        Labels, definitions and choices keep their names, by which answers are stored.

        Parameters
        ----------
        language
            Two-letter code. Without a translation the protocol is given back as it is.

        Examples
        --------
        >>> from affectlab.protocols import load_protocol
        >>> load_protocol("difference").in_language("de").anchors
        ('Identisch', 'Völlig verschieden')
        """
        found = self.translations.get(language)
        if found is None:
            return self
        texts: dict[str, Any] = {
            key: getattr(found, key) for key in TRANSLATED[:-1] if getattr(found, key)
        }
        if found.fields:
            texts["fields"] = tuple(
                field.model_copy(update={"question": found.fields.get(field.name, field.question)})
                for field in self.fields
            )
        return self.model_copy(update=texts)

    def untranslated(self, language: str) -> tuple[str, ...]:
        """Name the texts that a translation lacks: keys of the protocol that hold a text.

        Examples
        --------
        >>> from affectlab.protocols import load_protocol
        >>> load_protocol("intensity").untranslated("fr")
        ('question', 'prompt', 'instructions', 'anchors')
        """
        found = self.translations.get(language, Translation())
        missing = [key for key in TRANSLATED[:-1] if getattr(self, key) and not getattr(found, key)]
        if any(field.name not in found.fields for field in self.fields):
            missing.append("fields")
        return tuple(missing)

    def taxonomy(self, taxonomy: str | Taxonomy | None = None) -> Taxonomy | None:
        """The taxonomy asked about: `taxonomy`, or the protocol's own; None for neither.

        At a level of groups, the coarser taxonomy whose labels are the groups.
        """
        if taxonomy is None:
            return self.own_taxonomy
        found = load_taxonomy(taxonomy)
        return found if self.asks.level is None else found.coarsen(self.asks.level)

    @cached_property
    def own_taxonomy(self) -> Taxonomy | None:
        """The taxonomy that the protocol names, read once so that it stays the same."""
        return None if self.asks.taxonomy is None else self.taxonomy(self.asks.taxonomy)

    def labels(self, taxonomy: str | Taxonomy | None = None) -> tuple[str, ...]:
        """Labels asked for, in order; empty for a question about the stimulus as a whole."""
        found = self.taxonomy(taxonomy)
        if found is None:
            return self.asks.labels
        wanted = {found.name_of(label) for label in self.asks.labels}
        return tuple(label for label in found.labels if not wanted or label in wanted)

    def questions(self, taxonomy: str | Taxonomy | None = None) -> tuple[Question, ...]:
        """The wordings: one per label, or a single one where no label stands in the wording.

        Parameters
        ----------
        taxonomy
            Used instead of the protocol's own taxonomy; levels of `asks.group_by` that it has not
            are left out of the arrangement.

        Raises
        ------
        InputError
            When the taxonomy, its level or a label is not known.
        """
        found = self.taxonomy(taxonomy)
        labels = self.labels(taxonomy)
        stimulus = self.stimulus
        if not labels:
            return (Question(fill(self.question, {"stimulus": stimulus})),)
        if found is None:
            return tuple(
                Question(fill(self.question, {"label": label, "stimulus": stimulus}), label)
                for label in labels
            )
        arranged = [
            found.group_of(level)
            for level in self.asks.group_by
            if taxonomy is None or level in found.levels
        ]
        questions = []
        for entry in map(found.label, labels):
            groups = tuple(level[entry.name] for level in arranged)
            values = {
                "label": entry.name,
                "definition": entry.definition,
                "words": ", ".join(entry.words) or entry.name,
                "stimulus": stimulus,
                "group": ", ".join(groups),
            }
            questions.append(
                Question(
                    fill(self.question, values),
                    entry.name,
                    entry.definition,
                    entry.words,
                    entry.emoji,
                    groups,
                )
            )
        return tuple(questions)

    def check(self, answer: object, taxonomy: str | Taxonomy | None = None) -> list[str]:
        """What is wrong with one answer, in words; an empty list for a valid one.

        Parameters
        ----------
        answer
            For ``ratings`` a mapping of label to value, None for a label not rated; for ``value``
            the value; for ``choices`` a list of labels, or a mapping with ``chosen`` and
            ``suggestion``; for ``entries`` a list of mappings of field to text; for ``trials`` a
            list of mappings of name to value, one for each trial that the page recorded.
        taxonomy
            Used instead of the protocol's own taxonomy.
        """
        if self.answer == "value":
            return _value_problems(self, answer, "answer")
        if self.answer == "entries":
            return _entry_problems(self, answer)
        if self.answer == "trials":
            return _trial_problems(answer)
        names = _Names(self, taxonomy)
        if self.answer == "ratings":
            return _rating_problems(self, answer, names)
        return _choice_problems(self, answer, names)

    def __str__(self) -> str:
        return f"protocol {self.name}, version {self.version}: {self.title or self.question}"


# Whether one answer keeps to its protocol.


MOST_TRIALS = 10_000
"""Trials that one page of a study's own may record."""


class _Names:
    """The labels and options that an answer may name, in any spelling the taxonomy knows."""

    def __init__(self, protocol: Protocol, taxonomy: str | Taxonomy | None) -> None:
        self.labels = protocol.labels(taxonomy)
        self.options = protocol.rules.options if protocol.answer == "choices" else ()
        self._index = protocol.taxonomy(taxonomy) or Taxonomy.from_labels(self.labels)

    def resolve(self, name: object, found: list[str]) -> str | None:
        """Canonical name, or None with a sentence added to `found`."""
        if not isinstance(name, str):
            found.append(f"{_shown(name)} is not a label; expected its name as text")
            return None
        if name in self.options:
            return name
        try:
            label = self._index.name_of(name)
            if label not in self.labels:
                raise unknown_name("label", name, (*self.labels, *self.options))
        except InputError as error:
            known = (*self.labels, *self.options)
            ambiguous = "may mean" in str(error)
            found.append(str(error if ambiguous else unknown_name("label", name, known)))
            return None
        return label


def _value_problems(protocol: Protocol, value: object, where: str) -> list[str]:
    if value is None:
        return [f"{where}: nothing is answered; expected {protocol.scale}"]
    if not protocol.scale.allows(value):
        return [f"{where}: {_shown(value)} is off the scale; expected {protocol.scale}"]
    return []


def _rating_problems(protocol: Protocol, answer: object, names: _Names) -> list[str]:
    if not isinstance(answer, Mapping):
        return [f"answer is {_kind(answer)}; expected a value for each label, by name"]
    found: list[str] = []
    values: dict[str, object] = {}
    for name, value in answer.items():
        label = names.resolve(name, found)
        if label is None:
            continue
        if label in values:
            found.append(f"label {label!r} is answered twice")
            continue
        values[label] = value
        if value is None and protocol.not_rated:
            continue
        found += _value_problems(protocol, value, f"label {label!r}")
    rated = [label for label, value in values.items() if value is not None]
    if protocol.asks.per_trial == "one":
        if len(values) != 1 and not found:
            found.append(f"{len(values)} labels are answered; expected exactly one")
    elif not protocol.not_rated:
        missing = [label for label in names.labels if label not in values]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            found.append(
                f"label {missing[0]!r}{more}: nothing is answered; every label needs a value"
            )
    found += _count_problems(protocol, len(rated), "labels are rated")
    limit = protocol.rules.max_nonzero
    nonzero = sum(1 for label in rated if values[label] not in (0, False))
    if limit is not None and nonzero > limit:
        found.append(f"{nonzero} labels are above 0; expected at most {limit}")
    return found


def _choice_problems(protocol: Protocol, answer: object, names: _Names) -> list[str]:
    found: list[str] = []
    rules = protocol.rules
    if isinstance(answer, Mapping):
        found += [
            f"key {_shown(key)} is not known; expected 'chosen' or 'suggestion'"
            for key in answer
            if key not in ("chosen", "suggestion")
        ]
        suggestion = answer.get("suggestion")
        if suggestion is not None and not rules.suggestions:
            found.append("a label is suggested, which this protocol does not ask for")
        elif suggestion is not None and not isinstance(suggestion, str):
            found.append(f"suggestion is {_kind(suggestion)}; expected text")
        answer = answer.get("chosen")
    if not isinstance(answer, list | tuple | set | frozenset):
        return [*found, f"answer is {_kind(answer)}; expected a list of labels"]
    chosen: list[str] = []
    for name in answer:
        label = names.resolve(name, found)
        if label is None:
            continue
        if label in chosen:
            found.append(f"label {label!r} is chosen twice")
        else:
            chosen.append(label)
    exclusive = {names.resolve(name, []) for name in rules.exclusive}
    alone = [label for label in chosen if label in exclusive]
    if alone and len(chosen) > 1:
        found.append(f"{alone[0]!r} allows no other choice beside it")
    found += _count_problems(protocol, len(answer), "labels are chosen")
    return found


def _entry_problems(protocol: Protocol, answer: object) -> list[str]:
    if not isinstance(answer, list | tuple):
        return [f"answer is {_kind(answer)}; expected a list of entries"]
    found = _count_problems(protocol, len(answer), "entries are given")
    seen: set[str] = set()
    for number, entry in enumerate(answer, start=1):
        if not isinstance(entry, Mapping):
            found.append(f"entry {number} is {_kind(entry)}; expected its fields by name")
            continue
        found += _field_problems(protocol, entry, number)
        key = entry.get(protocol.rules.distinct) if protocol.rules.distinct else None
        if isinstance(key, str) and key.strip():
            folded = " ".join(key.split()).casefold()
            if folded in seen:
                found.append(f"entry {number}: {key.strip()!r} is given twice")
            seen.add(folded)
    return found


def _trial_problems(answer: object) -> list[str]:
    if not isinstance(answer, list | tuple):
        return [f"answer is {_kind(answer)}; expected a list of trials"]
    if not 1 <= len(answer) <= MOST_TRIALS:
        return [f"{len(answer)} trials are given; expected 1 to {MOST_TRIALS}"]
    found = []
    for number, trial in enumerate(answer, start=1):
        if not isinstance(trial, Mapping):
            found.append(f"trial {number} is {_kind(trial)}; expected its values by name")
        elif not all(isinstance(name, str) and name.strip() for name in trial):
            found.append(f"trial {number}: a value has no name; expected text")
    return found


def _field_problems(
    protocol: Protocol, entry: Mapping[object, object], number: int
) -> Iterable[str]:
    known = [field.name for field in protocol.fields]
    for name in entry:
        if name not in known:
            yield str(unknown_name("field", str(name), known, f"entry {number}"))
    for field in protocol.fields:
        text = entry.get(field.name, "")
        if not isinstance(text, str):
            yield f"entry {number}: {field.name} is {_kind(text)}; expected text"
            continue
        length = len(text.strip())
        long = f"entry {number}: {field.name} has {length} characters; expected at"
        if length == 0 < field.min_length:
            yield f"entry {number}: {field.name} is empty"
        elif length < field.min_length:
            yield f"{long} least {field.min_length}"
        elif length > field.max_length:
            yield f"{long} most {field.max_length}"


def _count_problems(protocol: Protocol, count: int, what: str) -> list[str]:
    least, most = protocol.rules.min_labels, protocol.rules.max_labels
    if count < least:
        return [f"{count} {what}; expected at least {least}"]
    if most is not None and count > most:
        return [f"{count} {what}; expected at most {most}"]
    return []


def _kind(value: object) -> str:
    return "missing" if value is None else f"of type {type(value).__name__}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
