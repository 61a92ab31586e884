"""How a table of ratings looks in a notebook and in a terminal."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from affectlab._words import shown

if TYPE_CHECKING:
    from affectlab._terminal import Table
    from affectlab.ratings._table import Ratings

__all__ = ["headline", "summary_html", "summary_rows", "summary_table"]

_SHOWN_LABELS = 12
_LONGEST_NAME = 40
_LONGEST_TEXT = 300


def headline(ratings: Ratings) -> str:
    """Give what a table holds in one line."""
    parts = [
        _count(ratings.n_ratings, "answer", "answers"),
        _count(ratings.n_stimuli, "stimulus", "stimuli"),
        _count(ratings.n_raters, "rater", "raters"),
    ]
    if ratings.has_labels:
        parts.append(_count(ratings.n_labels, "label", "labels"))
    return ", ".join([*parts, shown(str(ratings.scale), 2 * _LONGEST_NAME)])


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def summary_rows(ratings: Ratings) -> list[tuple[str, str]]:
    """Give the summary as pairs of a name and a text."""
    summary = ratings.summary()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.rater_kinds.items())
    rows = [
        ("answers", f"{summary.n_ratings:,}"),
        ("stimuli", f"{summary.n_stimuli:,}"),
        ("raters", kinds if len(summary.rater_kinds) == 1 else f"{summary.n_raters:,}: {kinds}"),
    ]
    if ratings.has_labels:
        listed = ", ".join(shown(name, _LONGEST_NAME) for name in summary.labels[:_SHOWN_LABELS])
        more = ", …" if len(summary.labels) > _SHOWN_LABELS else ""
        rows.append(("labels", f"{summary.n_labels}: {listed}{more}"))
    if summary.taxonomy:
        rows.append(("taxonomy", summary.taxonomy))
    rows.append(("scale", shown(summary.scale, _LONGEST_TEXT)))
    rows.append(("raters per stimulus", _range(summary.raters_per_stimulus)))
    rows.append(("stimuli per rater", _range(summary.stimuli_per_rater)))
    for name, counts in (("trials", summary.trial_kinds), ("outcomes", summary.outcomes)):
        if counts:
            rows.append((name, ", ".join(f"{count:,} {kind}" for kind, count in counts.items())))
    rows += [("set aside", str(part)) for part in ratings.set_aside] or [("set aside", "none")]
    rows += [("step", step) for step in summary.history]
    rows += [("note", text) for text in summary.warnings]
    return [(name, shown(text, _LONGEST_TEXT)) for name, text in rows]


def _range(spread: tuple[int, float, int]) -> str:
    low, median, high = spread
    return f"{low:,}" if low == high else f"{low:,} to {high:,}, median {median:,g}"


def summary_table(ratings: Ratings) -> Table:
    """Give the summary as a rich table."""
    from rich.text import Text

    from affectlab._terminal import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in summary_rows(ratings):
        table.add_row(name, Text(text))
    return table


def summary_html(ratings: Ratings) -> str:
    """Give the summary and the first rows as HTML."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in summary_rows(ratings)
    )
    return f"<table>{rows}</table>{ratings.frame.head(5)._repr_html_()}"
