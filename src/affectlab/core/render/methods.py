"""How a result came about, as the paragraph that a paper has of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from affectlab.core.citations import Reference, bracketed, references, works_behind
from affectlab.core.facts import IntervalFact, Reason
from affectlab.core.render import wording
from affectlab.core.tables import Table
from affectlab.core.wording import reason_text
from affectlab.core.words import joined

if TYPE_CHECKING:
    import polars as pl

_UNITS = ("label", "stimulus", "rater", "group")
"""What estimates are made for one by one."""
_MOST = 6
"""Statistics of a table that are written out."""


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
        works = bracketed(_new(others, (), cited))
        sentences.append(wording.tabulated_text(others, works, also=bool(estimates)))
    sentences += _intervals(estimates, settings.get("confidence"), cited)
    sentences += [missing] if missing and estimates else []
    sentences += _undefined(estimates)
    sentences.append(wording.software_text(version, bracketed([references()["affectlab"]])))
    return " ".join(sentences)


def methods_works(tables: Sequence[Table]) -> list[Reference]:
    """Give the works that :func:`methods_text` cites, without this package."""
    names: list[str] = []
    intervals: list[IntervalFact] = []
    for table in tables:
        names.append(table.caption)
        if _holds_estimates(table):
            names += _statistics(table)
            intervals += [made for made, _ in _made(table) if made is not None]
    return works_behind(names, intervals)


def _holds_estimates(table: Table) -> bool:
    return {"value", "statistic", "interval"} <= set(table.frame.columns) and table.frame.height > 0


def _subject(table: Table) -> str:
    """The caption of a table as part of a sentence."""
    text = table.caption.removesuffix(".")
    # What is named after somebody keeps its capital.
    is_name = text.partition(" ")[0].endswith(("'s", "s'"))
    return text if is_name or not text[1:2].islower() else text[:1].lower() + text[1:]


def _new(
    names: Iterable[str], intervals: Iterable[IntervalFact], cited: set[str]
) -> list[Reference]:
    """Give the works behind statistics and intervals that were not cited before."""
    new = [work for work in works_behind(names, intervals) if work.key not in cited]
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
    return [wording.computed_text(parts, data) for data, parts in statistics.items()]


def _statistic(table: Table, cited: set[str]) -> str:
    methods, subject = _statistics(table), _subject(table)
    known = any(text.casefold() in subject.casefold() for text in methods)
    if not subject or known or len(methods) > _MOST:
        return wording.listed([f"{one}{bracketed(_new([one], (), cited))}" for one in methods])
    # A caption says what the rows are; how they were computed stands in brackets.
    works = [work.cited for work in _new([subject, *methods], (), cited)]
    return f"{subject} ({'; '.join([*methods, *works])})"


def _each(table: Table) -> str:
    """For what a table has a row of its own."""
    keys = [key for key in _UNITS if key in table.keys and table.frame[key].n_unique() > 1]
    return f" for each {joined(keys)}" if keys else ""


def _ends(numbers: pl.Series) -> tuple[int, int] | None:
    """The least and the largest of counts; None where none is above 0."""
    known = numbers.filter(numbers > 0)
    low, high = known.min(), known.max()
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None


def _data(frame: pl.DataFrame) -> str:
    """Which answers entered."""
    known = frame.filter(frame["n_ratings"] > 0)
    stimuli = _ends(known["n_items"])
    return wording.data_text(
        _ends(known["n_ratings"]),
        None if stimuli is None or stimuli[1] == 1 else stimuli,
        _ends(known["n_raters"]),
        each=known.height > 1,
    )


def _made(table: Table) -> list[tuple[IntervalFact | None, str]]:
    """How intervals of a table were made, and their targets, each once."""
    has = table.frame.filter(table.frame["low"].is_not_nan() & table.frame["low"].is_not_null())
    return list(dict.fromkeys(map(_alike, has.select("interval", "target").rows())))


def _alike(row: tuple[Any, str]) -> tuple[IntervalFact | None, str]:
    made = IntervalFact.of_row(row[0])
    return None if made is None else replace(made, undefined=0, coverage=None, design=""), row[1]


def _intervals(tables: Sequence[Table], level: float | None, cited: set[str]) -> list[str]:
    """Say how intervals were made, and what they are about."""
    sentences = []
    for made, target in dict.fromkeys(one for table in tables for one in _made(table)):
        works = bracketed([] if made is None else _new((), [made], cited))
        sentences.append(wording.interval_sentence(made, target, level, works))
    return list(dict.fromkeys(sentences))


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
        reasons = [reason for reason in dict.fromkeys(undefined) if reason]
        sentences.append(wording.undefined_sentence(len(undefined), n, reasons))
    if without:
        reasons = list(dict.fromkeys(without))
        sentences.append(wording.no_interval_sentence(len(without), n, reasons))
    return sentences
