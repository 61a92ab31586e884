"""What the columns of a wide table are: roles, attributes, or what the ratings are spread over."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from affectlab._hints import option
from affectlab.errors import InputError, unknown_name
from affectlab.ratings._attributes import PERSONAL
from affectlab.ratings._columns import find_one, find_respondent
from affectlab.ratings._options import ReadOptions
from affectlab.ratings._schema import ROW_COLUMNS
from affectlab.ratings._values import parse_values
from affectlab.taxonomy import list_taxonomies, load_taxonomy

__all__ = [
    "PLURAL",
    "WideRoles",
    "find_roles",
    "is_personal",
    "named_attributes",
    "told_attributes",
]

PLURAL = {"rater": "raters", "label": "labels", "stimulus": "stimuli"}
_ACROSS = {plural: one for one, plural in PLURAL.items()}
_ALWAYS_RATERS = ("rater", "rater_id", "annotator")
"""Names of a column that no rater has as a name."""


@dataclass(frozen=True)
class WideRoles:
    """Roles of columns, and what is spread over the other columns."""

    roles: dict[str, str]
    """Column name to role."""
    across: str
    """``"rater"``, ``"label"`` or ``"stimulus"``."""
    steps: tuple[str, ...]
    """What was decided without the user."""


class _Finder:
    """Finds the roles of one table."""

    def __init__(self, columns: dict[str, pl.Series], options: ReadOptions, source: str) -> None:
        self.columns = columns
        self.header = list(columns)
        self.options = options
        self.source = source
        self.named = dict(options.columns or {})
        self.steps: list[str] = []
        self._check_named()
        self.taken = {*self.named.values(), *(options.attributes or ())}

    def _check_named(self) -> None:
        for role, column in self.named.items():
            if column not in self.header:
                raise unknown_name("column", column, self.header, self.source)
            if role == "value":
                raise InputError(
                    f"{self.source}: a wide table has no value column; leave out 'value'"
                )
            if role not in ("stimulus", "rater", "label", *ROW_COLUMNS):
                raise unknown_name("role", role, ("stimulus", "rater", *ROW_COLUMNS), self.source)

    def find(self, role: str) -> str | None:
        """Column of a role, as named or recognised."""
        if role in self.named:
            return self.named[role]
        return find_one(role, self.header, taken=self.taken)

    def rater(self, stimulus: str | None) -> str | None:
        """Column of the raters; where nothing is rated in rows, a row may be one's whole sheet."""
        found = self.find("rater")
        if found is None and stimulus is None:
            found = find_respondent(self.header, taken=self.taken)
        return found

    def take(self, role: str, column: str | None) -> None:
        """Give a column its role."""
        if column is not None:
            self.named[role] = column
            self.taken.add(column)

    def error(self, sentence: str) -> InputError:
        return InputError(f"{self.source}: {sentence}")

    def missing(self, role: str, wide: str, hint: str = "") -> InputError:
        """Say that no column has a role that this kind of table needs."""
        return self.error(
            f"one column per {_ACROSS[wide]} needs a column for the {role}; found: "
            f"{', '.join(self.header)}; name it ({option('columns', {role: 'NAME'})}){hint}"
        )


def find_roles(columns: dict[str, pl.Series], options: ReadOptions, source: str) -> WideRoles:
    """Find the columns that play a role, and which way the table is wide.

    Raises
    ------
    InputError
        When a named column or role is not known, or a needed role is not found. The stimulus is
        never guessed where a column names the raters.
    """
    find = _Finder(columns, options, source)
    wide = str(options.wide)
    if wide == "auto":
        wide = _told_kind(find)
    {"raters": _over_raters, "labels": _over_labels, "stimuli": _over_stimuli}[wide](find)
    across = _ACROSS[wide]
    named, taken = find.named, find.taken
    if across in named:
        raise find.error(f"the {wide} are spread over columns, so none can be a column")
    used = set(named.values())
    for role in ROW_COLUMNS:
        known = role in named or role in used or role in taken
        # A text beside several columns of ratings is what was rated rather than an answer.
        if role in find.header and not known and role != "text":
            named[role] = role
    roles = {column: role for role, column in named.items()}
    if len(roles) < len(named):
        twice = next(c for c in named.values() if list(named.values()).count(c) > 1)
        raise find.error(f"column '{twice}' is given two roles; expected one")
    return WideRoles(roles, across, tuple(find.steps))


def _told_kind(find: _Finder) -> str:
    """Tell which way a table is wide, and say why."""
    stimulus = None if "label" in find.named else find.find("stimulus")
    rater = find.rater(stimulus)
    if rater is None:
        kind, why = "raters", "no column names the rater"
    elif stimulus is not None:
        kind, why = "labels", f"column '{rater}' names the rater"
    elif _are_labels(find, rater):
        kind, why = "labels", "the columns are labels of a taxonomy"
    else:
        kind, why = "stimuli", f"column '{rater}' names the rater and none the stimulus"
    find.steps.append(f"read as one column per {_ACROSS[kind]}: {why}")
    return kind


def _are_labels(find: _Finder, rater: str) -> bool:
    """Whether the columns that are left are labels of one taxonomy."""
    rest = [
        name for name in find.header if name not in find.taken and name not in (rater, *ROW_COLUMNS)
    ]
    told = told_attributes(find.columns, rest, "label", find.options)
    names = [name for name in rest if name not in told]
    if find.options.taxonomy is not None:
        return any(name in find.options.taxonomy for name in names)
    known = map(load_taxonomy, list_taxonomies())
    return bool(names) and any(all(name in taxonomy for name in names) for taxonomy in known)


def _over_raters(find: _Finder) -> None:
    for name in find.header:
        if name not in find.taken and name.strip().casefold() in _ALWAYS_RATERS:
            raise find.error(
                f"raters were said to be spread over columns, and yet there is a column '{name}'; "
                f"did you mean that something else is ({option('wide', 'labels', 'stimuli')})?"
            )
    stimulus = find.find("stimulus")
    if stimulus is None:
        rater = find.rater(None)
        if rater is not None:
            raise find.error(
                f"column '{rater}' names the raters, so the other columns are none; say what they "
                f"are ({option('wide', 'stimuli', 'labels')}), or which column is the stimulus "
                f"({option('columns', {'stimulus': 'NAME'})})"
            )
        free = [name for name in find.header if name not in find.taken]
        if not free:
            raise find.missing("stimulus", "raters")
        stimulus = free[0]
        which = f"column '{stimulus}'" if stimulus.strip() else "the column without a name"
        find.steps.append(f"{which} was taken as the stimulus")
    find.take("stimulus", stimulus)


def _over_labels(find: _Finder) -> None:
    stimulus = find.find("stimulus")
    find.take("stimulus", stimulus)
    find.take("rater", find.rater(stimulus))
    if "rater" not in find.named:
        raise find.missing("rater", "labels")
    if stimulus is None:
        raise find.missing(
            "stimulus",
            "labels",
            f", or if each column is a stimulus, say so ({option('wide', 'stimuli')})",
        )


def _over_stimuli(find: _Finder) -> None:
    rater = find.rater(None)
    if rater is None:
        rater = next((name for name in find.header if name.strip().casefold() == "id"), None)
        if rater is not None and rater not in find.taken:
            find.steps.append(f"column '{rater}' was taken as the rater")
    if rater is None:
        raise find.missing("rater", "stimuli")
    find.take("rater", rater)


def named_attributes(
    header: list[str], roles: dict[str, str], options: ReadOptions, source: str
) -> list[str]:
    """Give the columns that the user calls attributes."""
    named = list(options.attributes or ())
    for name in named:
        if name not in header:
            raise unknown_name("column", name, header, source)
        if name in roles:
            raise InputError(
                f"{source}: column '{name}' is the {roles[name]}, so it is no attribute"
            )
    return named


def is_personal(name: str, across: str) -> bool:
    """Whether a column is called like something that describes and is never an answer."""
    return name == "text" or (across != "rater" and name.casefold() in PERSONAL)


def told_attributes(
    columns: dict[str, pl.Series], names: list[str], across: str, options: ReadOptions
) -> list[str]:
    """Tell the columns that describe something from those that hold ratings."""
    told = [name for name in names if is_personal(name, across)]
    words = [
        name for name in names if name not in told and _holds_only_words(columns[name], options)
    ]
    if len(words) < len(names) - len(told):
        told += words
    return [name for name in names if name in told]


def _holds_only_words(column: pl.Series, options: ReadOptions) -> bool:
    """Whether no cell is an answer and at least one is a word."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return False
    parsed = parse_values(column, options.scale)
    if parsed.categories or parsed.free_text:
        return True
    present = len(column) - int(column.null_count())
    return len(parsed.bad) > 0 and len(parsed.bad) >= present - _n_missing(column, parsed.missing)


def _n_missing(column: pl.Series, words: tuple[str, ...]) -> int:
    text = column.cast(pl.String).str.strip_chars()
    return int((text.is_in(["", *words])).sum() or 0)
