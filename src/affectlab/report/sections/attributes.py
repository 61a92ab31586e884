"""Distributions of what is known of raters and of stimuli."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from affectlab.core.tables import Count, Key, Table
from affectlab.core.types import Floats
from affectlab.core.words import count, number, plural, shown, some
from affectlab.report.page import Paragraph, Picture, Section, Skipped
from affectlab.report.sections.raters import planted_columns
from affectlab.report.statistics import Study

_MOST_PANELS = 12
_MOST_BARS = 12
_MOST_NAMES = 15
_FILES = ("file", "image", "path", "url", "src", "filename")
_IDENTIFIER = re.compile(
    r"(?i:(^|[_\-. ])(u?u?id|identifier|code|coun|country|subj|subject)$|^code[_\-. ])"
    r"|[a-z](ID|Id|Code)$"
)
"""Names such as ``asset_id``, ``StimulusID``, ``country``, ``SUBJ`` and ``city_code``."""
_TIME = re.compile(r"(?i:(^|[_\-. ])(utc|time|timestamp|date|created|updated|at)$)|[a-z](Time|At)$")
"""Names such as ``created_utc``, ``timestamp`` and ``updatedAt``."""
_SECONDS = (3e8, 4e9)
"""Seconds from 1970 to 1979, and to 2096: numbers between them under such a name are times."""


def times_of(column: pl.Series) -> pl.Series | None:
    """Give a column of times as such, also where they are seconds, or thousandths, since 1970."""
    if column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("ms"))
    known = column.cast(pl.Float64).drop_nulls().drop_nans() if column.dtype.is_numeric() else None
    if known is None or known.is_empty() or not _TIME.search(column.name):
        return None
    for per_second in (1, 1000):
        seconds = known / per_second
        if seconds.is_between(*_SECONDS).all():
            return (seconds * 1000).cast(pl.Int64).cast(pl.Datetime("ms"))
    return None


def rater_attributes_section(study: Study) -> Section | Skipped:
    """Age, gender, location and other attributes of the raters."""
    if study.ratings.n_raters == 1:
        return Skipped("Who the raters are", study.one_rater)
    unsaid = ("rater", "rater_kind", "rater_known", *planted_columns(study.ratings))
    frame = study.ratings.raters.drop(*unsaid, strict=False)
    if study.controls is not None:
        frame = frame.drop("control", "of", strict=False)
    return _section("raters", "rater", "Who the raters are", frame, "people")


def stimulus_attributes_section(study: Study) -> Section | Skipped:
    """Attributes of the stimuli."""
    frame = study.ratings.stimuli.drop("stimulus")
    silent = frame.height - study.n_rated
    note = f" ({count(silent)} of them without an answer)" if silent else ""
    return _section("stimuli", "stimulus", "What the stimuli are", frame, "mixed", note)


def _section(
    things: str, thing: str, title: str, frame: pl.DataFrame, role: str, silent: str = ""
) -> Section | Skipped:
    if not frame.columns:
        return Skipped(title, f"no attributes of the {things} are known.")
    panels: dict[str, pl.DataFrame] = {}
    left_out: dict[str, list[str]] = {}
    for column in frame.get_columns():
        panel = "names of files" if column.name.casefold() in _FILES else _panel(column)
        if not isinstance(panel, str) and len(panels) == _MOST_PANELS:
            panel = f"beyond the first {_MOST_PANELS} attributes"
        if isinstance(panel, str):
            left_out.setdefault(panel, []).append(column.name)
        else:
            panels[column.name] = panel
    if not panels:
        return Skipped(
            title,
            f"no attribute of the {things} has values to compare: {_reasons(left_out)}.",
        )
    words = " ".join(_words(frame[name], panel) for name, panel in panels.items())
    note = f"Attributes of {count(frame.height)} {things}{silent}: {_names([*panels])}."
    if left_out:
        note += f" Not shown: {_reasons(left_out)}."
    every = pl.concat(
        panel.select(pl.lit(name).alias("attribute"), pl.all()) for name, panel in panels.items()
    )
    caption = f"Attributes of the {things}."
    caption += "".join(
        f" {shown(name, 40)}: the {panel['remark'][0]}."
        for name, panel in panels.items()
        if panel["remark"][0]
    )
    columns = (Key("attribute"), Key("value"), Count("count", things))
    named = every.select("attribute", "value", "count")
    table = Table(f"{thing}_attributes", caption, named, columns, limit=40)
    picture = Picture.make(
        "attributes",
        every,
        name=f"{thing}_attributes",
        title=title,
        caption=f"Number of {things} by attribute; missing values are not counted. At most "
        f"{_MOST_BARS} values of an attribute are named; of more numbers, ranges are counted.",
        description=words,
        options={"count_name": things, "role": role},
    )
    blocks = (Paragraph(note), picture, table)
    return Section(f"{thing}-attributes", title, blocks)


def _names(names: list[str]) -> str:
    return some([shown(name, 40) for name in names], _MOST_NAMES)


def _reasons(left_out: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{_names(names)} ({reason})" for reason, names in left_out.items())


def _panel(column: pl.Series) -> pl.DataFrame | str:
    """Distribution of an attribute, in bins where there are many numbers; or why there is none."""
    known = column.drop_nulls()
    if known.dtype.is_float():
        known = known.drop_nans()
    if len(known) == 0:
        return "no values"
    if (times := times_of(known)) is not None:
        return _dates(times)
    if known.dtype.is_nested():
        return "lists"
    distinct = known.n_unique()
    if _is_identifier(known):
        return "numbers that stand for names"
    if known.dtype.is_numeric() and distinct > _MOST_BARS:
        numbers = known.to_numpy().astype(np.float64)
        counts, edges = np.histogram(numbers, bins=_round_edges(numbers))
        names = _bins(edges.tolist(), whole=bool((numbers == np.rint(numbers)).all()))
        return _counted(names, counts.tolist(), edges)
    if not known.dtype.is_numeric() and distinct > _MOST_BARS and distinct > 0.5 * len(known):
        return "too many different values"
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
    return _counted(values, counts_of, remark=remark)


def _dates(times: pl.Series) -> pl.DataFrame:
    """Count times by day, month or year: the finest of which there are few."""
    for unit in ("%Y-%m-%d", "%Y-%m", "%Y"):
        counts = times.dt.strftime(unit).alias("date").value_counts().sort("date")
        if counts.height <= _MOST_BARS:
            break
    return _counted(counts["date"].to_list(), counts["count"].to_list())


def _counted(
    values: Sequence[str], counts: Sequence[int], edges: Floats | None = None, remark: str = ""
) -> pl.DataFrame:
    low, high = (None, None) if edges is None else (edges[:-1], edges[1:])
    return pl.DataFrame(
        {"value": values, "count": counts, "low": low, "high": high, "remark": remark},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )


def _is_identifier(known: pl.Series) -> bool:
    """Whether numbers are names: by what they are called, or as they count the rows through.

    Numbers in a column whose name says identifier, code, country or subject are names wherever
    there are more of them than bars; fewer are shown, each with its count. Whole numbers are names
    under any heading where each row has one of its own and none is left out.
    """
    if (
        known.dtype.is_numeric()
        and known.n_unique() > _MOST_BARS
        and _IDENTIFIER.search(known.name)
    ):
        return True
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
    whole = bool((numbers == np.rint(numbers)).all())
    ends = MaxNLocator(bins, integer=whole).tick_values(float(numbers.min()), float(numbers.max()))
    return np.asarray(ends)


def _words(column: pl.Series, panel: pl.DataFrame) -> str:
    name, known = shown(column.name, 40), column.drop_nulls()
    known = known.drop_nans() if known.dtype.is_float() else known
    if times_of(known) is not None:
        return f"{name}: from {panel['value'][0]} to {panel['value'][-1]}."
    if panel["low"].null_count() == 0:
        numbers = known.to_numpy().astype(np.float64)
        digits = 0 if (numbers == np.rint(numbers)).all() else 2
        low, middle, high = (
            number(float(part), digits) for part in np.quantile(numbers, [0, 0.5, 1])
        )
        return f"{name}: from {low} to {high}, median {middle}."
    pairs = panel.select("value", "count").head(4).rows()
    listed = ", ".join(f"{shown(value, 40)} ({count(n)})" for value, n in pairs)
    more = known.n_unique() - len(pairs)
    return f"{name}: {listed}" + (f" and {plural(more, 'more value')}." if more else ".")


def _bins(edges: Sequence[float], *, whole: bool) -> list[str]:
    """Name bins so that no value is in two: each ends below the next, the last holds its end."""
    if whole:
        last = [*(f"{end - 1:,.0f}" for end in edges[1:-1]), f"{edges[-1]:,.0f}"]
        ends = [(f"{low:,.0f}", high) for low, high in zip(edges[:-1], last, strict=True)]
        names = [low if low == high else f"{low} to {high}" for low, high in ends]
    else:
        # As many digits as tell the ends apart.
        digits = next(
            d for d in range(4, 18) if len({f"{edge:.{d}g}" for edge in edges}) == len(edges)
        )
        shorts = list(pairwise(f"{edge:,.{digits}g}" for edge in edges))
        names = [f"{low} to below {high}" for low, high in shorts[:-1]]
        names.append(" to ".join(shorts[-1]))
    return [name.replace("-", "\u2212") for name in names]
