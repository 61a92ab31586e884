"""Kinds of figures, by subject: functions of axes, a table and settings.

They are registered in :mod:`affectlab.core.render.figure`; results name them by their kind, and
:func:`affectlab.report.draw_figure` draws one of plain columns.
"""

from __future__ import annotations

from pathlib import Path

from affectlab.core.render.figure import figure_of, figures_of, save_figure
from affectlab.core.result import Result

__all__ = ["save_figures"]


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
