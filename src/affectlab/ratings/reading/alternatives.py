"""Other readings of a table: told by its shape, tried with the reader, and given as commands."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.files.media import media_kind
from affectlab.core.words import on_command_line, option, plural, shown
from affectlab.ratings.build import is_number
from affectlab.ratings.files import read_columns
from affectlab.ratings.formats import Layout, find_format
from affectlab.ratings.formats.table import (
    Evidence,
    PlainTable,
    called_after_raters,
    cross,
    crossings,
    find_chosen,
    meant,
    odd_words,
    stem_of,
)
from affectlab.ratings.options import EACH_ROW, ReadOptions
from affectlab.ratings.reading.prepared import Prepared
from affectlab.ratings.schema import GUESSED
from affectlab.ratings.table import Ratings

_MOST_TRIED = 6
_MOST_TRIED_OF_MANY = 2
_MANY_ROWS = 20_000
_NEAR = 1.0
"""How much less fitting than the best a reading may be, to be given beside it."""
_LEAST = 0.5
"""How well a reading has to fit to be tried: two columns of numbers of no known name do not."""
_CLEAR = 4.0
"""How well a reading has to fit to be taken where nothing is said."""
_SURELY = 6.0
"""How well it has to fit to be taken where columns could be read otherwise."""
_CLEARLY = 0.5
"""How much better than the reading that a file has another one fits that is given beside it."""
_FEW_LABELS = 30
_SOME_ROWS = 10
"""Rows from which on one of them may be left out."""
_LONGEST_ANSWERS = 40
_FEW_SETS = 3
"""Cells of several codes in rising order that could be decimal commas by chance."""


@dataclass(frozen=True)
class Candidate:
    """Options that would make a reading complete, and how well names and contents fit them."""

    options: Mapping[str, Any]
    fit: float


@dataclass(frozen=True)
class Way:
    """A reading that was tried and uses every row."""

    holds: str
    """What it holds, in words."""
    command: str
    """The command, or the call, that reads the file so."""
    fit: float
    """How well names and contents fit it."""
    options: Mapping[str, Any]
    """What was added to what is said of the file."""
    made: Prepared
    ratings: Ratings


@dataclass(frozen=True)
class Completed:
    """What a file holds, as its columns say or as its shape decides; or why nothing does."""

    made: Prepared
    ratings: Ratings | None
    problem: str | None
    ways: tuple[Way, ...] = ()
    """Other readings that use every row."""

    def read(self) -> Ratings:
        """Give the ratings; raises :class:`InputError` with the readings there are."""
        if self.ratings is None:
            raise InputError.with_ways(str(self.problem), lines_of(self.ways))
        return self.ratings


def complete(made: Prepared, given: Mapping[str, Any]) -> Completed:
    """Read a file; where its columns do not say how, as the one reading that clearly fits."""
    try:
        ratings = made.read()
    except InputError as error:
        return _chosen_way(Completed(made, None, str(error), tried(made, given, readable=False)))
    if not isinstance(made.format, PlainTable):
        return Completed(made, ratings, None)
    if people := two_people(made, ratings):
        ways = tuple(_ways(made, given, {}, people.ways))
        return (
            Completed(made, None, people.sentence, ways) if ways else Completed(made, ratings, None)
        )
    layout = _layout(made)
    if layout is None or not is_contested(layout):
        return Completed(made, ratings, None)
    better = tuple(way for way in tried(made, given, readable=True) if way.fit > _SURELY)
    return _chosen_way(Completed(made, ratings, None, better))


def _chosen_way(found: Completed) -> Completed:
    """Take the reading that clearly fits better than all others, and say so."""
    if not found.ways or found.ways[0].fit < _CLEAR or len(found.ways) > 1:
        return found
    best = found.ways[0]
    step = (
        f"{GUESSED}{best.holds}: {_options_of(best.options)}; if it is otherwise, say which column "
        f"is what ({option('columns', {'stimulus': 'NAME'})})"
    )
    return Completed(best.made, best.ratings._derive(best.ratings._body, steps=(step,)), None)


def _options_of(said: Mapping[str, Any]) -> str:
    return " ".join(option(name, _plain(value)) for name, value in said.items())


def is_contested(layout: Layout) -> bool:
    """Whether the name of a column speaks for another role than it has."""
    main = {"rater", "stimulus", "label"}
    return any(
        role in main and role not in meant(column) and main & meant(column)
        for role, column in layout.roles.items()
    )


@dataclass(frozen=True)
class TwoPeople:
    """One name that stands for two people, and the readings there are."""

    sentence: str
    ways: tuple[Candidate, ...]


def two_people(made: Prepared, ratings: Ratings) -> TwoPeople | None:
    """Find a rater of two ages, sexes or countries, whom another column tells apart."""
    personal = [
        name
        for name in ratings.frame.columns
        if "person" in meant(name) and not {"stimulus", "value"} & meant(name)
    ]
    layout = _layout(made) if personal else None
    if layout is None or "rater" not in layout.roles:
        return None
    evidence = Evidence(read_columns(made.head, on_bad="set_aside").columns)
    rater = layout.roles["rater"]
    about = [name for name in personal if name in evidence.names]
    differ = [name for name in about if not evidence.determines(rater, name)]
    used = {*layout.roles.values(), *layout.labels, *about}
    for other in evidence.names:
        apart = other not in used and evidence.column(other).distinct > 1
        if not differ or not apart or evidence.determines(rater, other):
            continue
        if all(evidence.count(other, rater, one) == evidence.count(other, rater) for one in differ):
            name, values = evidence.several(rater, differ[0])
            return TwoPeople(
                f"{made.head.path}: rater {name!r} has {differ[0]} {' and '.join(values)}, and "
                f"column '{other}' tells them apart: expected one {differ[0]} of each rater",
                (
                    Candidate({"columns": {"rater": f"{other}+{rater}"}}, 1),
                    Candidate({"columns": {"rater": rater}, "unused": differ}, 1),
                ),
            )
    return None


def lines_of(ways: Sequence[Way], *, readable: bool = False) -> tuple[str, ...]:
    """Say in lines which commands read a file; of one that can be read as it is, others."""
    if not ways:
        return ()
    several = len(ways) > 1
    head = (
        "Read another way, it would hold:"
        if readable
        else "These read every row, and nothing in the file decides between them:"
        if several
        else "This reads the file:"
    )
    return (head, *(line for way in ways for line in (f"  {way.holds}:", f"    {way.command}")))


def tried(made: Prepared, given: Mapping[str, Any], *, readable: bool) -> tuple[Way, ...]:
    """Try the readings that the shape of a table suggests; give those that use every row."""
    if not _can_be_written(given):
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        added: dict[str, Any] = {}
        if not readable and (other := made.head.other_encoding) is not None:
            added["encoding"] = other
            head = replace(made.head, encoding=other)
            made = replace(made, head=head, format=find_format(head, made.options.wide))
        candidates: list[Candidate] = []
        layout = None
        height = 0
        if isinstance(made.format, PlainTable):
            try:
                columns = read_columns(made.head, on_bad="set_aside").columns
            except InputError:
                return ()
            evidence = Evidence({k: c for k, c in columns.items() if k not in made.options.unused})
            height = len(next(iter(columns.values()), ()))
            layout = _layout(made)
            found: list[Candidate] = []
            least = _LEAST
            if layout is None:
                found = [*over_rows(evidence), *of_nobody(evidence), *over_columns(evidence)]
            elif readable and {"stimulus", "rater"} <= layout.roles.keys():
                least = _fit_of(evidence, layout) + _CLEARLY
                found = [*over_rows(evidence)]
            fitting = (one for one in found if one.fit > least)
            candidates += sorted(fitting, key=lambda one: -one.fit)
            if layout is not None and not readable:
                candidates += in_cells(evidence, layout)
        if added and not candidates:
            candidates.append(Candidate({}, 0))
        if not readable and (layout is not None or not isinstance(made.format, PlainTable)):
            candidates.append(Candidate({"on_bad": "set_aside"}, -9))
        most = _MOST_TRIED if height <= _MANY_ROWS else _MOST_TRIED_OF_MANY
        return tuple(_ways(made, given, added, candidates[:most]))


def _ways(
    made: Prepared,
    given: Mapping[str, Any],
    added: Mapping[str, Any],
    candidates: Sequence[Candidate],
) -> Iterator[Way]:
    """Try candidates, the best first, and stop where what is left fits less than one that reads."""
    best: float | None = None
    for one in candidates:
        if best is not None and one.fit < best - _NEAR:
            return
        changed = _changed(made.options, one.options)
        if changed is None:
            continue
        try:
            ratings = replace(made, options=changed).read()
        except InputError:
            continue
        if (holds := _plausible(ratings, one)) is not None:
            best = one.fit if best is None else best
            said = {**given, **added, **one.options}
            if "columns" in one.options:
                said["columns"] = dict(changed.columns or {})
            options = {**added, **one.options}
            now = replace(made, options=changed)
            yield Way(holds, command_of(made, said), one.fit, options, now, ratings)


def _layout(made: Prepared) -> Layout | None:
    """What each column is taken for; None where that is not complete."""
    try:
        return made.format.describe(made.head, made.options)
    except InputError:
        return None


def _fit_of(evidence: Evidence, layout: Layout) -> float:
    """Say how well what columns are taken for fits their names and contents."""
    axes = [layout.roles[role] for role in ("rater", "stimulus", "label") if role in layout.roles]
    if not {*axes} <= {*evidence.names}:
        return 0.0
    return _fit(evidence, *axes)


def _changed(options: ReadOptions, added: Mapping[str, Any]) -> ReadOptions | None:
    """Add to what is said of a file; None where it contradicts that."""
    columns = {**(options.columns or {}), **added.get("columns", {})}
    contradicts = any(
        columns[role] != column for role, column in (options.columns or {}).items()
    ) or any(
        getattr(options, name) not in (None, (), value)
        for name, value in added.items()
        if name not in ("columns", "on_bad", "encoding")
    )
    if contradicts:
        return None
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in added.items()
        if name != "encoding"
    }
    plain["columns"] = columns or None
    return replace(options, **plain)


def _plausible(ratings: Ratings, one: Candidate) -> str | None:
    """Say what a reading holds; None where it cannot be meant.

    It uses every row, several raters were asked, and they do not all answer the same.
    """
    lost = sum(part.count for part in ratings.set_aside if not part.reason.startswith("no answer"))
    may_lose = max(ratings.n_rows >= _SOME_ROWS, ratings.n_rows // 50) if one.fit < 0 else 0
    values = ratings.value[~np.isnan(ratings.value)]
    if lost > may_lose or ratings.n_stimuli < 2 or len(values) < 2 or np.ptp(values) == 0:
        return None
    nobody = one.options.get("wide") == "votes" or one.options.get("rater") == EACH_ROW
    if not nobody and (ratings.n_raters < 2 or ratings.n_raters == ratings.n_ratings):
        return None
    size = (
        f"{plural(ratings.n_stimuli, 'stimulus', 'stimuli')} x {plural(ratings.n_raters, 'rater')}"
    )
    labels = f", {plural(len(ratings.label_names), 'label')}" if ratings.has_labels else ""
    left = f", without {plural(lost, 'row')} that cannot be used" if lost else ""
    return f"{size}{labels}, {_answers(ratings, values)}{left}"


def _answers(ratings: Ratings, values: NDArray[np.float64]) -> str:
    scales = list(ratings.scales.values())
    categories = {name: None for scale in scales for name in scale.categories}
    if categories and all(scale.categories for scale in scales):
        return f"answers {shown(', '.join(categories), _LONGEST_ANSWERS)}"
    return f"answers {values.min():g} to {values.max():g}"


# The command that gives a reading.


def command_of(made: Prepared, said: Mapping[str, Any]) -> str:
    """Write the command, or in Python the call, that reads a file with some options.

    Of a table in memory, which has no name, the options are all that can be written; nothing is
    where an option is an object.
    """
    if not _can_be_written(said):
        return ""
    name = made.name
    parts = []
    for key, value in said.items():
        if key == "on_bad":
            if value == "set_aside":
                parts.append(option("on_bad", "set_aside", cli="--set-aside"))
            continue
        parts.append(option(key, _plain(value)))
    if on_command_line():
        file = "-" if name == "standard input" else shlex.quote(name)
        return " ".join(("affectlab report", file, *parts))
    in_memory = made.head.frame is not None and not Path(name).is_dir()
    return ", ".join(parts) if in_memory else f"read_ratings({', '.join((repr(name), *parts))})"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _can_be_written(given: Mapping[str, Any]) -> bool:
    """Whether what was given stands in a command: no table in memory, and no object."""
    plain = (str, int, float, Path, Mapping, list, tuple)
    return all(isinstance(value, plain) for value in given.values())


def _can_be_named(names: Sequence[str]) -> bool:
    """Whether names of columns mean the same when they stand in an option."""
    return all(name == name.strip() and '"' not in name and name.isprintable() for name in names)


# A row for each answer, or for each rater and stimulus: which columns are who and what.


def over_rows(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest readings of a table in which columns name stimulus and rater."""
    if evidence.row_names:
        return
    keys = [name for name in evidence.keys if _can_be_named([name])]
    sessions = [name for name in keys if "session" in meant(name)]
    free = [name for name in keys if name not in sessions]
    named = set[frozenset[str]]()
    for size in (2, 3):
        for axes in combinations(free, size):
            if any(pair <= {*axes} for pair in named):
                continue
            apart = [()] + [(name,) for name in sessions]
            told = next((more for more in apart if evidence.names_rows(*axes, *more)), None)
            if told is None:
                continue
            named.add(frozenset(axes))
            for roles in permutations(axes):
                yield from _of_axes(evidence, roles, told)


def of_nobody(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest that each row is of somebody else, where one column names what comes back."""
    keys = [name for name in evidence.keys if evidence.column(name).kind != "numbers"]
    if evidence.row_names or len(keys) != 1 or not _can_be_named(evidence.names):
        return
    (stimulus,) = keys
    numbers = evidence.answers_in_numbers(stimulus)
    said: dict[str, Any] = {"rater": EACH_ROW, "columns": {"stimulus": stimulus}}
    if len(numbers) == 1:
        said["columns"]["value"] = numbers[0]
    elif numbers:
        rest = [name for name in evidence.names if name not in (stimulus, *numbers)]
        said |= {"wide": "labels", **({"attributes": rest} if rest else {})}
    else:
        return
    # That nobody answered twice is for the owner of the file to say.
    yield Candidate(said, 1 + min(_as_stimulus(evidence, stimulus), 1))


def _of_axes(
    evidence: Evidence, axes: tuple[str, ...], apart: tuple[str, ...]
) -> Iterator[Candidate]:
    """Suggest readings of a table of which the rater, the stimulus and the label are known."""
    rater, stimulus, *label = axes
    fit = _fit(evidence, *axes)
    columns = {"stimulus": stimulus, "rater": rater}
    if apart:
        columns["session"] = apart[0]
    numbers = [name for name in evidence.answers_in_numbers(*axes, *apart) if _can_be_named([name])]
    if len(numbers) > 1:
        called = [name for name in numbers if "value" in meant(name)]
        if label and len(called) == 1:
            numbers = called
        else:
            used = {*columns.values(), *numbers}
            rest = [name for name in evidence.names if name not in used]
            if not _can_be_named(rest):
                return
            more: dict[str, Any] = {"attributes": rest} if rest else {}
            yield Candidate({"columns": columns, "wide": "labels", **more}, fit)
            return
    answers = numbers or _chosen(evidence, axes)
    if len(answers) == 1:
        if label:
            columns["label"] = label[0]
        yield Candidate({"columns": {**columns, "value": answers[0]}}, fit)


def _fit(evidence: Evidence, rater: str, stimulus: str, *label: str) -> float:
    """Say how well columns fit these roles, and how much of what they could cross they do."""
    fit = 2 * evidence.coverage(rater, stimulus, *label)
    fit += _as_rater(evidence, rater) + _as_stimulus(evidence, stimulus)
    return fit + sum(_as_label(evidence, name) for name in label)


def _chosen(evidence: Evidence, axes: Sequence[str]) -> list[str]:
    """Columns of words that were chosen: the one there is, or the one that is called so."""
    words = [name for name in evidence.answers_in_words(*axes) if _can_be_named([name])]
    if len(words) > 1:
        return [name for name in words if {"value", "label"} & meant(name) or find_chosen([name])]
    return words


def _as_rater(evidence: Evidence, name: str) -> float:
    column, means = evidence.column(name), meant(name)
    fit = _as_any(evidence, name)
    fit += 3 if "rater" in means else -2 if means & {"stimulus", "label"} else 0
    fit += {"mails": 3, "files": -4, "texts": -3}.get(column.kind, 0)
    persons = [
        other
        for other in evidence.names
        if "person" in meant(other)
        and not {"stimulus"} & meant(other)
        and evidence.column(other).distinct > 1
    ]
    return fit + 2 * any(evidence.determines(name, other) for other in persons)


def _as_stimulus(evidence: Evidence, name: str) -> float:
    column, means = evidence.column(name), meant(name)
    fit = _as_any(evidence, name)
    fit += 3 if "stimulus" in means else -2 if means & {"rater", "label"} else 0
    return fit + {"mails": -3, "files": 3, "texts": 2}.get(column.kind, 0)


def _as_label(evidence: Evidence, name: str) -> float:
    column, means = evidence.column(name), meant(name)
    fit = _as_any(evidence, name) - 0.5
    fit += 3 if "label" in means else -2 if "rater" in means else 0
    fit += {"mails": -4, "files": -4, "numbers": -3}.get(column.kind, 0)
    fit -= 4 if column.distinct > _FEW_LABELS else 0
    return fit + 4 * evidence.are_labels(evidence.cells[name].drop_nulls().unique().to_list())


def _as_any(evidence: Evidence, name: str) -> float:
    means = meant(name)
    fit = -4.0 if means & {"trial", "moment", "session"} else 0.0
    if not means & {"rater", "stimulus", "label"}:
        fit -= 4 if "value" in means else 1 if evidence.column(name).kind == "numbers" else 0
    return fit


# A column for each rater, or for each stimulus.


def over_columns(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest readings of a table in which raters, or stimuli, are spread over columns."""
    names = [name for name in evidence.names if _can_be_named([name])]
    if len(names) < len(evidence.names):
        return
    yield from _votes(evidence, names)
    yield from _over_raters(evidence, names)
    yield from _over_stimuli(evidence, names)
    yield from _over_crossed(evidence, names)


def _rows(evidence: Evidence, names: Sequence[str]) -> list[str]:
    """Columns that name the rows; of those that name the same things, a name before a text."""
    found = [
        name
        for name in names
        if evidence.column(name).distinct == evidence.height
        and (not evidence.column(name).runs or "stimulus" in meant(name))
        and evidence.column(name).kind != "mails"
    ]
    kinds = {name: evidence.column(name).kind == "texts" for name in found}
    return sorted(found, key=lambda name: (kinds[name], -_as_stimulus(evidence, name)))


def _votes(evidence: Evidence, names: Sequence[str]) -> Iterator[Candidate]:
    """Suggest counts of who chose each category: what they add up to is equal, or stands there."""
    rows = _rows(evidence, names)[:1]
    numbers = [
        name
        for name in names
        if name not in rows
        and evidence.column(name).kind == "numbers"
        and evidence.column(name).whole
        and not evidence.column(name).runs
        and not {"moment", "person", "session"} & meant(name)
    ]
    given = {name: evidence.numbers(name) for name in numbers}
    counts = {name: one for name, one in given.items() if np.isfinite(one).all() and one.min() >= 0}
    for stimulus in rows:
        for group, fit in _adding_up(counts):
            if cross(group) or any({"rater", "model"} & meant(name) for name in group):
                continue
            rest = [name for name in names if name not in group and name != stimulus]
            more: dict[str, Any] = {"attributes": rest} if rest else {}
            fit += _as_stimulus(evidence, stimulus)
            yield Candidate({"wide": "votes", "columns": {"stimulus": stimulus}, **more}, fit)
            return


def _adding_up(counts: Mapping[str, NDArray[np.float64]]) -> Iterator[tuple[list[str], float]]:
    """Columns that add up to another one, to the same in each row, or nearly so."""
    decided = [name for name in counts if "decided" in meant(name)]
    for total in (*counts, None):
        for left_out in ([], decided):
            group = [name for name in counts if name != total and name not in left_out]
            if len(group) < 2:
                continue
            parts = np.stack([counts[name] for name in group])
            together = parts.sum(axis=0)
            if together.max() < 3:
                continue
            equal = together == (together[0] if total is None else counts[total])
            if equal.all():
                yield group, 5.0
            elif total is None and together.var() < parts.var(axis=1).sum() / 2:
                yield group, 1.0


def _over_raters(evidence: Evidence, names: Sequence[str]) -> Iterator[Candidate]:
    rows = _rows(evidence, names)
    pairs: list[tuple[str, str]] = []
    if not rows:
        few = [name for name in evidence.keys if evidence.column(name).kind == "words"]
        labels = [name for name in few if _as_label(evidence, name) > 0]
        pairs = [
            (name, label)
            for name in evidence.keys
            for label in labels
            if name != label and evidence.names_rows(name, label)
        ]
    for stimulus, *label in [*((name,) for name in rows[:1]), *pairs]:
        axes = {stimulus, *label}
        rated = [
            name
            for name in names
            if name not in axes
            and evidence.column(name).distinct > 1
            and not {"decided", "moment", "person", "trial"} & meant(name)
        ]
        words = [
            name
            for name in rated
            if evidence.column(name).kind == "words"
            and evidence.column(name).distinct < evidence.height
        ]
        numbers = [name for name in rated if evidence.column(name).kind == "numbers"]
        after_raters = [
            name
            for name in rated
            if {"rater", "model"} & meant(name) or "@" in name or name in called_after_raters(rated)
        ]
        group = [name for name in after_raters if name in numbers]
        if len(words) > 1 and evidence.shared_words(words):
            group = words
        elif (
            len(group) < 2
            and numbers == rated
            and evidence.column(stimulus).kind != "numbers"
            and not evidence.are_labels(numbers)
        ):
            # Beside what was shown there are only numbers, under names of nobody knows what.
            group = numbers
        if len(group) < 2:
            continue
        if cross(group):
            continue
        columns = dict(zip(("stimulus", "label"), (stimulus, *label), strict=False))
        rest = [name for name in names if name not in group and name not in axes]
        more: dict[str, Any] = {"attributes": rest} if rest else {}
        fit = _as_stimulus(evidence, stimulus)
        if set(group) <= set(after_raters):
            fit += 3 if rest else 6
        yield Candidate({"wide": "raters", "columns": columns, **more}, fit)


def _over_stimuli(evidence: Evidence, names: Sequence[str]) -> Iterator[Candidate]:
    sheets = [
        name
        for name in names
        if evidence.column(name).distinct == evidence.height
        and ("rater" in meant(name) or name.casefold() in ("case", "id"))
    ]
    numbers = [
        name
        for name in names
        if name not in sheets
        and evidence.column(name).kind == "numbers"
        and evidence.column(name).distinct > 1
        and not {"decided", "moment", "person", "trial", "label"} & meant(name)
    ]
    stems = {name: stem_of(name) for name in numbers if stem_of(name) != name}
    for rater in sheets:
        for stem in dict.fromkeys(stems.values()):
            group = [name for name in numbers if stems.get(name) == stem]
            alike = (
                len(group) > 2 and len(group) == len(numbers) and not evidence.are_labels([stem])
            )
            if not alike or cross(group):
                continue
            rest = [name for name in names if name not in group and name != rater]
            more: dict[str, Any] = {"attributes": rest} if rest else {}
            if codes := _negative(evidence, group):
                more["missing_codes"] = codes
            yield Candidate({"wide": "stimuli", "columns": {"rater": rater}, **more}, 2)


def _over_crossed(evidence: Evidence, names: Sequence[str]) -> Iterator[Candidate]:
    """Suggest readings of names that cross: who or what a row is about decides the one part."""
    numbers = [name for name in names if evidence.column(name).kind == "numbers"]
    rows = [
        name
        for name in names
        if evidence.column(name).distinct == evidence.height
        and not {"moment", "person"} & meant(name)
    ]
    # Whoever fills in a sheet does so at a time.
    sheets = any("moment" in meant(name) and name not in numbers for name in names)
    for found in crossings(numbers):
        free = [name for name in rows if name not in found.columns]
        for place, (called, asked) in enumerate(
            ((found.first, found.second), (found.second, found.first))
        ):
            sides = list(dict.fromkeys(called)), list(dict.fromkeys(asked))
            labels = 1 + _as_labels(evidence, sides[1])
            labels -= 3 if evidence.are_labels(sides[0]) else 0
            for key in free:
                for role, many, fit in (
                    (
                        "rater",
                        "stimuli",
                        _as_rater(evidence, key) + _as_stimuli(sides[0]) + 2 * sheets,
                    ),
                    ("stimulus", "raters", _as_stimulus(evidence, key) + _as_raters(sides[0])),
                ):
                    order = (many, "labels") if place == 0 else ("labels", many)
                    wide = {"wide": ",".join(order), "columns": {role: key}}
                    yield Candidate(wide, fit + labels)


def _as_labels(evidence: Evidence, names: Sequence[str]) -> float:
    if evidence.are_labels(names):
        return 3
    of_others = all({"rater", "stimulus"} & meant(name) for name in names)
    return -3 if of_others or all(map(is_number, names)) else 0


def _as_raters(names: Sequence[str]) -> float:
    told = [bool({"rater", "model", "decided"} & meant(name)) for name in names]
    stimuli = all("stimulus" in meant(name) for name in names)
    return 3 if all(told) or called_after_raters(names) == [*names] else -2 if stimuli else 0


def _as_stimuli(names: Sequence[str]) -> float:
    told = [media_kind(name) is not None or "stimulus" in meant(name) for name in names]
    raters = all("rater" in meant(name) for name in names)
    return 3 if all(told) else -2 if raters else 0


def _negative(evidence: Evidence, names: Sequence[str]) -> list[str]:
    """Negative numbers among others that are none: codes for no answer."""
    every = pl.concat([evidence.cells[name] for name in names]).drop_nulls().unique().to_list()
    below = sorted(word for word in every if is_number(word) and float(word) < 0)
    return below if 0 < len(below) <= 3 < len(every) - len(below) else []


# What stands in the cells.


def in_cells(evidence: Evidence, layout: Layout) -> Iterator[Candidate]:
    """Suggest what parts several answers in a cell, and what stands for no answer."""
    value = layout.roles.get("value")
    if value not in evidence.cells:
        return
    cells = evidence.cells[value].drop_nulls().unique().to_list()
    if codes := odd_words(evidence.cells[value]):
        yield Candidate({"missing_codes": codes}, 1)
    for mark in (",", ";", "|", "/"):
        parts = [[part.strip() for part in cell.split(mark)] for cell in cells]
        if all(part.isdecimal() for cell in parts for part in cell):
            codes_of = [list(map(int, cell)) for cell in parts]
            rising = all(one == sorted(set(one)) for one in codes_of)
            if rising and sum(len(one) > 1 for one in codes_of) > _FEW_SETS:
                yield Candidate({"separator": mark}, 1)
