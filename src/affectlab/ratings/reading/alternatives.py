"""Other readings of a table: told by its shape, tried with the reader, and given as commands."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import on_command_line, option, plural, shown
from affectlab.ratings import wording
from affectlab.ratings.files import read_columns
from affectlab.ratings.formats import Layout, find_format
from affectlab.ratings.formats.table import (
    Evidence,
    PlainTable,
    are_occasions,
    crossings,
    meant,
    table_columns,
)
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading.prepared import Prepared
from affectlab.ratings.reading.rules import (
    CROSSED,
    ROWS,
    RULES,
    Candidate,
    fit_of,
    in_cells,
    suggested,
)
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import guess
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
_LEAST_OTHER = 2.0
"""How well a reading has to fit that a guess may be wrong about."""
_MOST_AGREED = 3
"""Levels on which raters may all agree by chance."""
_CLEARLY = 0.5
"""How much better than the reading that a file has another one fits that is given beside it."""
_SOME_ROWS = 10
"""Rows from which on one of them may be left out."""
_LONGEST_ANSWERS = 40


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
    rule: str
    """The rule that suggests it."""
    left: tuple[str, ...]
    """Columns of words that vary as answers do, and are none in this reading."""
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
    taken: Way | None = None
    """The reading that was taken because it clearly fits."""

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
        ways = tried(made, given, readable=False)
        return _chosen_way(Completed(made, None, str(error), ways), given)
    read = Completed(made, ratings, None)
    if not isinstance(made.format, PlainTable):
        return read
    evidence = measured(made)
    layout = made.format.describe(made.head, made.options)
    if people := two_people(evidence, layout):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ways = tuple(_ways(made, given, {}, people.ways))
        sentence = f"{made.head.path}: {people.sentence}"
        return Completed(made, None, sentence, ways) if ways else read
    least = contested(evidence, layout)
    if least is None:
        return read
    better = tried(made, given, readable=True, least=least)
    return _chosen_way(Completed(made, ratings, None, better), given)


def measured(made: Prepared) -> Evidence:
    """Measure the columns that are used, without rows that cannot be read."""
    try:
        given = table_columns(made.head, made.options)
    except InputError:
        given = read_columns(made.head, on_bad="set_aside")
    return Evidence(given.columns)


def _chosen_way(found: Completed, given: Mapping[str, Any]) -> Completed:
    """Take the reading that clearly fits better than all others, and say so."""
    if not found.ways or found.ways[0].fit < _CLEAR or len(near(found.ways)) > 1:
        return found
    best, *others = found.ways
    if found.ratings is not None and best.ratings.equals(found.ratings):
        return replace(found, ways=())
    taken = guess(
        StepKind.SHAPE,
        holds=best.holds,
        how=_options_of(best.options),
        rule=best.rule,
        other=others[0].command if others else command_of(best.made, {**given, **_swapped(best)}),
        varying=best.left,
    )
    ratings = best.ratings._derive(best.ratings._body, steps=(taken,))
    return Completed(best.made, ratings, None, taken=best)


def _swapped(way: Way) -> dict[str, Any]:
    """Take raters for stimuli and stimuli for raters, as nobody else can tell them apart."""
    changed = dict(way.options)
    if changed.get("wide") == "votes":
        # Numbers under names may be ratings of those who are called so.
        return {**changed, "wide": "raters"}
    if "columns" in changed:
        other = {"rater": "stimulus", "stimulus": "rater"}
        changed["columns"] = {other.get(k, k): v for k, v in changed["columns"].items()}
    if "wide" in changed:
        parts = {"raters": "stimuli", "stimuli": "raters"}
        wide = str(changed["wide"]).split(",")
        changed["wide"] = ",".join(parts.get(part, part) for part in wide)
    return changed


def near(ways: Sequence[Way]) -> Sequence[Way]:
    """Give the readings that fit nearly as well as the best."""
    return [way for way in ways if way.fit >= ways[0].fit - _NEAR]


def _options_of(said: Mapping[str, Any]) -> str:
    return " ".join(option(name, _plain(value)) for name, value in said.items())


def contested(evidence: Evidence, layout: Layout) -> float | None:
    """Say how well another reading must fit to be taken instead; None where none could be.

    One could where the name of a column speaks for another role; where a trial or session tells
    answers apart of which another column says what was asked; where answers are the same for each
    stimulus or rater; where names of labels say when somebody answered; or where words are the
    answers beside numbers that vary.
    """
    main = ("stimulus", "rater", "label")
    roles = layout.roles
    keys = [roles[role] for role in main if role in roles]
    if not {*keys} <= {*evidence.names}:
        return None
    if any(
        role in main and role not in meant(column) and {*main} & meant(column)
        for role, column in roles.items()
    ):
        return max(_SURELY, _fit_of(evidence, layout) + _CLEARLY)
    taken = {*roles.values(), *layout.labels}
    once = evidence.names_rows(*keys)
    asked = (
        {"trial", "session"} & roles.keys()
        and not once
        and any(
            "session" not in meant(name) and evidence.names_rows(*keys, name)
            for name in evidence.keys
            if name not in taken
        )
    )
    same = any(
        evidence.column(name).distinct > _MOST_AGREED
        and evidence.count(key) < evidence.height
        and evidence.determines(key, name)
        for name in layout.labels
        for key in keys
    )
    when = any(
        are_occasions({*parts})
        for one in crossings(layout.labels)
        for parts in (one.first, one.second)
    )
    value = roles.get("value")
    words = (
        value in evidence.names
        and evidence.column(str(value)).kind == "words"
        and "value" not in meant(str(value))
        and (not once or evidence.determines(keys[0], str(value)))
        and evidence.answers_in_numbers(*keys, str(value))
    )
    return _CLEAR if asked or same or when or words else None


@dataclass(frozen=True)
class TwoPeople:
    """One name that stands for two people, and the readings there are."""

    sentence: str
    ways: tuple[Candidate, ...]


def two_people(evidence: Evidence, layout: Layout) -> TwoPeople | None:
    """Find a rater of two ages, sexes or countries, whom another column tells apart."""
    rater = layout.roles.get("rater")
    about = [
        name
        for name in evidence.names
        if "person" in meant(name)
        and not {"stimulus", "value"} & meant(name)
        and name not in layout.needed
    ]
    if rater not in evidence.names:
        return None
    differ = [name for name in about if not evidence.determines(rater, name)]
    used = {*layout.roles.values(), *layout.labels, *about}
    for other in evidence.names if differ else ():
        if other in used or evidence.determines(rater, other):
            continue
        if all(evidence.count(other, rater, one) == evidence.count(other, rater) for one in differ):
            name, values = evidence.several(rater, differ[0])
            return TwoPeople(
                wording.two_people(name, differ[0], values, other),
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
    ways = near(ways)
    head = wording.other_readings(len(ways), readable=readable)
    return (head, *(line for way in ways for line in (f"  {way.holds}:", f"    {way.command}")))


def tried(
    made: Prepared, given: Mapping[str, Any], *, readable: bool, least: float | None = None
) -> tuple[Way, ...]:
    """Try the readings that the shape of a table suggests; give those that use every row.

    Parameters
    ----------
    made, given
        The source, and what is said of it.
    readable
        Whether it can be read as it is; then only what fits clearly better is tried.
    least
        How well a reading has to fit; None: told by the reading there is.
    """
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
        layout = evidence = None
        if isinstance(made.format, PlainTable):
            try:
                evidence = measured(made)
            except InputError:
                return ()
            layout = _layout(made)
            in_rows = layout is not None and {"stimulus", "rater"} <= layout.roles.keys()
            if least is None and readable and in_rows and layout is not None:
                least = _fit_of(evidence, layout) + _CLEARLY
            least = _LEAST if least is None else least
            found = suggested(evidence, (ROWS, CROSSED) if readable and in_rows else RULES)
            candidates += [one for one in found if one.fit > least]
            if layout is not None and not readable:
                candidates += in_cells(evidence, layout)
        if added and not candidates:
            candidates.append(Candidate({}, 0))
        if not readable and (layout is not None or not isinstance(made.format, PlainTable)):
            candidates.append(Candidate({"on_bad": "set_aside"}, -9))
        many = evidence is not None and evidence.rows > _MANY_ROWS
        most = _MOST_TRIED_OF_MANY if many else _MOST_TRIED
        return tuple(_ways(made, given, added, candidates[:most]))


def _ways(
    made: Prepared,
    given: Mapping[str, Any],
    added: Mapping[str, Any],
    candidates: Sequence[Candidate],
) -> Iterator[Way]:
    """Try candidates, the best first, as long as one fits nearly as well as the best that reads.

    Where one alone does, the next that reads is given, too: it is what a guess may be wrong about.
    """
    found = 0
    best: float | None = None
    for one in candidates:
        if best is not None and one.fit < best - _NEAR and (found > 1 or one.fit < _LEAST_OTHER):
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
            found += 1
            said = {**given, **added, **one.options}
            if "columns" in one.options:
                said["columns"] = dict(changed.columns or {})
            options = {**added, **one.options}
            now = replace(made, options=changed)
            yield Way(
                holds, command_of(made, said), one.fit, options, one.rule, one.left, now, ratings
            )


def _layout(made: Prepared) -> Layout | None:
    """What each column is taken for; None where that is not complete."""
    try:
        return made.format.describe(made.head, made.options)
    except InputError:
        return None


def _fit_of(evidence: Evidence, layout: Layout) -> float:
    """Say how well what columns are taken for fits their names and contents."""
    axes = [layout.roles[role] for role in ("rater", "stimulus", "label") if role in layout.roles]
    if not ({*axes} <= {*evidence.names} and {"rater", "stimulus"} <= layout.roles.keys()):
        return 0.0
    return fit_of(evidence, *axes)


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
    lost = sum(part.count for part in ratings.set_aside if part.kind == "unusable")
    may_lose = max(ratings.n_rows >= _SOME_ROWS, ratings.n_rows // 8) if one.fit < 0 else 0
    values = ratings.value[~np.isnan(ratings.value)]
    if lost > may_lose or ratings.n_stimuli < 2 or len(values) < 2 or np.ptp(values) == 0:
        return None
    nobody = one.options.get("wide") == "votes" or "rater" in one.options
    if not nobody and (ratings.n_raters < 2 or ratings.n_raters == ratings.n_ratings):
        return None
    who = (
        plural(ratings.n_raters, "rater")
        if ratings.raters_known
        else f"{plural(ratings.n_ratings, 'answer')} of raters who are not known"
    )
    size = f"{plural(ratings.n_stimuli, 'stimulus', 'stimuli')} x {who}"
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
    in_memory = made.head.frame is not None and not Path(name).exists()
    return ", ".join(parts) if in_memory else f"read_ratings({', '.join((repr(name), *parts))})"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _can_be_written(given: Mapping[str, Any]) -> bool:
    """Whether what was given stands in a command: no table in memory, and no object."""
    plain = (str, int, float, Path, Mapping, list, tuple)
    return all(isinstance(value, plain) for value in given.values())
