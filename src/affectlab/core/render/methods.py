"""How a result came about, as the paragraph that a paper has of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from affectlab.core.citations import Reference, bracketed, named_in, references
from affectlab.core.facts import IntervalFact, Reason
from affectlab.core.tables import Table
from affectlab.core.wording import drawn_whole, interval_text, reason_text
from affectlab.core.words import count, joined, percent, some

if TYPE_CHECKING:
    import polars as pl

_ABOUT = {
    "stimuli": "other stimuli rated by the same raters",
    "raters": "the same stimuli rated by other raters",
    "both": "other stimuli rated by other raters",
}
"""What intervals are about, in words, by their target."""
_STUDENT = ", with Student's quantiles"
_UNITS = {"label": "labels", "stimulus": "stimuli", "rater": "raters", "group": "groups"}
"""What estimates are made for one by one, and how a caption has it."""
_MOST = 6
"""Methods of a table that are written out."""


def methods_text(
    tables: Sequence[Table], settings: Mapping[str, Any], version: str, missing: str = ""
) -> str:
    """Say which statistics were computed of which answers, and what their intervals are about.

    Parameters
    ----------
    tables, settings
        Those of a result.
    version
        Of the package that made it.
    missing
        What was done with missing ratings, as a sentence; nothing is said where it is not known.
    """
    estimates = [table for table in tables if _holds_estimates(table)]
    cited: set[str] = set()
    sentences = _computed(estimates, cited)
    others = [_subject(table) for table in tables if table not in estimates and table.caption]
    if others:
        also = "We also tabulated" if estimates else "We tabulated"
        sentences.append(f"{also} {_listed(others)}{bracketed(_new(others, cited))}.")
    sentences += _intervals(estimates, settings, cited)
    sentences += [missing] if missing and estimates else []
    sentences += _undefined(estimates)
    own = references()["affectlab"]
    sentences.append(f"Computations used affectlab {version}{bracketed([own])}.")
    return " ".join(sentences)


def methods_works(tables: Sequence[Table]) -> list[Reference]:
    """Give the works that :func:`methods_text` cites, without this package."""
    return named_in(text for table in tables for text in _texts(table))


def _holds_estimates(table: Table) -> bool:
    return {"value", "statistic", "interval"} <= set(table.frame.columns) and table.frame.height > 0


def _texts(table: Table) -> list[str]:
    """What a table says of its methods: its caption, and what stands in its rows."""
    if not _holds_estimates(table):
        return [table.caption]
    made = table.frame["interval"].unique(maintain_order=True).drop_nulls()
    return [table.caption, *_statistics(table), *(_way(IntervalFact.of_row(one)) for one in made)]


def _subject(table: Table) -> str:
    """The caption of a table as part of a sentence."""
    first = re.split(r"\. |[;:] |\.$", table.caption)[0]
    if first.count("(") > first.count(")"):
        first = first.rpartition(" (")[0]
    # What is named after somebody keeps its capital.
    is_name = first.partition(" ")[0].endswith(("'s", "s'"))
    return first if is_name or not first[1:2].islower() else first[:1].lower() + first[1:]


def _listed(parts: Sequence[str]) -> str:
    parts = list(dict.fromkeys(parts))
    if len(parts) > _MOST:
        parts = [*parts[:_MOST], f"{count(len(parts) - _MOST)} more"]
    if not any("," in part for part in parts):
        return joined(parts)
    *most, last = parts
    return f"{'; '.join(most)}; and {last}" if most else last


def _new(texts: Iterable[str], cited: set[str]) -> list[Reference]:
    """Give the works that texts name and that were not cited before."""
    new = [work for work in named_in(texts) if work.key not in cited]
    cited.update(work.key for work in new)
    return new


def _statistics(table: Table) -> list[str]:
    """What a table has estimates of, with their options."""
    rows = table.frame.select("statistic", "options").rows()
    return list(dict.fromkeys(", ".join([name, *options]) for name, options in rows))


def _computed(tables: Sequence[Table], cited: set[str]) -> list[str]:
    """Say what was computed; what rests on the same answers shares a sentence."""
    statistics: dict[str, list[str]] = {}
    for table in tables:
        of = statistics.setdefault(_data(table.frame), [])
        of.append(f"{_statistic(table, cited)}{_each(table)}")
    return [f"We computed {_listed(parts)}{data}." for data, parts in statistics.items()]


def _statistic(table: Table, cited: set[str]) -> str:
    methods, subject = _statistics(table), _subject(table)
    known = any(text.casefold() in subject.casefold() for text in methods)
    if not subject or known or len(methods) > _MOST:
        return _listed([f"{one}{bracketed(_new([one], cited))}" for one in methods])
    # A caption says what the rows are; how they were computed stands in brackets.
    works = [work.cited for work in _new([subject, *methods], cited)]
    return f"{subject} ({'; '.join([*methods, *works])})"


def _each(table: Table) -> str:
    """For what a table has a row of its own."""
    named = f"{table.caption} {' '.join(_statistics(table)[:1])}".casefold()
    keys = [
        key
        for key, many in _UNITS.items()
        if key in table.keys and table.frame[key].n_unique() > 1 and many not in named
    ]
    return f" for each {joined(keys)}" if keys else ""


def _range(numbers: pl.Series, one: str) -> str:
    """A count with its noun, as a range where rows differ; empty where it is not known."""
    known = numbers.filter(numbers > 0)
    low, high = known.min(), known.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return ""
    span = count(high) if low == high else f"{count(low)} to {count(high)}"
    return f"{span} {one}{'' if span == '1' else 's'}"


def _data(frame: pl.DataFrame) -> str:
    """Which answers entered."""
    known = frame.filter(frame["n_ratings"] > 0)
    ratings, raters = _range(known["n_ratings"], "rating"), _range(known["n_raters"], "rater")
    stimuli = "" if known["n_items"].max() == 1 else _range(known["n_items"], "stimulus")
    stimuli = stimuli.replace("stimuluss", "stimuli")
    parts = [f"of {stimuli}" if stimuli else "", f"by {raters}" if raters else ""]
    if not ratings:
        return ""
    every = "each " if known.height > 1 else ""
    return f", {every}from {' '.join(filter(None, [ratings, *parts]))}"


def _intervals(tables: Sequence[Table], settings: Mapping[str, Any], cited: set[str]) -> list[str]:
    """Say how intervals were made, and what they are about."""
    ways: dict[tuple[str, str], None] = {}
    for table in tables:
        has = table.frame.filter(table.frame["low"].is_not_nan() & table.frame["low"].is_not_null())
        for made, target in dict.fromkeys(map(_hashable, has.select("interval", "target").rows())):
            ways[_way(made), _about(target, made)] = None
    level = settings.get("confidence")
    lead = f"{percent(level)} confidence intervals" if level else "Confidence intervals"
    sentences = []
    for way, about in ways:
        works = _new([way], cited)
        over = f"; they are about {about}" if about else ""
        sentences.append(f"{lead} {way}{bracketed(works)}{over}.")
    return sentences


def _hashable(row: tuple[Any, str]) -> tuple[IntervalFact | None, str]:
    made = IntervalFact.of_row(row[0])
    return None if made is None else replace(made, undefined=0, coverage=None, design=""), row[1]


def _about(target: str, made: IntervalFact | None) -> str:
    """Say what an interval is about, nothing where that is not known."""
    units = drawn_whole(target, made)
    if not units:
        return _ABOUT.get(target, "")
    raters = "other raters" if target == "both" else "the same raters"
    return f"other {units}, whose stimuli are drawn together, rated by {raters}"


def _way(made: IntervalFact | None) -> str:
    """Say how an interval was made, as the rest of a sentence."""
    if made is None or (made.kind == "analytic" and made.formula is None):
        return "follow from a formula, without resampling"
    text = interval_text(made)
    if made.kind == "analytic":
        return f"are {text.replace('interval', 'intervals')}"
    return f"come from a {text}{_STUDENT if made.kind == 'jackknife' else ''}"


def _undefined(tables: Sequence[Table]) -> list[str]:
    """Say how what is not defined was treated."""
    undefined: list[str] = []
    without: list[str] = []
    n = 0
    for table in tables:
        frame = table.frame
        n += frame.height
        missing = frame["low"].is_nan().fill_null(True)
        for status, why, none in zip(frame["status"], frame["reason"], missing, strict=True):
            reason = Reason.of_row(why)
            if status != "ok":
                undefined.append("" if reason is None else reason_text(reason))
            elif none and reason is not None:
                without.append(reason_text(reason))
    sentences = []
    if undefined:
        kinds = [kind for kind in dict.fromkeys(undefined) if kind]
        were, are = ("was", "is") if len(undefined) == 1 else ("were", "are")
        why = f" ({some(kinds, 3, 'other reasons')})" if kinds else ""
        sentences.append(
            f"Of {count(n)} values, {count(len(undefined))} {were} not defined{why} and {are} "
            "reported as missing."
        )
    if without:
        kinds = list(dict.fromkeys(without))
        sentences.append(
            f"No interval is given for {count(len(without))} of {count(n)} values "
            f"({some(kinds, 3, 'other reasons')})."
        )
    return sentences
