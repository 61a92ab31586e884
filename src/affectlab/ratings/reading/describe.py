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
from affectlab.core.words import plural, shown
from affectlab.ratings import wording
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
from affectlab.ratings.wording import TAKEN, WHY

_EXAMPLES = 3
_LONGEST_EXAMPLE = 16
_LONGEST_QUESTION = 60


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatingsDescription(Result):
    """What each column of a file was taken for, the scales, and what was not used."""

    mapping: str
    """The same as TOML, to be edited and given as ``mapping`` to what reads ratings."""
    problem: str | None = None
    """Why the file cannot be read as it is; None: it can."""
    ratings: Ratings | None = None
    """What was read; None where the file cannot be read as it is."""
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
    tables = [Table("columns", wording.CAPTIONS["columns"], frame, _text_columns(names, titles))]
    sentences = [wording.read_as(made.name, made.format.name, made.format.title)]
    notes: tuple[str, ...] = ()
    if ratings is not None:
        sentences.append(wording.holds(ratings.n_ratings, ratings.n_raters, ratings.n_stimuli))
        tables += [_scales(ratings), _not_used(ratings)]
        notes = ratings.warnings
    else:
        sentences.append(wording.not_readable(problem))
    return RatingsDescription(
        tuple(tables),
        tuple(sentences),
        notes=notes,
        mapping=_mapping(made, layout, ratings, given),
        problem=problem,
        ratings=ratings,
    )


def _readings(ways: Sequence[Way]) -> Table:
    """List other readings; they are only written, as a command has to stay on one line."""
    rows = [(way.holds, way.rule, way.command) for way in ways]
    names = ("holds", "rule", "command")
    frame = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
    columns = _text_columns(names, names)
    return Table("readings", wording.CAPTIONS["readings"], frame, columns, limit=0)


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
    bounds: tuple[float, ...] = ()
    if column.kind == "numbers" and column.distinct > 1:
        numbers = evidence.numbers(name)
        bounds = (np.nanmin(numbers), np.nanmax(numbers))
    owner = next((one for one in evidence.keys if evidence.determines(one, name)), name)
    own = column.distinct == column.filled > 1
    of = "" if owner == name else owner
    return wording.column_shape(column.kind, column.distinct, bounds, owner=of, own=own)


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
        kind = wording.ROLES.get(role, role)
        if role == "text" and "value" not in layout.roles:
            kind = TAKEN["words"]
        elif role == "text" and ratings is not None and "text" in ratings.stimuli.columns:
            return TAKEN["rated text"], WHY["stimulus"]
        return kind, layout.why.get(name, published)
    if name in layout.labels:
        across = layout.across if isinstance(layout, WideLayout) else "label"
        return wording.one_of(across), layout.why.get(name, published)
    if name in layout.unused:
        return TAKEN["unused"], layout.unused[name]
    if name in made.options.unused:
        return TAKEN["unused"], WHY["user"]
    if not name.strip():
        return TAKEN["number"], WHY["nameless"]
    if ratings is None:
        return TAKEN["unknown"], "" if evidence is None else _shape(evidence, name)
    for table, kind in ((ratings.raters, "of rater"), (ratings.stimuli, "of stimulus")):
        if name in table.columns:
            return TAKEN[kind], WHY["each"]
    if name in ratings.coded_frame.columns:
        return TAKEN["of answer"], WHY["answers"]
    for names, kind in (
        (layout.stimuli, "of stimulus"),
        (layout.raters, "of rater"),
        (layout.others, "needed"),
    ):
        if name in names:
            return TAKEN[kind], layout.why.get(name, published)
    return TAKEN["unused"], WHY["format"]


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
    return Table("scales", wording.CAPTIONS["scales"], frame, _text_columns(titles, titles))


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
    return Table("not_used", wording.CAPTIONS["not_used"], frame, _text_columns(names, names))


# The mapping: all that the reading needs to be told, whoever decided it.


def _mapping(
    made: Prepared, layout: Layout, ratings: Ratings | None, given: Mapping[str, Any]
) -> str:
    options = made.options
    said: dict[str, Any] = {"format": str(given.get("format") or made.format.name)}
    comments = dict(wording.COMMENTS)
    for name in ("encoding", "delimiter", "rater", "separator"):
        if given.get(name) is not None:
            said[name] = str(given[name])
    if made.absent is not None:
        said["absent"] = made.absent
    if isinstance(made.format, PlainTable):
        if _is_chosen(layout):
            said["separator"] = layout.separator
        if isinstance(layout, WideLayout):
            said["wide"] = layout.wide
            said["attributes"] = list(layout.attributes)
            comments["wide"] = fill(wording.comment_on_labels(layout.labels), 78)
        said["unused"] = list(options.unused)
        said["missing_codes"] = list(options.missing_codes)
        roles = layout.roles or (options.columns or {"stimulus": "", "rater": "", "value": ""})
        # The one rater whom the user names stands in no column.
        roles = {r: name for r, name in roles.items() if r != "rater" or options.rater is None}
        if ratings is not None and "text" in ratings.stimuli.columns:
            # Said to be a role, it would be what raters wrote.
            roles.pop("text", None)
        said["columns"] = roles
        comments["columns"] = fill(wording.comment_on_columns(), 78)
    if ratings is not None and not _is_chosen(layout):
        said["scale"] = _scale_of(ratings)
        if said["scale"] is None:
            del said["scale"]
    name = made.name.replace("\n", " ")
    head = fill(wording.head_of_mapping(name if "://" in name else Path(name).name), 78)
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
