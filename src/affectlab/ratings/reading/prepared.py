"""A source that was opened, the format that reads it, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.derived import fill_absent
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import Format, find_format, load_format
from affectlab.ratings.mapping import beside, load_mapping
from affectlab.ratings.options import Absent, ReadOptions, check_choices, frame_of
from affectlab.ratings.reading.source import STANDARD_INPUT, is_address, opened, table_in
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy

ABSENT_IS_ZERO = (StepKind.FILLED, StepKind.CELLS_FILLED, StepKind.NOTHING_ABSENT)
"""Steps that take labels left out as 0."""


@dataclass(frozen=True)
class Prepared:
    """A source that was opened, its format, and what is said of it."""

    head: Peek
    format: Format
    options: ReadOptions
    absent: Absent | None
    """What the user says that a label means that was left out."""
    name: str
    """What the source is called."""
    mapping: Path | None
    """The mapping beside the file, where one was used that nobody named."""

    @property
    def steps(self) -> History:
        """Say that a mapping beside the file was used."""
        if self.mapping is None:
            return ()
        return (step(StepKind.MAPPING_BESIDE, file=self.mapping.name),)

    def read(self) -> Ratings:
        """Read the ratings."""
        read = self.format.read(self.head, self.options)
        ratings = _with_absent(read, self.absent, self.format.absent)
        if self.name == str(self.head.path) and not self.steps:
            return ratings
        source = self.name if ratings.source == str(self.head.path) else ratings.source
        return ratings._from(source, steps=self.steps)


@contextmanager
def prepared(source: Any, given: Mapping[str, Any]) -> Iterator[Prepared]:
    """Open a source, and find its format, with what the user and a mapping say of it.

    Parameters
    ----------
    source
        As of :func:`read_ratings`.
    given
        Parameters of :func:`read_ratings` that were given, by name.

    Raises
    ------
    InputError
        When the source cannot be opened, or an option is not understood.
    """
    if isinstance(source, str | os.PathLike) and Path(source).is_dir():
        source = table_in(Path(source)) or source
    said, mapping = with_mapping(source, given)
    check_choices(said.get("wide"), said.get("on_bad", "raise"), said.get("absent"))
    attributes = said.get("attributes")
    if isinstance(attributes, str):
        attributes = [attributes]
    if attributes is not None and said.get("wide") is None:
        ways = option("wide", "raters", "labels", "stimuli")
        raise InputError(
            f"{option('attributes')} is for wide files; say which way this one is ({ways})"
        )
    taxonomy = said.get("taxonomy")
    options = ReadOptions(
        scale=DeclaredScales.parse(said.get("scale")),
        taxonomy=load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy,
        columns=said.get("columns"),
        wide=said.get("wide"),
        attributes=None if attributes is None else tuple(attributes),
        unused=_names(said.get("unused")),
        missing_codes=_names(said.get("missing_codes")),
        separator=said.get("separator"),
        raters=frame_of(said.get("raters"), "rater"),
        stimuli=frame_of(said.get("stimuli"), "stimulus"),
        on_bad=said.get("on_bad", "raise"),
        rater=said.get("rater"),
        absent=said.get("absent"),
    )
    reads = {"encoding": said.get("encoding"), "delimiter": said.get("delimiter")}
    with opened(source, **reads, on_bad=options.on_bad) as head:
        chosen = _chosen(head, said.get("format"), options)
        absent = options.absent
        options = replace(options, absent=absent or chosen.absent)
        name = _name(source, head)
        yield Prepared(chosen.opened(head, options), chosen, options, absent, name, mapping)


def _name(source: Any, head: Peek) -> str:
    if isinstance(source, str) and source == STANDARD_INPUT:
        return "standard input"
    return source if is_address(source) else str(head.path)


def _names(given: Any) -> tuple[str, ...]:
    """Take one name, or several; a code may be a number."""
    if given is None:
        return ()
    one = isinstance(given, str | int | float)
    return tuple(
        f"{name:g}" if isinstance(name, float) else str(name)
        for name in ([given] if one else given)
    )


def with_mapping(source: Any, given: Mapping[str, Any]) -> tuple[dict[str, Any], Path | None]:
    """Put what the user says over what a mapping says, the one named or the one beside a file.

    Returns
    -------
    tuple
        Parameters of :func:`read_ratings` by name, and the mapping that nobody named.

    Raises
    ------
    InputError
        When a mapping cannot be read or says something that is not understood.
    """
    said = dict(given)
    mapping = said.pop("mapping", None)
    found = None
    if mapping is None and isinstance(source, str | os.PathLike) and not is_address(source):
        path = beside(Path(source))
        try:
            found = path if path.is_file() else None
        except ValueError:
            # A name with a zero byte is the name of no file, which opening says.
            found = None
        mapping = found
    if mapping is None:
        return said, None
    return load_mapping(mapping).options() | said, found


def _chosen(head: Peek, given: str | Format | None, options: ReadOptions) -> Format:
    """Give the format that the user names, else the one that is surest of the file."""
    if given is not None:
        return load_format(given)
    found = find_format(head, options.wide)
    # Who names columns that the format does not ask for describes a table.
    return found if set(options.columns or ()) <= set(found.roles) else load_format("table")


def _with_absent(ratings: Ratings, asked: Absent | None, published: Absent) -> Ratings:
    """Give labels that were left out their meaning, and say which and by whom."""
    if (asked or published) == "zero":
        by: Literal["published", "asked"] = "published" if published == "zero" else "asked"
        try:
            filled = fill_absent(ratings, by=by)
        except InputError as error:
            said = option("absent", "missing")
            raise InputError(f"{ratings.source}: {error}; leave them missing ({said})") from None
        if filled is not ratings:
            return filled
        if any(one.kind is StepKind.CELLS_FILLED for one in ratings.history):
            return ratings
        return ratings._derive(ratings._body, steps=(step(StepKind.NOTHING_ABSENT, by=by),))
    if asked is None:
        return ratings
    if any(one.kind in ABSENT_IS_ZERO for one in ratings.history):
        raise InputError(
            f"{ratings.source}: absent ratings were filled with 0 before the file was written; "
            f"expected the source for {option('absent', 'missing')}"
        )
    missing = step(StepKind.LEFT_MISSING, published_zero=published == "zero")
    return ratings._derive(ratings._body, steps=(missing,))
