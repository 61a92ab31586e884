"""From columns of any origin to checked columns: the one place where ratings are validated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice, name_hint, unknown_name
from affectlab.core.files.columns import require_columns
from affectlab.core.words import listing, option
from affectlab.ratings.codes import Coded, as_categories, duplicate_rows, encode
from affectlab.ratings.files import (
    Ledger,
    Locate,
    OnBad,
    PlacedError,
    Problem,
    plain_column,
    row_number,
    wrong_kind,
)
from affectlab.ratings.scale import Scale, difference, folded
from affectlab.ratings.scales import DeclaredScales, ScaleLike, guess_scales
from affectlab.ratings.schema import (
    DEFAULTS,
    NO_ANSWER,
    OUTCOMES,
    PRACTICE,
    TRIAL_KINDS,
    UNNAMED,
    SetAside,
    StepKind,
    Unit,
)
from affectlab.ratings.steps import History, Step, step
from affectlab.taxonomy import Taxonomy, match_taxonomy

# From what stands in a value column to numbers on a scale.


_TRUE = {
    *("true", "yes", "t", "y"),
    *("ja", "oui", "si", "sí", "sim", "tak", "да", "是", "はい", "예", "نعم"),
}
_FALSE = {
    *("false", "no", "f", "n"),
    *("nein", "nee", "nej", "non", "não", "nie", "нет", "否", "いいえ", "아니요", "لا"),
}
"""Yes and no in the languages in which studies are often run."""
MISSING = {
    *("", "na", "n/a", "<na>", "nan", "null", "none", ".", "-"),
    *("#n/a", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"),
}
"""What stands for no answer; errors of spreadsheets, too."""
_MAX_INFERRED_CATEGORIES = 50
_SHOWN = 5
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NEARLY_NUMBER = re.compile(
    r"[-+]?(?:[0-9.,][0-9.,_' ]*(?:[eE][-+]?[0-9]+)?%?|inf|infinity)", re.IGNORECASE
)
"""What is a number to a human eye, and so no name of a category: ``3,5``, ``1e400``, ``40%``."""
_MEASURED = re.compile(
    r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}(?:[T ][0-9:.]+Z?)?"
    r"|[0-9]{1,4}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?"
    r"|[0-9]+(?:[.,][0-9]+)? ?/ ?[0-9]+"
    r"|[0-9.,]+ ?(?:ms|s|sec|min|h|%)"
    r"|\{.*\}"
    r"|[0-9]{1,2}[-. ]+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-. ]*[0-9]*"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-. ]+[0-9]{1,4}",
    re.IGNORECASE,
)
"""Dates, times, fractions, quantities with a unit and JSON, which are no names of categories."""
_SIGNS = str.maketrans("０１２３４５６７８９．－\N{MINUS SIGN}", "0123456789.--")
"""Signs of numbers that are written with others."""
_PERCENT = re.compile(r"([-+]?[0-9]+(?:[.,][0-9]+)?) ?%")
_ANCHORED = re.compile(r"([-+]?[0-9]+)(?:\s+[-–—]|[-–—.]\s|\s*[=:(])\s*[^\W\d].*", re.DOTALL)
"""A number with what it means behind it: ``7 - very much``, ``1 (not at all)``."""
_SENTENCE = 3
"""Words of an answer from which on it reads as a sentence."""

Numbers = NDArray[np.float64]


class _Names:
    """Values of the categories of a scale by name."""

    def __init__(self, scale: Scale | None = None) -> None:
        low, categories = (0.0, ()) if scale is None else (scale.low or 0.0, scale.categories)
        self.exact = {name.strip(): low + code for code, name in enumerate(categories)}
        alike: dict[str, list[float]] = {}
        for name, value in self.exact.items():
            alike.setdefault(folded(name), []).append(value)
        self._by_folded = {name: found[0] for name, found in alike.items() if len(found) == 1}
        self.are_numbers = bool(self.exact) and all(map(is_number, self.exact))

    def __bool__(self) -> bool:
        return bool(self.exact)

    def find(self, word: str) -> float | None:
        """Value of the category that a word names; case counts only where it tells two apart."""
        found = self.exact.get(word)
        return self._by_folded.get(folded(word)) if found is None else found


@dataclass(frozen=True)
class ParsedValues:
    """Numbers, and the rows whose text was not one."""

    value: Numbers
    """``nan`` where there is no answer."""
    bad: NDArray[np.intp]
    """Rows whose text is neither a value nor a sign for a missing one, in rising order."""
    bad_text: dict[int, str] = field(default_factory=dict)
    """What stands in the first of those rows."""
    categories: tuple[str, ...] = ()
    """Categories found when the values are words."""
    missing: tuple[str, ...] = ()
    """Words that were taken as a missing answer."""
    free_text: bool = False
    """Whether the values are many different words, as in free answers."""
    positions: bool = False
    """Whether numbers were taken as positions of categories that were declared by name."""
    joined: tuple[tuple[str, str], ...] = ()
    """Words that are another one but for case and spaces, with the spelling that came first."""
    read_as: tuple[tuple[str, float], ...] = ()
    """Words that were read as the number that they begin with."""


def words_of(column: pl.Series) -> pl.Series:
    """Give what stands in the cells that hold something, without the spaces around it."""
    text = column.cast(pl.String).str.strip_chars().drop_nulls()
    return text.filter(~text.str.to_lowercase().is_in(list(MISSING)))


def is_number(text: str) -> bool:
    """Whether a text is a finite decimal number, with a point, in ASCII digits."""
    return _NUMBER.fullmatch(text) is not None and np.isfinite(float(text))


def is_nearly_number(text: str) -> bool:
    """Whether a text is a number to a human eye, such as ``3,5``, ``40%`` or ``2025-03-04``."""
    return any(kind.fullmatch(text) is not None for kind in (_NEARLY_NUMBER, _MEASURED))


def parse_values(column: pl.Series, scale: Scale | None, *, coded: bool = False) -> ParsedValues:
    """Read a value column of any type.

    Parameters
    ----------
    column
        Numbers and booleans are taken as they are. Of text, empty cells, ``NA``, ``null`` and the
        like become missing; ``true``/``yes`` and ``false``/``no`` become 1 and 0 where the other
        answers are binary. When no cell is a number, the words are the categories of a nominal
        scale.
    scale
        The declared scale, or None. Where it has categories, a value is the name of one; case and
        spaces count only where they tell two categories apart. Numbers are positions (from 0 on a
        nominal scale, from 1 on an ordinal one) unless the categories are called by numbers or,
        on a nominal scale, other answers are names.
    coded
        Values are already on the scale: a number is always a position.

    Raises
    ------
    InputError
        When the column holds dates, lists or the like.
    """
    dtype = column.dtype
    categories = _Names(None if coded else scale)
    if dtype == pl.Null:
        return ParsedValues(np.full(len(column), np.nan), np.zeros(0, dtype=np.intp))
    if dtype.is_numeric() or (dtype == pl.Boolean and not categories):
        return _from_numbers(column, categories)
    if dtype == pl.Boolean:
        column = column.cast(pl.String)
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        raise wrong_kind(column, "numbers or words")
    return _from_words(as_categories(column), scale, categories)


def _from_numbers(column: pl.Series, categories: _Names) -> ParsedValues:
    given = column.cast(pl.Float64).to_numpy()
    value: Numbers = np.array(given, dtype=np.float64, copy=True)
    bad = np.flatnonzero(np.isinf(value))
    if categories.are_numbers:
        names = np.array([float(name) for name in categories.exact])
        codes = np.array(list(categories.exact.values()))
        order = np.argsort(names)
        found = order[np.minimum(np.searchsorted(names, given, sorter=order), len(names) - 1)]
        known = names[found] == given
        bad = np.flatnonzero(~known & ~np.isnan(given))
        value = np.where(known, codes[found], np.nan).astype(np.float64)
    elif categories:
        # A number stands for the place of a category; what lies between two names none.
        bad = np.flatnonzero(~np.isnan(value) & (value != np.floor(value)))
    value[bad] = np.nan
    texts = {int(row): f"{given[row]:g}" for row in bad[:_SHOWN]}
    positions = bool(categories) and not categories.are_numbers
    return ParsedValues(value, bad, texts, positions=positions)


def _from_words(column: pl.Series, scale: Scale | None, categories: _Names) -> ParsedValues:
    distinct = column.drop_nulls().unique(maintain_order=True)
    words = [word.strip() for word in distinct.cast(pl.String).to_list()]
    meanings = {word: _meaning(word, categories) for word in words}
    positions = _positions(words, scale, categories, meanings)
    begins = {} if categories else _begin_with_numbers(meanings)
    meanings.update(begins)
    unread = [word for word, meaning in meanings.items() if meaning is None]
    numbers = {m for m in meanings.values() if m is not None and not np.isnan(m)}
    truths = {word: _truth(word) for word in unread}
    inferred: tuple[str, ...] = ()
    joined: tuple[tuple[str, str], ...] = ()
    free_text = False
    words_only = not numbers and not any(map(is_nearly_number, unread))
    if scale is None and words_only and None in truths.values():
        first: dict[str, str] = {}
        spelling = {word: first.setdefault(folded(word), word) for word in unread}
        if len(first) <= _MAX_INFERRED_CATEGORIES and not _are_sentences(column, unread):
            inferred = tuple(first.values())
            meanings |= {word: float(inferred.index(own)) for word, own in spelling.items()}
            joined = tuple((word, own) for word, own in spelling.items() if word != own)
        else:
            free_text = True
    elif not categories and (scale.kind == "binary" if scale else numbers <= {0.0, 1.0}):
        meanings |= truths
    value, bad = _look_up(column, distinct, [meanings[word] for word in words])
    texts = {int(row): str(column[int(row)]) for row in bad[:_SHOWN]}
    gone = tuple(word for word in words if word and _is_nan(meanings[word]))
    read_as = tuple(begins.items())
    return ParsedValues(value, bad, texts, inferred, gone, free_text, positions, joined, read_as)


def _begin_with_numbers(meanings: Mapping[str, float | None]) -> dict[str, float]:
    """Read per cent, and numbers with their meaning behind them where others stand bare.

    Where all are of the latter kind they are numbered categories as well as levels, so that
    nothing is read.
    """
    unread = [word for word, meaning in meanings.items() if meaning is None]
    bare = any(m is not None and not np.isnan(m) for m in meanings.values())
    pattern = _ANCHORED if bare else _PERCENT
    found = [pattern.fullmatch(word) for word in unread]
    numbers = [float(one[1].replace(",", ".")) for one in found if one is not None]
    if len(numbers) < len(found) or (bare and len(set(numbers)) < len(numbers)):
        return {}
    return dict(zip(unread, numbers, strict=True))


def _are_sentences(column: pl.Series, words: Sequence[str]) -> bool:
    """Whether no answer comes twice and most read as sentences, so that they are no categories."""
    given = len(column) - column.null_count()
    long = sum(len(word.split()) >= _SENTENCE for word in words)
    return len(words) > 3 and given == len(words) and 2 * long > len(words)


def _positions(
    words: list[str],
    scale: Scale | None,
    categories: _Names,
    meanings: dict[str, float | None],
) -> bool:
    """Whether numbers are positions of categories; where they cannot be, they mean nothing."""
    if scale is None or not categories:
        return False
    named = {word for word in words if categories.find(word) is not None}
    bare = [word for word in words if word not in named and is_number(word)]
    if categories.are_numbers or (named and scale.kind == "nominal"):
        meanings |= dict.fromkeys(bare)
        return False
    return bool(bare)


def _look_up(
    column: pl.Series, distinct: pl.Series, meanings: list[float | None]
) -> tuple[Numbers, NDArray[np.intp]]:
    """Give each row the meaning of its word, and the rows whose word has none."""
    positions = distinct.to_physical().cast(pl.Int64).to_numpy()
    gap = int(positions.max(initial=-1)) + 1
    physical = column.to_physical().cast(pl.Int64).fill_null(gap).to_numpy()
    lookup = np.full(gap + 1, np.nan)
    lookup[positions] = [np.inf if meaning is None else meaning for meaning in meanings]
    value: Numbers = lookup[physical]
    bad = np.flatnonzero(np.isinf(value))
    value[bad] = np.nan
    return value, bad


def _meaning(word: str, categories: _Names) -> float | None:
    """Value of one word; nan when it stands for a missing answer, None when it says nothing."""
    named = categories.find(word)
    if named is not None:
        return named
    if word.casefold() in MISSING:
        return float("nan")
    number = word.translate(_SIGNS)
    return float(number) if is_number(number) else None


def _truth(word: str) -> float | None:
    folded = word.casefold()
    return 1.0 if folded in _TRUE else 0.0 if folded in _FALSE else None


def _is_nan(meaning: float | None) -> bool:
    return meaning is not None and bool(np.isnan(meaning))


_CORE = ("stimulus", "rater", "label", "value")


@dataclass(frozen=True, eq=False)
class Body:
    """Checked columns of a table of ratings."""

    stimulus: Coded
    rater: Coded
    label: Coded | None
    value: NDArray[np.float64]
    extras: dict[str, pl.Series]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.value)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Body:
        """Keep some rows."""
        value = self.value[rows]
        value.setflags(write=False)
        index = np.flatnonzero(rows) if rows.dtype == bool else rows
        return Body(
            self.stimulus.take(rows),
            self.rater.take(rows),
            None if self.label is None else self.label.take(rows),
            value,
            {name: column.gather(index) for name, column in self.extras.items()},
        )


@dataclass(frozen=True)
class Checked:
    """What came out of the check."""

    body: Body
    scales: dict[str, Scale]
    """Scale of each label."""
    taxonomy: Taxonomy | None
    set_aside: tuple[SetAside, ...]
    steps: History = ()
    """What was decided about answers, for the history."""

    def reordered(
        self, *, stimulus: list[str], rater: list[str], label: list[str] | None
    ) -> Checked:
        """Put names into a given order instead of that of their first appearance."""
        body = self.body
        ordered = replace(
            body,
            stimulus=body.stimulus.reorder(stimulus),
            rater=body.rater.reorder(rater),
            label=body.label if body.label is None or label is None else body.label.reorder(label),
        )
        return replace(self, body=ordered)


def check_columns(
    columns: Mapping[str, pl.Series],
    *,
    scale: ScaleLike | None = None,
    taxonomy: Taxonomy | None = None,
    on_bad: OnBad = "raise",
    locate: Locate = row_number,
    empty: str = "the table has no rows; expected at least one answer",
    coded: bool = False,
    unit: Unit = "row",
) -> Checked:
    """Check columns and bring them into the form in which a table of ratings holds them.

    Parameters
    ----------
    columns
        ``stimulus``, ``rater``, ``value`` or ``text``, and any others, all of one length.
    scale
        The declared scale, or scales by label; what is not declared is guessed, see
        :func:`affectlab.ratings.scales.guess_scales`.
    taxonomy
        Labels must be found in it; aliases become its labels. None: recognised when possible.
    on_bad
        ``"raise"`` stops at the first row that cannot be used, ``"set_aside"`` counts such rows
        and goes on. Rows without an answer are always set aside, never an error.
    locate
        Says where a row stands.
    empty
        What to say when there are no rows.
    coded
        Values of a scale with categories are numbers on it already, never names.
    unit
        What each entry of the columns was in the source.

    Raises
    ------
    InputError
        For a missing column, an empty table, and, with ``"raise"``, the first unusable row.
    """
    check_choice("on_bad", on_bad, get_args(OnBad))
    ledger = Ledger(on_bad, locate, unit)
    columns = dict(columns)
    answer = "text" if "text" in columns else "value"
    require_columns(columns, ("stimulus", "rater", answer))
    if len(columns["stimulus"]) == 0:
        raise PlacedError(empty)
    for name in ("stimulus", "rater", "label"):
        if name in columns:
            columns[name] = as_categories(columns[name].alias(name))
    columns = ledger.drop_nameless(columns)
    stimulus = encode(columns.pop("stimulus"), what="stimulus")
    rater = encode(columns.pop("rater"), what="rater")
    label = encode(columns.pop("label"), what="label") if "label" in columns else None
    extras = _extras(columns, ledger)
    label, taxonomy, renamed, unknown = _labels(label, taxonomy)
    names = (UNNAMED,) if label is None else tuple(label.names.to_list())
    scales = DeclaredScales.parse(scale).of(names, taxonomy, has_labels=label is not None)
    values = _Values(columns, extras, label, len(stimulus.code), names, scales, coded)
    values.check(ledger)
    value, extras = values.value, values.extras
    if unknown is not None:
        ledger.add(unknown)
    body = Body(stimulus, rater, label, value, extras)
    _check_missing(body, values.missing, ledger)
    _check_duplicates(body, values.scales, ledger)
    kept = ledger.kept(body.n_rows)
    if not kept.any():
        raise InputError(f"no {unit} can be used: {'; '.join(map(str, ledger.set_aside))}")
    silent = (*_silent(rater, kept, "rater"), *_silent(stimulus, kept, "stimulus"))
    value.setflags(write=False)
    body = body if kept.all() else body.take(kept)
    of_label = dict(zip(names, values.scales, strict=True))
    steps = (*renamed, *values.steps)
    return Checked(body, of_label, taxonomy, (*ledger.set_aside, *silent), steps)


def _silent(coded: Coded, kept: NDArray[np.bool_], unit: Unit) -> tuple[SetAside, ...]:
    """Name the raters, or stimuli, all of whose rows are left out."""
    silent = np.flatnonzero(np.bincount(coded.code[kept], minlength=coded.n) == 0)
    if not len(silent):
        return ()
    return (SetAside(NO_ANSWER, len(silent), tuple(coded.names.gather(silent)), unit),)


def _extras(columns: Mapping[str, pl.Series], ledger: Ledger) -> dict[str, pl.Series]:
    """Bring the other columns to plain types; those with a fixed vocabulary are checked."""
    extras = {
        name: plain_column(column.alias(name))
        for name, column in columns.items()
        if name not in _CORE
    }
    for name, known in (("trial_kind", TRIAL_KINDS), ("outcome", OUTCOMES)):
        if name in extras:
            extras[name] = _vocabulary(extras[name], known, ledger)
    for name in ("text", "at"):
        if name in extras:
            extras[name] = extras[name].cast(pl.String)
    if "at" in extras:
        extras["at"] = extras["at"].set(extras["at"] == "", None)
    if "rt_ms" in extras and extras["rt_ms"].dtype == pl.String:
        given = extras["rt_ms"].str.strip_chars()
        given = given.set(given == "", None)
        number = given.cast(pl.Float64, strict=False)
        ledger.add(
            Problem(
                np.flatnonzero((number.is_null() & given.is_not_null()).to_numpy()),
                "rt_ms is not a number",
                lambda row: f"rt_ms {given[row]!r} is not a number; expected milliseconds",
            )
        )
        extras["rt_ms"] = number
    return extras


def _vocabulary(column: pl.Series, known: tuple[str, ...], ledger: Ledger) -> pl.Series:
    """Bring a column to a fixed set of words; an empty cell means the usual one."""
    name = column.name
    words = as_categories(column)
    checked = words.cast(pl.Enum(known), strict=False)
    if name == "trial_kind" and checked.null_count() > words.null_count():
        words = words.cast(pl.String).replace(dict.fromkeys(PRACTICE, "training"))
        checked = words.cast(pl.Enum(known), strict=False)
    unknown = (checked.is_null() & words.is_not_null()).to_numpy()

    def say(row: int) -> str:
        return str(unknown_name(name, str(words[row]), known))

    ledger.add(Problem(np.flatnonzero(unknown), f"{name} not known", say))
    return checked.fill_null(DEFAULTS[name])


class _Values:
    """Reads the values of all labels, each on its scale."""

    def __init__(
        self,
        columns: Mapping[str, pl.Series],
        extras: dict[str, pl.Series],
        label: Coded | None,
        n_rows: int,
        names: tuple[str, ...],
        declared: list[Scale | None],
        coded: bool,
    ) -> None:
        self.extras = extras
        self.names = names
        self.declared = declared
        self.code = np.zeros(n_rows, dtype=np.int32) if label is None else label.code
        self.value: Numbers = np.full(n_rows, np.nan)
        self.parts: list[tuple[list[int], NDArray[np.intp] | None, ParsedValues]] = []
        """Labels read together, their rows (None: all), and what was read."""
        self.column: pl.Series | None = None
        if "value" not in columns:
            self.scales = [scale or Scale("text") for scale in declared]
            return
        self.column = columns["value"].alias("value")
        for labels, scale in self._together():
            rows = None
            if len(labels) < len(names):
                rows = np.flatnonzero(np.isin(self.code, labels))
            column = self.column if rows is None else self.column.gather(rows)
            if scale is not None and scale.kind == "text" and _holds_text(column):
                self._take_texts(column, rows)
                continue
            parsed = parse_values(column, scale, coded=coded)
            if rows is None:
                self.value = parsed.value
            else:
                self.value[rows] = parsed.value
            self.parts.append((labels, rows, parsed))
        self.scales = self._scales()

    def _together(self) -> list[tuple[list[int], Scale | None]]:
        """Give the labels whose values are read together: those on one scale."""
        by_scale: dict[Scale | None, list[int]] = {}
        for code, scale in enumerate(self.declared):
            by_scale.setdefault(scale, []).append(code)
        unknown = by_scale.pop(None, [])
        found: list[tuple[list[int], Scale | None]] = [
            (labels, scale) for scale, labels in by_scale.items()
        ]
        return [*found, *((labels, None) for labels in self._apart(unknown) if labels)]

    def _apart(self, labels: list[int]) -> list[list[int]]:
        """Tell labels of words from those of numbers, and from those of entirely other words."""
        column = self.column
        if len(labels) < 2 or column is None or not _holds_text(column):
            return [labels]
        words = as_categories(column)
        if all(map(_no_word, words.unique().drop_nulls().cast(pl.String))):
            return [labels]
        answers = pl.DataFrame({"label": self.code, "word": words.cast(pl.String)})
        answers = answers.filter(pl.col("label").is_in(labels)).drop_nulls()
        counted = answers.group_by("label", pl.col("word").str.strip_chars().str.to_lowercase())
        group = {code: code for code in labels}

        def join(one: int, other: int) -> None:
            old = group[other]
            group.update({code: group[one] for code in labels if group[code] == old})

        first: dict[str, int] = {}
        n_answers: dict[int, int] = {}
        n_words: dict[int, int] = {}
        numbers = set()
        for code, word, n in counted.agg(pl.len()).sort("label", "word").iter_rows():
            if word in MISSING:
                continue
            if is_number(word):
                numbers.add(code)
            else:
                join(first.setdefault(word, code), code)
                n_words[code] = n_words.get(code, 0) + 1
            n_answers[code] = n_answers.get(code, 0) + n
        if not n_answers:
            return [labels]
        main = min(numbers) if numbers else max(n_answers, key=lambda code: n_answers[code])
        for code in (*numbers, *(code for code in labels if code not in n_answers)):
            join(main, code)
        for one in set(group.values()) - {group[main]}:
            mine = [code for code in labels if group[code] == one]
            most = max(n_words[code] for code in mine)
            # Words that hardly ever come twice are no categories, and one word may be a slip.
            if most < 2 or 2 * most > sum(n_answers[code] for code in mine):
                join(main, one)
        return [[c for c in labels if group[c] == g] for g in dict.fromkeys(group.values())]

    def _take_texts(self, column: pl.Series, rows: NDArray[np.intp] | None) -> None:
        """Take the words of labels on a text scale as their texts."""
        given = column.cast(pl.String)
        given = given.set(given.str.strip_chars() == "", None)
        if rows is not None:
            spread = pl.Series("text", [None], dtype=pl.String).new_from_index(0, len(self.value))
            given = spread.scatter(rows, given)
        own = self.extras.get("text")
        text = given if own is None else own.zip_with(own.is_not_null(), given)
        self.extras = {**self.extras, "text": text.alias("text")}

    def _scales(self) -> list[Scale]:
        """Give the scale of each label, guessed where none is declared."""
        scales = list(self.declared)
        texts = self._texts_alone() if None in scales else set()
        for labels, _, parsed in self.parts:
            for code in labels:
                if scales[code] is None and parsed.categories:
                    scales[code] = replace(Scale.nominal(parsed.categories), declared=False)
                elif scales[code] is None and code in texts:
                    scales[code] = Scale("text")
        open_ = [
            code for code, one in enumerate(scales) if one is None or self._outgrown(code, one)
        ]
        for code, scale in guess_scales(self.code, self.value, open_, len(scales)).items():
            scales[code] = scale
        return [scale for scale in scales if scale is not None]

    def _outgrown(self, code: int, scale: Scale) -> bool:
        """Whether answers lie off a scale that was only inferred, from others than these."""
        if scale.declared or scale.categories or not scale.numeric:
            return False
        value = self.value[self.code == code]
        return not scale.contains(value[~np.isnan(value)]).all()

    def _texts_alone(self) -> set[int]:
        """Labels that were answered with texts and never with a value."""
        text = self.extras.get("text")
        if text is None:
            return set()
        valued = np.isin(np.arange(len(self.names)), self.code[~np.isnan(self.value)])
        if not valued.any():
            return set(range(len(self.names)))
        told = text.is_not_null()
        if "outcome" in self.extras:
            told &= self.extras["outcome"] == "ok"
        return set(np.unique(self.code[told.to_numpy()]).tolist()) - set(
            np.flatnonzero(valued).tolist()
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Words that were taken as a missing answer."""
        return tuple(dict.fromkeys(word for _, _, parsed in self.parts for word in parsed.missing))

    @property
    def steps(self) -> History:
        """Say of which scales numbers were taken as positions of categories."""
        scales = [self.scales[labels[0]] for labels, _, parsed in self.parts if parsed.positions]
        joined = dict(pair for _, _, parsed in self.parts for pair in parsed.joined)
        read_as = dict(pair for _, _, parsed in self.parts for pair in parsed.read_as)
        return (*map(_positions_step, scales), *joined_step(joined), *_read_as_step(read_as))

    def check(self, ledger: Ledger) -> None:
        """Report values that are not understood, and those off the scale of their label."""
        for labels, rows, parsed in self.parts:
            place = {} if rows is None else {int(row): k for k, row in enumerate(rows)}
            bad = parsed.bad if rows is None else rows[parsed.bad]
            scale = self.declared[labels[0]]
            if parsed.positions and scale is not None and _only_met(scale):
                raise InputError(_without_order(scale, parsed.value))

            def say(
                row: int,
                parsed: ParsedValues = parsed,
                scale: Scale | None = scale,
                place: dict[int, int] = place,
            ) -> str:
                assert self.column is not None
                text = parsed.bad_text.get(place.get(row, row), str(self.column[row]))
                return _not_understood(text, scale, parsed.free_text, self._of(row))

            ledger.add(Problem(bad, "value not understood", say))
        by_scale: dict[Scale, list[int]] = {}
        for code, scale in enumerate(self.scales):
            # Off its categories, a position would be one of none, declared or not.
            if scale.numeric and (scale.declared or scale.categories):
                by_scale.setdefault(scale, []).append(code)
        for scale, labels in by_scale.items():
            rows = None
            if len(labels) < len(self.names):
                rows = np.flatnonzero(np.isin(self.code, labels))
            self._check_scale(scale, rows, ledger)

    def _of(self, row: int) -> str:
        """Name the label of a row where scales differ."""
        several = len(set(self.scales)) > 1
        return f" of {self.names[self.code[row]]!r}" if several else ""

    def _check_scale(self, scale: Scale, rows: NDArray[np.intp] | None, ledger: Ledger) -> None:
        value = self.value if rows is None else self.value[rows]
        inside = scale.contains(value)
        if inside.all():
            return
        off = np.flatnonzero(~(inside | np.isnan(value)))

        def say(row: int) -> str:
            found = self.value[row]
            coded = found < 0 and scale.low is not None and scale.low >= 0
            hint = (
                f"; if it stands for a missing answer, set such rows aside "
                f"({option('on_bad', 'set_aside', cli='--set-aside')})"
                if coded
                else ""
            )
            either = "the name or the position of a category in " if scale.categories else ""
            low = scale.low or 0
            range_ = (
                f" ({low:g} to {low + len(scale.categories) - 1:g})" if scale.categories else ""
            )
            return (
                f"value {found:g}{self._of(row)} is off the scale; "
                f"expected {either}{scale}{range_}{hint}"
            )

        ledger.add(
            Problem(off if rows is None else rows[off], f"value off the scale ({scale})", say)
        )


def _only_met(scale: Scale) -> bool:
    """Whether categories are words in the order in which they happened to occur."""
    return scale.kind == "nominal" and not scale.declared


def _without_order(scale: Scale, value: Numbers) -> str:
    """Say that numbers cannot be positions of categories whose order nobody declared."""
    names = ",".join(sorted(scale.categories, key=str.casefold))
    return (
        f"answers are numbers ({np.nanmin(value):g} to {np.nanmax(value):g}), and the categories "
        f"are words ({listing(scale.categories, _SHOWN)}) whose order nobody declared; declare "
        "them in the order of the numbers, from 0 "
        f"({option('scale', f'nominal:{names}')}), or write words in place of the numbers"
    )


def _no_word(text: str) -> bool:
    word = text.strip()
    return is_number(word) or word.casefold() in MISSING


def _holds_text(column: pl.Series) -> bool:
    return isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum)


def _not_understood(text: str, scale: Scale | None, free_text: bool, of: str) -> str:
    start = f"value {text!r}{of} is not understood; "
    if scale is not None and scale.categories:
        return start + name_hint(text, scale.categories)
    expected = "a number" if scale is None else str(scale)
    hint = " (a decimal comma? write a point)" if _decimal_comma(text) else ""
    if scale is None and _MEASURED.fullmatch(text.strip()):
        hint = f", or declared categories ({option('scale', 'nominal:NAME,NAME')})"
    if free_text:
        hint = f", or free answers named as such ({option('columns', {'text': 'COLUMN'})})"
    return f"{start}expected {expected}{hint}"


def joined_step(joined: Mapping[str, str]) -> History:
    """Say which spellings of categories were taken as one."""
    if not joined:
        return ()
    ways = dict.fromkeys(difference(*pair) for pair in joined.items())
    return (
        step(
            StepKind.ONE_SPELLING,
            words=joined.keys(),
            categories=joined.values(),
            differences=ways,
        ),
    )


def _read_as_step(read_as: Mapping[str, float]) -> History:
    """Say which words were read as the number that they begin with."""
    if not read_as:
        return ()
    return (step(StepKind.READ_AS_NUMBERS, words=read_as.keys(), numbers=read_as.values()),)


def _positions_step(scale: Scale) -> Step:
    low, names = scale.low or 0.0, scale.categories
    high = low + len(names) - 1
    return step(StepKind.POSITIONS, low=low, first=names[0], high=high, last=names[-1])


def _decimal_comma(text: str) -> bool:
    head, comma, tail = text.strip().partition(",")
    return bool(comma) and head.lstrip("-+").isdigit() and tail.isdigit()


def _labels(
    label: Coded | None, taxonomy: Taxonomy | None
) -> tuple[Coded | None, Taxonomy | None, History, Problem | None]:
    """Bring labels to the spelling and the order of the taxonomy; say which have another name.

    Rows whose label is not in it are given as a problem.
    """
    if label is None:
        return None, taxonomy, (), None
    names = label.names.to_list()
    if taxonomy is None:
        taxonomy = match_taxonomy(names)
        if taxonomy is None:
            return label, None, (), None
    canonical: list[str] = []
    errors: dict[int, str] = {}
    for code, name in enumerate(names):
        try:
            canonical.append(taxonomy.name_of(name))
        except InputError as error:
            errors[code] = str(error)
            canonical.append(name)
    unknown = None
    if errors:
        codes = label.code
        rows = np.flatnonzero(np.isin(codes, list(errors)))
        unknown = Problem(rows, "label not in the taxonomy", lambda row: errors[int(codes[row])])
    others = {
        name: own
        for name, own in zip(names, canonical, strict=True)
        if _letters(name) in map(_letters, taxonomy.aliases.get(own, ()))
    }
    steps: History = ()
    if others:
        steps = (step(StepKind.TAXONOMY_NAMES, words=others.keys(), labels=others.values()),)
    return label.rename(canonical).reorder(list(taxonomy.labels)), taxonomy, steps, unknown


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _check_missing(body: Body, words: tuple[str, ...], ledger: Ledger) -> None:
    """Rows without an answer say nothing, unless they say why there is none."""
    missing = np.isnan(body.value)
    if not missing.any():
        return
    if "text" in body.extras:
        missing &= body.extras["text"].is_null().to_numpy()
    if "outcome" in body.extras:
        missing &= (body.extras["outcome"] == "ok").to_numpy()
    said = " or ".join(repr(word) for word in words[:3])
    reason = f"no answer (an empty cell or {said})" if words else "no answer"
    ledger.add(Problem(np.flatnonzero(missing), reason, _no_answer, "no_answer"), always_aside=True)


def in_seconds(at: pl.Series | None) -> bool:
    """Say whether times are numbers, such as seconds from the beginning of a film."""
    if at is None or at.null_count() == len(at):
        return False
    return at.cast(pl.Float64, strict=False).null_count() == at.null_count()


def _check_duplicates(body: Body, scales: list[Scale], ledger: Ledger) -> None:
    keys = [body.stimulus, body.rater, *([] if body.label is None else [body.label])]
    names = ["stimulus", "rater", *([] if body.label is None else ["label"])]
    texts = np.array([scale.kind == "text" for scale in scales])
    # Times in seconds are those of a trace, which answers one question again and again.
    timed = ("at",) if in_seconds(body.extras.get("at")) else ()
    repeatable = (
        "session",
        "trial",
        "trial_kind",
        "answers_as",
        *(("text",) if texts.any() else ()),
        *timed,
    )
    for name in repeatable:
        if name in body.extras:
            # The mark keeps an empty text apart from a missing one.
            marked = body.extras[name].cast(pl.String).to_frame(name)
            marked = marked.select(("=" + pl.col(name)).fill_null(""))
            column = marked.to_series()
            if name == "text" and body.label is not None and not texts.all():
                column = column.set(pl.Series(~texts[body.label.code]), "")
            keys.append(encode(column, what=name))
    kept = ledger.kept(body.n_rows)
    position = np.flatnonzero(kept)
    if len(position) < body.n_rows:
        keys = [Coded(key.names, key.code[position]) for key in keys]
    repeats = position[duplicate_rows(keys)]

    def say(row: int) -> str:
        found = ", ".join(
            f"{name} {key.names[int(key.code[np.searchsorted(position, row)])]!r}"
            for name, key in zip(names, keys, strict=False)
        )
        return (
            f"a second answer for {found}; expected one, or a column 'trial', 'trial_kind' or "
            "'session' that tells them apart, or 'at' with the seconds of a trace; name it "
            f"({option('columns', {'session': 'NAME'})})"
        )

    ledger.add(Problem(repeats, "second answer for the same question (the first is kept)", say))


def _no_answer(row: int) -> str:
    return f"row {row + 1} has no answer"
