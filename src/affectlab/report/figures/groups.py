"""Agreement and other measures by group, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Axes, Figure, Transform
from affectlab.core.words import shown
from affectlab.report.drawing import (
    MOST_DOTS,
    canvas,
    colour,
    figure_with,
    grid_along,
    key_below,
    names_on_y,
    say,
    swatch,
    themed,
)

__all__ = [
    "draw_fairness",
    "draw_groups_compared",
    "draw_kinds_by_label",
    "fig_fairness",
    "fig_groups_compared",
    "fig_kinds_by_label",
]

_ROLES = ("people", "model", "mixed", "positive", "negative", "ambiguous", "neutral")
_KINDS = {"human-human": "people", "human-model": "mixed", "model-model": "model"}
_CHARACTER = 0.0092
"""Width of a letter of a small text, as a share of the width of a figure."""


@themed
def fig_groups_compared(
    values: Mapping[str, ArrayLike],
    comparisons: Sequence[tuple[str, str, str]] = (),
    *,
    value_name: str,
    shown_dots: int = MOST_DOTS,
    ax: Axes | None = None,
) -> Figure:
    """Draw a box per group with the dots behind it, and what was found between groups beside it.

    Parameters
    ----------
    values
        Group to its values; groups without any stay empty.
    comparisons
        Two groups and what to write at the bracket between them, for example a p-value.
    value_name
        What the axis shows.
    shown_dots
        Dots drawn per group; of more, evenly spaced ones in rising order.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_groups_compared({"people": [0.4, 0.5], "models": [0.3, 0.2]},
    ...                              [("people", "models", "p = 0.10")], value_name="kappa")
    >>> figure.axes[0].texts[-1].get_text()
    'p = 0.10'
    """
    axes = ax or canvas(0.75 + 0.5 * len(values)).add_subplot()
    figure = figure_with(axes)
    names = list(values)
    for row, (name, given) in enumerate(values.items()):
        known = np.sort(np.asarray(given, dtype=np.float64))
        known = known[np.isfinite(known)]
        if known.size == 0:
            say(axes, row, "no values")
            continue
        tint = colour(_KINDS.get(name, _role(row)))
        dots = known[np.unique(np.linspace(0, known.size - 1, shown_dots).astype(int))]
        spread = (np.arange(dots.size) * 0.618034) % 1 - 0.5
        axes.scatter(dots, row + 0.52 * spread, s=8, color=tint, alpha=0.35, linewidths=0)
        axes.boxplot(
            known,
            positions=[row],
            orientation="horizontal",
            widths=0.52,
            showfliers=False,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": "none", "edgecolor": tint, "linewidth": 1.2},
            medianprops={"color": colour("ink"), "linewidth": 1.8},
            whiskerprops={"color": tint, "linewidth": 1.2},
            capprops={"color": tint, "linewidth": 1.2},
        )
    names_on_y(axes, names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    grid_along(axes, "x")
    axes.set_xlabel(value_name)
    _brackets(axes, names, comparisons)
    return figure


def draw_groups_compared(
    ax: Axes,
    table: Table,
    *,
    group: str,
    value_name: str,
    groups: Sequence[str] = (),
    comparisons: Sequence[tuple[str, str, str]] = (),
) -> None:
    """Draw a box per group of the values of a table.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a column ``value`` and that of the groups; rows without a group are not drawn.
    group
        Column of the groups.
    groups
        Groups in their order; by default as they occur.
    value_name, comparisons
        As for :func:`fig_groups_compared`.
    """
    parts = table.frame.drop_nulls(group).partition_by(group, as_dict=True, maintain_order=True)
    values = {
        str(name): part["value"].fill_null(np.nan).to_numpy() for (name,), part in parts.items()
    }
    values = {name: values.get(name, np.empty(0)) for name in groups or values}
    fig_groups_compared(values, comparisons, value_name=value_name, ax=ax)


def _role(row: int) -> str:
    """Give people the colour of people, and the groups behind them the others in turn."""
    return _ROLES[row] if row < len(_ROLES) else "neutral"


def _brackets(axes: Axes, names: list[str], comparisons: Sequence[tuple[str, str, str]]) -> None:
    """Draw brackets right of the boxes, short ones inside.

    Where every comparison is one with the first group, the text beside a group is enough.
    """
    if not comparisons:
        return
    texts = [text for _, _, text in comparisons]
    width = 0.02 + _CHARACTER * max(len(line) for text in texts for line in text.split("\n"))
    if len(comparisons) > 1 and all(first == names[0] for first, _, _ in comparisons):
        heading = f"beside {shown(names[0], 20)}:"
        left = _room_for(axes, max(width, 0.02 + _CHARACTER * len(heading)))
        _write(axes, left, 0, heading)
        for _, other, text in comparisons:
            _write(axes, left, names.index(other), text)
        return
    spans = [
        (min(places), max(places), text)
        for *pair, text in comparisons
        if (places := [names.index(name) for name in pair])
    ]
    spans.sort(key=lambda span: span[1] - span[0])
    columns: list[list[tuple[int, int]]] = []
    chosen = []
    for first, last, _ in spans:
        free = (
            k
            for k, taken in enumerate(columns)
            if all(last <= start or first >= end for start, end in taken)
        )
        column = next(free, len(columns))
        if column == len(columns):
            columns.append([])
        columns[column].append((first, last))
        chosen.append(column)
    left = _room_for(axes, (width + 0.02) * len(columns))
    for (first, last, text), column in zip(spans, chosen, strict=True):
        x = left + (width + 0.02) * column
        # A hair's breadth apart, so that brackets that follow each other do not touch.
        top, bottom = first + 0.07, last - 0.07
        (line,) = axes.plot(
            [x, x + 0.008, x + 0.008, x],
            [top, top, bottom, bottom],
            transform=_beside(axes),
            color=colour("soft"),
            linewidth=0.9,
            clip_on=False,
        )
        line.set_in_layout(False)
        _write(axes, x + 0.016, (first + last) / 2, text)


def _room_for(axes: Axes, width: float) -> float:
    """Keep a part of the figure free on the right; give where it starts."""
    engine = axes.figure.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, 0, 1 - width - 0.01, 1))  # type: ignore[call-arg]
    return 1 - width


def _beside(axes: Axes) -> Transform:
    """Place things by the width of the figure, and by the rows of the axes."""
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(axes.figure.transFigure, axes.transData)


def _write(axes: Axes, x: float, row: float, text: str) -> None:
    written = axes.text(
        x,
        row,
        "\n".join(map(shown, text.split("\n"))),
        transform=_beside(axes),
        va="center",
        fontsize=7.5,
        color=colour("ink"),
    )
    written.set_in_layout(False)


@themed
def fig_kinds_by_label(
    labels: Sequence[str],
    values: Mapping[str, ArrayLike],
    *,
    value_name: str,
    ax: Axes | None = None,
) -> Figure:
    """Draw the mean agreement of each kind of pair on each label, sorted by the first kind.

    Parameters
    ----------
    labels
        Shape (labels,).
    values
        Kind of pair to its means, shape (labels,); ``nan`` where not defined.
    value_name
        What the axis shows.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_kinds_by_label(["joy", "awe"], {"human-human": [0.2, 0.4]}, value_name="kappa")
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['awe', 'joy']
    """
    table = np.array([np.asarray(given, dtype=np.float64) for given in values.values()])
    order = np.argsort(np.where(np.isnan(table[0]), np.inf, -table[0]), kind="stable")
    axes = ax or canvas(1.0 + 0.2 * len(labels)).add_subplot()
    figure = figure_with(axes)
    rows = np.arange(len(labels))
    known = np.where(np.isnan(table).all(axis=0), 0.0, table)
    axes.hlines(
        rows,
        np.nanmin(known, axis=0)[order],
        np.nanmax(known, axis=0)[order],
        colors=colour("line"),
        linewidth=1.4,
    )
    markers = ("o", "D", "s")
    entries = []
    for k, kind in enumerate(values):
        tint = colour(_KINDS.get(kind, _role(k)))
        axes.scatter(
            table[k, order], rows, s=22, color=tint, marker=markers[k % 3], linewidths=0, zorder=3
        )
        entries.append((kind, swatch(tint, markers[k % 3], size=5)))
    names_on_y(axes, [labels[k] for k in order])
    grid_along(axes, "x")
    axes.axvline(0, color=colour("soft"), linewidth=0.8)
    axes.set_xlabel(value_name)
    key_below(figure, entries)
    return figure


def draw_kinds_by_label(ax: Axes, table: Table, *, value_name: str) -> None:
    """Draw the mean agreement of each kind of pair on each label.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``label``, ``pair_kind`` and ``mean``.
    value_name
        What the axis shows.
    """
    labels = table.frame["label"].unique(maintain_order=True).to_list()
    means = {row[:2]: row[2] for row in table.frame.select("pair_kind", "label", "mean").rows()}
    kinds = [kind for kind in _KINDS if kind in table.frame["pair_kind"]]
    values = {
        kind: np.array([means.get((kind, label)) for label in labels], dtype=np.float64)
        for kind in kinds
    }
    fig_kinds_by_label(labels, values, value_name=value_name, ax=ax)


# A measure by group, with intervals: is a model as good for one group as for another.


_HEADING = 1.15
"""Rows that a heading takes, with the space above it."""


@themed
def fig_fairness(
    sections: Sequence[str],
    groups: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    value_name: str,
    flagged: Sequence[bool] | None = None,
    sizes: Sequence[int] | None = None,
    line: float | None = None,
    band: float = 0.0,
    ax: Axes | None = None,
) -> Figure:
    """Draw a dot with its interval per group, one block per model or label.

    Parameters
    ----------
    sections
        Heading that each row stands under, shape (n,); rows of one heading stand together.
    groups
        Group of each row.
    value, low, high
        Shape (n,); ``nan`` where not defined.
    value_name
        What the axis shows.
    flagged
        Rows to stress: groups with a gap that is shown.
    sizes
        Number of stimuli, or people, in each group, written beside its name.
    line
        A value to mark, such as 0 for a signed difference or for gaps.
    band
        What counts as small: values that lie no further than this from the line stand on grey.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_fairness(["net", "net"], ["man", "woman"], [0.4, 0.7], [0.3, 0.6], [0.5, 0.8],
    ...                       value_name="mean absolute error", flagged=[False, True])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['man', 'woman']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    stressed = np.zeros(point.size, dtype=bool) if flagged is None else np.asarray(flagged, bool)
    headings = list(dict.fromkeys(sections))
    several = len(headings) > 1
    order = [row for name in headings for row, own in enumerate(sections) if own == name]
    place = np.zeros(point.size)
    title_at = {}
    at = -0.4
    for name in headings:
        if several:
            title_at[name] = at + 0.55
            at += _HEADING
        for row in (row for row in order if sections[row] == name):
            place[row] = at + 0.4
            at += 1
    axes = ax or canvas(0.8 + 0.2 * (at + 0.4) + (0.2 if stressed.any() else 0)).add_subplot()
    figure = figure_with(axes)
    if line is not None and band > 0:
        axes.axvspan(line - band, line + band, color=colour("faint"), linewidth=0, zorder=0)
    if line is not None:
        axes.axvline(line, color=colour("soft"), linewidth=0.8, dashes=(4, 3))
    tint = [colour("model" if stress else "people") for stress in stressed]
    axes.hlines(place, lower, upper, colors=tint, linewidth=1.6, alpha=0.55)
    marks = (("o", ~stressed), ("D", stressed))
    for marker, rows in marks:
        axes.scatter(
            point[rows],
            place[rows],
            c=[tint[row] for row in np.flatnonzero(rows)],
            marker=marker,
            s=24,
            zorder=3,
            edgecolors=colour("paper"),
            linewidths=0.6,
        )
    names = [
        shown(group, 34) + ("" if sizes is None else f"  ({sizes[row]:,})")
        for row, group in enumerate(groups)
    ]
    axes.set_yticks([place[row] for row in order], [names[row] for row in order])
    axes.set_ylim(at + 0.1, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    axes.margins(x=0.04)
    for name, height in title_at.items():
        axes.annotate(
            shown(name, 60),
            (0, height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontweight="bold",
            color=colour("ink"),
        )
    axes.set_xlabel(value_name)
    for row in np.flatnonzero(np.isnan(point)).tolist():
        axes.annotate(
            "not defined",
            (0.01, place[row]),
            xycoords=("axes fraction", "data"),
            va="center",
            color=colour("soft"),
            fontsize=8,
            style="italic",
        )
    if np.isnan(point).all():
        axes.set_xlim(0, 1)
    if stressed.any():
        key_below(
            figure,
            [
                ("a gap is shown", swatch(colour("model"), "D", size=5)),
                ("no gap is shown", swatch(colour("people"), "o", size=5)),
            ],
        )
    return figure


_MOST_SECTIONS = 24
"""Models and labels that a figure shows."""


def draw_fairness(
    ax: Axes,
    table: Table,
    *,
    row: Sequence[str],
    section: Sequence[str],
    value_name: str,
    size: str | None = None,
    line: float | None = None,
    band: float = 0.0,
) -> None:
    """Draw the values of groups, or gaps between them; of many models those with a gap first.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``value``, ``low``, ``high`` and ``flagged``.
    row, section
        Columns that name a row, and the block that it stands in.
    size
        Column with the number of stimuli, or people.
    value_name, line, band
        As for :func:`fig_fairness`.
    """
    import polars as pl

    frame = table.frame.with_columns(
        section=pl.concat_str(section, separator=" · "),
        row=pl.concat_str(row, separator=" − "),
    ).filter(pl.col("value").is_not_nan() | (len(row) == 1))
    loud = frame.filter("flagged")["section"].unique(maintain_order=True).to_list()
    chosen = list(dict.fromkeys([*loud, *frame["section"].to_list()]))[:_MOST_SECTIONS]
    place = {name: at for at, name in enumerate(chosen)}
    frame = frame.filter(pl.col("section").is_in(chosen)).sort(
        pl.col("section").replace_strict(place, return_dtype=pl.Int64), maintain_order=True
    )
    fig_fairness(
        *(frame[name].to_list() for name in ("section", "row", "value", "low", "high")),
        value_name=value_name,
        flagged=frame["flagged"].to_list(),
        sizes=None if size is None else frame[size].to_list(),
        line=line,
        band=band,
        ax=ax,
    )
