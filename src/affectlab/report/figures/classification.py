"""Confusion matrices and reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour, group_colours
from affectlab.core.tables import Table
from affectlab.core.types import Axes
from affectlab.core.words import count, number, shown
from affectlab.report.figures.intervals import rows_where

_NAME_LIMIT = 26


def draw_confusion(
    ax: Axes,
    table: Table,
    *,
    labels: Sequence[str],
    rows: Mapping[str, Sequence[str]] = MappingProxyType({}),
    groups: Sequence[str] | None = None,
    true_name: str = "true label",
    predicted_name: str = "predicted label",
) -> None:
    """Draw a confusion matrix; the colour is the share of the answers to each true label.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds the ``count`` of the pairs of labels ``true`` and ``predicted``: a count or a share,
        which are divided by the sums of their rows; pairs that do not occur may be absent. Up to
        twelve labels, each cell says its count, or share.
    labels
        The labels, in the order of rows and columns.
    rows
        What columns hold in the rows that are drawn; all rows by default.
    groups
        Group of each label, such as its polarity: labels are drawn group by group, with lines
        between groups and their colours beside the names.
    true_name, predicted_name
        What rows and columns are.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, figure 2; Demszky et al. (2020), GoEmotions, figure 6.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"true": ["joy", "joy", "fear"], "predicted": ["joy", "fear", "fear"],
    ...         "count": [8, 2, 3]}
    >>> page = draw_figure("confusion", data, labels=["joy", "fear"])
    >>> [text.get_text() for text in page.axes[0].texts]
    ['8', '2', '0', '3', '10', '3', 'n']
    """
    from matplotlib.colors import Normalize

    first = dict.fromkeys(groups or ())
    order = sorted(range(len(labels)), key=lambda k: [*first].index(groups[k]) if groups else k)
    names = [labels[k] for k in order]
    place = {label: k for k, label in enumerate(names)}
    value = np.zeros((len(names), len(names)))
    pairs = rows_where(table.frame, rows).select("true", "predicted", "count")
    for true, predicted, n_pairs in pairs.iter_rows():
        value[place[true], place[predicted]] = n_pairs
    total = np.nansum(value, axis=1, keepdims=True)
    share = np.divide(value, total, out=np.full(value.shape, np.nan), where=total > 0)

    n = len(names)
    size = 8.5 if n <= 20 else drawing.SMALLEST
    limit = _NAME_LIMIT if n <= 30 else 20
    longest = max((drawing.width_of(shown(name, limit), size) for name in names), default=0)
    margin = 0.35 + longest
    side = min(drawing.WIDTH - margin - 0.9, 0.9 + 0.42 * n)
    drawing.fit(
        ax, side + margin + 0.3 + (0.3 if groups else 0), min(drawing.WIDTH, side + margin + 1.2)
    )
    whole = bool((value == np.rint(value)).all())
    mesh = drawing.cells(
        ax,
        share,
        # A row without answers is grey.
        drawing.counts_ramp("line"),
        Normalize(0, max(float(np.nanmax(share, initial=0.0)), 0.1)),
        size=8 if n <= 9 else 7,
        written=value if whole else share,
        write=count if whole else number,
    )
    if whole and n <= drawing.MOST_ROWS:
        _row_totals(ax, total[:, 0], size)
    room = 0.97 * side, 0.97 * side
    drawing.name_cells(ax, names, names, size=size, limit=limit, room=room)
    ax.set_aspect("equal")
    ax.tick_params(pad=5)
    ax.set_xlabel(predicted_name)
    ax.set_ylabel(true_name)
    if groups is not None and n:
        _group_marks(ax, [groups[k] for k in order])
    drawing.colour_bar(mesh, f"share of the {true_name}", ax=ax)


def _row_totals(axes: Axes, totals: np.ndarray, size: float) -> None:
    """Write how many items each row has at its end."""
    n = len(totals)
    style: dict[str, Any] = {"fontsize": size - 0.5, "color": colour("soft")}
    at = n + 0.012 * n + 0.08
    for row, total in enumerate(totals):
        axes.text(at, row + 0.5, count(total), va="center", **style)
    axes.text(at, -0.012 * n - 0.12, "n", style="italic", **style)


def _group_marks(axes: Axes, groups: Sequence[str]) -> None:
    """Draw a strip of the group's colour beside names, and a line wherever the group changes."""
    colours = group_colours(groups)
    for start, end in drawing.runs(groups):
        ends, edge = (start + 0.08, end - 0.08), [-0.006, -0.006]
        strip: dict[str, Any] = {
            "color": colours[groups[start]],
            "linewidth": 3,
            "solid_capstyle": "butt",
            "clip_on": False,
        }
        axes.plot(edge, ends, transform=axes.get_yaxis_transform(), **strip)
        axes.plot(ends, edge, transform=axes.get_xaxis_transform(), **strip)
        if start:
            axes.axhline(start, color=colour("ink"), linewidth=0.8)
            axes.axvline(start, color=colour("ink"), linewidth=0.8)
    key = [(group, swatch(colours[group])) for group in dict.fromkeys(groups)]
    drawing.key_below(axes, key, columns=min(len(key), 5))


def draw_reliability(
    ax: Axes,
    table: Table,
    *,
    rows: Mapping[str, str] = MappingProxyType({}),
    ece: float = float("nan"),
    outcome_name: str = "share that came true",
    title: str = "",
) -> None:
    """Draw the outcome of each bin over its mean confidence, with a histogram of counts below.

    Bars in between show how far the two are apart; a model that knows what it knows stands on the
    diagonal.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the diagram and its histogram stand.
    table
        Holds a row for each bin: ``low``, ``high``, ``n``, the mean ``confidence`` and the mean
        outcome ``share`` (``nan`` where the bin is empty) with ``share_low`` and ``share_high``.
    rows
        What columns hold in the rows that are drawn, such as ``{"rater": "net"}``.
    ece
        Expected calibration error, written above where it is known.
    outcome_name
        What the outcome is, such as the share of people who gave the same answer.
    title
        Whose confidence it is.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"low": [0, 0.5], "high": [0.5, 1], "n": [3, 7], "confidence": [0.4, 0.8],
    ...         "share": [0.3, 0.9], "share_low": [0.1, 0.6], "share_high": [0.6, 0.98]}
    >>> above = draw_figure("reliability", data, ece=0.1).axes[0]
    >>> above.get_title(loc="right")
    'ECE 0.100'
    """
    frame = table.frame.filter(**rows)
    start, end, n = drawing.columns_of(frame, "low", "high", "n")
    sure, true, least, most = drawing.columns_of(
        frame, "confidence", "share", "share_low", "share_high"
    )
    drawing.fit(ax, 4.7, 4.4)
    [above], [below] = drawing.split(ax, 2, sharex=True, height_ratios=(4, 1))
    above.plot([0, 1], [0, 1], color=colour("soft"), linewidth=0.9, dashes=(4, 3))
    known = ~np.isnan(sure) & ~np.isnan(true)
    sure, true, people = sure[known], true[known], colour("people")
    above.vlines(sure, sure, true, color=colour("model"), linewidth=5, alpha=0.4)
    above.vlines(sure, least[known], most[known], color=people, linewidth=1.3)
    above.plot(sure, true, color=people, linewidth=1.1, alpha=0.6)
    above.scatter(
        sure, true, s=26, color=people, edgecolors=colour("paper"), linewidths=0.6, zorder=3
    )
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel(outcome_name)
    above.grid(visible=True)
    above.tick_params(length=0)
    for side in ("left", "bottom"):
        above.spines[side].set_visible(False)
    above.set_title(shown(title, 40), fontweight="bold", color=colour("ink"))
    error = "" if np.isnan(ece) else f"ECE {ece:.3f}"
    above.set_title(error, loc="right", color=colour("ink"))
    style: dict[str, Any] = {
        "transform": above.transAxes,
        "color": colour("soft"),
        "fontsize": 8,
    }
    above.text(0.03, 0.97, "not sure enough", va="top", **style)
    above.text(0.97, 0.03, "too sure", ha="right", **style)
    below.bar(start, n, width=end - start, align="edge", color=people, linewidth=0)
    below.set_xlim(-0.02, 1.02)
    below.set_xlabel("confidence")
    below.set_ylabel("items")
    drawing.grid_along(below, "y")
    if known.any():
        key = [
            (outcome_name, swatch(people, "o", size=5)),
            ("gap to the confidence", swatch("model", "s")),
        ]
        drawing.key_below(ax, key)
