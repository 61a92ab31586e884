"""A figure outside of a report: its title, and its files."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from affectlab.core.render.figure import FIGURES, PAGES, figures_of
from affectlab.core.result import Result
from affectlab.core.tables import Figure as Declared
from affectlab.core.tables import Table
from affectlab.core.types import Figure
from affectlab.core.words import shown
from affectlab.report.drawing.canvas import canvas
from affectlab.report.drawing.svg import settled, standalone_svg, to_png, to_svg
from affectlab.report.drawing.theme import ROLES, themed

__all__ = [
    "figure_of",
    "save_figure",
    "save_figures",
    "titled",
]


def save_figure(
    figure: Figure, path: str | Path, name: str, *, title: str, description: str
) -> tuple[Path, Path]:
    """Write a figure as PNG (white background) and SVG (with title and description).

    Parameters
    ----------
    figure
        From one of the ``fig_…`` functions.
    path
        Made when it does not exist.
    name
        File name without suffix.
    title, description
        What the figure shows, for people who cannot see it.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.report import fig_alpha
    >>> figure = fig_alpha(["joy"], [0.7], [0.6], [0.8])
    >>> png, svg = save_figure(figure, tempfile.mkdtemp(), "alpha", title="Alpha",
    ...                        description="Alpha of joy is 0.7.")
    >>> png.name, svg.name
    ('alpha.png', 'alpha.svg')
    """
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    png, svg = path / f"{name}.png", path / f"{name}.svg"
    with settled(figure):
        png.write_bytes(to_png(figure))
        drawn = to_svg(figure)
    svg.write_text(standalone_svg(drawn, title=title, description=description), encoding="utf-8")
    return png, svg


# Figures that results declare.


_ROW = 0.24
"""Height of a row of a figure in inches."""
_HEIGHT = 3.6


@themed
def figure_of(figure: Declared, table: Table) -> Figure:
    """Draw a figure that a result declares on a page of its own, without a title.

    The page is as high as the drawing asks for (:func:`fit`), or as its rows of names need.
    """
    if figure.kind in PAGES.names():
        whole: Figure = PAGES.load(figure.kind)(table, **figure.options)
        return whole
    page = canvas(_HEIGHT)
    axes = page.add_subplot()
    FIGURES.load(figure.kind)(axes, table, **figure.options)
    if page.get_figheight() == _HEIGHT:
        needed = 1.2 + _ROW * len(axes.get_yticks())
        if axes.get_aspect() != "auto":
            # Squares need as much beside each other, and names.
            page.set_size_inches(needed + 3, needed + 2)
        elif axes.yaxis_inverted():
            page.set_figheight(needed)
    return page


def save_figures(result: Result, path: str | Path) -> tuple[Path, ...]:
    """Write the figures of a result, each as PNG and SVG, to a folder.

    Parameters
    ----------
    result
        What was found; without figures of its own, its numbers are drawn table by table.
    path
        Folder, made when it does not exist.

    Returns
    -------
    The files.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.reliability import mean_opinion_scores
    >>> files = save_figures(mean_opinion_scores([[1, 2, 3], [1, 2, 4]]), tempfile.mkdtemp())
    >>> [file.name for file in files]
    ['estimates.png', 'estimates.svg']
    """
    files: list[Path] = []
    for one in result.figures or figures_of(result.tables):
        drawn = figure_of(one, result.table(one.of))
        description = one.description or " ".join(result.sentences) or one.title
        files += save_figure(drawn, path, one.name, title=one.title, description=description)
    return tuple(files)


# A title on a figure that stands alone, outside of a page that would say what it shows.


_LINE = 0.19
"""Height of a line in inches."""
_ROOM = 0.13
_LETTER = 0.085
"""Width of a letter in inches, on average."""


@themed
def titled(figure: Figure, title: str) -> Figure:
    """Write a title above a figure, which becomes higher by it; one that has a title keeps it.

    Examples
    --------
    >>> from affectlab.report import fig_alpha
    >>> figure = titled(fig_alpha(["joy"], [0.7], [0.6], [0.8]), "Agreement by label")
    >>> figure.get_suptitle()
    'Agreement by label'
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if figure.get_suptitle() or not title:
        return figure
    width, height = figure.get_size_inches()
    lines = wrap(shown(title), max(20, int(width / _LETTER)))
    taller = height + _LINE * len(lines) + _ROOM
    figure.set_size_inches(width, taller)
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        left, low, wide, high = engine.get()["rect"]
        engine.set(rect=(left, low * height / taller, wide, high * height / taller))
    else:
        # What was placed by hand stays as far from the bottom as it was.
        for axes in figure.axes:
            left, low, wide, high = axes.get_position(original=True).bounds
            axes.set_position((left, low * height / taller, wide, high * height / taller))
        for text in figure.texts:
            x, y = text.get_position()
            text.set_position((x, y * height / taller))
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
