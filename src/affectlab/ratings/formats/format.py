"""What a kind of file has to say of itself, and how one is found by its name or by its content.

A format is a class in a file of its own under :func:`file_format`; a name, a test of the beginning
of a file, and what its columns mean are most of it. Reading is one street for all of them: open,
recognise, describe, columns, check, table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache
from typing import ClassVar, TypeVar

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import Classes, Described, described
from affectlab.core.words import option
from affectlab.ratings.attributes import combine_tables, identifying, overlay, split_extras
from affectlab.ratings.build import check_columns
from affectlab.ratings.files import (
    Columns,
    Locate,
    OnBad,
    Peek,
    PlacedError,
    read_columns,
    typed_column,
)
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.options import Absent, ReadOptions, Wide
from affectlab.ratings.response_words import read_words
from affectlab.ratings.scales import DeclaredScales, ScaleLike
from affectlab.ratings.schema import SetAside, StepKind, Unit
from affectlab.ratings.steps import History, step
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy


class Sure(IntEnum):
    """How sure a format is that a file is one of its own; the surest reads it."""

    NO = 0
    POSSIBLE = 1
    """It can be read so, as any table can."""
    KIND = 2
    """It is a file of its kind, such as a workbook, with any table in it."""
    LAYOUT = 3
    """It has the published layout."""
    STATED = 4
    """The file says so itself."""

    @classmethod
    def if_(cls, fits: object) -> Sure:
        """Give :attr:`LAYOUT` where something holds, else :attr:`NO`."""
        return cls.LAYOUT if fits else cls.NO


@dataclass(frozen=True)
class Layout:
    """What each column of a file is taken for, before anything is read."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """Column of the file by role: stimulus, rater, label, value, text, …"""
    labels: tuple[str, ...] = ()
    """Columns that hold the answers to one label each."""
    stimuli: tuple[str, ...] = ()
    """Columns that describe the stimulus."""
    raters: tuple[str, ...] = ()
    """Columns that describe the rater."""
    others: tuple[str, ...] = ()
    """Columns that are needed to understand an answer."""
    unused: Mapping[str, str] = field(default_factory=dict)
    """Columns that hold no answers, and why."""
    why: Mapping[str, str] = field(default_factory=dict)
    """Why a column was taken for what it is, where that is not published."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """What columns ask, in the words of the file, where it says so."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns without which a file has another layout."""
        return (*self.roles.values(), *self.others, *self.labels)

    def renamed(self, columns: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
        """Give columns the names of their roles; what has none stays as it is."""
        role_of = {column: role for role, column in self.roles.items()}
        return {role_of.get(name, name): column for name, column in columns.items()}

    def check(self, head: Peek, header: Sequence[str] | None = None, apart: str = "") -> None:
        """Say which column is missing, and what stands in the file.

        Where the format parts the columns of the first line itself, `header` are these, and
        `apart` says what stands between them.

        Raises
        ------
        InputError
            When a column that is needed is missing.
        """
        columns = head.columns if header is None else tuple(header)
        missing = next((name for name in self.needed if name not in columns), None)
        if missing is None:
            return
        told = header is not None or columns == head.header
        place = f"{head.path}, line 1" if told else str(head.path)
        first = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
        more = f" and the {len(self.labels)} labels" if self.labels else ""
        expected = ", ".join((*self.roles.values(), *self.others)) + more
        between = f", separated by {apart}" if apart else ""
        raise InputError(
            f"{place}: column '{missing}' is missing; expected {expected}{between}, found: {first}"
        )


def column_names(head: Peek) -> tuple[str, ...]:
    """Name the columns of a table, also of one of objects; none of what cannot be read as one."""
    try:
        return tuple(read_columns(head, on_bad="set_aside").columns)
    except InputError:
        return head.columns


_TEXT = ("stimulus", "rater", "label", "value", "text", "session", "at", "trial_kind", "outcome")
"""Columns that stay as they are read: names, free text, and what has a check of its own."""


@dataclass
class Contents:
    """Columns under the names of a table of ratings, and what the format knows beside them."""

    columns: Mapping[str, pl.Series]
    locate: Locate
    """Says where a row stands."""
    scale: ScaleLike | None = None
    taxonomy: str | Taxonomy | None = None
    """Scale and taxonomy that hold where the user said nothing."""
    raters: pl.DataFrame | None = None
    stimuli: pl.DataFrame | None = None
    """What is known of raters and stimuli; joined with what the user says of them."""
    set_aside: tuple[SetAside, ...] = ()
    """What has been set aside already."""
    history: History = ()
    """Steps that changed answers."""
    typed: bool = False
    """Whether columns have the types that the file says. False: it says none, so that a column of
    text that holds numbers only becomes one of numbers, unless it holds names or free text."""
    split: bool = True
    """Whether columns that have one value per rater or stimulus become attributes. False: `raters`
    and `stimuli` hold all attributes, and the columns are those of single answers."""
    unit: Unit = "row"
    """What each answer was in the file: a row of its own, or a cell."""

    def assemble(self, options: ReadOptions, source: str) -> Ratings:
        """Check the columns and make the table; what the user said goes first."""
        columns = self.columns
        if not self.typed:
            columns = {
                name: column if name in _TEXT else typed_column(column)
                for name, column in columns.items()
            }
        taxonomy = self.taxonomy
        if isinstance(taxonomy, str):
            taxonomy = load_taxonomy(taxonomy)
        known = options.scale.over(DeclaredScales.parse(self.scale))
        columns, known, worded = read_words(columns, known)
        try:
            checked = check_columns(
                columns,
                scale=known,
                taxonomy=options.taxonomy or taxonomy,
                on_bad=options.on_bad,
                locate=self.locate,
                empty=f"{source} has a header but no rows; expected at least one answer",
                unit=self.unit,
            )
            body, rows = checked.body, checked.body.extras
            of_rater = of_stimulus = None
            if self.split:
                rows, of_rater, of_stimulus = split_extras(rows, body.rater, body.stimulus)
            tables, history = [], (*self.history, *worded)
            about = [one for one in (self.raters, of_rater) if one is not None]
            who = identifying(dict.fromkeys([*rows, *(n for one in about for n in one.columns)]))
            if who:
                rows = {name: column for name, column in rows.items() if name not in who}
                about = [one.drop(who, strict=False) for one in about]
                history = (*history, step(StepKind.PERSONAL_LEFT_OUT, columns=who))
            checked = replace(checked, body=replace(body, extras=rows))
            for key, own, given in (
                ("rater", about, options.raters),
                ("stimulus", [self.stimuli, of_stimulus], options.stimuli),
            ):
                table, steps = overlay(key, combine_tables(key, own), given)
                tables.append(table)
                history += steps
            return Ratings._from_checked(
                replace(checked, set_aside=(*self.set_aside, *checked.set_aside)),
                *tables,
                source=source,
                history=history,
                split=False,
            )
        except PlacedError:
            raise
        except InputError as error:
            raise InputError(f"{source}: {error}") from None

    def check(self, ratings: Ratings) -> None:
        """Refuse a table that shows that the columns were not understood."""


@dataclass(frozen=True)
class Format(Described):
    """A kind of file with ratings: how it is recognised, what its columns mean, how it is read.

    Subclasses stand under :func:`file_format`. Their fields are settings, which users write behind
    the name: ``read_ratings(path, format="emoint,cut=0.5")``.
    """

    kind: ClassVar[str] = "format"
    absent: ClassVar[Absent] = "missing"
    """What a label that a rater of a stimulus left out means: a rating of 0, or nothing known."""
    wide: ClassVar[tuple[Wide, ...]] = ()
    """What a user may say with ``wide`` of a file that is recognised; else it is a plain table."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Which of the options that say what columns are may be given with it."""
    roles: ClassVar[tuple[str, ...]] = ()
    """Roles whose column a user may name (``columns``) of a file that is recognised; who names
    another says that it is a plain table."""
    layout: ClassVar[Layout] = Layout()
    """What its columns are, as published."""
    tells_kinds: ClassVar[bool] = False
    """Whether its files say which raters are people and which are models."""
    anonymous: ClassVar[bool] = False
    """Whether its files name no rater, so that the user may, and a model is called as its file."""
    scale: ClassVar[ScaleLike | None] = None
    """Scale of the answers, where the published one is known."""
    taxonomy: ClassVar[str | None] = None
    """Name of the taxonomy of the labels."""

    def recognise(self, head: Peek) -> Sure:
        """Say from the beginning of a file how sure it is that the file has this format.

        Must be strict: a file that two formats claim is a defect.
        """
        needed = set(self.layout.needed)
        return Sure.if_(needed and needed <= set(head.columns))

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Say which part of a file is read, and how, where that is for the format to say."""
        return head

    def columns(self, head: Peek, on_bad: OnBad) -> Columns:
        """Give a file as the columns under which it lies below others of its folder."""
        return read_columns(head, on_bad=on_bad)

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say what each column of a file is taken for, before anything is read."""
        return self.layout

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Read the columns of a file; entries that cannot be used go to `rejects`."""
        layout = self.describe(head, options)
        layout.check(head)
        read = read_columns(head, names=tuple(layout.roles.values()), on_bad=options.on_bad)
        return Contents(
            layout.renamed(read.columns),
            read.locate,
            scale=self.scale,
            taxonomy=self.taxonomy,
            set_aside=read.set_aside,
        )

    def read(self, head: Peek, options: ReadOptions) -> Ratings:
        """Read a file from its description to the checked table."""
        unknown = [role for role in options.columns or {} if role not in self.roles]
        if unknown and self.roles:
            raise unknown_name("role", unknown[0], self.roles, str(head.path))
        for given in ("columns", "wide", "attributes", "unused", "missing_codes", "separator"):
            value = getattr(options, given)
            said = value is not None and value != ()
            taken = self.roles if given == "columns" else given in self.takes
            if said and not taken and value not in self.wide:
                raise InputError(
                    f"{head.path}: {option(given)} cannot be given with format {self.name!r}, "
                    "which says where everything stands; leave it out, or read as a table "
                    f"({option('format', 'table')})"
                )
        rejects = Rejects(head.path, options.on_bad)
        contents = self.contents(head, options, rejects)
        contents.set_aside = (*contents.set_aside, *rejects.set_aside)
        contents.history = (*head.steps, *rejects.steps, *contents.history)
        ratings = contents.assemble(options, str(head.path))
        contents.check(ratings)
        return ratings


AnyFormat = TypeVar("AnyFormat", bound=Format)


def file_format(
    name: str, title: str, *, absent: Absent = "missing", wide: tuple[Wide, ...] = ()
) -> Callable[[type[AnyFormat]], type[AnyFormat]]:
    """Make a class the format of a kind of file.

    A class in a module of ``affectlab.ratings.formats`` is known by that alone; one of another
    package by an entry point of the group ``affectlab.formats``.

    Parameters
    ----------
    name
        Short name, for ``read_ratings(…, format=name)``.
    title
        What it is, in a few words.
    absent
        What a label that a rater of a stimulus left out means: ``"zero"``, a rating of 0.
    wide
        What a user may say with ``wide`` of a file that is recognised.

    Returns
    -------
    A decorator of subclasses of :class:`Format`; annotated fields of the class are settings.

    Examples
    --------
    >>> @file_format("moods", "Moods of a day (CSV: day, person, mood)")
    ... class Moods(Format):
    ...     layout = Layout({"stimulus": "day", "rater": "person", "value": "mood"})
    ...     scale = "1-5"
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "moods.csv"
    >>> _ = file.write_text("day,person,mood\\nMonday,ada,2\\n")
    >>> read_ratings(file, format=Moods()).value.tolist()
    [2.0]
    """

    return described(name=name, title=title, absent=absent, wide=wide)


_FORMATS: Classes[Format] = Classes(
    package="affectlab.ratings.formats",
    kind="format",
    group="affectlab.formats",
    accept=Format,
    expected="a class that @file_format was put on",
    from_modules=False,
    spec=True,
)


@cache
def list_formats() -> tuple[Format, ...]:
    """Give all known formats: those of the papers, and those of installed plugins.

    Warns
    -----
    BrokenPlugWarning
        Of what another package adds and cannot be used; it is left out.

    Examples
    --------
    >>> "goemotions-raw" in [format.name for format in list_formats()]
    True
    """
    return tuple(_FORMATS.load_all(skip_broken=True).values())


def load_format(given: str | Format) -> Format:
    """Find a format by its name, with its settings behind it; one that is ready stays as it is.

    Raises
    ------
    InputError
        When there is none of that name, or a setting is not known.
    """
    if not isinstance(given, str):
        return _FORMATS.load(given)
    if given.partition(",")[0] not in _FORMATS.names():
        # A package may give a format another name than that of its entry point.
        ready = next((one for one in list_formats() if one.name == given), None)
        if ready is not None:
            return ready
    return _FORMATS.make(given, {})


def find_format(head: Peek, wide: Wide | None = None) -> Format:
    """Find the format that is surest that a file is one of its own."""
    fits = (entry for entry in list_formats() if wide is None or wide in entry.wide)
    return max(fits, key=lambda entry: entry.recognise(head))
