"""How something is asked: defined once, used by page, prompt, validator and reader."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from affectlab.errors import InputError
from affectlab.protocols._parts import (
    Asks,
    Checks,
    EntryField,
    Input,
    Part,
    Routing,
    Rules,
    Staircase,
)
from affectlab.protocols._scale import ScaleSpec
from affectlab.protocols._translation import TRANSLATED, Translation
from affectlab.protocols._wording import check_wording, fill
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["Protocol", "Question"]

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
            raise ValueError("a page of one's own and answers of kind 'trials' go together")
        names = [field.name for field in self.fields]
        if len(set(names)) < len(names):
            raise ValueError("fields: a name appears twice")
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
        from affectlab.protocols._answer import problems

        return problems(self, answer, taxonomy)

    def __str__(self) -> str:
        return f"protocol {self.name}, version {self.version}: {self.title or self.question}"
