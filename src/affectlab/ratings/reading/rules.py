"""Rules that suggest what a table holds by its shape, one for each way of holding ratings.

A rule sees names and contents of columns (:class:`Evidence`), and gives options that a user could
have said, with how well names and contents fit them. What it suggests is tried with the reader, the
best first: see :mod:`affectlab.ratings.reading.alternatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.files.media import media_kind
from affectlab.ratings.build import is_number
from affectlab.ratings.formats import Layout
from affectlab.ratings.formats.table import (
    Crossing,
    Evidence,
    are_occasions,
    called_after_raters,
    crossings,
    find_chosen,
    find_one,
    meant,
    odd_words,
    stem_of,
    words_in,
)
from affectlab.ratings.options import EACH_ROW

_FEW_LABELS = 30
_FEW_SETS = 3
"""Cells of several codes in rising order that could be decimal commas by chance."""
_FEWEST_ROWS = 10
"""Rows from which on equal sums are no chance."""
_FEWEST_VOTES = 3
_ALONE = 0.6
"""How well a reading fits in which one rater answered."""
_ROLES = {"rater", "stimulus", "label"}


@dataclass(frozen=True)
class Candidate:
    """Options that would make a reading complete, and how well names and contents fit them."""

    options: Mapping[str, Any]
    fit: float
    rule: str = ""
    left: tuple[str, ...] = ()
    """Columns of words that vary as answers do, and are none in this reading."""


@dataclass(frozen=True)
class Rule:
    """A way in which tables hold ratings, and what tells that one does."""

    name: str
    suggest: Callable[[Evidence], Iterator[Candidate]]


def suggested(evidence: Evidence, rules: Iterable[Rule] | None = None) -> list[Candidate]:
    """Give what the rules suggest, what fits best first."""
    found = [
        Candidate(one.options, one.fit, rule.name, one.left)
        for rule in (RULES if rules is None else rules)
        for one in rule.suggest(evidence)
        if _can_be_said(one.options)
    ]
    found.sort(key=lambda one: -one.fit)
    return [one for k, one in enumerate(found) if one.options not in [o.options for o in found[:k]]]


def _can_be_said(options: Mapping[str, Any]) -> bool:
    """Whether names of columns mean the same when they stand in an option."""
    names = [*options.get("columns", {}).values(), *options.get("attributes", ())]
    return all(name == name.strip() and '"' not in name and name.isprintable() for name in names)


# How well columns fit a role.


def fit_of(evidence: Evidence, rater: str, stimulus: str, *label: str) -> float:
    """Say how well columns fit these roles, and how much of what they could cross they do."""
    fit = 2 * evidence.coverage(rater, stimulus, *label)
    fit += _as_rater(evidence, rater) + _as_stimulus(evidence, stimulus)
    return fit + sum(_as_label(evidence, name) for name in label)


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
    if not means & _ROLES:
        fit -= 4 if "value" in means else 1 if evidence.column(name).kind == "numbers" else 0
    return fit


# How well names fit what the columns of a wide table stand for.


def _are_raters(names: Sequence[str]) -> float:
    """Say how well names fit those of raters: of each in turn, and of all alike."""
    told = [bool({"rater", "model"} & meant(name)) or "@" in name for name in names]
    stimuli = all("stimulus" in meant(name) and "rater" not in meant(name) for name in names)
    numbered = called_after_raters(names) == [*names]
    return 4 if all(told) else 3 if numbered else -2 if stimuli else 0


def _are_stimuli(names: Sequence[str]) -> float:
    told = [media_kind(name) is not None or "stimulus" in meant(name) for name in names]
    raters = all("rater" in meant(name) for name in names)
    return 4 if all(told) else -2 if raters else 0


def _are_labels(evidence: Evidence, names: Sequence[str]) -> float:
    if evidence.are_labels(names):
        return 3
    of_others = all({"rater", "stimulus"} & meant(name) for name in names)
    numbered = len({stem_of(name) for name in names}) < len(names)
    return -3 if of_others or numbered or all(map(is_number, names)) else 0


def _row_names(evidence: Evidence, role: str) -> list[str]:
    """Columns of which each row has its own value, what fits a role best first.

    Of those that name the same things, a name goes before a text, and both before a number.
    """
    fit = _as_rater if role == "rater" else _as_stimulus
    found = [
        name
        for name in evidence.names
        if evidence.column(name).distinct == evidence.height > 1
        and evidence.column(name).kind != ("files" if role == "rater" else "mails")
        and (evidence.column(name).kind != "numbers" or evidence.column(name).whole)
        and name not in evidence.spread
        and media_kind(name) is None
        and not {"moment", "person", "trial", "decided"} & meant(name)
    ]
    late = {
        name: (
            evidence.column(name).kind == "texts",
            role not in meant(name) and evidence.column(name).runs,
        )
        for name in found
    }
    if found:
        return sorted(found, key=lambda name: (late[name], -fit(evidence, name)))
    if evidence.corner is not None:
        return [evidence.corner]
    # Of traces, each row is a moment.
    first = evidence.names[:1] if role == "stimulus" else ()
    return [name for name in first if evidence.column(name).runs and "moment" in meant(name)]


def _beside(evidence: Evidence, *used: str) -> dict[str, Any]:
    """Name the columns that describe, where there are any."""
    rest = [name for name in evidence.names if name not in used]
    return {"attributes": rest} if rest else {}


# A row for each answer, or for each rater and stimulus.


def over_rows(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest which columns name stimulus and rater, and perhaps the label."""
    if evidence.row_names:
        return
    yield from _of_moments(evidence)
    sessions = [name for name in evidence.keys if "session" in meant(name)]
    free = [name for name in evidence.keys if name not in sessions]
    # Sessions tell apart what nothing else does.
    for apart in ((), *((name,) for name in sessions)):
        named: list[tuple[str, ...]] = []
        for size in (2, 3):
            for axes in combinations(free, size):
                known = any({*pair} <= {*axes} for pair in named)
                if not known and evidence.names_rows(*axes, *apart):
                    named.append(axes)
        for axes in named:
            for roles in permutations(axes):
                yield from _of_axes(evidence, roles, {"session": apart[0]} if apart else {})
        if named and not apart:
            return
        if named:
            break
    yield from _by_trials(evidence)


def _of_moments(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest that people rated moments of their days, where nothing was shown."""
    raters = [name for name in evidence.keys if "rater" in meant(name)]
    days = [name for name in evidence.names if {"session", "moment"} & meant(name) == {"session"}]
    times = [name for name in evidence.names if {"trial"} & meant(name)]
    if any("stimulus" in meant(name) for name in evidence.names):
        return
    for rater, day, time in product(raters, days, times):
        if day != time and evidence.names_rows(rater, day, time):
            answers = evidence.answers_in_numbers(rater, day, time)
            more = _beside(evidence, rater, day, time, *answers)
            columns = {"stimulus": f"{day}+{time}", "rater": rater}
            if len(answers) > 1:
                yield Candidate({"columns": columns, "wide": "labels", **more}, 4.5)
            return


def _by_trials(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest that trials tell answers of one rater apart, where names say who and what."""
    trials = [
        name
        for name in evidence.names
        if "trial" in meant(name) and 1 < evidence.column(name).distinct < evidence.height
    ]
    called = [
        [name for name in evidence.keys if role in meant(name)]
        for role in ("rater", "stimulus", "label")
    ]
    for rater, stimulus in product(*called[:2]):
        for axes in ((rater, stimulus), *((rater, stimulus, label) for label in called[2])):
            for trial in trials:
                if len({*axes, trial}) > len(axes) and evidence.tells_apart(trial, *axes):
                    yield from _of_axes(evidence, axes, {"trial": trial})
                    break


def _of_axes(
    evidence: Evidence, axes: tuple[str, ...], apart: Mapping[str, str]
) -> Iterator[Candidate]:
    rater, stimulus, *label = axes
    fit = fit_of(evidence, *axes)
    columns = {"stimulus": stimulus, "rater": rater, **apart}
    numbers = evidence.answers_in_numbers(*axes, *(apart[k] for k in apart if k == "session"))
    # Codes beside ratings name something.
    numbers = [name for name in numbers if words_in(name)[-1:] != ("code",)] or numbers
    if len(numbers) > 1:
        called = [name for name in numbers if "value" in meant(name)]
        chosen = [name for name in evidence.answers_in_words(*axes) if "value" in meant(name)]
        if label and len(called) == 1:
            numbers = called
        else:
            if not label and called and chosen:
                # What is called an answer is one, in numbers and in words.
                numbers = [name for name in evidence.names if name in {*called, *chosen}]
            if _are_raters(numbers) > 0:
                fit -= 6
            more = _beside(evidence, *columns.values(), *numbers)
            left = tuple(_chosen(evidence, axes))
            yield Candidate({"columns": columns, "wide": "labels", **more}, fit, left=left)
            return
    answers = numbers or _chosen(evidence, axes)
    if len(answers) == 1:
        if label:
            columns["label"] = label[0]
        if answers[0] in evidence.keys and {"stimulus", "rater"} & meant(answers[0]):
            # What names who or what is hardly an answer.
            fit -= 6
        left = tuple(_chosen(evidence, axes)) if numbers else ()
        yield Candidate({"columns": {**columns, "value": answers[0]}}, fit, left=left)


def _chosen(evidence: Evidence, axes: Sequence[str]) -> list[str]:
    """Columns of words that were chosen: the one there is, or the one that is called so."""
    words = evidence.answers_in_words(*axes)
    if len(words) > 1:
        return [name for name in words if {"value", "label"} & meant(name) or find_chosen([name])]
    return words


def of_nobody(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest that each row is of somebody else, where one column names what comes back."""
    keys = [
        name
        for name in evidence.keys
        if evidence.column(name).kind != "numbers" or "stimulus" in meant(name)
    ]
    if evidence.row_names or len(keys) != 1 or any("rater" in meant(n) for n in evidence.names):
        return
    (stimulus,) = keys
    numbers = evidence.answers_in_numbers(stimulus)
    said: dict[str, Any] = {"rater": EACH_ROW, "columns": {"stimulus": stimulus}}
    if len(numbers) == 1:
        said["columns"]["value"] = numbers[0]
    elif numbers:
        said |= {"wide": "labels", **_beside(evidence, stimulus, *numbers)}
    else:
        return
    # That nobody answered twice is for the owner of the file to say.
    yield Candidate(said, 1 + min(_as_stimulus(evidence, stimulus), 1))


def of_one(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest that one rater gave all answers, where each row is about something else."""
    if any({"rater", "person"} & meant(name) for name in evidence.names):
        return
    for stimulus in _row_names(evidence, "stimulus")[:1]:
        if _as_stimulus(evidence, stimulus) <= 0:
            continue
        said: dict[str, Any] = {"rater": "one", "columns": {"stimulus": stimulus}}
        answers = evidence.answers_in_numbers(stimulus) or [
            name
            for name in evidence.names
            if name != stimulus and (evidence.are_labels([name]) or find_chosen([name]))
        ]
        if len(answers) == 1:
            said["columns"]["value"] = answers[0]
        elif answers:
            said |= {"wide": "labels", **_beside(evidence, stimulus, *answers)}
        if answers:
            # Any reading with several raters goes before it.
            yield Candidate(said, _ALONE)


# A column for each rater, stimulus or category, or for two of these.


def over_raters(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest a column for each rater: they are called so, or share their few words."""
    rows = [(name,) for name in _row_names(evidence, "stimulus")[:1]]
    pairs: list[tuple[str, ...]] = []
    if not rows:
        labels = [
            name
            for name in evidence.keys
            if evidence.column(name).kind == "words" and _as_label(evidence, name) > -2
        ]
        pairs = [
            (name, label)
            for name in evidence.keys
            for label in labels
            if name != label and evidence.names_rows(name, label)
        ]
    for stimulus, *label in [*rows, *pairs]:
        group = _group_of_raters(evidence, (stimulus, *label))
        if len(group) < 2 or crossings(group):
            continue
        columns = dict(zip(("stimulus", "label"), (stimulus, *label), strict=False))
        more = _beside(evidence, *group, *columns.values())
        fit = _as_stimulus(evidence, stimulus) + _are_raters(group)
        fit += sum(_as_label(evidence, name) for name in label)
        if _are_raters(group) > 0:
            fit += 1 if more else 3
        if evidence.column(stimulus).kind == "numbers" and "moment" in meant(stimulus):
            # Nothing was shown but what went on meanwhile.
            fit = 1.0
        if stimulus == evidence.corner:
            # A matrix whose corner is empty may have either of both in its rows.
            fit += 1
            yield Candidate({"wide": "stimuli", "columns": {"rater": stimulus}, **more}, fit)
        yield Candidate({"wide": "raters", "columns": columns, **more}, fit)


def _group_of_raters(evidence: Evidence, axes: Sequence[str]) -> list[str]:
    stimulus = axes[0]
    rated = [
        name
        for name in evidence.names
        if name not in axes
        and evidence.column(name).filled
        and not {"decided", "moment", "person", "trial"} & meant(name)
    ]
    words = [name for name in rated if evidence.column(name).kind in ("words", "texts")]
    numbers = [name for name in rated if evidence.column(name).kind == "numbers"]
    # A column called "participant" names raters, and holds none of their answers.
    called = [name for name in rated if _are_raters([name]) > 0 and not find_one("rater", [name])]
    for held in (words, numbers):
        group = [name for name in called if name in held]
        if len(group) > 1 and (held is numbers or evidence.shared_words(group)):
            return group
    rated = [name for name in rated if evidence.column(name).distinct > 1]
    alike = called_after_raters(rated)
    if len(alike) > 2 and {*alike} <= {*numbers}:
        return alike
    words, numbers = ([name for name in held if name in rated] for held in (words, numbers))
    words = [name for name in words if evidence.column(name).distinct < evidence.height]
    if len(words) > 1 and evidence.shared_words(words):
        return words
    bare = (
        len(axes) == 1
        and numbers == rated
        and (evidence.column(stimulus).kind != "numbers" or "moment" in meant(stimulus))
        and not evidence.are_labels(numbers)
    )
    # Beside what was shown there are only numbers, under names of nobody knows what.
    return numbers if bare else []


def over_stimuli(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest that each row is the sheet of a rater, and columns numbered alike the stimuli."""
    for rater in _row_names(evidence, "rater")[:1]:
        rated = [
            name
            for name in evidence.names
            if name != rater
            and evidence.column(name).kind in ("numbers", "words")
            and not {"decided", "moment", "person", "trial", "session"} & meant(name)
        ]
        stems: dict[str, list[str]] = {}
        for name in rated:
            stems.setdefault(stem_of(name), []).append(name)
        stem, group = max(stems.items(), key=lambda one: len(one[1]), default=("", []))
        files = [name for name in rated if media_kind(name) is not None]
        if len(files) > len(group):
            stem, group = "", files
        kinds = {evidence.column(name).kind for name in group}
        least = 2 if _are_stimuli(group) > 0 else 3
        alike = len(group) >= least and len(kinds) == 1 and not evidence.are_labels([stem])
        others = [
            name
            for name in rated
            if name not in group
            and evidence.column(name).kind in kinds
            and evidence.column(name).distinct > 1
        ]
        few = 4 * len(others) <= len(group)
        if not alike or (others and not few) or crossings(group):
            continue
        if kinds == {"words"} and not evidence.shared_words(group):
            continue
        columns = {"rater": rater}
        asked = [
            name
            for name in evidence.names
            if name not in (rater, *group)
            and evidence.column(name).kind == "words"
            and evidence.column(name).distinct > 1
            and evidence.are_labels(evidence.cells[name].drop_nulls().unique().to_list())
        ]
        if len(asked) == 1:
            columns["label"] = asked[0]
        more = _beside(evidence, *columns.values(), *group)
        if codes := _negative(evidence, group):
            more["missing_codes"] = codes
        # Columns numbered alike say much by themselves.
        fit = 2 + _as_rater(evidence, rater) + _are_stimuli(group) - max(_are_raters(group), 0)
        yield Candidate({"wide": "stimuli", "columns": columns, **more}, fit - bool(others))


def over_crossed(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest which part of names that cross is the label, and who or what a row is about."""
    kinds = {name: evidence.column(name).kind for name in evidence.names}
    numbers = [name for name in evidence.names if kinds[name] == "numbers"]
    words = [name for name in evidence.names if kinds[name] == "words"]
    # Whoever fills in a sheet does so at a time.
    sheets = any("moment" in meant(name) and name not in numbers for name in evidence.names)
    # A category may have been chosen beside what was rated in numbers.
    of_numbers, of_all = crossings(numbers), crossings([*numbers, *words])
    wider = of_numbers and len(of_all[0].columns) > len(of_numbers[0].columns)
    for found in of_all if wider else of_numbers:
        parts = (found.first, found.second)
        for place in (0, 1):
            called, asked = ([*dict.fromkeys(parts[at])] for at in (place, 1 - place))
            occasions = [*_over_occasions(evidence, found, place)] if are_occasions(called) else []
            yield from occasions
            if occasions:
                continue
            # Crossing by itself says much.
            labels = 1 + _are_labels(evidence, asked)
            labels -= 3 if evidence.are_labels(called) else 4 if are_occasions(called) else 0
            for role, many in (("rater", "stimuli"), ("stimulus", "raters")):
                keys = [one for one in _row_names(evidence, role) if one not in found.columns]
                for key in keys[:1]:
                    if role == "rater":
                        fit = _as_rater(evidence, key) + _are_stimuli(called) + 2 * sheets
                    else:
                        fit = _as_stimulus(evidence, key) + _are_raters(called)
                    wide = ",".join((many, "labels") if place == 0 else ("labels", many))
                    yield Candidate({"wide": wide, "columns": {role: key}}, fit + labels)


def _over_occasions(evidence: Evidence, found: Crossing, place: int) -> Iterator[Candidate]:
    """Suggest that one part of names that cross says when somebody answered."""
    keys = [name for name in evidence.keys if name not in found.columns]
    wide = "sessions,labels" if place == 0 else "labels,sessions"
    for rater, stimulus in permutations(keys, 2):
        if evidence.names_rows(rater, stimulus):
            columns = {"stimulus": stimulus, "rater": rater}
            # Labels that cross occasions are none.
            fit = 2 + fit_of(evidence, rater, stimulus)
            yield Candidate({"wide": wide, "columns": columns}, fit)


def of_votes(evidence: Evidence) -> Iterator[Candidate]:
    """Suggest counts of who chose each category: what they add up to is equal, or stands there."""
    for stimulus in _row_names(evidence, "stimulus")[:1]:
        counts = {
            name: given
            for name in evidence.names
            if name != stimulus
            and evidence.column(name).kind == "numbers"
            and evidence.column(name).whole
            and not evidence.column(name).runs
            and not {"moment", "person", "session", "rater", "model"} & meant(name)
            and np.isfinite(given := evidence.numbers(name)).all()
            and given.min() >= 0
        }
        for group, fit in _adding_up(counts):
            if not crossings(group) and not all("decided" in meant(name) for name in group):
                more = _beside(evidence, stimulus, *group)
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
            if together.max() < _FEWEST_VOTES:
                continue
            equal = together == (together[0] if total is None else counts[total])
            if equal.all() and (total is not None or len(equal) >= _FEWEST_ROWS):
                yield group, 5.0
            elif total is None and together.var() < parts.var(axis=1).sum() / 2:
                yield group, 0.0


def _negative(evidence: Evidence, names: Sequence[str]) -> list[str]:
    """Negative numbers among others that are none: codes for no answer."""
    every = pl.concat([evidence.cells[name] for name in names]).drop_nulls().unique().to_list()
    if not all(map(is_number, every)):
        return []
    below = sorted(word for word in every if float(word) < 0)
    above = [float(word) for word in every if float(word) >= 0]
    far = below and above and min(map(float, below)) < -max(above)
    return below if far and len(below) <= 3 < len(above) else []


ROWS = Rule("row per answer", over_rows)
CROSSED = Rule("names that cross", over_crossed)
RULES = (
    ROWS,
    Rule("rows of nobody", of_nobody),
    Rule("one rater", of_one),
    Rule("column per rater", over_raters),
    Rule("column per stimulus", over_stimuli),
    CROSSED,
    Rule("counts of votes", of_votes),
)


# What stands in the cells of a table whose columns are known.


def in_cells(evidence: Evidence, layout: Layout) -> Iterator[Candidate]:
    """Suggest what parts several answers in a cell, and what stands for no answer."""
    value = layout.roles.get("value")
    if value not in evidence.cells:
        return
    cells = evidence.cells[value].drop_nulls().unique().to_list()
    if codes := odd_words(evidence.cells[value]):
        yield Candidate({"missing_codes": codes}, 1, "words for no answer")
    for mark in (",", ";", "|", "/"):
        parts = [[part.strip() for part in cell.split(mark)] for cell in cells]
        if all(part.isdecimal() for cell in parts for part in cell):
            codes_of = [list(map(int, cell)) for cell in parts]
            rising = all(one == sorted(set(one)) for one in codes_of)
            if rising and sum(len(one) > 1 for one in codes_of) > _FEW_SETS:
                yield Candidate({"separator": mark}, 1, "sets in cells")
