"""Figures of results, drawn by whatever is registered under the name of their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry, callables
from affectlab.core.render.cells import NUMERIC
from affectlab.core.tables import Column, Figure, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["FIGURES", "PAGES", "draw", "figures_of"]

FIGURES: Registry[Callable[..., Any]] = Registry(
    kind="figure",
    group="affectlab.figures",
    accept=callables,
    expected="a function of axes, a table and settings",
    ours={
        name: f"affectlab.report.figures:draw_{name}"
        for name in (
            "agreement_bars",
            "by_kind",
            "confusion",
            "consensus_flow",
            "discrepancies",
            "equivalence",
            "fairness",
            "groups_compared",
            "intervals",
            "item_votes",
            "kinds_by_label",
            "outcomes",
            "pair_heatmap",
            "people_range",
            "plan",
            "reliability",
            "scatter",
            "shares",
        )
    },
)
"""Kinds of figures: functions of axes, a table and settings, that draw on the axes."""

PAGES: Registry[Callable[..., Any]] = Registry(
    kind="figure of several panels",
    group="affectlab.pages",
    accept=callables,
    expected="a function of a table and settings",
    ours={
        name: f"affectlab.report.figures.pages:page_of_{name}"
        for name in (
            "emotion_words",
            "expression_elbow",
            "expression_heatmap",
            "expression_priority",
            "first_words",
            "histograms",
            "jnd_strips",
            "jnd_times",
            "label_heatmap",
            "label_map",
            "latency",
            "pair_emotions",
            "ranges",
            "transition_curves",
        )
    },
)
"""Kinds of figures that need a page of their own, such as those of several panels: functions of a
table and settings that give the page."""


_LINE = 0.2
"""Height of a name beside an axis, in inches."""


def figures_of(tables: Sequence[Table]) -> tuple[Figure, ...]:
    """Give the figures of a result that declares none: its numbers, table by table.

    Of each table the first number that people are shown is drawn, a count only where there is
    nothing else, with its interval where it has one, a row under the name that its keys give it.
    Tables that people are not shown come last.
    """
    seen = sorted(tables, key=lambda table: not table.limit)
    return tuple(figure for table in seen for figure in _figure_of(table))


def _figure_of(table: Table) -> Iterator[Figure]:
    ends = [column for column in table.columns if column.kind in ("interval", "share_interval")]
    numbers = [column for column in table.columns if column.kind in NUMERIC and column not in ends]
    for column in sorted(numbers, key=lambda number: number.kind == "count")[:1]:
        low, high = _ends(column, ends)
        options = {"value": column.key, "low": low, "high": high, "value_name": column.head}
        title = table.caption.removesuffix(".") or column.head
        yield Figure(table.name, "intervals", table.name, title, options=options)


def _ends(column: Column, intervals: Sequence[Column]) -> tuple[str | None, str | None]:
    """Columns that hold the interval of a number: of its own name, or of the value."""
    for one in intervals:
        if one.key == column.key or (one.key == "interval" and column.kind == "value"):
            low, high = one.sources
            return low, high
    return None, None


def draw(figure: Figure, table: Table, ax: Axes | None) -> Axes:
    """Draw a figure on axes, new ones where none are given.

    Raises
    ------
    InputError
        When axes are given for a figure that needs a page of its own.
    """
    if figure.kind in PAGES.names():
        if ax is not None:
            raise InputError(f"figure {figure.name!r} is a page of its own; expected no axes")
        page = PAGES.load(figure.kind)(table, **figure.options)
        first: Axes = page.axes[0]
        return first
    given = ax is not None
    if ax is None:
        from matplotlib.figure import Figure as Canvas

        ax = Canvas(layout="constrained").add_subplot()
    FIGURES.load(figure.kind)(ax, table, **figure.options)
    canvas = ax.get_figure(root=True)
    if given or ax.axison or canvas is None:
        ax.set_title(figure.title)
    else:
        # Panels that stand in the place of axes have titles of their own.
        canvas.suptitle(figure.title)
    if not given and canvas is not None:
        # Names below each other need a line each, and squares as much beside each other.
        needed = 1.3 + _LINE * len(ax.get_yticklabels())
        if ax.get_aspect() != "auto":
            needed = max(canvas.get_figheight(), needed + 2)
            canvas.set_figwidth(needed + 1)
        elif not ax.yaxis_inverted():
            needed = max(canvas.get_figheight(), needed)
        canvas.set_figheight(needed)
    return ax
