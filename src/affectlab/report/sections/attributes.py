"""Distributions of what is known of raters and of stimuli."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from affectlab.core.words import count, joined, number, plural, shown
from affectlab.report.figures import Panel, fig_attributes
from affectlab.report.page import Column, Paragraph, Picture, Section, Skipped, Table
from affectlab.report.sections.raters import planted_columns
from affectlab.report.statistics import Study

__all__ = ["rater_attributes_section", "stimulus_attributes_section"]

_MOST_PANELS = 12
_MOST_BARS = 12
_FILES = ("file", "image", "path", "url", "src", "filename")


def rater_attributes_section(study: Study) -> Section | Skipped:
    """Age, gender, location and other attributes of the raters."""
    if study.ratings.n_raters == 1:
        return Skipped("Who the raters are", "there is one rater.")
    frame = study.ratings.raters.drop("rater", "rater_kind", *planted_columns(study.ratings))
    if study.controls is not None:
        frame = frame.drop("control", "of", strict=False)
    return _section("raters", "rater", "Who the raters are", frame, "people")


def stimulus_attributes_section(study: Study) -> Section | Skipped:
    """Attributes of the stimuli."""
    frame = study.ratings.stimuli.drop("stimulus")
    return _section("stimuli", "stimulus", "What the stimuli are", frame, "mixed")


def _section(
    things: str, thing: str, title: str, frame: pl.DataFrame, role: str
) -> Section | Skipped:
    if not frame.columns:
        return Skipped(title, f"no attributes of the {things} are known.")
    panels: list[Panel] = []
    left_out: list[str] = []
    for column in frame.get_columns():
        panel = None if column.name.casefold() in _FILES else _panel(column)
        if panel is None or len(panels) == _MOST_PANELS:
            left_out.append(column.name)
        else:
            panels.append(panel)
    if not panels:
        return Skipped(
            title,
            f"the attributes of the {things} ({_names(left_out)}) have a value of their own each.",
        )
    words = " ".join(_words(frame[panel.name], panel) for panel in panels)
    note = (
        f"Attributes of {count(frame.height)} {things}: {_names([panel.name for panel in panels])}."
    )
    if left_out:
        note += f" Not shown: {_names(left_out)} (names, files, or more than {_MOST_PANELS})."
    picture = Picture(
        f"{thing}_attributes",
        title,
        f"Number of {things} by attribute; missing values are not counted. At most {_MOST_BARS} "
        "values of an attribute are shown.",
        words,
        fig_attributes(panels, count_name=things, role=role),
    )
    table = _table(thing, things, panels)
    return Section(f"{thing}-attributes", title, (Paragraph(note), picture, table))


def _names(names: list[str]) -> str:
    text = joined(shown(name, 40) for name in names[:15])
    return text + (f" and {len(names) - 15} more" if len(names) > 15 else "")


def _panel(column: pl.Series) -> Panel | None:
    """Distribution of an attribute; None when nearly every value is its own."""
    known = column.drop_nulls()
    if known.dtype.is_float():
        known = known.drop_nans()
    if len(known) == 0 or known.dtype.is_nested():
        return None
    distinct = known.n_unique()
    if _is_identifier(known):
        return None
    if known.dtype.is_numeric() and distinct > _MOST_BARS:
        numbers = known.to_numpy().astype(np.float64)
        counts, edges = np.histogram(numbers, bins=_round_edges(numbers))
        return Panel(column.name, tuple(counts.tolist()), edges=tuple(edges.tolist()))
    if not known.dtype.is_numeric() and distinct > _MOST_BARS and distinct > 0.5 * len(known):
        return None
    table = pl.DataFrame({"v": known}).group_by("v").agg(pl.len().alias("n"))
    ordered = known.dtype.is_numeric()
    table = table.sort("v") if ordered else table.sort("n", "v", descending=[True, False])
    values = [_value(value) for value in table["v"]]
    counts_of = table["n"].to_list()
    rest, remark = sum(counts_of[_MOST_BARS:]), ""
    if rest > 2 * max(counts_of):
        remark = f"{_MOST_BARS} most frequent of {len(values)}"
        values, counts_of = values[:_MOST_BARS], counts_of[:_MOST_BARS]
    elif rest:
        values = [*values[:_MOST_BARS], f"{len(values) - _MOST_BARS} others"]
        counts_of = [*counts_of[:_MOST_BARS], rest]
    return Panel(column.name, tuple(counts_of), values=tuple(values), remark=remark)


def _is_identifier(known: pl.Series) -> bool:
    """Whether whole numbers count the rows through, each once."""
    if not known.dtype.is_integer() or len(known) <= _MOST_BARS:
        return False
    span = int(known.max()) - int(known.min()) + 1  # type: ignore[arg-type]
    return known.n_unique() == len(known) == span


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _round_edges(numbers: np.ndarray) -> np.ndarray:
    """Ends of bins at round numbers, more of them for more numbers."""
    from matplotlib.ticker import MaxNLocator

    bins = int(np.clip(np.ceil(np.sqrt(numbers.size)), 5, 20))
    return np.asarray(MaxNLocator(bins).tick_values(float(numbers.min()), float(numbers.max())))


def _words(column: pl.Series, panel: Panel) -> str:
    name = shown(panel.name, 40)
    if panel.edges:
        known = column.drop_nulls().to_numpy().astype(np.float64)
        known = known[~np.isnan(known)]
        digits = 0 if (known == np.rint(known)).all() else 2
        low, middle, high = (
            number(float(part), digits) for part in np.quantile(known, [0, 0.5, 1])
        )
        return f"{name}: from {low} to {high}, median {middle}."
    pairs = list(zip(panel.values, panel.counts, strict=True))[:4]
    listed = ", ".join(f"{shown(value, 40)} {count(n)}" for value, n in pairs)
    more = len(panel.values) - len(pairs)
    return f"{name}: {listed}" + (f" and {plural(more, 'more value')}." if more else ".")


def _bins(edges: Sequence[float]) -> list[str]:
    """Name bins with as many digits as tell their ends apart."""
    digits = next(d for d in range(4, 18) if len({f"{edge:.{d}g}" for edge in edges}) == len(edges))
    ends = [f"{edge:,.{digits}g}".replace("-", "−") for edge in edges]
    return [f"{low} to {high}" for low, high in pairwise(ends)]


def _table(thing: str, things: str, panels: list[Panel]) -> Table:
    rows = []
    for panel in panels:
        values = panel.values or _bins(panel.edges)
        rows += [(panel.name, value, n) for value, n in zip(values, panel.counts, strict=True)]
    frame = pl.DataFrame(rows, schema=["attribute", "value", "count"], orient="row")
    columns = (
        Column("attribute", "Attribute", "name"),
        Column("value", "Value", "name"),
        Column("count", things.capitalize(), "count"),
    )
    return Table(f"{thing}_attributes", f"Attributes of the {things}.", frame, columns, limit=40)
