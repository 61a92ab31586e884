"""From one column per rater, per label or per stimulus, to one row per answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.words import option, plural, quoted
from affectlab.ratings.attributes import PERSONAL, rated_texts
from affectlab.ratings.build import parse_values, words_of
from affectlab.ratings.codes import as_categories
from affectlab.ratings.files import Columns, Locate, Place, commas_step, typed_column, with_points
from affectlab.ratings.formats.format import Contents, Layout
from affectlab.ratings.formats.table.chosen import choices, find_separator, none_chosen
from affectlab.ratings.formats.table.columns import (
    SUMMARIES,
    find_one,
    find_respondent,
    find_rows,
    folded_name,
    words_in,
)
from affectlab.ratings.formats.table.crossed import crossed_dimensions, crossings
from affectlab.ratings.formats.table.lexicon import meant
from affectlab.ratings.formats.table.repeats import find_repeats, find_stimulus
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import ROW_COLUMNS, StepKind, Unit
from affectlab.ratings.steps import History, Step, guess, step
from affectlab.ratings.table import Ratings
from affectlab.ratings.wording import WHY, one_column_per
from affectlab.taxonomy import list_taxonomies, load_taxonomy

# What the columns of a wide table are: roles, attributes, or what the ratings are spread over.


PLURAL = {
    "rater": "raters",
    "label": "labels",
    "stimulus": "stimuli",
    "category": "categories",
    "session": "sessions",
}
_ACROSS = {
    "raters": "rater",
    "labels": "label",
    "stimuli": "stimulus",
    "votes": "category",
    "sessions": "session",
}
_ALWAYS_RATERS = ("rater", "rater_id", "annotator")
"""Names of a column that no rater has as a name."""
_SURVEY = {
    "datestamp", "distributionchannel", "enddate", "interviewtime", "lastpage", "recordeddate",
    "startdate", "startlanguage", "submitdate", "userlanguage",
}  # fmt: skip
"""Columns that LimeSurvey and Qualtrics write: each row is the sheet of one person."""
_PLATFORM = _SURVEY | {
    "duration", "duration (in seconds)", "externalreference", "finished", "ipaddr", "ipaddress",
    "lastdata", "locationlatitude", "locationlongitude", "mailsent", "maxpage", "missing",
    "missrel", "progress", "q_viewer", "questnnr", "recipientemail", "recipientfirstname",
    "recipientlastname", "refurl", "seed", "serial", "time_rsi", "time_total",
}  # fmt: skip
"""Columns of platforms, never answers."""
_MEANS, _DEVIATIONS = {"mean", "avg", "average"}, {"sd", "std", "stdev", "stddev"}
_PAGE = re.compile(r"time_?[0-9]+")
"""Columns of seconds on each page of a questionnaire: ``TIME001``."""
_TICKS = {"x", "X", "✓", "✔", "☑", "☒", "checked", "selected", "ticked"}
"""What stands in a box that was ticked."""
_DECIDED = {
    *("adjudicated", "agreed", "consensus", "final", "gold", "gold_label", "ground_truth"),
    *("majority", "majority_label", "majority_vote", "truth"),
}
"""Columns of what follows from raters, or holds in any case, beside those of raters."""


@dataclass(frozen=True, kw_only=True)
class WideLayout(Layout):
    """What the columns of a wide table are taken for: `labels` are those that hold ratings."""

    across: str
    """What a column of ratings stands for: a rater, a label or a stimulus."""
    wide: str = ""
    """The same as users say it; two where names of columns cross both."""
    separator: str | None = None
    """What parts several chosen categories; None: each answer is one."""
    asked: tuple[str, ...] = ()
    """The label of each column, where names of columns cross labels and something else."""
    called: tuple[str, ...] = ()
    """What is called as the columns are: these, or parts of their names."""
    attributes: tuple[str, ...]
    """Columns that describe the rater or the stimulus, which their values tell."""
    steps: History
    """What was decided without the user, for the history."""


_MOST_VOTES = 20_000_000
_ROW_NUMBERS = {"#", "index", "nr", "no", "row", "row_number", "unnamed: 0"}
"""Names of a first column that numbers the rows."""


class _Finder:
    """Finds the roles of the columns of one table."""

    def __init__(self, columns: dict[str, pl.Series], options: ReadOptions, source: str) -> None:
        self.columns, self.header = columns, list(columns)
        self.options, self.source = options, source
        self.named = dict(options.columns or {})
        self.steps: list[Step] = []
        self.wide = ""
        roles = ("stimulus", "rater", "label", *ROW_COLUMNS)
        for role, column in self.named.items():
            check_choice("column", column, self.header, source)
            if role == "value":
                raise self.error("a wide table has no value column; leave out 'value'")
            if role not in roles:
                raise unknown_name("role", role, ("stimulus", "rater", *ROW_COLUMNS), source)
        self.taken = {*self.named.values(), *(options.attributes or ())}

    def find(self, role: str) -> str | None:
        """Column of a role, as named or recognised."""
        if role in self.named:
            return self.named[role]
        if role == "stimulus":
            return find_stimulus(self.columns, self.taken)
        return find_one(role, self.header, taken=self.taken)

    def rater(self, stimulus: str | None) -> str | None:
        """Column of the raters; where nothing is rated in rows, a row may be one's whole sheet."""
        column = self.find("rater")
        if column is None and stimulus is None:
            column = find_respondent(self.header, taken=self.taken)
        return column

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

    def roles(self) -> tuple[dict[str, str], str]:
        """Give the column of each role, and what is spread over the others.

        The stimulus is never guessed where a column names the raters.
        """
        wide = _told_kind(self) if self.options.wide == "auto" else str(self.options.wide)
        self.wide = wide
        axes = wide.split(",")
        wide = next((one for one in axes if one != "labels"), "labels")
        {
            "raters": _over_raters,
            "votes": _over_raters,
            "labels": _over_labels,
            "sessions": _over_labels,
            "stimuli": _over_stimuli,
        }[wide](self)
        named = self.named
        for one in axes:
            if _ACROSS[one] in named:
                raise self.error(f"the {one} are spread over columns, so none can be a column")
        for role in ROW_COLUMNS:
            column = find_rows(role, self.header, taken=self.taken)
            # A text beside several columns of ratings is what was rated rather than an answer.
            if column is not None and role not in named and role != "text":
                self.take(role, column)
        twice = [column for column, n in Counter(named.values()).items() if n > 1]
        if twice:
            raise self.error(f"column '{twice[0]}' is given two roles; expected one")
        if not {"session", "trial"} & named.keys() and wide not in ("raters", "sessions"):
            keys = [named[role] for role in ("stimulus", "rater") if role in named]
            repeats = find_repeats(self.columns, keys, self.taken)
            if repeats is not None:
                self.take(*repeats[:2])
                self.steps.append(repeats[2])
        return named, _ACROSS[wide]


def describe_wide(
    columns: dict[str, pl.Series], options: ReadOptions, source: str, *, guessed: bool = False
) -> WideLayout:
    """Say what each column of a wide table is taken for.

    Columns that hold ratings are told from the others in this order: what the user names in
    `columns` and `attributes`; columns called like a role or a personal attribute; and, where the
    user named no attributes, columns of words beside columns of numbers, unless a scale was
    declared for a label of that name. Which columns were taken as what is said in the history. That
    the table is wide may be `guessed`.

    Raises
    ------
    InputError
        When a named column or role is not known, a needed role is not found, or no column is left.
    """
    find = _Finder(columns, options, source)
    roles, across = find.roles()
    steps, taken = find.steps, set(roles.values())
    nameless = _nameless(columns, taken, source)
    if nameless is not None:
        steps.append(step(StepKind.ROW_NUMBERS, column=nameless))
    attributes = list(options.attributes or ())
    for name in attributes:
        if name not in columns or name == nameless:
            raise unknown_name("column", name, [one for one in columns if one != nameless], source)
        if name in taken:
            role = next(role for role, column in roles.items() if column == name)
            raise find.error(f"column '{name}' is the {role}, so it is no attribute")
    rest = [name for name in columns if name not in {*taken, *attributes, nameless}]
    called = rest
    asked: list[str] = []
    if "," in (options.wide or ""):
        rest, called, asked = _crossing(find, rest, across)
        steps.append(_crosses(called, asked, across))
        left = [n for n in columns if n not in {*taken, *attributes, nameless, *rest}]
        attributes += left
        if left:
            steps.append(step(StepKind.ATTRIBUTE_COLUMNS, columns=left, across=across))
    elif options.attributes is None:
        told = _told_attributes(columns, rest, across, options)
        attributes += told
        rest = [name for name in rest if name not in told]
        _check_few_described(columns, told, rest, roles, across, source)
        if told:
            steps.append(step(StepKind.ATTRIBUTE_COLUMNS, columns=told, across=across))
    if not rest:
        raise find.error(f"no column is left that could be a {across}")
    if not asked:
        called = rest
        cross = crossed_dimensions(rest) if across == "stimulus" else None
        if cross is not None:
            called, asked = map(list, cross)
            steps.append(replace(_crosses(called, asked, across), guessed=True))
    steps.append(step(StepKind.RATED_COLUMNS, columns=rest, across=across))
    separator = None
    if not asked and "label" not in roles:
        separator, several = _separated([columns[name] for name in rest], across, options)
        steps += several
    named = options.columns or {}
    why = {c: WHY["user" if named.get(r) == c else "name"] for r, c in roles.items()}
    how = "guessed" if guessed else "found" if options.wide == "auto" else "you say"
    why |= dict.fromkeys(rest, one_column_per(how, across))
    return WideLayout(
        roles,
        why=why,
        labels=tuple(rest),
        unused={} if nameless is None else {nameless: WHY["rows"]},
        across=across,
        wide=find.wide,
        separator=separator,
        asked=tuple(asked),
        called=tuple(called),
        attributes=tuple(attributes),
        steps=tuple(steps),
    )


def _crossing(
    find: _Finder, names: list[str], across: str
) -> tuple[list[str], list[str], list[str]]:
    """Part the names that cross, as the user says which part is which; means are left out.

    Returns
    -------
    tuple
        The columns, what they are called after beside the label, and the label of each.
    """
    found = next(iter(crossings(names)), None)
    if found is None:
        raise find.error(
            f"no columns cross {' and '.join(str(find.options.wide).split(','))}; expected names "
            f"such as img1_joy, img1_fear, img2_joy, img2_fear; found: {_names(names)}"
        )
    called, asked = found.first, found.second
    if str(find.options.wide).startswith("labels"):
        called, asked = asked, called
    kept = [
        (column, one, label)
        for column, one, label in zip(found.columns, called, asked, strict=True)
        if across == "session" or not (SUMMARIES & {*words_in(one)} or "moment" in meant(label))
    ]
    columns, ones, labels = ([one[place] for one in kept] for place in (0, 1, 2))
    return columns, ones, labels


def _crosses(called: Sequence[str], asked: Sequence[str], across: str) -> Step:
    names, labels = dict.fromkeys(called), dict.fromkeys(asked)
    return step(StepKind.NAMES_CROSS, across=across, names=names, labels=labels)


def _told_kind(find: _Finder) -> str:
    """Tell which way a table is wide, and say why."""
    stimulus = None if "label" in find.named else find.find("stimulus")
    rater = find.rater(stimulus)
    survey = next((n for n in find.header if n.strip().casefold() in _SURVEY), None)
    if rater is None and survey is not None:
        kind, why = "stimuli", "survey"
    elif rater is None:
        kind, why = "raters", "no rater"
    elif stimulus is not None:
        kind, why = "labels", "rater"
    elif _are_labels(find, rater):
        kind, why = "labels", "taxonomy"
    else:
        kind, why = "stimuli", "rater alone"
    column = (survey if why == "survey" else rater) or ""
    find.steps.append(step(StepKind.WIDE_KIND, across=_ACROSS[kind], why=why, column=column))
    return kind


def _are_labels(find: _Finder, rater: str) -> bool:
    """Whether the columns that are left are labels of one taxonomy."""
    rest = [
        name for name in find.header if name not in find.taken and name not in (rater, *ROW_COLUMNS)
    ]
    told = _told_attributes(find.columns, rest, "label", find.options)
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
        find.steps.append(step(StepKind.ROLE_TAKEN, column=stimulus, role="stimulus"))
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
            find.steps.append(step(StepKind.ROLE_TAKEN, column=rater, role="rater"))
    if rater is None:
        raise find.missing("rater", "stimuli")
    find.take("rater", rater)


def _is_personal(name: str, across: str) -> bool:
    """Whether a column is called like something that describes and is never an answer."""
    folded = name.strip().casefold()
    if name == "text" or folded in _PLATFORM or folded in SUMMARIES or _PAGE.fullmatch(folded):
        return True
    if across in ("rater", "category"):
        return folded_name(name) in _DECIDED
    return name.casefold() in PERSONAL or (across == "label" and words_in(name)[-1:] == ("rt",))


def _told_attributes(
    columns: dict[str, pl.Series], names: list[str], across: str, options: ReadOptions
) -> list[str]:
    """Tell the columns that describe something from those that hold ratings."""
    named = options.scale.by_label if across == "label" else {}
    told = [name for name in names if _is_personal(name, across) and name not in named]
    told += _of_summaries([name for name in names if across == "rater" and name not in told])
    words = [
        name
        for name in names
        if name not in told
        and name not in named
        and _holds_only_words(columns[name], options.scale.default)
    ]
    if len(words) < len(names) - len(told):
        told += words
    elif across == "rater" and options.scale.default is None:
        # Raters name the same categories, and what was rated differs from row to row.
        told += _alone(words, columns)
    return [name for name in names if name in told]


def _alone(words: list[str], columns: dict[str, pl.Series]) -> list[str]:
    """Columns that have a value of their own in each row, where others share theirs."""
    values = {
        name: {*columns[name].drop_nulls().cast(pl.String).str.strip_chars()} for name in words
    }
    in_columns = Counter(value for own in values.values() for value in own)
    shared = {name for name in words if any(in_columns[value] > 1 for value in values[name])}
    if len(shared) < 2:
        return []
    return [
        name for name in words if name not in shared and len(values[name]) == len(columns[name])
    ]


def _of_summaries(names: Sequence[str]) -> list[str]:
    """Columns of means, deviations and sums, where there are both means and deviations."""
    words = {name: {*words_in(name)} for name in names}
    if not all(any(kind & one for one in words.values()) for kind in (_MEANS, _DEVIATIONS)):
        return []
    return [name for name in names if (_MEANS | _DEVIATIONS | {"sum", "n", "count"}) & words[name]]


def _holds_only_words(column: pl.Series, scale: Scale | None) -> bool:
    """Whether no cell is an answer and at least one is a word."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return False
    parsed = parse_values(column, scale)
    if parsed.categories or parsed.free_text:
        return True
    present = len(column) - int(column.null_count())
    return len(parsed.bad) > 0 and len(parsed.bad) >= present - _n_missing(column, parsed.missing)


def _n_missing(column: pl.Series, words: tuple[str, ...]) -> int:
    text = column.cast(pl.String).str.strip_chars()
    return int((text.is_in(["", *words])).sum() or 0)


_LISTED = 30
_MOST_CHOICES = 21
"""Values of a question with given answers; a question with more is open, or no question."""


@dataclass(kw_only=True)
class Long(Contents):
    """A wide table, made long."""

    unit: Unit = "cell"
    across: str
    """What a column stands for: a rater, a label or a stimulus."""
    n_across: int
    """Columns that hold ratings."""
    rater_column: str | None = None
    """The column that named the raters."""

    def check(self, ratings: Ratings) -> None:
        """Stop where more cells were set aside than read, and columns hold no answer at all.

        Where every column has answers, the cells set aside have reasons of their own: a code for
        missing answers, or empty rows at the end.
        """
        aside = [
            part for part in ratings.set_aside if part.unit == "cell" and part.kind != "no_answer"
        ]
        lost = sum(part.count for part in aside)
        if not self.n_across or lost <= ratings.n_rows:
            return
        if ratings.frame[self.across].n_unique() < self.n_across:
            raise InputError(
                f"{ratings.source}: {plural(ratings.n_rows, 'answer')} could be read, and "
                f"{plural(lost, 'cell')} could not ({'; '.join(map(str, aside))}); "
                f"{'; '.join(map(str, self.history))}; say which columns describe "
                f"({option('attributes', ['NAME', 'NAME'])})"
            )


def unpivot(
    given: Columns,
    layout: WideLayout,
    options: ReadOptions,
    source: str,
    *,
    decimal_commas: bool = False,
) -> Long:
    """Turn one column per rater, per label or per stimulus into one row per answer.

    Raises
    ------
    InputError
        When a column holds both numbers and words, or an attribute differs within its owner.
    """
    decimal_points = with_decimal_points(given.columns) if decimal_commas else {}
    columns = given.columns | decimal_points
    across, rest, attributes = layout.across, layout.labels, list(layout.attributes)
    steps = [*layout.steps, *commas_step([name for name in rest if name in decimal_points])]
    # Names stay as they are written, so that of the roles no comma becomes a point.
    kept = {role: given.columns[name] for role, name in layout.roles.items()}
    texts = raters = None
    if across == "stimulus":
        raters, attributes = _of_raters(kept["rater"], columns, attributes, source)
    elif "text" in attributes:
        attributes.remove("text")
        texts = rated_texts(kept["stimulus"], columns["text"])
        if texts is None:
            raise InputError(
                f"{source}: column 'text' differs within a stimulus; if it holds answers of the "
                f"raters, say so ({option('columns', {'text': 'text'})})"
            )
    for name in attributes:
        if name in (*kept, across, "value") or (layout.asked and name == "label"):
            raise InputError(_taken(name, across, list(columns), source))
        kept[name] = typed_column(columns[name])
    n_rows = len(columns[rest[0]])
    repeated = {name: pl.concat([column] * len(rest)) for name, column in kept.items()}
    position = pl.Series(np.repeat(np.arange(len(rest)), n_rows))
    for role, names in ((across, layout.called), ("label", layout.asked)):
        if names:
            known = pl.Enum(list(dict.fromkeys(names)))
            repeated[role] = pl.Series(role, names, dtype=known).gather(position)
    rated = [columns[name] for name in rest]
    if across != "rater":
        rated, ticked = _ticked(rated)
        steps += ticked
    if across == "label" and options.absent == "zero":
        # The row says that the rater saw the stimulus, also where no cell of it is filled in.
        rated, n_empty = _with_zeros(rated)
        steps.append(step(StepKind.CELLS_FILLED, n=n_empty, value=0.0, by="asked"))
    repeated["value"] = _stacked(rated)

    def locate(row: int) -> Place:
        return given.locate(row % n_rows).then(f", column '{rest[row // n_rows]}'")

    if across == "category":
        return _votes(repeated, layout, locate, steps, source)
    if across == "rater":
        raters, told = _models(layout.called)
        steps += told
    long = Long(
        columns=repeated,
        locate=locate,
        history=tuple(steps),
        stimuli=texts,
        raters=raters,
        across=across,
        n_across=len({*layout.called}),
        rater_column=layout.roles.get("rater"),
    )
    if layout.separator is not None:
        return _with_sets(long, layout.separator, options)
    chosen = (
        None
        if across == "label" or layout.asked or options.scale
        else none_chosen(long.columns["value"])
    )
    if chosen is None:
        return long
    return replace(long, scale=chosen[0], history=(*long.history, chosen[1]))


def _votes(
    repeated: dict[str, pl.Series],
    layout: WideLayout,
    locate: Locate,
    steps: list[Step],
    source: str,
) -> Long:
    """Give each vote a row; whoever gave it is nobody else, as far as the counts say."""
    given = repeated.pop("value")
    empty = given.cast(pl.String).str.strip_chars().fill_null("") == ""
    numbers = given.set(empty, None).cast(pl.Float64, strict=False)
    counts = numbers.set(empty, 0.0).fill_null(float("nan")).to_numpy()
    bad = np.flatnonzero(~((counts >= 0) & (counts == np.rint(counts))))
    if bad.size:
        row = int(bad[0])
        raise InputError(f"{locate(row)}: {given[row]!r} is no count of votes; expected 0, 1, 2, …")
    if counts.sum() > _MOST_VOTES:
        raise InputError(
            f"{source}: {counts.sum():,.0f} votes; expected {_MOST_VOTES:,} and fewer, as each is "
            "an answer of its own"
        )
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
    columns = {name: column.gather(rows) for name, column in repeated.items()}
    columns["rater"] = pl.Series([f"vote {k + 1}" for k in range(len(rows))], dtype=pl.String)
    columns["value"] = columns.pop("category")
    return Long(
        columns=columns,
        locate=lambda row: locate(int(rows[row])),
        history=(*steps, step(StepKind.VOTES, n=len(rows))),
        across="category",
        n_across=0,
        scale=replace(Scale.nominal(layout.called), declared=False),
    )


def _separated(
    rated: Sequence[pl.Series], across: str, options: ReadOptions
) -> tuple[str | None, list[Step]]:
    """Tell what parts several categories in the cells of raters, where the user does not say it."""
    if options.separator is not None or across == "label" or options.scale:
        return options.separator or None, []
    cells = [one.cast(pl.String) for one in rated if not one.dtype.is_numeric()]
    found = find_separator(pl.concat(cells)) if len(cells) == len(rated) else None
    if found is None:
        return None, []
    return found, [guess(StepKind.CELLS_HOLD_SETS, separator=found)]


def _with_sets(long: Long, separator: str, options: ReadOptions) -> Long:
    """Give each answer a row for each category that was chosen by anybody."""
    made = choices(long.columns, separator, (), long.locate, options.on_bad)
    return replace(
        long,
        columns=made.columns,
        locate=made.locate,
        set_aside=made.set_aside,
        history=(*long.history, *made.history),
        scale="binary",
    )


def _models(names: Sequence[str]) -> tuple[pl.DataFrame | None, list[Step]]:
    """Take raters that are called as models are as such."""
    models = [name for name in dict.fromkeys(names) if "model" in meant(name)]
    if not models:
        return None, []
    table = pl.DataFrame({"rater": models}).with_columns(rater_kind=pl.lit("model"))
    return table, [guess(StepKind.MODELS_BY_NAME, names=models)]


def _ticked(columns: list[pl.Series]) -> tuple[list[pl.Series], list[Step]]:
    """Read marks in boxes as yes, where nothing else stands in any of them."""
    marks = {mark for column in columns for mark in words_of(column.unique())}
    if not marks or not marks <= _TICKS:
        return columns, []
    read = [
        column.cast(pl.String).str.strip_chars().replace(dict.fromkeys(marks, "yes"))
        for column in columns
    ]
    return read, [guess(StepKind.TICKS, marks=sorted(marks))]


def _with_zeros(columns: list[pl.Series]) -> tuple[list[pl.Series], int]:
    """Fill cells without any content with 0, and count them."""
    filled, n_empty = [], 0
    for column in columns:
        text = column.cast(pl.String)
        empty = (text.is_null() | (text.str.strip_chars() == "")).fill_null(value=True)
        n_empty += int(empty.sum())
        filled.append(text.set(empty, "0"))
    return filled, n_empty


def with_decimal_points(columns: dict[str, pl.Series]) -> dict[str, pl.Series]:
    """Give the columns in which decimal commas stand, with points in their place."""
    found = {name: with_points(column) for name, column in columns.items()}
    return {name: column for name, column in found.items() if column is not None}


def _nameless(columns: dict[str, pl.Series], taken: Collection[str], source: str) -> str | None:
    """Find the column of row numbers with which data frames are written; it often has no name."""
    for position, (name, column) in enumerate(columns.items()):
        if name in taken:
            continue
        if name.strip():
            if position == 0 and name.strip().casefold() in _ROW_NUMBERS and _counts(column):
                return name
            continue
        if position == 0 and _tells_rows_apart(column):
            return name
        raise InputError(f"{source}: column {position + 1} has no name; expected one")
    return None


def _counts(column: pl.Series) -> bool:
    """Whether a column numbers the rows, from 0 or from 1."""
    numbers = column.cast(pl.Float64, strict=False).to_list()
    return numbers in ([float(k + start) for k in range(len(numbers))] for start in (0, 1))


def _tells_rows_apart(column: pl.Series) -> bool:
    """Whether every row has a value of its own."""
    filled = column.cast(pl.String).str.strip_chars().str.len_chars().fill_null(0) > 0
    return bool(filled.all()) and column.n_unique() == len(column)


def _check_few_described(
    columns: dict[str, pl.Series],
    told: list[str],
    rest: list[str],
    roles: dict[str, str],
    across: str,
    source: str,
) -> None:
    """Stop where answers in words would become descriptions.

    They look like answers where columns share their few values, as the items of a questionnaire
    do, and are about as many as the columns of numbers; or where they are by far the most.
    """
    words = [name for name in told if not _is_personal(name, across)]
    alike = _most_alike([columns[name] for name in words])
    if 5 * alike < 4 * len(rest) + 1 and len(words) <= max(3 * len(rest), 5):
        return
    named = ", ".join(f"'{name}' (the {role})" for role, name in roles.items())
    raise InputError(
        f"{source}: {len(told):,} of {len(told) + len(rest):,} columns hold only words and would "
        f"describe instead of holding answers; columns were taken so: {named}; attributes: "
        f"{_names(told)}; {PLURAL[across]}: {_names(rest)}; say which columns describe, and all "
        f"others hold answers ({option('attributes', ['NAME', 'NAME'])})"
    )


def _most_alike(columns: list[pl.Series]) -> int:
    """Count the columns that share at least half of their few values with one of them."""
    sets = [set(column.drop_nulls().cast(pl.String).str.strip_chars()) - {""} for column in columns]
    few = [values for values in sets if 0 < len(values) <= _MOST_CHOICES]
    groups = [
        sum(2 * len(one & other) >= min(len(one), len(other)) for other in few) for one in few
    ]
    most = max(groups, default=0)
    return most if most > 1 else 0


def _taken(name: str, across: str, header: list[str], source: str) -> str:
    """Say that an attribute has the name of a role, or that the table is not wide at all."""
    if {across, "value"} <= set(header):
        return (
            f"{source}: columns '{across}' and 'value' say that each row is one answer, so "
            f"leave out {option('wide')}; expected a column for each {across} with it"
        )
    return f"{source}: attribute column '{name}' has the name of a role"


def _names(names: Sequence[str]) -> str:
    return quoted(names, _LISTED)


def _of_raters(
    rater: pl.Series, columns: dict[str, pl.Series], attributes: list[str], source: str
) -> tuple[pl.DataFrame | None, list[str]]:
    """Make a table of what is said of each rater; columns that differ within one are left over."""
    try:
        names = as_categories(rater).cast(pl.String)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    described = [typed_column(columns[name]) for name in attributes]
    table = pl.DataFrame(
        [names.alias("\0"), *(c.alias(n) for n, c in zip(attributes, described, strict=True))]
    ).filter(pl.col("\0").str.strip_chars() != "")
    by_rater = table.group_by("\0", maintain_order=True)
    counts = by_rater.agg(pl.col(attributes).n_unique())
    single = [name for name in attributes if bool((counts[name] == 1).all())]
    left = [name for name in attributes if name not in single]
    if "text" in left:
        raise InputError(f"{source}: column 'text' differs within a rater; give it another name")
    for name in single:
        if name in ("rater", "stimulus", "value"):
            raise InputError(f"{source}: attribute column '{name}' has the name of a role")
    if not single:
        return None, left
    return by_rater.agg(pl.col(single).first()).rename({"\0": "rater"}), left


def _stacked(columns: list[pl.Series]) -> pl.Series:
    """Put the columns of ratings one after the other, as text unless all are numbers."""
    numeric = all(column.dtype.is_numeric() or column.dtype == pl.Null for column in columns)
    dtype = pl.Float64 if numeric else pl.String
    return pl.concat([column.cast(dtype).alias("value") for column in columns])
