"""Models beside people: differences on the margin, groups, bars by family, discrepancies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._words import number, shown
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._theme import colour, ink_on, themed

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform
    from numpy.typing import ArrayLike

__all__ = [
    "fig_agreement_bars",
    "fig_discrepancy",
    "fig_equivalence",
    "fig_groups_compared",
    "fig_kinds_by_label",
]

_VERDICTS = {
    "inside": ("positive", "inside"),
    "above": ("people", "above"),
    "below": ("negative", "below"),
    "not shown": ("neutral", "not shown"),
    "undefined": ("neutral", "not shown"),
}
_ROLES = ("people", "model", "mixed", "positive", "negative", "ambiguous", "neutral")
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")
_KINDS = {"human-human": "people", "human-model": "mixed", "model-model": "model"}
_CHARACTER = 0.0092
"""Width of a letter of a small text, as a share of the width of a figure."""
_SEPARATE = 3
"""Models up to which discrepancies are drawn as dots."""


@themed
def fig_equivalence(
    names: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    verdicts: Sequence[str],
    *,
    margin: float,
    value_name: str,
) -> Figure:
    """Draw the difference of each model from people, on the margin that does not matter.

    Parameters
    ----------
    names, value, low, high
        Models, and their differences with intervals, shape (n,); ``nan`` where not defined.
    verdicts
        ``inside``, ``below``, ``above``, ``not shown`` or ``undefined``, shape (n,).
    margin
        Half the width of the band around 0.
    value_name
        What the axis shows.

    Examples
    --------
    >>> figure = fig_equivalence(["m"], [0.01], [-0.02], [0.04], ["inside"], margin=0.05,
    ...                          value_name="difference of kappa")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['m']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    order = np.argsort(np.where(np.isnan(point), np.inf, -point), kind="stable")
    figure = canvas(1.05 + 0.27 * len(names))
    axes = figure.add_subplot()
    axes.axvspan(-margin, margin, color=colour("people"), alpha=0.13, linewidth=0)
    axes.axvline(0, color=colour("people"), linewidth=1.2)
    tints = [colour(_VERDICTS[verdicts[k]][0]) for k in order]
    rows = np.arange(len(names))
    axes.hlines(rows, lower[order], upper[order], colors=tints, linewidth=1.8)
    axes.scatter(point[order], rows, c=tints, s=30, zorder=3, marker="D", linewidths=0)
    names_on_y(axes, [names[k] for k in order])
    grid_along(axes, "x")
    known = np.concatenate([point, lower, upper, [-1.3 * margin, 1.3 * margin]])
    known = known[np.isfinite(known)]
    room = 0.04 * float(known.max() - known.min())
    axes.set_xlim(float(known.min()) - room, float(known.max()) + room)
    for row in rows[np.isnan(point[order])]:
        _say(axes, row, "not defined")
    axes.set_xlabel(value_name)
    said = dict.fromkeys(_VERDICTS[verdicts[k]] for k in order)
    entries = [(words, swatch(colour(role), "D", size=5)) for role, words in said]
    key_below(figure, [*entries, (f"margin of ±{margin:g}", swatch(_tinted("people")))])
    return figure


def _tinted(role: str) -> str:
    """Mix a colour with the paper, as the band is."""
    from matplotlib.colors import to_hex, to_rgb

    mixed = 0.13 * np.array(to_rgb(colour(role))) + 0.87 * np.array(to_rgb(colour("paper")))
    return to_hex(mixed.tolist())


def _say(axes: Axes, row: int, text: str) -> None:
    axes.annotate(
        text,
        (0.01, row),
        xycoords=("axes fraction", "data"),
        va="center",
        color=colour("soft"),
        fontsize=8,
        style="italic",
    )


@themed
def fig_groups_compared(
    values: Mapping[str, ArrayLike],
    comparisons: Sequence[tuple[str, str, str]] = (),
    *,
    value_name: str,
    shown_dots: int = 400,
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

    Examples
    --------
    >>> figure = fig_groups_compared({"people": [0.4, 0.5], "models": [0.3, 0.2]},
    ...                              [("people", "models", "p = 0.10")], value_name="kappa")
    >>> figure.axes[0].texts[-1].get_text()
    'p = 0.10'
    """
    figure = canvas(0.75 + 0.5 * len(values))
    axes = figure.add_subplot()
    names = list(values)
    for row, (name, given) in enumerate(values.items()):
        known = np.sort(np.asarray(given, dtype=np.float64))
        known = known[np.isfinite(known)]
        if known.size == 0:
            _say(axes, row, "no values")
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
    engine.set(rect=(0, 0, 1 - width - 0.01, 1))  # type: ignore[union-attr, call-arg]
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
def fig_agreement_bars(
    names: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    value_name: str,
    families: Sequence[str] | None = None,
    people: ArrayLike | None = None,
) -> Figure:
    """Draw a bar with its interval per model, sorted; families differ in colour and pattern.

    Parameters
    ----------
    names, value, low, high
        Models with their agreement, shape (n,); ``nan`` where not defined.
    value_name
        What the axis shows.
    families
        Family of each model, shape (n,).
    people
        The values of people on the same axis, shape (people,): drawn as a band with their median.

    Examples
    --------
    >>> figure = fig_agreement_bars(["a", "b"], [0.2, 0.5], [0.1, 0.4], [0.3, 0.6],
    ...                             value_name="Spearman")
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    order = np.argsort(np.where(np.isnan(point), np.inf, -point), kind="stable")
    figure = canvas(0.85 + 0.24 * len(names) + (0.3 if families or people is not None else 0))
    axes = figure.add_subplot()
    entries: list[tuple[str, Any]] = []
    person = np.asarray([] if people is None else people, dtype=np.float64)
    person = person[np.isfinite(person)]
    if person.size:
        axes.axvspan(person.min(), person.max(), color=colour("people"), alpha=0.13, linewidth=0)
        axes.axvline(float(np.median(person)), color=colour("people"), linewidth=1.2)
        entries.append(("range and median of people", swatch(_tinted("people"))))
    kinds = list(dict.fromkeys(families)) if families else []
    for row, k in enumerate(order):
        which = kinds.index(families[k]) if families else 0
        tint = colour(_ROLES[1:][which % (len(_ROLES) - 1)])
        if np.isnan(point[k]):
            _say(axes, row, "not defined")
            continue
        axes.barh(
            row,
            point[k],
            height=0.66,
            color=tint,
            hatch=_HATCHES[which % len(_HATCHES)],
            edgecolor=colour("paper"),
            linewidth=0,
        )
        axes.hlines(row, lower[k], upper[k], color=colour("ink"), linewidth=1.3)
    names_on_y(axes, [names[k] for k in order])
    grid_along(axes, "x")
    axes.axvline(0, color=colour("soft"), linewidth=0.8)
    axes.set_xlim(*_ends(point, lower, upper, person))
    axes.set_xlabel(value_name)
    for which, kind in enumerate(kinds):
        entries.append((kind, _patch(which)))
    key_below(figure, entries, columns=min(len(entries), 3))
    return figure


def _ends(*values: np.ndarray) -> tuple[float, float]:
    known = np.concatenate([np.zeros(1), *values])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    room = 0.04 * ((high - low) or 1.0)
    return (low - room if low < 0 else 0.0), high + room


def _patch(which: int) -> Artist:
    from matplotlib.patches import Patch

    return Patch(
        facecolor=colour(_ROLES[1:][which % (len(_ROLES) - 1)]),
        hatch=_HATCHES[which % len(_HATCHES)],
        edgecolor=colour("paper"),
        linewidth=0,
    )


@themed
def fig_kinds_by_label(
    labels: Sequence[str], values: Mapping[str, ArrayLike], *, value_name: str
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

    Examples
    --------
    >>> figure = fig_kinds_by_label(["joy", "awe"], {"human-human": [0.2, 0.4]}, value_name="kappa")
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['awe', 'joy']
    """
    table = np.array([np.asarray(given, dtype=np.float64) for given in values.values()])
    order = np.argsort(np.where(np.isnan(table[0]), np.inf, -table[0]), kind="stable")
    figure = canvas(1.0 + 0.2 * len(labels))
    axes = figure.add_subplot()
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


@themed
def fig_discrepancy(
    labels: Sequence[str],
    models: Sequence[str],
    value: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    value_name: str = "people less model",
) -> Figure:
    """Draw by how much people rate each label higher than each model.

    Up to three models are dots with intervals, more are the columns of a heatmap.

    Parameters
    ----------
    labels, models
        Names.
    value, low, high
        Shape (models, labels); ``nan`` where not defined.
    value_name
        What the axis shows.

    Examples
    --------
    >>> figure = fig_discrepancy(["joy", "awe"], ["m"], [[0.2, -0.4]])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['joy', 'awe']
    """
    table = np.asarray(value, dtype=np.float64)
    known = np.where(np.isnan(table), 0.0, table)
    order = np.argsort(-known.mean(axis=0), kind="stable")
    if len(models) > _SEPARATE:
        return _heatmap([labels[k] for k in order], models, table[:, order], value_name)
    figure = canvas(1.0 + (0.16 + 0.07 * len(models)) * len(labels))
    axes = figure.add_subplot()
    axes.axvline(0, color=colour("soft"), linewidth=0.9)
    entries = []
    for f, name in enumerate(models):
        tint = colour(("model", "mixed", "positive")[f])
        marker = ("D", "o", "s")[f]
        rows = np.arange(len(labels)) + (f - (len(models) - 1) / 2) * 0.24
        if low is not None and high is not None:
            lower, upper = (np.asarray(part, dtype=np.float64)[f, order] for part in (low, high))
            axes.hlines(rows, lower, upper, colors=tint, linewidth=1.5, alpha=0.6)
        axes.scatter(table[f, order], rows, s=20, color=tint, marker=marker, linewidths=0, zorder=3)
        entries.append((name, swatch(tint, marker, size=5)))
    names_on_y(axes, [labels[k] for k in order])
    grid_along(axes, "x")
    for row in np.flatnonzero(np.isnan(table[:, order]).all(axis=0)):
        _say(axes, int(row), "not defined")
    axes.set_xlabel(value_name)
    key_below(figure, entries)
    return figure


def _heatmap(
    labels: Sequence[str], models: Sequence[str], table: np.ndarray, value_name: str
) -> Figure:
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex

    known = np.abs(table[np.isfinite(table)])
    most = float(known.max(initial=0.0)) or 1.0
    colours = LinearSegmentedColormap.from_list(
        "discrepancy", ["#7f2f04", "#d98747", "#eef1f4", "#2b6f9e", "#0b2f4f"]
    )
    norm = Normalize(-most, most)
    figure = canvas(1.9 + 0.2 * len(labels))
    axes = figure.add_subplot()
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(table.T),
        cmap=colours,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8,
    )
    if len(models) <= 10:
        for column, row in np.argwhere(np.isfinite(table)):
            ground = to_hex(colours(norm(table[column, row])))
            axes.text(
                column + 0.5,
                row + 0.5,
                number(table[column, row]),
                ha="center",
                va="center",
                fontsize=7,
                color=ink_on(ground),
            )
    short = [shown(name, 22) for name in models]
    turned = max(map(len, short)) * len(short) > 70
    axes.set_xticks(
        np.arange(len(models)) + 0.5,
        short,
        rotation=60 if turned else 0,
        ha="right" if turned else "center",
        rotation_mode="anchor" if turned else "default",
        fontsize=8,
    )
    axes.set_yticks(np.arange(len(labels)) + 0.5, [shown(name, 30) for name in labels])
    axes.set_ylim(len(labels), 0)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    bar = figure.colorbar(mesh, ax=axes, aspect=30, shrink=0.6, pad=0.02, anchor=(0.0, 1.0))
    bar.set_label(value_name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure
