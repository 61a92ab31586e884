"""What surveys share: a row for each person, and columns that ask the same of several things."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option, quoted
from affectlab.ratings.attributes import PERSONAL, asked_of
from affectlab.ratings.build import is_number, words_of
from affectlab.ratings.files import Columns, Peek, read_columns, typed_column
from affectlab.ratings.formats.format import Contents, Format, Layout
from affectlab.ratings.formats.records import Rejects, numbered
from affectlab.ratings.formats.shown import is_media
from affectlab.ratings.formats.table import meant
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.response_words import is_no_answer
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess, step
from affectlab.taxonomy import list_taxonomies, load_taxonomy

PLATFORM = "of the platform"
TIMING = "of times"
ORDER = "of the order in which was asked"
CONSENT = "of consent"
_IDENTITY = "that say who people are"
FREE_TEXT = "of free text"
_EMPTY = "without any answer"
_CONSENT = re.compile(
    r"(\b|_)consent|\bagree to (take part|participate)|\bdata protection", re.IGNORECASE
)
_WHO = re.compile(
    r"\b(e-?mail|your (full |first |last )?name|phone number|postal)\b", re.IGNORECASE
)
_ABOUT_PERSON = re.compile(
    r"\b(how old|years old|your (age|gender|sex|country|nationality|ethnicity|occupation"
    r"|native language|first language|mother tongue|education|e-?mail|(prolific|participant) id)"
    r"|highest (level|degree)|gender identity|(left|right)-handed)\b",
    re.IGNORECASE,
)
_DIMENSIONS = {"valence", "arousal", "dominance", "intensity", "pleasantness", "attractiveness"}
_NOT_CHOSEN = {"0", "n", "no", "unchecked", "false", "not selected", "off"}
_DIGITS = re.compile(r"\d+")
_FEW_CHOICES = 7
_MOST_CHOICES = 20
_LONGEST_CHOICE = 40
_SENTENCE = 4
"""Words that questions must share for what differs to be what they are about."""
_AROUND = " -?!.,:;\"'"
_SURE = ";"
"""What stands between choices and in none."""


@dataclass(frozen=True)
class Asked:
    """What a column of answers asks."""

    question: str
    """Name of the question."""
    row: str | None = None
    """Row of a matrix, or option of a multiple choice."""
    loop: str | None = None
    """What a block was repeated for."""
    text: str = ""
    """The question in words."""
    option: bool = False
    """Whether the cell says that an option was chosen, and nothing in it that it was not."""
    typed: bool = False
    """Whether the answer was typed in, which makes words a remark."""


@dataclass(frozen=True)
class Sheet:
    """The table of a survey, and what its columns are."""

    read: Columns
    """Rows are people."""
    asked: Mapping[str, Asked]
    """Columns that may hold answers."""
    unused: Mapping[str, str] = field(default_factory=dict)
    """Columns that never do, and why; what is left describes the person."""
    rater: str | None = None
    """Column that names the person; without one, people are numbered."""
    steps: History = ()
    session: pl.Series | None = None
    """What tells several sheets of one person apart."""
    sessions: tuple[str, ...] = ()
    """Columns that it was taken from."""
    stimulus: str | None = None
    """Column that says what the looped questions of each row are about; None: no row does."""
    trial: str | None = None
    """Column that numbers the rows of a person."""
    split: Mapping[str, str] = field(default_factory=dict)
    """Column of the file by those that were made of it."""


@dataclass(frozen=True, kw_only=True)
class SheetLayout(Layout):
    """What the columns of a survey are taken for: `labels` are those that hold answers."""

    about: Mapping[str, tuple[str, str | None]]
    """Stimulus and label of each column of answers, also of those made of a column of the file."""
    steps: History = ()
    """What was decided without the user, for the history."""


@dataclass(frozen=True, kw_only=True)
class AnswerSheets(Format, ABC):
    """A survey: what was asked again and again is rated, what was asked once describes the person.

    Where a block is repeated, what it is repeated for is the stimulus, and its questions are the
    labels. Else matrices hold the answers, and where there is none, all questions do.

    Parameters
    ----------
    questions
        Names of the questions that hold answers; by default as said above.
    rows
        What the rows of matrices are: ``"labels"`` (each question is a stimulus) or ``"stimuli"``
        (each question is a label). By default labels where they are called like emotions, or are
        rated in several questions of the same words.
    rater
        Column that names the person.
    """

    takes = ("separator",)
    choices: ClassVar[tuple[str, ...]] = ()
    """What stands between several choices in a cell, as regular expressions."""
    questions: tuple[str, ...] | None = None
    rows: Literal["labels", "stimuli"] | None = None
    rater: str | None = None
    expected: ClassVar[str]
    """What is said of a file of something else."""

    @abstractmethod
    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:
        """Say what the columns of a table are; None where it is no export of the platform.

        What is no sheet of a participant goes to `rejects`.
        """

    def _read(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Sheet:
        head = self.opened(head, options)
        found = self.sheet(read_columns(head, on_bad=options.on_bad), rejects)
        if found is None:
            raise InputError(f"{head.path} is {self.expected}")
        return _with_choices(found, self.choices, options.separator)

    def describe(self, head: Peek, options: ReadOptions | None = None) -> SheetLayout:
        """Say what each column is taken for."""
        options = options or ReadOptions(on_bad="set_aside")
        return self._layout(self._read(head, options, Rejects(head.path, "set_aside")), head)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each cell with an answer a row."""
        sheet = self._read(head, options, rejects)
        read, columns = sheet.read, sheet.read.columns
        height = len(next(iter(columns.values()), ()))
        if height == 0:
            raise InputError(f"{head.path}: no sheet of a participant; expected at least one")
        layout = self._layout(sheet, head)
        name = layout.roles.get("rater")
        raters = (
            pl.Series("rater", numbered("participant", height), dtype=pl.String)
            if name is None
            else columns[name].cast(pl.String).str.strip_chars().alias("rater")
        )
        names = list(layout.about)
        asked = {name: sheet.asked[name] for name in names}
        given = _about_something(sheet, names, rejects)
        rows = given.columns["row"]
        height = len(rows)
        cells = _cells(given.columns, asked)
        if sheet.stimulus is None:
            shown = _repeated("stimulus", [layout.about[one][0] for one in names], height)
        else:
            shown = pl.concat([given.columns[sheet.stimulus].cast(pl.String)] * len(names))
        answers = {
            "stimulus": shown.alias("stimulus"),
            "rater": pl.concat([raters.gather(rows)] * len(names)),
            "value": pl.concat([cells[one].alias("value") for one in names]),
        }
        columns_of = [sheet.split.get(one, one) for one in names]
        labels = [layout.about[one][1] for one in names]
        if any(labels):
            answers["label"] = _repeated("label", [one or "answer" for one in labels], height)
        if sheet.session is not None:
            answers["session"] = pl.concat([sheet.session.gather(rows)] * len(names))
        if sheet.trial is not None:
            answers["trial"] = pl.concat([given.columns[sheet.trial]] * len(names))
        described = [raters, *(_described(columns[one]) for one in layout.raters)]
        texts = {layout.about[one][0]: asked[one].text for one in names if not asked[one].loop}
        return Contents(
            answers,
            lambda at: given.locate(at % height).then(f", column '{columns_of[at // height]}'"),
            scale=self.scale,
            raters=_one_each(pl.DataFrame(described)),
            stimuli=asked_of(texts),
            set_aside=read.set_aside,
            history=(*read.history, *layout.steps),
            split=False,
            unit="cell",
        )

    def _layout(self, sheet: Sheet, head: Peek) -> SheetLayout:
        columns = sheet.read.columns
        unused = {
            name: why
            for name, why in sheet.unused.items()
            if name in columns and name not in (*sheet.sessions, sheet.trial)
        }
        rater = self._rater(sheet, head)
        asked: dict[str, Asked] = {}
        for name, one in sheet.asked.items():
            once = one.loop is None
            if name == rater:
                continue
            said = f"{one.question} {one.text}"
            if once and _CONSENT.search(said):
                unused[name] = CONSENT
            elif once and _WHO.search(said):
                unused[name] = _IDENTITY
            elif not one.option and not len(_answers_of(columns[name])):
                unused[name] = _EMPTY
            elif not (once and _is_personal(one)):
                asked[name] = one
        if self.rows is None:
            asked = _without_lone_rows(asked)
        used, remarks = self._answers(asked, columns, head)
        unused |= dict.fromkeys(remarks, FREE_TEXT)
        about, steps = self._about({name: asked[name] for name in used})
        others = {*unused, *used, rater, *sheet.sessions, sheet.stimulus, sheet.trial}
        raters = [name for name in columns if name not in others]
        return SheetLayout(
            {
                **({} if rater is None else {"rater": rater}),
                **dict(zip(["session"], sheet.sessions, strict=False)),
                **({} if sheet.stimulus is None else {"stimulus": sheet.stimulus}),
                **({} if sheet.trial is None else {"trial": sheet.trial}),
            },
            others=sheet.sessions[1:],
            labels=tuple(dict.fromkeys(sheet.split.get(name, name) for name in used)),
            raters=tuple(name for name in raters if name not in ("rater", "rater_kind")),
            unused=unused,
            questions={
                sheet.split.get(name, name): one.text
                for name, one in sheet.asked.items()
                if one.text
            },
            about=about,
            steps=(*sheet.steps, *steps, *_said(about, raters, unused, sheet.stimulus)),
        )

    def _rater(self, sheet: Sheet, head: Peek) -> str | None:
        if self.rater is not None and self.rater not in sheet.read.columns:
            raise unknown_name("column", self.rater, list(sheet.read.columns), str(head.path))
        return self.rater or sheet.rater

    def _answers(
        self, asked: Mapping[str, Asked], columns: Mapping[str, pl.Series], head: Peek
    ) -> tuple[list[str], list[str]]:
        """Tell the columns of answers, and those of remarks beside them, from the others."""
        names = [name for name, one in asked.items() if one.loop or not one.typed]
        if self.questions is not None:
            known = {one.question for one in asked.values()}
            for question in self.questions:
                if question not in known and question not in asked:
                    raise unknown_name("question", question, sorted(known), str(head.path))
            names = [n for n in asked if {n, asked[n].question} & set(self.questions)]
        elif any(one.loop is not None for one in asked.values()):
            names = [name for name in names if asked[name].loop is not None]
        elif any(one.row is not None for one in asked.values()):
            once = [name for name in names if asked[name].row is None]
            numbers = any(_kind([columns[name]]) == "number" for name in once)
            names = _repeated_rows(asked) or (once if numbers else names)
        groups: dict[tuple[str, str | None], list[str]] = {}
        for name in names:
            one = asked[name]
            groups.setdefault((one.question, one.row if one.loop else ""), []).append(name)
        kinds = {
            key: "option" if asked[group[0]].option else _kind([columns[name] for name in group])
            for key, group in groups.items()
        }
        for key, group in groups.items():
            if asked[group[0]].typed and kinds[key] == "word":
                kinds[key] = "text"
        repeated = any(asked[name].loop or asked[name].row for name in names)
        wanted = {"option", "number", "word"} | ({"text"} if self.questions is not None else set())
        if not repeated and self.questions is None:
            wanted = {"number"} if "number" in kinds.values() else {"word"}
        used = {name for key, group in groups.items() if kinds[key] in wanted for name in group}
        if wanted == {"word"}:
            used = _alike({name: columns[name] for name in used}) or used
        if not used:
            raise InputError(
                f"{head.path}: no question holds answers; name those that do "
                f"({option('format', f'{self.name},questions=[NAME]')}); columns: "
                f"{quoted(columns)}"
            )
        texts = [name for name in names if name not in used and repeated]
        return [name for name in names if name in used], texts

    def _about(
        self, asked: Mapping[str, Asked]
    ) -> tuple[dict[str, tuple[str, str | None]], History]:
        """Give stimulus and label of each column of answers."""
        parts = list(asked.values())
        about: dict[str, tuple[str, str | None]] = {}
        if any(one.loop for one in parts):
            owners: dict[str, set[str]] = {}
            for one in parts:
                owners.setdefault(one.row or one.question, set()).add(one.question)
            for name, one in asked.items():
                label = one.row or one.question
                if one.row and len(owners[label]) > 1:
                    label = f"{one.question}: {label}"
                about[name] = (one.loop or one.question, label)
            return about, ()
        lone = len({one.question for one in parts}) == len(parts)
        crossed = crossed_names([_in_words(one) for one in parts]) if lone else None
        if crossed is not None and self.rows is None:
            cross = guess(StepKind.QUESTIONS_CROSS, format=self.name)
            return dict(zip(asked, crossed, strict=True)), (cross,)
        if not any(one.row for one in parts):
            names = _stimuli_in_words(parts, files=True)
            steps = (step(StepKind.QUESTIONS_NAME_STIMULI),) if names else ()
            return {n: (names.get(q := one.question, q), None) for n, one in asked.items()}, steps
        several = len({one.question for one in parts}) > 1
        named: History = ()
        if self.rows == "labels" or (self.rows is None and _rows_are_labels(parts)):
            rows = "labels"
            names = _stimuli_in_words(parts)
            named = (step(StepKind.QUESTIONS_NAME_STIMULI),) if names else ()
            about = {
                name: (names.get(one.question, one.question), one.row or "answer")
                for name, one in asked.items()
            }
        else:
            rows = "stimuli"
            about = {
                name: (one.row or one.question, one.question if several else None)
                for name, one in asked.items()
            }
        other = self.name if self.rows is None else ""
        taken = step(StepKind.MATRIX_ROWS, rows=rows, several=several, format=other)
        return about, (taken, *named)


def _about_something(sheet: Sheet, names: Sequence[str], rejects: Rejects) -> Columns:
    """Give the rows that say what they are about, with their numbers as a column ``row``."""
    read = sheet.read
    rows = list(range(len(next(iter(read.columns.values())))))
    if sheet.stimulus is not None:
        named = _described(read.columns[sheet.stimulus]).is_not_null()
        cells = [_described(read.columns[name]).is_not_null() for name in names]
        answered = pl.DataFrame(cells).select(pl.any_horizontal(pl.all())).to_series()
        for row in (answered & ~named).arg_true():
            rejects.skip(read.place(row), f"answers without a name in '{sheet.stimulus}'")
        rows = named.arg_true().to_list()
    given = without_rows(read, rows)
    return replace(given, columns={**given.columns, "row": pl.Series("row", rows, dtype=pl.UInt32)})


def without_rows(read: Columns, keep: Sequence[int]) -> Columns:
    """Keep some rows of a table, each with its place in the file."""
    rows = pl.Series(keep, dtype=pl.Int64)
    return replace(
        read,
        columns={name: column.gather(rows) for name, column in read.columns.items()},
        locate=lambda row: read.locate(keep[row]),
    )


def _with_choices(sheet: Sheet, patterns: Sequence[str], separator: str | None) -> Sheet:
    """Give each option of a question a column, where cells hold several of them.

    Options are those that anybody chose, of this question or of one that shares them.
    """
    if separator is not None:
        patterns = (re.escape(separator),) if separator else ()
    columns = sheet.read.columns
    words: dict[str, dict[str, None]] = {}
    for name, one in sheet.asked.items():
        if not (one.typed or one.option or (one.loop and one.row)):
            given = words_of(columns[name]).unique(maintain_order=True)
            words.setdefault(one.question, {}).update(dict.fromkeys(given))
    several: dict[str, tuple[str, list[str]]] = {}
    for question, cells in words.items():
        for pattern in patterns:
            options = _options(cells, pattern, sure=separator is not None or pattern == _SURE)
            if options:
                several[question] = pattern, options
                break
    if not several:
        return sheet
    guessed = [question for question, (pattern, _) in several.items() if pattern != _SURE]
    shared = {question: _shared_options(one, several) for question, (_, one) in several.items()}
    for question, cells in words.items():
        alike = [
            q for q in several if cells and question not in several and {*cells} <= {*shared[q]}
        ]
        if alike:
            several[question], shared[question] = several[alike[0]], shared[alike[0]]
    made = dict(columns)
    asked: dict[str, Asked] = {}
    split: dict[str, str] = {}
    for name, one in sheet.asked.items():
        if name not in columns or one.question not in several or one.typed or one.option:
            asked[name] = one
            continue
        pattern, _ = several[one.question]
        chosen = [set(_parts(cell, pattern)) for cell in made.pop(name).cast(pl.String)]
        for option_name in shared[one.question]:
            column = f"{name}: {option_name}"
            yes = [None if not own else "1" if option_name in own else "0" for own in chosen]
            made[column] = pl.Series(column, yes, dtype=pl.String)
            split[column] = name
            asked[column] = Asked(
                one.question, option_name, one.loop or one.row, one.text, option=True
            )
    steps = sheet.steps
    if guessed and separator is None:
        steps += (guess(StepKind.SETS_IN_CELLS, columns=guessed),)
    read = replace(sheet.read, columns=made)
    return replace(sheet, read=read, asked=asked, steps=steps, split=split)


def _options(cells: Collection[str], pattern: str, *, sure: bool) -> list[str]:
    """List the options that cells hold several of; none where they may be texts with commas.

    Options stand behind others in one cell and alone or first in another; halves of a text, or of
    a number, do not.
    """
    parts = [_parts(cell, pattern) for cell in cells]
    options = list(dict.fromkeys(one for own in parts for one in own))
    short = len(options) <= _MOST_CHOICES and all(len(one) <= _LONGEST_CHOICE for one in options)
    if not short or all(len(own) < 2 for own in parts):
        return []
    first, later = {own[0] for own in parts if own}, {one for own in parts for one in own[1:]}
    once = all(len(set(own)) == len(own) for own in parts)
    return options if sure or (once and 2 * len(first & later) >= len(later)) else []


def _shared_options(
    options: Sequence[str], several: Mapping[str, tuple[str, list[str]]]
) -> list[str]:
    """Give the options of a question, and those of others that share at least half of them."""
    own = set(options)
    near = [o for _, o in several.values() if 2 * len(own & {*o}) >= min(len(own), len(o))]
    every = list(dict.fromkeys(one for other in near for one in other))
    return sorted(every, key=float) if all(map(is_number, every)) else every


def _parts(cell: str | None, pattern: str) -> list[str]:
    return [part.strip() for part in re.split(pattern, cell or "") if part.strip()]


def row_names(texts: Sequence[str]) -> list[str]:
    """Take what questions have in common from their texts: ``stem - row`` becomes ``row``.

    Examples
    --------
    >>> row_names(["How much? - Joy", "How much? - Fear - of all"])
    ['Joy', 'Fear - of all']
    """
    first, *others = texts
    if not others:
        return [first.rpartition(" - ")[2]]
    same = 0
    while all(one[: same + 1] == first[: same + 1] for one in others) and same < len(first):
        same += 1
    cut = first[:same].rfind(" - ") + 3
    return [one[cut:] for one in texts] if cut > 2 else list(texts)


def differing_words(texts: Sequence[str]) -> list[str] | None:
    """Give the words in which sentences differ, where they differ in one place only.

    Examples
    --------
    >>> differing_words(["How happy is Anna?", "How happy is Bo?"])
    ['Anna', 'Bo']
    """
    words = [text.split() for text in texts]
    shortest = min(map(len, words), default=0)
    start = 0
    while start < shortest and len({one[start] for one in words}) == 1:
        start += 1
    end = 0
    while end < shortest - start and len({one[-1 - end] for one in words}) == 1:
        end += 1
    names = [" ".join(one[start : len(one) - end]).strip(_AROUND) for one in words]
    return names if all(names) and len(set(names)) == len(names) else None


def crossed_names(texts: Sequence[str]) -> list[tuple[str, str]] | None:
    """Tell what is shown from what is asked of it, where sentences name both.

    Sentences are compared in their parts with `` - `` between them, else word by word. What varies
    is a stimulus and an emotion, or a dimension, each pair in one sentence; what else varies does
    so with one of the two.

    Examples
    --------
    >>> crossed_names(["How much joy is in a?", "How much fear is in a?", "How much joy is in b?"])
    [('a', 'joy'), ('a', 'fear'), ('b', 'joy')]
    """
    for between, split in (
        (" - ", [t.split(" - ") for t in texts]),
        (" ", [text.split() for text in texts]),
    ):
        if len(texts) < 3 or len({len(one) for one in split}) > 1 or len(split[0]) < 2:
            continue
        runs: list[list[int]] = []
        for at in range(len(split[0])):
            if len({one[at] for one in split}) > 1:
                if between == " " and runs and runs[-1][-1] == at - 1:
                    runs[-1].append(at)
                else:
                    runs.append([at])
        varied = [
            [between.join(one[at] for at in run).strip(_AROUND) for one in split] for run in runs
        ]
        labels = [one for one in varied if _are_labels({*one})]
        pairs = (
            list(zip(shown, asked, strict=True))
            for asked in labels
            for shown in varied
            if shown not in labels and all(_told_by(one, shown, asked) for one in varied)
        )
        found = next((one for one in pairs if len({*one}) == len(one)), None)
        if found is not None:
            return found
    return None


def _told_by(names: Sequence[str], *others: Sequence[str]) -> bool:
    """Whether names vary with those of one of others."""
    return any(len({*zip(one, names, strict=True)}) == len({*one}) for one in others)


def _stimuli_in_words(parts: Sequence[Asked], *, files: bool = False) -> dict[str, str]:
    """Name questions by what differs in their words; of single ones, only where it is a file."""
    texts = {one.question: one.text for one in parts}
    names = (
        differing_words(list(texts.values())) if len(texts) > 1 and all(texts.values()) else None
    )
    if names is None:
        return {}
    media = all(map(is_media, names))
    shared = min(
        len(text.split()) - len(name.split())
        for text, name in zip(texts.values(), names, strict=True)
    )
    lettered = all(any(map(str.isalpha, name)) for name in names)
    plain = media or (lettered and shared >= _SENTENCE and not files)
    return dict(zip(texts, names, strict=True)) if plain else {}


def _in_words(one: Asked) -> str:
    return f"{one.text} - {one.row}" if one.row else one.text


def _is_personal(one: Asked) -> bool:
    name = one.question.strip().casefold()
    return name in PERSONAL or bool(_ABOUT_PERSON.search(one.text or one.question))


def _kind(columns: Iterable[pl.Series]) -> str:
    """Tell numbers from words to choose from, and these from free text."""
    given = pl.concat([_answers_of(column) for column in columns])
    distinct = given.unique().to_list()
    if all(map(is_number, distinct)):
        return "number"
    few = len(distinct) <= _FEW_CHOICES or 2 * len(distinct) <= len(given)
    short = all(len(word) <= _LONGEST_CHOICE for word in distinct)
    return "word" if few and short and len(distinct) <= _MOST_CHOICES else "text"


def _answers_of(column: pl.Series) -> pl.Series:
    """Give the words that answer something."""
    given = words_of(column)
    none = [word for word in given.unique() if is_no_answer(word)]
    return given.filter(~given.is_in(none)) if none else given


def _alike(columns: Mapping[str, pl.Series]) -> set[str]:
    """Name the columns that share a choice with another."""
    values = {name: set(_answers_of(column).to_list()) for name, column in columns.items()}
    return {
        name
        for name, own in values.items()
        if any(own & other for one, other in values.items() if one != name)
    }


def _repeated_rows(asked: Mapping[str, Asked]) -> list[str]:
    """Name the columns of matrices; options count where two questions have the same."""
    options: dict[str, set[str | None]] = {}
    for one in asked.values():
        if one.option:
            options.setdefault(one.question, set()).add(one.row)
    same = Counter(map(frozenset, options.values()))
    single = {question for question, rows in options.items() if same[frozenset(rows)] == 1}
    return [
        name for name, one in asked.items() if one.row is not None and one.question not in single
    ]


def _without_lone_rows(asked: dict[str, Asked]) -> dict[str, Asked]:
    """Take matrices, as of sliders, that have one row each for single questions."""
    parts = [one for one in asked.values() if one.row is not None and one.loop is None]
    rows = Counter(one.question for one in parts)
    if not rows or max(rows.values()) > 1 or _rows_are_labels(parts):
        return asked
    return {
        name: replace(one, row=None, text=one.text or one.row or "") if one in parts else one
        for name, one in asked.items()
    }


def _rows_are_labels(parts: Sequence[Asked]) -> bool:
    """Whether the rows of matrices are what is rated of each question."""
    rows = {one.row for one in parts if one.row}
    if any(one.option for one in parts) or _are_labels(rows):
        return True
    # Questions that count what they show are alike, too.
    stems = {one.question: _DIGITS.sub("", one.text) for one in parts}
    return len(stems) > 1 and len(set(stems.values())) == 1 and all(stems.values())


def _are_labels(names: Collection[str]) -> bool:
    """Whether names are mostly those of emotions, or one is that of a dimension."""
    if any(one.casefold() in _DIMENSIONS for one in names):
        return True
    known = [load_taxonomy(name) for name in list_taxonomies()]
    n_known = sum(
        any(one in taxonomy for taxonomy in known) or "emotion" in meant(one) for one in names
    )
    return 2 * n_known >= len(names)


def _cells(columns: Mapping[str, pl.Series], asked: Mapping[str, Asked]) -> dict[str, pl.Series]:
    """Give the answers as text; of options, yes and no where the question was answered at all."""
    cells = {name: columns[name].cast(pl.String) for name in asked}
    questions: dict[tuple[str, str | None], list[str]] = {}
    for name, one in asked.items():
        if one.option:
            questions.setdefault((one.question, one.loop), []).append(name)
    for group in questions.values():
        chosen = {}
        for name in group:
            text = cells[name].str.strip_chars().fill_null("")
            chosen[name] = pl.DataFrame(
                {
                    "answered": text != "",
                    "yes": (text != "") & ~text.str.to_lowercase().is_in(list(_NOT_CHOSEN)),
                }
            )
        answered = pl.DataFrame(
            [one["answered"].alias(name) for name, one in chosen.items()]
        ).select(pl.any_horizontal(pl.all()))
        for name in group:
            yes = chosen[name]["yes"].cast(pl.Int8).cast(pl.String)
            cells[name] = yes.set(~answered.to_series(), None)
    return cells


def _repeated(name: str, names: Sequence[str], height: int) -> pl.Series:
    order = list(dict.fromkeys(names))
    codes = pl.Series([order.index(one) for one in names], dtype=pl.UInt32)
    at = pl.Series(range(len(names)), dtype=pl.UInt32).repeat_by(height).explode()
    return pl.Series(name, order, dtype=pl.Enum(order)).gather(codes.gather(at))


def _described(column: pl.Series) -> pl.Series:
    """Give a column about the person its type; cells without anything in them are gaps."""
    if column.dtype == pl.String:
        column = column.set(column.str.strip_chars() == "", None)
    return typed_column(column)


def _one_each(raters: pl.DataFrame) -> pl.DataFrame:
    """Keep the first thing that is said of each person in any of the sheets."""
    named = raters.filter(pl.col("rater").is_not_null() & (pl.col("rater") != ""))
    return named.group_by("rater", maintain_order=True).agg(pl.all().drop_nulls().first())


def _said(
    about: Mapping[str, tuple[str, str | None]],
    raters: Sequence[str],
    unused: Mapping[str, str],
    stimulus: str | None,
) -> History:
    stimuli, labels = ({pair[at] for pair in about.values()} for at in (0, 1))
    steps = [
        step(
            StepKind.SURVEY_COLUMNS,
            n=len(about),
            n_stimuli=len(stimuli),
            n_labels=0 if labels == {None} else len(labels),
            stimulus=stimulus or "",
        )
    ]
    if raters:
        steps.append(step(StepKind.RATER_COLUMNS, columns=raters))
    if unused:
        why = Counter(unused.values())
        steps.append(step(StepKind.UNUSED_COLUMNS, reasons=why.keys(), counts=why.values()))
    return tuple(steps)
