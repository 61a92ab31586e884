"""Models beside people: equivalence, the range of people, and discrepancies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Artist, Axes, Figure, Line2D, pl
from affectlab.core.words import number, shown
from affectlab.report.drawing import (
    canvas,
    colour,
    figure_with,
    grid_along,
    ink_on,
    key_below,
    names_on_y,
    say,
    swatch,
    themed,
)
from affectlab.report.figures.groups import fig_groups_compared, fig_kinds_by_label

__all__ = [
    "draw_agreement_bars",
    "draw_discrepancies",
    "draw_equivalence",
    "draw_people_range",
    "fig_agreement_bars",
    "fig_discrepancy",
    "fig_equivalence",
    "fig_groups_compared",
    "fig_kinds_by_label",
    "fig_people_range",
]

_MOST = 40
"""Models that are drawn below each other."""

# Models on the range of people.


@themed
def fig_people_range(
    people: Mapping[str, ArrayLike],
    models: Mapping[str, ArrayLike],
    model_names: Sequence[str],
) -> Figure:
    """Draw, for each measure, every person compared with the others, and each model below.

    Parameters
    ----------
    people
        Measure to its values for each person left out, shape (people,).
    models
        Measure to its values, shape (models,).
    model_names
        Names of the models.

    Examples
    --------
    >>> figure = fig_people_range({"kappa": [0.4, 0.6]}, {"kappa": [0.5]}, ["m"])
    >>> len(figure.axes)
    1
    """
    figure = canvas(1.15 + 0.24 * (len(model_names) + 1))
    panels = figure.subplots(1, len(people), squeeze=False, sharey=True)[0]
    for axes, measure in zip(panels, people, strict=True):
        _range(axes, people[measure], models[measure])
        axes.set_title(measure, color=colour("ink"))
    _range_names(panels[0], model_names)
    return figure


@themed
def draw_people_range(ax: Axes, table: Table, *, value: str, value_name: str) -> None:
    """Draw models on the range of people, by one measure.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each model and person, with ``rater``, ``rater_kind`` and the measure.
    value
        Column of the measure.
    value_name
        What the axis shows.
    """
    person = table.frame["rater_kind"] == "person"
    models = table.frame.filter(~person).head(_MOST)
    _range(ax, _column(table.frame.filter(person), value), _column(models, value))
    _range_names(ax, models["rater"].to_list())
    ax.set_xlabel(value_name)


def _column(frame: pl.DataFrame, name: str) -> np.ndarray:
    return frame[name].fill_null(np.nan).to_numpy()


def _range(axes: Axes, people: ArrayLike, models: ArrayLike) -> None:
    person = np.asarray(people, dtype=np.float64)
    person = np.sort(person[np.isfinite(person)])
    value = np.asarray(models, dtype=np.float64)
    if person.size:
        axes.axvspan(person[0], person[-1], color=colour("people"), alpha=0.13, linewidth=0)
        axes.axvline(np.median(person), color=colour("people"), linewidth=1.2)
        spread = (np.arange(person.size) * 0.618034) % 1 - 0.5
        axes.scatter(person, 0.5 * spread, s=16, color=colour("people"), alpha=0.75, linewidths=0)
    rows = np.arange(1, value.size + 1)
    axes.scatter(value, rows, marker="D", s=26, color=colour("model"), linewidths=0, zorder=3)
    for row in rows[np.isnan(value)]:
        axes.annotate(
            "not defined",
            (0.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            color=colour("soft"),
            fontsize=8,
            style="italic",
        )
    grid_along(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.08)


def _range_names(axes: Axes, model_names: Sequence[str]) -> None:
    axes.set_yticks(
        range(len(model_names) + 1), ["people", *(shown(name, 26) for name in model_names)]
    )
    axes.set_ylim(len(model_names) + 0.5, -0.5)
    key_below(
        figure_with(axes),
        [
            ("a person against the other people", swatch(colour("people"), "o", size=4)),
            ("a model against people", swatch(colour("model"), "D", size=5)),
        ],
    )


# By how much people rate higher than models, label by label.


_SEPARATE = 3
"""Models up to which discrepancies are drawn as dots."""


@themed
def fig_discrepancy(
    labels: Sequence[str],
    models: Sequence[str],
    value: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    value_name: str = "people less model",
    ax: Axes | None = None,
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
    ax
        Axes to draw on; those of a new figure where not given.

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
        return _heatmap([labels[k] for k in order], models, table[:, order], value_name, ax)
    axes = ax or canvas(1.0 + (0.16 + 0.07 * len(models)) * len(labels)).add_subplot()
    figure = figure_with(axes)
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
        say(axes, int(row), "not defined")
    axes.set_xlabel(value_name)
    key_below(figure, entries)
    return figure


_MOST_LABELS = 60
"""Labels that are drawn below each other."""


def draw_discrepancies(ax: Axes, table: Table, *, value_name: str = "people less model") -> None:
    """Draw by how much people rate each label higher than each model.

    Of more than 60 labels those with the largest differences are drawn, and the axis says so.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``rater``, ``label``, ``value``, ``low`` and ``high``, a row per model and label.
    value_name
        What the axis shows.
    """
    models = table.frame["rater"].unique(maintain_order=True).to_list()
    labels = table.frame["label"].unique(maintain_order=True).to_list()
    value, low, high = (
        _column(table.frame, name).reshape(len(models), len(labels))[:_MOST]
        for name in ("value", "low", "high")
    )
    size = np.abs(np.nan_to_num(value)).max(axis=0)
    rows = np.sort(np.argsort(-size, kind="stable")[:_MOST_LABELS])
    if rows.size < len(labels):
        value_name += f" ({rows.size} of {len(labels)} labels, with the largest differences)"
    chosen = [labels[row] for row in rows]
    value, low, high = value[:, rows], low[:, rows], high[:, rows]
    fig_discrepancy(chosen, models[:_MOST], value, low, high, value_name=value_name, ax=ax)


def _heatmap(
    labels: Sequence[str],
    models: Sequence[str],
    table: np.ndarray,
    value_name: str,
    ax: Axes | None,
) -> Figure:
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex

    known = np.abs(table[np.isfinite(table)])
    most = float(known.max(initial=0.0)) or 1.0
    colours = LinearSegmentedColormap.from_list(
        "discrepancy", ["#7f2f04", "#d98747", "#eef1f4", "#2b6f9e", "#0b2f4f"]
    )
    norm = Normalize(-most, most)
    axes = ax or canvas(1.9 + 0.2 * len(labels)).add_subplot()
    figure = figure_with(axes)
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


_VERDICTS = {
    "inside": ("positive", "inside"),
    "above": ("people", "above"),
    "below": ("negative", "below"),
    "not shown": ("neutral", "not shown"),
    "undefined": ("neutral", "not shown"),
}
_ROLES = ("model", "mixed", "positive", "negative", "ambiguous", "neutral")
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")


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
    inner_low: ArrayLike | None = None,
    inner_high: ArrayLike | None = None,
    inner_name: str = "the interval that decides",
    ax: Axes | None = None,
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
    inner_low, inner_high
        The narrower interval that decides, shape (n,): drawn thick on the other.
    inner_name
        What it is called in the key.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_equivalence(["m"], [0.01], [-0.02], [0.04], ["inside"], margin=0.05,
    ...                          value_name="difference of kappa")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['m']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    order = np.argsort(np.where(np.isnan(point), np.inf, -point), kind="stable")
    axes = ax or canvas(1.05 + 0.27 * len(names)).add_subplot()
    figure = figure_with(axes)
    axes.axvspan(-margin, margin, color=colour("people"), alpha=0.13, linewidth=0)
    axes.axvline(0, color=colour("people"), linewidth=1.2)
    tints = [colour(_VERDICTS[verdicts[k]][0]) for k in order]
    rows = np.arange(len(names))
    decides = inner_low is not None and inner_high is not None
    axes.hlines(rows, lower[order], upper[order], colors=tints, linewidth=1.2 if decides else 1.8)
    if inner_low is not None and inner_high is not None:
        left, right = (np.asarray(end, dtype=np.float64)[order] for end in (inner_low, inner_high))
        axes.hlines(rows, left, right, colors=tints, linewidth=3.6)
    axes.scatter(point[order], rows, c=tints, s=30, zorder=3, marker="D", linewidths=0)
    names_on_y(axes, [names[k] for k in order])
    grid_along(axes, "x")
    known = np.concatenate([point, lower, upper, [-1.3 * margin, 1.3 * margin]])
    known = known[np.isfinite(known)]
    room = 0.04 * float(known.max() - known.min())
    axes.set_xlim(float(known.min()) - room, float(known.max()) + room)
    for row in rows[np.isnan(point[order])]:
        say(axes, row, "not defined")
    axes.set_xlabel(value_name)
    said = dict.fromkeys(_VERDICTS[verdicts[k]] for k in order)
    entries = [(words, swatch(colour(role), "D", size=5)) for role, words in said]
    entries.append((f"margin of ±{margin:g}", _band("people")))
    if decides:
        entries.append((inner_name, swatch(colour("soft"), "_", size=11)))
        entries[-1][1].set_markeredgewidth(3.6)
    key_below(figure, entries)
    return figure


def draw_equivalence(
    ax: Axes, table: Table, *, margin: float, value_name: str, inner_name: str
) -> None:
    """Draw the difference of each model from people, on the margin that does not matter.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``rater``, ``verdict``, ``difference``, ``low``, ``high``, ``test_low`` and
        ``test_high``.
    margin, value_name, inner_name
        As for :func:`fig_equivalence`.
    """
    frame = table.frame.head(_MOST)
    fig_equivalence(
        frame["rater"].to_list(),
        _column(frame, "difference"),
        _column(frame, "low"),
        _column(frame, "high"),
        frame["verdict"].to_list(),
        margin=margin,
        value_name=value_name,
        inner_low=_column(frame, "test_low"),
        inner_high=_column(frame, "test_high"),
        inner_name=inner_name,
        ax=ax,
    )


def _band(role: str) -> Line2D:
    """Make a marker that looks as a band does, on light and on dark paper."""
    mark = swatch(colour(role))
    mark.set_alpha(0.13)
    mark.set_markeredgewidth(0)
    return mark


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
    ax: Axes | None = None,
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
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_agreement_bars(["a", "b"], [0.2, 0.5], [0.1, 0.4], [0.3, 0.6],
    ...                             value_name="Spearman")
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    order = np.argsort(np.where(np.isnan(point), np.inf, -point), kind="stable")
    room = 0.3 if families or people is not None else 0
    axes = ax or canvas(0.85 + 0.24 * len(names) + room).add_subplot()
    figure = figure_with(axes)
    entries: list[tuple[str, Any]] = []
    person = np.asarray([] if people is None else people, dtype=np.float64)
    person = person[np.isfinite(person)]
    if person.size:
        axes.axvspan(person.min(), person.max(), color=colour("people"), alpha=0.13, linewidth=0)
        axes.axvline(float(np.median(person)), color=colour("people"), linewidth=1.2)
        entries.append(("range and median of people", _band("people")))
    kinds = list(dict.fromkeys(families)) if families else []
    for row, k in enumerate(order):
        which = kinds.index(families[k]) if families else 0
        tint = colour(_ROLES[which % len(_ROLES)])
        if np.isnan(point[k]):
            say(axes, row, "not defined")
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


def draw_agreement_bars(
    ax: Axes, table: Table, *, value_name: str, families: Sequence[str] | None = None
) -> None:
    """Draw a bar with its interval per model.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``rater``, ``value``, ``low`` and ``high``, a row per model.
    value_name, families
        As for :func:`fig_agreement_bars`.
    """
    frame = table.frame.head(_MOST)
    ends = (_column(frame, name) for name in ("value", "low", "high"))
    given = None if families is None else families[:_MOST]
    names = frame["rater"].to_list()
    fig_agreement_bars(names, *ends, value_name=value_name, families=given, ax=ax)


def _ends(*values: np.ndarray) -> tuple[float, float]:
    known = np.concatenate([np.zeros(1), *values])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    room = 0.04 * ((high - low) or 1.0)
    return (low - room if low < 0 else 0.0), high + room


def _patch(which: int) -> Artist:
    from matplotlib.patches import Patch

    return Patch(
        facecolor=colour(_ROLES[which % len(_ROLES)]),
        hatch=_HATCHES[which % len(_HATCHES)],
        edgecolor=colour("paper"),
        linewidth=0,
    )
