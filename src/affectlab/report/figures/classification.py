"""Confusion matrices and reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Axes, Colormap, Figure
from affectlab.core.words import count, number, shown
from affectlab.report.drawing import (
    RAMP,
    WIDTH,
    canvas,
    colour,
    fit,
    grid_along,
    ink_on,
    key_below,
    split,
    swatch,
    themed,
)
from affectlab.report.figures.intervals import rows_where
from affectlab.report.figures.labels import group_colours

__all__ = [
    "draw_confusion",
    "draw_reliability",
    "fig_confusion",
    "fig_reliability_diagram",
]

_ANNOTATED = 12
_NAME_LIMIT = 26


@themed
def fig_confusion(
    matrix: ArrayLike,
    labels: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    true_name: str = "true label",
    predicted_name: str = "predicted label",
    ax: Axes | None = None,
) -> Figure:
    """Draw a confusion matrix; the colour is the share of the answers to each true label.

    Parameters
    ----------
    matrix
        Shape (k, k), true labels in rows: counts, or shares; ``nan`` where there is nothing. Rows
        are divided by their sums. Up to twelve labels, each cell says its count, or share.
    labels
        The k labels.
    groups
        Group of each label, such as its polarity: labels are drawn group by group, with lines
        between groups and their colours beside the names.
    true_name, predicted_name
        What rows and columns are.
    ax
        Axes to draw on; those of a new figure where not given.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, figure 2; Demszky et al. (2020), GoEmotions, figure 6.

    Examples
    --------
    >>> figure = fig_confusion([[8, 2], [1, 3]], ["joy", "fear"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['8', '2', '1', '3', '10', '4', 'n']
    """
    from matplotlib.colors import to_hex

    value = np.asarray(matrix, dtype=np.float64)
    order = _by_group(groups, len(labels))
    value = value[np.ix_(order, order)]
    names = [labels[k] for k in order]
    total = np.nansum(value, axis=1, keepdims=True)
    share = np.divide(value, total, out=np.full(value.shape, np.nan), where=total > 0)

    n = len(names)
    longest = max((len(shown(name, _NAME_LIMIT)) for name in names), default=0)
    text_size = 8.5 if n <= 20 else 7 if n <= 30 else 6
    margin = 0.35 + longest * text_size * 0.0085
    side = min(WIDTH - margin - 0.9, 0.9 + 0.42 * n)
    if ax is None:
        height = side + margin + 0.3 + (0.3 if groups else 0)
        ax = canvas(height, min(WIDTH, side + margin + 1.2)).add_subplot()
    axes, figure = ax, cast("Figure", ax.get_figure(root=True))
    ramp = _ramp()
    top = max(float(np.nanmax(share, initial=0.0)), 0.1)
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(share),
        cmap=ramp,
        vmin=0.0,
        vmax=top,
        edgecolors=colour("paper"),
        linewidth=0.8 if n <= 20 else 0.3,
    )
    whole = bool(np.all(np.isnan(value) | (value == np.rint(value))))
    if n <= _ANNOTATED:
        for row, column in np.argwhere(np.isfinite(share)):
            axes.text(
                column + 0.5,
                row + 0.5,
                count(value[row, column]) if whole else number(share[row, column]),
                ha="center",
                va="center",
                fontsize=8 if n <= 9 else 7,
                color=ink_on(to_hex(ramp(share[row, column] / top))),
            )
    if whole:
        _row_totals(axes, total[:, 0], text_size)
    _ticks(axes, names, text_size)
    axes.set_xlabel(predicted_name)
    axes.set_ylabel(true_name)
    if groups is not None and n:
        _group_marks(figure, axes, [groups[k] for k in order])
    bar = figure.colorbar(mesh, ax=axes, aspect=24, shrink=0.6, pad=0.02, anchor=(0.0, 1.0))
    bar.set_label(f"share of the {true_name}")
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure


def draw_confusion(
    ax: Axes,
    table: Table,
    *,
    labels: Sequence[str],
    rows: Mapping[str, Sequence[str]] = MappingProxyType({}),
    **settings: Any,
) -> None:
    """Draw a confusion matrix that a table holds.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds the ``count`` of the pairs of labels ``true`` and ``predicted``; those that do not
        occur may be absent.
    labels
        The labels, in the order of rows and columns.
    rows
        What columns hold in the rows that are drawn; all rows by default.
    settings
        As for :func:`fig_confusion`.
    """
    place = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    pairs = rows_where(table.frame, rows).select("true", "predicted", "count")
    for true, predicted, n in pairs.iter_rows():
        counts[place[true], place[predicted]] = n
    fig_confusion(counts, labels, ax=ax, **settings)


def _by_group(groups: Sequence[str] | None, n: int) -> list[int]:
    """The order of labels in which every group stands together, in order of first use."""
    if groups is None:
        return list(range(n))
    place = {group: k for k, group in enumerate(dict.fromkeys(groups))}
    return sorted(range(n), key=lambda k: place[groups[k]])


def _ramp() -> Colormap:
    """Colours from almost nothing to much; a row without answers stays grey."""
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("share", [colour("raised"), *RAMP])
    return ramp.with_extremes(bad=colour("line"))


def _row_totals(axes: Axes, totals: np.ndarray, size: float) -> None:
    """Write how many items each row has at its end."""
    n = len(totals)
    style: dict[str, Any] = {
        "ha": "left",
        "va": "center",
        "fontsize": size - 0.5,
        "color": colour("soft"),
    }
    at = n + 0.012 * n + 0.08
    for row, total in enumerate(totals):
        axes.text(at, row + 0.5, count(total), **style)
    axes.text(at, -0.012 * n - 0.12, "n", **{**style, "va": "bottom", "style": "italic"})


def _ticks(axes: Axes, names: Sequence[str], size: float) -> None:
    short = [shown(name, _NAME_LIMIT) for name in names]
    at = np.arange(len(names)) + 0.5
    turned = 90 if max(map(len, short), default=0) > 4 else 0
    axes.set_xticks(at, short, rotation=turned, fontsize=size)
    axes.set_yticks(at, short, fontsize=size)
    axes.set_xlim(0, max(len(names), 1))
    axes.set_ylim(max(len(names), 1), 0)
    axes.set_aspect("equal")
    axes.tick_params(length=0, pad=5)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _group_marks(figure: Figure, axes: Axes, groups: Sequence[str]) -> None:
    """Draw a strip of the group's colour beside names, and a line wherever the group changes."""
    colours = group_colours(groups)
    n = len(groups)
    starts = [0, *(k for k in range(1, n) if groups[k] != groups[k - 1]), n]
    for start, end in pairwise(starts):
        tint = colours[groups[start]]
        ends = (start + 0.08, end - 0.08)
        strip: dict[str, Any] = {
            "color": tint,
            "linewidth": 3,
            "solid_capstyle": "butt",
            "clip_on": False,
        }
        axes.plot([-0.006, -0.006], ends, transform=axes.get_yaxis_transform(), **strip)
        axes.plot(ends, [-0.006, -0.006], transform=axes.get_xaxis_transform(), **strip)
        if start:
            axes.axhline(start, color=colour("ink"), linewidth=0.8)
            axes.axvline(start, color=colour("ink"), linewidth=0.8)
    key_below(
        figure,
        [(group, swatch(colours[group])) for group in dict.fromkeys(groups)],
        columns=min(len(set(groups)), 5),
    )


# Reliability diagrams: does a confidence mean what it says.


_SIZE = (4.7, 4.4)
_PANELS: dict[str, Any] = {"sharex": True, "height_ratios": (4, 1)}


@themed
def fig_reliability_diagram(
    low: ArrayLike,
    high: ArrayLike,
    n: ArrayLike,
    confidence: ArrayLike,
    share: ArrayLike,
    share_low: ArrayLike,
    share_high: ArrayLike,
    *,
    ece: float = float("nan"),
    outcome_name: str = "share that came true",
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Draw the outcome of each bin over its mean confidence, with a histogram of counts below.

    Bars in between show how far the two are apart; a model that knows what it knows stands on the
    diagonal.

    Parameters
    ----------
    low, high
        Ends of the bins, shape (b,).
    n
        Items of each bin.
    confidence, share
        Mean confidence and mean outcome of each bin, ``nan`` where it is empty.
    share_low, share_high
        Interval of the outcome.
    ece
        Expected calibration error, written above where it is known.
    outcome_name
        What the outcome is, such as the share of people who gave the same answer.
    title
        Whose confidence it is.
    ax
        Axes in whose place the two panels stand; a new figure where not given.

    Examples
    --------
    >>> figure = fig_reliability_diagram([0, 0.5], [0.5, 1], [3, 7], [0.4, 0.8], [0.3, 0.9],
    ...                                  [0.1, 0.6], [0.6, 0.98], ece=0.1)
    >>> len(figure.axes)
    2
    """
    start, end, count, sure, true, least, most = (
        np.asarray(part, dtype=np.float64)
        for part in (low, high, n, confidence, share, share_low, share_high)
    )
    if ax is None:
        figure = canvas(*_SIZE)
        above, below = figure.subplots(2, 1, **_PANELS)
    else:
        figure = cast("Figure", ax.get_figure(root=True))
        [above], [below] = split(ax, 2, **_PANELS)
    above.plot([0, 1], [0, 1], color=colour("soft"), linewidth=0.9, dashes=(4, 3))
    known = ~np.isnan(sure) & ~np.isnan(true)
    above.vlines(
        sure[known], sure[known], true[known], color=colour("model"), linewidth=5, alpha=0.4
    )
    above.vlines(sure[known], least[known], most[known], color=colour("people"), linewidth=1.3)
    above.plot(sure[known], true[known], color=colour("people"), linewidth=1.1, alpha=0.6)
    above.scatter(
        sure[known],
        true[known],
        s=26,
        color=colour("people"),
        edgecolors=colour("paper"),
        linewidths=0.6,
        zorder=3,
    )
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel(outcome_name)
    above.grid(visible=True)
    above.tick_params(length=0)
    for side in ("left", "bottom"):
        above.spines[side].set_visible(False)
    error = "" if np.isnan(ece) else f"ECE {ece:.3f}"
    above.set_title(shown(title, 40), fontweight="bold", color=colour("ink"))
    above.set_title(error, loc="right", color=colour("ink"))
    soft = colour("soft")
    where = above.transAxes
    above.text(0.03, 0.97, "not sure enough", va="top", transform=where, color=soft, fontsize=8)
    above.text(0.97, 0.03, "too sure", ha="right", transform=where, color=soft, fontsize=8)
    below.bar(start, count, width=end - start, align="edge", color=colour("people"), linewidth=0)
    below.set_xlim(-0.02, 1.02)
    below.set_xlabel("confidence")
    below.set_ylabel("items")
    grid_along(below, "y")
    if known.any():
        key_below(
            figure,
            [
                (outcome_name, swatch(colour("people"), "o", size=5)),
                ("gap to the confidence", swatch(colour("model"), "s")),
            ],
        )
    return figure


@themed
def draw_reliability(
    ax: Axes, table: Table, *, rows: Mapping[str, str] = MappingProxyType({}), **settings: Any
) -> None:
    """Draw a reliability diagram of a table of bins.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the diagram and its histogram stand.
    table
        Holds a row for each bin: ``low``, ``high``, ``n``, ``confidence``, ``share``,
        ``share_low`` and ``share_high``.
    rows
        What columns hold in the rows that are drawn, such as ``{"rater": "net"}``.
    settings
        As for :func:`fig_reliability_diagram`.
    """
    columns = ("low", "high", "n", "confidence", "share", "share_low", "share_high")
    frame = table.frame.filter(**rows)
    fig_reliability_diagram(*(frame[name] for name in columns), ax=ax, **settings)
    fit(ax, *_SIZE)
