"""How a result came about, as the paragraph that a paper has of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.core.citations import Reference, bracketed, named_in, references
from affectlab.core.render.intervals import NO_INTERVAL, clusters_named
from affectlab.core.tables import Table
from affectlab.core.words import count, joined, percent, some

if TYPE_CHECKING:
    import polars as pl

_ABOUT = {
    "stimuli": "other stimuli rated by the same raters",
    "raters": "the same stimuli rated by other raters",
    "both": "other stimuli rated by other raters",
}
"""What intervals are about, in words, by their target."""
_WHY = re.compile(rf"[;,] {NO_INTERVAL}(.*)$|; ([^;]*), no interval$")
_INTERVAL = re.compile(
    r"[;,] ((?:jackknife|linearised) over|[\w ]*bootstrap\b|interval by |[\w' -]+ interval\b).*$"
)
"""Where the ``method`` of an estimate begins to say how its interval was made."""
_UNDEFINED = re.compile(r", \d+ undefined|(?<=interval) \([^)]*\)")
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
    return {"value", "method", "n_ratings"} <= set(table.frame.columns) and table.frame.height > 0


def _texts(table: Table) -> list[str]:
    """What a table says of its methods: its caption, and what stands in its rows."""
    methods = table.frame["method"].unique(maintain_order=True) if _holds_estimates(table) else ()
    return [table.caption, *methods]


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


def _what(method: str) -> str:
    """What was computed, without how its interval was made."""
    return _INTERVAL.sub("", _WHY.sub("", method))


def _computed(tables: Sequence[Table], cited: set[str]) -> list[str]:
    """Say what was computed; what rests on the same answers shares a sentence."""
    statistics: dict[str, list[str]] = {}
    for table in tables:
        of = statistics.setdefault(_data(table.frame), [])
        of.append(f"{_statistic(table, cited)}{_each(table)}")
    return [f"We computed {_listed(parts)}{data}." for data, parts in statistics.items()]


def _statistic(table: Table, cited: set[str]) -> str:
    methods = list(dict.fromkeys(map(_what, table.frame["method"].to_list())))
    subject = _what(_subject(table))
    known = any(text.casefold() in subject.casefold() for text in methods)
    if not subject or known or len(methods) > _MOST:
        return _listed([f"{one}{bracketed(_new([one], cited))}" for one in methods])
    # A caption says what the rows are; how they were computed stands in brackets.
    works = [work.cited for work in _new([subject, *methods], cited)]
    return f"{subject} ({'; '.join([*methods, *works])})"


def _each(table: Table) -> str:
    """For what a table has a row of its own."""
    named = f"{table.caption} {' '.join(table.frame['method'].to_list()[:1])}".casefold()
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
        targets = has["target"].to_list() if "target" in has.columns else ["none"] * has.height
        for method, what in zip(has["method"].to_list(), targets, strict=True):
            tail = _INTERVAL.search(_WHY.sub("", method))
            way = "" if tail is None else _UNDEFINED.sub("", tail[0][2:])
            ways[way, _about(str(what), method)] = None
    level = settings.get("confidence")
    lead = f"{percent(level)} confidence intervals" if level else "Confidence intervals"
    said = []
    for way, about in ways:
        how = _way(way)
        works = _new([way], cited)
        over = f"; they are about {about}" if about else ""
        said.append(f"{lead} {how}{bracketed(works)}{over}.")
    return said


def _about(what: str, method: str) -> str:
    """Say what an interval is about, nothing where that is not known."""
    units = clusters_named(what, method)
    if not units:
        return _ABOUT.get(what, "")
    raters = "other raters" if what == "both" else "the same raters"
    return f"other {units}, whose stimuli are drawn together, rated by {raters}"


def _way(way: str) -> str:
    # What is left out or drawn anew is named by all that do so.
    if not way:
        return "follow from a formula, without resampling"
    if way.startswith("jackknife"):
        return f"come from a {way}{_STUDENT}"
    if way.startswith("linearised"):
        return f"follow from a formula, {way}"
    if "bootstrap" in way:
        return f"come from a {way.replace(', t interval', _STUDENT)}"
    return f"are {way.replace('interval', 'intervals')}"


def _undefined(tables: Sequence[Table]) -> list[str]:
    """Say how what is not defined was treated."""
    statuses: list[str] = []
    reasons: list[str] = []
    n, without = 0, 0
    for table in tables:
        frame = table.frame
        n += frame.height
        if "status" in frame.columns:
            statuses += [text for text in frame["status"].to_list() if text and text != "ok"]
        whys = [_WHY.search(method or "") for method in frame["method"].to_list()]
        reasons += [why[1] or why[2] for why in whys if why]
        without += sum(why is not None for why in whys)
    said = []
    if statuses:
        kinds = list(dict.fromkeys(text.removeprefix("undefined: ") for text in statuses))
        were, are = ("was", "is") if len(statuses) == 1 else ("were", "are")
        said.append(
            f"Of {count(n)} values, {count(len(statuses))} {were} not defined "
            f"({some(kinds, 3, 'other reasons')}) and {are} reported as missing."
        )
    if without:
        kinds = list(dict.fromkeys(reasons))
        said.append(
            f"No interval is given for {count(without)} of {count(n)} values "
            f"({some(kinds, 3, 'other reasons')})."
        )
    return said
