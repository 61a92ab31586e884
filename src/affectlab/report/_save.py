"""Writing a figure to files, outside of a report."""

from __future__ import annotations

from pathlib import Path

from affectlab._types import Figure
from affectlab.report._svg import settled, standalone_svg, to_png, to_svg

__all__ = ["save_figure"]


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
