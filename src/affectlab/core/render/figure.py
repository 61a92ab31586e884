"""Figures of results, drawn by whatever is registered under the name of their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.core.registry import Registry, callables
from affectlab.core.render.cells import NUMERIC
from affectlab.core.tables import Column, Figure, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["FIGURES", "draw", "figures_of"]

FIGURES: Registry[Callable[..., Any]] = Registry(
    kind="figure",
    group="affectlab.figures",
    accept=callables,
    expected="a function of axes, a table and settings",
    ours={
        "agreement_bars": "affectlab.report.figures:draw_agreement_bars",
        "consensus_flow": "affectlab.report.figures:draw_consensus_flow",
        "discrepancies": "affectlab.report.figures:draw_discrepancies",
        "equivalence": "affectlab.report.figures:draw_equivalence",
        "fairness": "affectlab.report.figures:draw_fairness",
        "groups_compared": "affectlab.report.figures:draw_groups_compared",
        "intervals": "affectlab.report.figures:draw_intervals",
        "kinds_by_label": "affectlab.report.figures:draw_kinds_by_label",
        "pair_heatmap": "affectlab.report.figures:draw_pair_heatmap",
        "people_range": "affectlab.report.figures:draw_people_range",
        "plan": "affectlab.report.figures:draw_plan",
    },
)
"""Kinds of figures: functions of axes, a table and settings, that draw on the axes."""


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
    """Draw a figure on axes, new ones where none are given."""
    given = ax is not None
    if ax is None:
        from matplotlib.figure import Figure as Canvas

        ax = Canvas(layout="constrained").add_subplot()
    FIGURES.load(figure.kind)(ax, table, **figure.options)
    ax.set_title(figure.title)
    canvas = ax.get_figure(root=True)
    if not given and canvas is not None:
        # Names below each other need a line each.
        needed = 1 + _LINE * len(ax.get_yticklabels())
        canvas.set_figheight(max(canvas.get_figheight(), needed))
    return ax
