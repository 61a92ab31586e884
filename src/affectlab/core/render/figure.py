"""Figures of tables, drawn by whatever is registered under the name of their kind, and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import Any

from affectlab.core.registry import Registry, callables
from affectlab.core.render.cells import NUMERIC
from affectlab.core.render.drawing import canvas, figure_with
from affectlab.core.render.svg import settled, standalone_svg, to_png, to_svg
from affectlab.core.render.theme import ROLES, themed
from affectlab.core.tables import Column, Figure, Table
from affectlab.core.types import Axes, Figure as Page, pl
from affectlab.core.words import shown

_PACKAGE = "affectlab.report.figures"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Figures(Registry[Callable[..., Any]]):
    """Kinds of figures, ours by the functions ``draw_NAME`` in the modules of one package."""

    @cached_property
    def _modules(self) -> dict[str, str]:
        """The module of each kind of ours, read from the source: nothing is imported."""
        folder = Path(__file__).parents[2].joinpath(*_PACKAGE.split(".")[1:])
        return {
            name: ".".join((_PACKAGE, *file.relative_to(folder).with_suffix("").parts))
            for file in sorted(folder.rglob("*.py"))
            for name in _DRAWING.findall(file.read_text("utf-8"))
        }

    def own_names(self) -> tuple[str, ...]:
        """Names of the kinds of ours."""
        return tuple(self._modules)

    def _own(self, name: str) -> Any:
        return getattr(import_module(self._modules[name]), f"draw_{name}")


_DRAWING = re.compile(r"^def draw_(\w+)\(", re.MULTILINE)
FIGURES: Registry[Callable[..., Any]] = _Figures(
    kind="figure",
    group="affectlab.figures",
    accept=callables,
    expected="a function of axes, a table and settings",
)
"""Kinds of figures: functions of axes, a table and settings, that draw on the axes, or put panels
in their place."""


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


_HEIGHT, _ROW = 3.6, 0.24
"""Height of a page, and of a row of names on it, in inches."""


@themed
def figure_of(figure: Figure, table: Table, ax: Axes | None = None) -> Page:
    """Draw a declared figure, without its title: on a page of its own, or on axes that are given.

    The page is as large as the drawing asks for (:func:`affectlab.core.render.drawing.fit`); that
    of a drawing that asks for nothing, as another package may bring, as its rows of names need.

    Parameters
    ----------
    figure, table
        What is drawn, and of what.
    ax
        Axes to draw on. A figure of several panels puts them in their place, so that the axes have
        to stand in a grid of subplots.

    Returns
    -------
    The page that the axes stand on.
    """
    draw = FIGURES.load(figure.kind)
    if ax is not None:
        draw(ax, table, **figure.options)
        return figure_with(ax)
    page = canvas(_HEIGHT)
    axes = page.add_subplot()
    draw(axes, table, **figure.options)
    if not axes.axison and not axes.has_data():
        # Panels stand in its place.
        axes.remove()
    elif page.get_figheight() == _HEIGHT:
        needed = 1.2 + _ROW * len(axes.get_yticks())
        if axes.get_aspect() != "auto":
            # Squares need as much beside each other, and names.
            page.set_size_inches(needed + 3, needed + 2)
        elif axes.yaxis_inverted():
            page.set_figheight(needed)
    return page


def draw_figure(
    kind: str,
    data: Mapping[str, Any] | pl.DataFrame,
    *,
    keys: Sequence[str] = (),
    ax: Axes | None = None,
    **settings: Any,
) -> Page:
    """Draw a figure of columns that no result holds.

    Parameters
    ----------
    kind
        A registered kind of figure, such as ``"intervals"``.
    data
        Columns by name, or a data frame; the module of the kind in ``affectlab.report.figures``
        says which.
    keys
        Columns that name the rows.
    ax
        Axes to draw on; a page of their own by default.
    settings
        As the kind of figure takes them.

    Returns
    -------
    The page, without a title.

    Raises
    ------
    InputError
        When there is no such kind.

    Examples
    --------
    >>> data = {"label": ["a", "b"], "value": [0.2, 0.6], "low": [0.1, 0.5], "high": [0.3, 0.7]}
    >>> page = draw_figure("intervals", data, keys=["label"], value_name="alpha")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    import polars as pl

    columns = tuple(Column(key, key, "name", is_key=True) for key in keys)
    table = Table("data", "", pl.DataFrame(data, strict=False), columns)
    return figure_of(Figure(kind, kind, "data", "", options=settings), table, ax)


def save_figure(
    figure: Page, path: str | Path, name: str, *, title: str, description: str
) -> tuple[Path, Path]:
    """Write a figure as PNG (white background) and SVG (with title and description).

    Parameters
    ----------
    figure
        Such as :func:`draw_figure` gives it.
    path
        Made when it does not exist.
    name
        File name without suffix.
    title, description
        What the figure shows, for people who cannot see it.

    Examples
    --------
    >>> import tempfile
    >>> page = draw_figure("answers", {"answer": ["no", "yes"], "group": ["people"] * 2,
    ...                                "share": [0.25, 0.75]})
    >>> png, svg = save_figure(page, tempfile.mkdtemp(), "answers", title="Answers",
    ...                        description="Three in four say yes.")
    >>> png.name, svg.name
    ('answers.png', 'answers.svg')
    """
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    png, svg = path / f"{name}.png", path / f"{name}.svg"
    with settled(figure):
        png.write_bytes(to_png(figure))
        drawn = to_svg(figure)
    svg.write_text(standalone_svg(drawn, title=title, description=description), encoding="utf-8")
    return png, svg


_LINE, _ROOM = 0.19, 0.13
"""Height of a line of a title, and what stays free below it, in inches."""
_LETTER = 0.085
"""Width of a letter in inches, on average."""


@themed
def titled(figure: Page, title: str) -> Page:
    """Write a title above a page, which becomes higher by it; one that has a title keeps it.

    Examples
    --------
    >>> page = draw_figure("answers", {"answer": ["no"], "group": ["people"], "share": [1.0]})
    >>> titled(page, "Answers").get_suptitle()
    'Answers'
    """
    if figure.get_suptitle() or not title:
        return figure
    width, height = figure.get_size_inches()
    lines = wrap(shown(title), max(20, int(width / _LETTER)))
    taller = height + _LINE * len(lines) + _ROOM
    figure.set_size_inches(width, taller)
    engine = figure.get_layout_engine()
    if engine is not None:
        left, low, wide, high = engine.get()["rect"]
        share = height / taller
        engine.set(rect=(left, low * share, wide, high * share))  # type: ignore[call-arg]
    figure.suptitle(
        "\n".join(lines),
        x=0.01,
        y=1 - 0.05 / taller,
        ha="left",
        va="top",
        fontsize=10,
        fontweight="bold",
        color=ROLES["ink"][0],
    )
    return figure
