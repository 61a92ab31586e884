"""Records of tools that ask several kinds of questions: answers, and what is no rating."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from affectlab.core.errors import InputError
from affectlab.ratings.build import is_number
from affectlab.ratings.files import Peek, series_of
from affectlab.ratings.formats.format import Contents, Format, Sure
from affectlab.ratings.formats.records import Rejects, Unusable, json_records
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import Step, step

_TAKEN = ("stimulus", "rater", "rater_kind", "label", "value")
"""Names that attributes cannot have."""

_MOST_OPTIONS = 50
_FEW_WORDS = 5
"""More words than options have on average."""

Chosen = tuple[str, ...]
"""Options that were chosen."""
Given = bool | float | str | Chosen | None
"""What was answered; None: nothing."""


class Record(BaseModel):
    """What a tool writes, as far as it is read; other keys are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


AnyRecord = TypeVar("AnyRecord", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer to one question about one stimulus."""

    stimulus: str
    rater: str
    given: Given
    """Yes or no, a number, free text, or the options that were chosen; None: no answer."""
    question: str = ""
    kind: str = "human"
    """Kind of the rater."""
    options: Chosen = ()
    """Options that could be chosen, where the record says so."""
    several: bool = False
    """Whether the record says that several options may be chosen."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the record says of the stimulus."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """What it says of the answer: session, at, rt_ms, …"""

    def __post_init__(self) -> None:
        if isinstance(self.given, tuple):
            # Names differ in more than the spaces around them, and an empty one is none.
            stripped = tuple(filter(None, map(str.strip, self.given)))
            object.__setattr__(self, "given", stripped)
        object.__setattr__(self, "options", tuple(filter(None, map(str.strip, self.options))))


@dataclass(frozen=True)
class Place:
    """Where an entry stands, or the file that holds it."""

    head: Peek
    options: ReadOptions
    rejects: Rejects
    name: str = ""
    entry: Any = None
    """The whole entry as it was read."""

    def skip(self, reason: str) -> None:
        """Count what is no rating, and is left out."""
        self.rejects.skip(self.name, reason, unit="cell")

    @property
    def rater(self) -> str:
        """Name of the rater of a file that names none: what the user says, or that of the file."""
        member, _, _ = self.name.rpartition(", ")
        return self.options.rater or Path(member or self.head.path).stem


class Answers(Format, ABC):
    """Files whose entries hold answers to questions of several kinds.

    A number has its question as label. One chosen option is a nominal answer, and where several
    may be chosen each option is a label, with 1 where it was chosen and 0 where not
    (``question.option`` where there are several questions). Options that are all called by numbers
    are numbers. Free text is an answer on the scale ``text``. A single question that is answered
    with one option or with text has no label.
    """

    roles = ("stimulus",)
    tells_kinds = True
    record: ClassVar[type[BaseModel] | None] = None
    """What an entry is, where a model says it; the first one tells the format."""

    def recognise(self, head: Peek) -> Sure:
        """See whether the first entry is one of this format."""
        if self.record is None:
            return Sure.NO
        try:
            self.record.model_validate(head.first_record, strict=True)
        except ValidationError:
            return Sure.NO
        return Sure.LAYOUT

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Give the entries with their places: those of a JSON list, or of JSON Lines."""
        return json_records(file.head, file.rejects)

    def checked(self, entry: Any) -> Any:
        """Read an entry as its model says; raises :class:`Unusable` where it is something else."""
        return entry if self.record is None else checked(self.record, entry)

    @abstractmethod
    def answers_of(self, record: Any, at: Place) -> Iterable[Answer]:
        """Give the answers of an entry; raises :class:`Unusable` where it has none."""

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each answer a row, and each option where several may be chosen."""
        given: list[tuple[str, Answer]] = []
        file = Place(head, options, rejects)
        for place, entry in self.records(file):
            at = replace(file, name=place, entry=entry)
            try:
                for answer in self.answers_of(self.checked(entry), at):
                    given.append((place, answer))  # noqa: PERF401
            except Unusable as problem:
                rejects.note(place, problem)
        named = (options.columns or {}).get("stimulus")
        if named is not None:
            given = [(place, _renamed(head, place, one, named)) for place, one in given]
        if not given:
            left = "; ".join(str(part) for part in rejects.set_aside)
            found = f" (left out: {left})" if left else ""
            raise InputError(f"{head.path}: no answer can be used{found}; expected {self.title}")
        places, answers = [place for place, _ in given], [answer for _, answer in given]
        questions, steps = _questions(answers)
        rows: list[tuple[int, str, str | None]] = []
        scales: dict[str, Scale] = {}
        lone = len(questions) == 1
        for number, answer in enumerate(answers):
            rows += (
                (number, label, value)
                for label, value in questions[answer.question].cells(answer.given, lone)
            )
        for question in questions.values():
            scales |= question.scales(lone)
        index = pl.Series([number for number, _, _ in rows])
        names = [label for _, label, _ in rows]
        columns = {
            "stimulus": pl.Series([one.stimulus for one in answers], dtype=pl.String),
            "rater": pl.Series(_raters(answers), dtype=pl.String),
            **_table([one.beside for one in answers]),
        }
        raters = pl.DataFrame({"rater": columns["rater"], "rater_kind": [a.kind for a in answers]})
        columns = {name: column.gather(index) for name, column in columns.items()}
        columns["value"] = pl.Series([value for _, _, value in rows], dtype=pl.String)
        scale = replace(DeclaredScales.parse(self.scale), by_label=scales)
        if any(names):
            columns["label"] = pl.Series(names, dtype=pl.String)
        else:
            scale = DeclaredScales(scales.get("", scale.default))
        return Contents(
            columns,
            lambda row: Place(places[rows[row][0]], head.path),
            scale=scale,
            raters=raters.unique("rater", keep="first", maintain_order=True),
            stimuli=_stimuli(answers),
            history=tuple(steps),
            typed=True,
            split=False,
            unit="cell",
        )


def checked(model: type[AnyRecord], entry: Any) -> AnyRecord:
    """Read an entry as a model says.

    Raises
    ------
    Unusable
        When it is something else; the sentence names the first key that is wrong.
    """
    try:
        return model.model_validate(entry, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the entry"
        said = " ".join(first["msg"].split())
        raise Unusable("entry not understood", f"{where}: {said}") from None


@dataclass
class _Question:
    """All answers to one question: what kind they are, and which options there were."""

    name: str
    kind: str = "number"
    several: bool = False
    stated: bool = False
    options: dict[str, None] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        given = answer.given
        if isinstance(given, str):
            self.kind = "text"
        elif isinstance(given, bool):
            self.kind = "yes or no"
        elif isinstance(given, tuple):
            self.kind = "options" if self.kind == "number" else self.kind
            self.options |= dict.fromkeys((*answer.options, *given))
            self.stated |= bool(answer.options)
            self.several |= answer.several or len(given) > 1

    def is_free(self, answers: Sequence[Answer]) -> bool:
        """Whether what was given is texts, which hardly come twice, rather than options."""
        words = [len(option.split()) for option in self.options]
        if self.stated or self.several or 2 * len(words) <= len(answers):
            return False
        return len(words) > _MOST_OPTIONS or sum(words) > _FEW_WORDS * len(words)

    def label(self, lone: bool, option: str | None = None) -> str:
        if option is not None:
            return option if lone else f"{self.name}.{option}"
        return "" if lone and self.kind in ("options", "text") else self.name

    def cells(self, given: Given, lone: bool) -> Iterator[tuple[str, str | None]]:
        """Rows of one answer: labels with values."""
        if self.several and self.kind == "options":
            chosen = given if isinstance(given, tuple) else ()
            for option in self.options:
                # Who was asked and chose nothing said no to all options; without an answer nothing.
                value = None if given is None else str(int(option in chosen))
                yield self.label(lone, option), value
        elif isinstance(given, tuple):
            yield self.label(lone), ", ".join(given) or None
        else:
            yield self.label(lone), None if given is None else _word(given)

    def scales(self, lone: bool) -> dict[str, Scale]:
        """Scales that the kind of the answers has; that of numbers is told by their values."""
        if self.kind == "text":
            return {self.label(lone): Scale("text")}
        if self.kind == "number":
            return {}
        if self.kind == "yes or no":
            return {self.label(lone): Scale.binary()}
        if self.several:
            return {self.label(lone, option): Scale.binary() for option in self.options}
        scale = Scale.nominal(tuple(self.options))
        return {self.label(lone): replace(scale, declared=self.stated)}


def _renamed(head: Peek, place: str, answer: Answer, named: str) -> Answer:
    value = answer.about.get(named)
    if not isinstance(value, str | int | float) or value == "":
        raise InputError(
            f"{head.path}, {place}: no {named!r} for the stimulus; found: "
            f"{', '.join(answer.about) or 'nothing that describes it'}"
        )
    return replace(answer, stimulus=str(value))


def _word(given: float | str) -> str:
    return given if isinstance(given, str) else repr(float(given))


def _questions(answers: Sequence[Answer]) -> tuple[dict[str, _Question], list[Step]]:
    """Tell the kind of each question from all answers to it."""
    found: dict[str, _Question] = {}
    for answer in answers:
        found.setdefault(answer.question, _Question(answer.question)).add(answer)
    steps = []
    for question in found.values():
        if question.kind != "options":
            continue
        numbers = all(map(is_number, question.options))
        if numbers and not question.several and len(question.options) > 1:
            question.kind = "number"
            steps.append(step(StepKind.OPTION_NUMBERS, question=question.name or "answers"))
        elif not question.options:
            question.kind = "number"
        elif question.is_free([one for one in answers if one.question == question.name]):
            question.kind = "text"
            steps.append(step(StepKind.FREE_ANSWERS, question=question.name or "answers"))
    return found, steps


def _raters(answers: Sequence[Answer]) -> list[str]:
    """Name raters so that a model with the name of a person is another rater."""
    people = {one.rater for one in answers if one.kind == "human"}
    return [
        f"{one.rater} ({one.kind})" if one.kind != "human" and one.rater in people else one.rater
        for one in answers
    ]


def _table(rows: Sequence[Mapping[str, Any]]) -> dict[str, pl.Series]:
    """Make columns of what rows say; lists and objects are no cells of a table."""
    names = dict.fromkeys(
        name
        for row in rows
        for name, value in row.items()
        if value is not None and not isinstance(value, list | dict)
    )
    cells = {
        name: [None if isinstance(value := row.get(name), list | dict) else value for row in rows]
        for name in names
    }
    return {name: series_of(name, values) for name, values in cells.items()}


def _stimuli(answers: Sequence[Answer]) -> pl.DataFrame | None:
    """Make a table of what is said of stimuli, at their first answer."""
    first: dict[str, Mapping[str, Any]] = {}
    for one in answers:
        first.setdefault(one.stimulus, one.about)
    about = [
        {f"data_{name}" if name in _TAKEN else name: value for name, value in said.items()}
        for said in first.values()
    ]
    columns = _table(about)
    if not columns:
        return None
    return pl.DataFrame([pl.Series("stimulus", list(first), dtype=pl.String), *columns.values()])
