"""What was understood of a file of ratings, column by column, and that as a mapping to edit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Any, TypeGuard

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choices
from affectlab.core.result import Result
from affectlab.core.tables import Column, Table
from affectlab.core.words import option, plural, shown
from affectlab.ratings.files import read_columns
from affectlab.ratings.formats import Layout
from affectlab.ratings.formats.table import (
    Evidence,
    LongLayout,
    PlainTable,
    WideLayout,
    with_answers_spread,
)
from affectlab.ratings.mapping import short_scale, to_toml
from affectlab.ratings.reading.alternatives import Way, command_of, complete, lines_of, tried
from affectlab.ratings.reading.prepared import Prepared, prepared
from affectlab.ratings.reading.read import read_ratings
from affectlab.ratings.scales import GuessedColumnsWarning, GuessedScalesWarning, by_scale
from affectlab.ratings.table import Ratings

_ROLES = {
    "stimulus": "the stimulus",
    "rater": "the rater",
    "label": "the label",
    "value": "the answer",
    "text": "a text",
    "session": "the session",
    "trial": "the trial",
    "trial_kind": "the kind of trial",
    "outcome": "the outcome",
    "rt_ms": "the response time",
    "at": "the time",
    "answers_as": "as whom a model answers",
}
_EXAMPLES = 3
_LONGEST_EXAMPLE = 16
_LONGEST_QUESTION = 60
_UNKNOWN = "not known"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatingsDescription(Result):
    """What each column of a file was taken for, the scales, and what was not used."""

    mapping: str
    """The same as TOML, to be edited and given as ``mapping`` to what reads ratings."""
    problem: str | None = None
    """Why the file cannot be read as it is; None: it can."""
    commands: tuple[str, ...] = ()
    """Lines with the commands, or calls, to go on with, and what each reading holds."""

    def __str__(self) -> str:
        # Commands stay on one line, to be copied.
        return "\n".join((super().__str__(), *self.commands))

    def save(self, path: str | Path) -> Path:
        """Write the mapping; beside the file, with ``.mapping.toml`` added, it is found by itself.

        Raises
        ------
        InputError
            When the file cannot be written.
        """
        path = Path(path)
        try:
            path.write_text(self.mapping, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
        return path


def describe_ratings(source: Any, **options: Any) -> RatingsDescription:
    """Say what :func:`affectlab.ratings.read_ratings` makes of a file, before it is used.

    Parameters
    ----------
    source, options
        As of :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    RatingsDescription
        Its table ``columns`` has a row for each column of the file: what it is taken for, why,
        examples, and the question where the file has its words; its table ``scales`` the scale of
        each label; its table ``not_used`` the rows and cells that were set aside; its table
        ``readings`` other readings that its shape suggests, were tried and use every row. Its
        ``commands`` read the file, and its ``mapping`` says it all as TOML.

    Raises
    ------
    InputError
        When the source cannot be opened, or holds no table.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("picture,annotator,emotion\\n1,ann,joy\\n1,bob,fear\\n")
    >>> described = describe_ratings(file)
    >>> described.to_frame().select("column", "taken_for").rows()
    [('picture', 'the stimulus'), ('annotator', 'the rater'), ('emotion', 'the answer')]
    >>> print(described.mapping.split("[columns]")[1].strip())
    stimulus = "picture"
    rater = "annotator"
    value = "emotion"
    """
    check_choices("option", options, inspect.signature(read_ratings).parameters, "describe_ratings")
    given = {name: value for name, value in options.items() if value is not None}
    with prepared(source, given) as made, warnings.catch_warnings():
        # What was guessed stands in the notes.
        warnings.simplefilter("ignore", GuessedColumnsWarning)
        warnings.simplefilter("ignore", GuessedScalesWarning)
        whole = complete(made, given)
        made, ratings, problem = whole.made, whole.ratings, whole.problem
        layout = Layout()
        with suppress(InputError):
            layout = made.format.describe(made.head, made.options)
        if whole.taken is not None:
            # The options of a rule are nobody's words.
            why = dict.fromkeys(layout.why, f"guessed: {whole.taken.rule}")
            layout = replace(layout, why=why)
        ways = whole.ways or (() if problem else tried(made, given, readable=True))
        found = _described(made, layout, ratings, problem, given)
        command = "" if problem else command_of(made, given)
        own = ("To go on:", f"  {command}") if command else ()
        commands = (*own, *lines_of(ways, readable=problem is None))
        return replace(found, tables=(*found.tables, _readings(ways)), commands=commands)


def _described(
    made: Prepared,
    layout: Layout,
    ratings: Ratings | None,
    problem: str | None,
    given: Mapping[str, Any],
) -> RatingsDescription:
    columns = _columns(made)
    plain = {name: column for name, column in columns.items() if column is not None}
    by_shape = ratings is None and isinstance(made.format, PlainTable)
    evidence = Evidence(plain) if by_shape and plain else None
    rows = [
        (name, *_taken(name, layout, ratings, made, evidence), _examples(column))
        for name, column in columns.items()
    ]
    names: tuple[str, ...] = ("column", "taken_for", "why", "examples")
    frame = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
    if layout.questions:
        names = (*names, "question")
        asked = [shown(layout.questions.get(name, ""), _LONGEST_QUESTION) for name in columns]
        frame = frame.with_columns(pl.Series("question", asked, dtype=pl.String))
    titles = tuple(name.replace("_", " ") for name in names)
    tables = [
        Table("columns", "What each column is taken for.", frame, _text_columns(names, titles))
    ]
    sentences = [f"{made.name} is read as {made.format.name}: {made.format.title}."]
    notes: tuple[str, ...] = ()
    if ratings is not None:
        sentences.append(
            f"It holds {plural(ratings.n_ratings, 'answer')} of "
            f"{plural(ratings.n_raters, 'rater')} "
            f"about {plural(ratings.n_stimuli, 'stimulus', 'stimuli')}."
        )
        tables += [_scales(ratings), _not_used(ratings)]
        notes = ratings.warnings
    else:
        sentences.append(f"As it stands it cannot be read: {problem}")
    return RatingsDescription(
        tuple(tables),
        tuple(sentences),
        notes=notes,
        mapping=_mapping(made, layout, ratings, given),
        problem=problem,
    )


def _readings(ways: Sequence[Way]) -> Table:
    """List other readings; they are only written, as a command has to stay on one line."""
    rows = [(way.holds, way.rule, way.command) for way in ways]
    names = ("holds", "rule", "command")
    frame = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
    columns = _text_columns(names, names)
    return Table("readings", "Other readings that use every row.", frame, columns, limit=0)


def _columns(made: Prepared) -> dict[str, pl.Series | None]:
    """Give the columns of the source where it is a table; else their names alone."""
    try:
        read = read_columns(made.head, on_bad="set_aside")
        if isinstance(made.format, PlainTable):
            read = with_answers_spread(read, made.options)
        return dict(read.columns)
    except InputError:
        return dict.fromkeys(made.head.columns)


def _shape(evidence: Evidence, name: str) -> str:
    """Say what is known of a column by its shape alone."""
    column = evidence.column(name)
    if column.kind == "none":
        return "it is empty"
    what = f"{column.distinct:,} {column.kind}" if column.distinct > 1 else "the same in all rows"
    if column.kind == "numbers" and column.distinct > 1:
        numbers = evidence.numbers(name)
        what += f" from {np.nanmin(numbers):g} to {np.nanmax(numbers):g}"
    owner = next((one for one in evidence.keys if evidence.determines(one, name)), None)
    if column.distinct == column.filled > 1:
        return f"{what}, another in each row"
    return f"{what}, one for each '{owner}'" if owner not in (None, name) else what


def _taken(
    name: str,
    layout: Layout,
    ratings: Ratings | None,
    made: Prepared,
    evidence: Evidence | None,
) -> tuple[str, str]:
    """Say what a column is taken for, and why."""
    published = f"the format {made.format.name}"
    role = next((role for role, column in layout.roles.items() if column == name), None)
    if role is not None:
        kind = _ROLES.get(role, role)
        if role == "text" and "value" not in layout.roles:
            kind = "the answer, in words"
        elif role == "text" and ratings is not None and "text" in ratings.stimuli.columns:
            return "the text that was rated", "it has one value for each stimulus"
        return kind, layout.why.get(name, published)
    if name in layout.labels:
        across = layout.across if isinstance(layout, WideLayout) else "label"
        return f"ratings of one {across}", layout.why.get(name, published)
    if name in layout.unused:
        return "not used", layout.unused[name]
    if name in made.options.unused:
        return "not used", "you say so"
    if not name.strip():
        return "tells rows apart", "it has no name"
    if ratings is None:
        return _UNKNOWN, "" if evidence is None else _shape(evidence, name)
    for table, kind in ((ratings.raters, "the rater"), (ratings.stimuli, "the stimulus")):
        if name in table.columns:
            return f"describes {kind}", "it has one value for each"
    if name in ratings.coded_frame.columns:
        return "describes the answer", "it differs between answers"
    for names, kind in (
        (layout.stimuli, "describes the stimulus"),
        (layout.raters, "describes the rater"),
        (layout.others, "needed to understand an answer"),
    ):
        if name in names:
            return kind, layout.why.get(name, published)
    return "not used", "it is no part of the format"


def _examples(column: pl.Series | None) -> str:
    if column is None or column.dtype == pl.Object:
        return ""
    text = column.drop_nulls().unique(maintain_order=True).head(_EXAMPLES)
    return ", ".join(shown(value, _LONGEST_EXAMPLE) for value in text.to_list())


def _text_columns(names: tuple[str, ...], titles: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(
        Column(name, title, "name", is_key=not place)
        for place, (name, title) in enumerate(zip(names, titles, strict=True))
    )


def _scales(ratings: Ratings) -> Table:
    rows = [(", ".join(names), scale) for names, scale in by_scale(ratings.scales)]
    frame = pl.DataFrame(rows, {"labels": pl.String, "scale": pl.String}, orient="row")
    titles = ("labels", "scale")
    return Table("scales", "Scale of each label.", frame, _text_columns(titles, titles))


def _not_used(ratings: Ratings) -> Table:
    rows = [
        (
            plural(part.count, part.unit, "stimuli" if part.unit == "stimulus" else ""),
            part.reason,
            ", ".join(part.places[:_EXAMPLES]),
        )
        for part in ratings.set_aside
    ] or [("nothing", "", "")]
    names = ("what", "reason", "first")
    frame = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
    return Table("not_used", "What was not used.", frame, _text_columns(names, names))


# The mapping: all that the reading needs to be told, whoever decided it.


def _mapping(
    made: Prepared, layout: Layout, ratings: Ratings | None, given: Mapping[str, Any]
) -> str:
    options = made.options
    said: dict[str, Any] = {"format": str(given.get("format") or made.format.name)}
    comments = {}
    for name in ("encoding", "delimiter", "rater", "separator"):
        if given.get(name) is not None:
            said[name] = str(given[name])
    if made.absent is not None:
        said["absent"] = made.absent
    if isinstance(made.format, PlainTable):
        if _is_chosen(layout):
            said["separator"] = layout.separator
            comments["separator"] = "What parts several chosen categories in a cell."
        if isinstance(layout, WideLayout):
            said["wide"] = layout.wide
            said["attributes"] = list(layout.attributes)
            comments["wide"] = (
                "What there is a column for each of. All columns hold ratings that are not\n"
                + fill(f"named below; so do {shown(', '.join(layout.labels), 200)}.", 78)
            )
            comments["attributes"] = "Columns that describe the rater or the stimulus."
        said["unused"] = list(options.unused)
        comments["unused"] = "Columns to leave out."
        said["missing_codes"] = list(options.missing_codes)
        comments["missing_codes"] = (
            'What stands for a missing answer, beside empty cells, NA and the like: ["-99"].'
        )
        roles = layout.roles or (options.columns or {"stimulus": "", "rater": "", "value": ""})
        # The one rater whom the user names stands in no column.
        roles = {r: name for r, name in roles.items() if r != "rater" or options.rater is None}
        if ratings is not None and "text" in ratings.stimuli.columns:
            # Said to be a role, it would be what raters wrote.
            roles.pop("text", None)
        said["columns"] = roles
        comments["columns"] = fill(f"Which column is what: {', '.join(_ROLES)}.", 78)
    if ratings is not None and not _is_chosen(layout):
        said["scale"] = _scale_of(ratings)
        comments["scale"] = "The scale of each label; write down what was asked."
        if said["scale"] is None:
            del said["scale"]
    name = made.name.replace("\n", " ")
    head = (
        f"What the columns of {Path(name).name if '://' not in name else name} hold, as affectlab "
        f"understands them.\nChange what is wrong, and give this file with "
        f"{option('mapping', 'FILE')}, or keep it\nbeside the data under their name with "
        ".mapping.toml added."
    )
    return to_toml(said, comments, head)


def _is_chosen(layout: Layout) -> TypeGuard[LongLayout | WideLayout]:
    """Whether answers become those to labels, of which the file says nothing."""
    return isinstance(layout, LongLayout | WideLayout) and layout.separator is not None


def _scale_of(ratings: Ratings) -> str | dict[str, str] | None:
    """Give scales in their short form where they have one that is read back."""
    written = {name: short_scale(scale) for name, scale in ratings.scales.items()}
    known = {name: one for name, one in written.items() if one is not None}
    if len(set(written.values())) == 1 or not ratings.has_labels:
        return next(iter(written.values()))
    return known or None
