"""Which columns of a table hold the answers of a model, as the words and labels of people tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import quoted
from affectlab.ratings.beside import same_labels
from affectlab.ratings.build import is_number, words_of
from affectlab.ratings.formats.table import TRUTHS, find_chosen, find_one, is_of_numbers
from affectlab.ratings.scale import Scale, folded
from affectlab.ratings.schema import ROW_COLUMNS, StepKind
from affectlab.ratings.steps import History, Step, guess, step
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, list_taxonomies, load_taxonomy

SHARES = Scale("interval", 0.0, 1.0)
"""The scale of probabilities."""
_CORE = ("stimulus", "rater", "label", "value")
_ROUNDING = 0.02
"""How far the sum of probabilities that were rounded may lie from 1."""
_ROUNDING_OF = 0.002
"""The same, as a part of a sum that is not 1."""
_FEW_ROWS = 3
"""Rows from which on a sum that all have is no chance."""
_MOST_LEFT_OUT = 2
_MOST_OTHERS = 12
_FIRST_ROWS = 1000
_MARKS = "_-. :/"
"""Signs between the name of a class and what scores of it are called."""


@dataclass(frozen=True)
class AnswerColumns:
    """What a reader is told of the columns of a model's table."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of :func:`affectlab.ratings.read_ratings`."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What labels are called by people that are called otherwise here."""
    scale: Scale | None = None
    """The scale of the answers, where the columns show it."""
    total: float = 1.0
    """What the scores of each stimulus add up to, where they are counts or percent."""
    scores: bool = False
    """Whether there is a score for each of the categories, of which people name one."""
    steps: History = ()
    """What was decided without the user, for the history."""


def answer_columns(
    columns: Mapping[str, pl.Series],
    like: Ratings,
    taxonomy: Taxonomy | None,
    where: str,
    labels: Mapping[str, str] | None = None,
) -> AnswerColumns:
    """Say which columns are answers: a named class, or a score for each class or label.

    A column that is called like one of values is it, unless it holds fractions where people answer
    with words. Then, and where none is called so, the answers are the columns that are called like
    people's labels or categories, if there are several; else the one column that holds people's
    words.

    Raises
    ------
    InputError
        When several columns hold words of people, and none is called like one of answers.
    """
    columns = {name: column for name, column in columns.items() if name.strip()}
    header = list(columns)
    words = _categories(like)
    value = find_one("value", header)
    if value is not None and (not words or not _has_fractions(columns[value])):
        return AnswerColumns()
    label = find_one("label", header, taken={value or ""})
    if value is not None and label is not None and _holds(columns[label], words):
        return _labelled(columns, label, value)
    chosen = None if value is not None else find_chosen(header)
    of_numbers = chosen is not None and bool(words) and _numbers(columns[chosen]) is not None
    if chosen is not None and not of_numbers and not set(header) & set(like.label_names):
        return AnswerColumns()
    scores = _scores(columns, like, words, taxonomy, labels)
    if scores is not None:
        return scores
    answers = [
        name
        for name in header
        if name not in _roles(header)
        and folded(name).replace(" ", "_") not in TRUTHS
        and _holds(columns[name], words)
    ]
    if len(answers) > 1:
        raise InputError(
            f"{where}: columns {quoted(answers)} hold words of people, and none is called like "
            "one of answers; call the column of the answers 'prediction'"
        )
    if answers:
        return _named(columns, answers[0], "words")
    return AnswerColumns() if value is not None or of_numbers else AnswerColumns({"wide": "labels"})


def _categories(like: Ratings) -> dict[str, str]:
    """Categories of which people name one for each stimulus; none where they answer otherwise."""
    if like.has_labels or like.scale.kind != "nominal":
        return {}
    return {folded(name): name for name in like.scale.categories}


def _named(
    columns: Mapping[str, pl.Series], name: str, why: str, beside: str = ""
) -> AnswerColumns:
    """Take a column as that of the one class that is named."""
    done = guess(StepKind.MODEL_COLUMN, column=name, why=why, beside=beside)
    others = [role for role in ("label", "value") if role in columns and role != name]
    unused = {"unused": others} if others else {}
    return AnswerColumns({"columns": {"value": name}, **unused}, steps=(done,))


def _labelled(columns: Mapping[str, pl.Series], label: str, value: str) -> AnswerColumns:
    """Take words beside numbers as the answers, or as what the numbers are scores of."""
    header = list(columns)
    keys = [name for name in (find_one(role, header) for role in _CORE[:2]) if name]
    keys += [name for name in ROW_COLUMNS if name in columns]
    frame = pl.DataFrame([columns[name].cast(pl.String) for name in keys])
    if frame.is_duplicated().any():
        shares = _sum_to_one(frame, columns[value])
        return AnswerColumns(scale=SHARES if shares else None, scores=True)
    return _named(columns, label, "fractions", value)


def _sum_to_one(keys: pl.DataFrame, value: pl.Series) -> bool:
    number = value.cast(pl.Float64, strict=False).fill_null(0.0)
    totals = keys.with_columns(number.alias("\0")).group_by(keys.columns).agg(pl.col("\0").sum())
    return bool(number.is_between(0, 1).all()) and _near_one(totals["\0"].to_numpy())


def _are_shares(*parts: np.ndarray) -> bool:
    """Whether numbers lie between 0 and 1 and add up to 1 in each row."""
    inside = all(bool(((part >= 0) & (part <= 1)).all()) for part in parts)
    return bool(parts) and inside and _near_one(np.sum(parts, axis=0))


def _common_total(parts: Sequence[np.ndarray]) -> float:
    """Say what the numbers of each row add up to; 1 where that differs, or some are negative."""
    if len(parts) < 2 or len(parts[0]) < _FEW_ROWS or any((part < 0).any() for part in parts):
        return 1.0
    totals = np.sum(parts, axis=0)
    total = float(np.rint(np.median(totals)))
    given = totals[totals != 0]  # Cells of a row may all be empty.
    alike = len(given) and total > 1 and (np.abs(given - total) <= _ROUNDING_OF * total).all()
    return total if alike else 1.0


def _near_one(totals: np.ndarray) -> bool:
    given = totals[totals != 0]  # Cells of a row may all be empty.
    return bool(len(given)) and bool((np.abs(given - 1.0) <= _ROUNDING).all())


def _scores(
    columns: Mapping[str, pl.Series],
    like: Ratings,
    words: Mapping[str, str],
    taxonomy: Taxonomy | None,
    labels: Mapping[str, str] | None,
) -> AnswerColumns | None:
    """Find the columns of scores, several of which are called after labels or categories."""
    names = words or {folded(name): name for name in like.label_names if like.has_labels}
    taken = _roles(list(columns))
    rest = [name for name in columns if name not in taken]
    numbers = {name: one for name in rest if (one := _numbers(columns[name])) is not None}
    called = {
        name: names[folded(name)]
        for name in (rest if like.has_labels else numbers)
        if folded(name) in names
    }
    # Words that mean the same are called as people's when the table is read.
    called |= {name: name for name in same_labels(list(numbers), like, labels)}
    steps: list[Step] = []
    enough = min(2, len(names)) if like.has_labels else 2
    if not names or len(called) < enough:
        affix, called = _with_affix(list(numbers), names)
        if len(called) < 2:
            return None
        steps.append(guess(StepKind.AFFIXED_SCORES, affix=affix))
    else:
        others = [name for name in numbers if name not in called]
        called |= {name: name for name in _further(list(called), others, numbers, taxonomy)}
    left = [name for name in rest if name not in called]
    if left:
        which = {"columns": called, "left": left, "categories": bool(words)}
        steps.append(guess(StepKind.SCORE_COLUMNS, **which))
    given_numbers = [numbers[name] for name in called if name in numbers]
    total = _common_total(given_numbers)
    shares = total != 1.0 or (bool(words) and _are_shares(*given_numbers))
    if shares and total == 1.0:
        steps.append(step(StepKind.SHARES, scale=str(SHARES)))
    given: dict[str, Any] = {"wide": "labels"}
    if left:
        plain = [n for n in left if n in _CORE or _counts_rows(numbers.get(n))]
        given["attributes"] = [name for name in left if name not in plain]
        given["unused"] = plain
    return AnswerColumns(
        given,
        {name: own for name, own in called.items() if name != own},
        SHARES if shares else None,
        total,
        bool(words),
        tuple(steps),
    )


def _further(
    called: Sequence[str],
    others: Sequence[str],
    numbers: Mapping[str, np.ndarray],
    taxonomy: Taxonomy | None,
) -> list[str]:
    """Name the other columns that are scores, too: of one taxonomy, or with which rows sum to 1."""
    scores = [numbers[name] for name in called if name in numbers]
    candidates = [name for name in others if ((numbers[name] >= 0) & (numbers[name] <= 1)).all()]
    if _are_shares(*scores):
        return []
    if len(candidates) <= _MOST_OTHERS:
        for n_out in range(min(_MOST_LEFT_OUT, len(candidates) - 1) + 1 if candidates else 0):
            for out in combinations(candidates, n_out):
                more = [numbers[name] for name in candidates if name not in out]
                first = [one[:_FIRST_ROWS] for one in (*scores, *more)]
                if _are_shares(*first) and _are_shares(*scores, *more):
                    return [name for name in candidates if name not in out]
    known = [load_taxonomy(name) for name in list_taxonomies()] if taxonomy is None else [taxonomy]
    for one in known:
        if all(name in one for name in called) and any(name in one for name in others):
            return [name for name in others if name in one]
    return []


def _with_affix(header: Sequence[str], names: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Find columns that all begin or end alike and go on as people's labels: ``prob_joy``."""
    found: dict[tuple[str, bool], int] = {}
    for column in header:
        text = column.strip()
        for place, sign in enumerate(text):
            if sign in _MARKS:
                ends = (text[: place + 1], text[place + 1 :]), (text[place:], text[:place])
                for first, (affix, name) in zip((True, False), ends, strict=True):
                    if folded(name) in names:
                        found[affix, first] = found.get((affix, first), 0) + 1
    if not found:
        return "", {}
    affix, first = max(found, key=lambda one: found[one])
    if found[affix, first] < 2:
        return "", {}
    called: dict[str, str] = {}
    for column in header:
        text = column.strip()
        name = text.removeprefix(affix) if first else text.removesuffix(affix)
        if name and name != text:
            called[column] = names.get(folded(name), name)
    return f"'{affix}…'" if first else f"'…{affix}'", called


def _roles(header: Sequence[str]) -> set[str]:
    """Columns of stimuli, raters and of what belongs to a single answer."""
    found = {find_one("stimulus", header), find_one("rater", header)}
    return {name for name in found if name is not None} | (set(ROW_COLUMNS) & set(header))


def _holds(column: pl.Series, words: Collection[str]) -> bool:
    """Whether cells are words, among which are people's."""
    if not words or not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return False
    given = words_of(column.unique()).to_list()
    return not all(map(is_number, given)) and any(folded(word) in words for word in given)


def _numbers(column: pl.Series) -> np.ndarray | None:
    """Give a column of numbers, empty cells as 0; None where it holds anything else."""
    if not is_of_numbers(column):
        return None
    if not column.dtype.is_numeric():
        column = column.cast(pl.String).str.strip_chars().str.replace(",", ".", literal=True)
    given: Floats = column.cast(pl.Float64, strict=False).to_numpy()
    return np.nan_to_num(given)


def _counts_rows(number: np.ndarray | None) -> bool:
    """Whether a column numbers the rows, from 0 or from 1."""
    if number is None:
        return False
    return any(np.array_equal(number, np.arange(len(number)) + start) for start in (0, 1))


def _has_fractions(column: pl.Series) -> bool:
    number = _numbers(column)
    return number is not None and bool((number != np.rint(number)).any())
