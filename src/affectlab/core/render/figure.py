"""Figures of results, drawn by whatever is registered under the name of their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from affectlab.core.registry import Registry, callables
from affectlab.core.tables import Figure, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["FIGURES", "draw"]

FIGURES: Registry[Callable[..., Any]] = Registry(
    kind="figure",
    group="affectlab.figures",
    accept=callables,
    expected="a function of axes, a table and settings",
    ours={"intervals": "affectlab.report.figures:draw_intervals"},
)
"""Kinds of figures: functions of axes, a table and settings, that draw on the axes."""


def draw(figure: Figure, table: Table, ax: Axes | None) -> Axes:
    """Draw a figure on axes, new ones where none are given."""
    if ax is None:
        from matplotlib.figure import Figure as Canvas

        ax = Canvas(layout="constrained").add_subplot()
    FIGURES.load(figure.kind)(ax, table, **figure.options)
    ax.set_title(figure.title)
    return ax
