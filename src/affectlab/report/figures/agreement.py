"""Agreement of raters: pairs, rounds of consensus, and how many raters are needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Axes, Colormap, Figure, Normalize
from affectlab.core.words import count, number, percent, shown
from affectlab.report.drawing import (
    MOST_DOTS,
    RAMP,
    WIDTH,
    canvas,
    colour,
    colour_of_kind,
    figure_with,
    grid_along,
    ink_on,
    key_below,
    names_on_y,
    swatch,
    themed,
)

__all__ = [
    "draw_by_kind",
    "draw_consensus_flow",
    "draw_pair_heatmap",
    "draw_plan",
    "fig_by_kind",
    "fig_pair_heatmap",
]

_ANNOTATED = 16
_KIND_ROLE = {"human-human": "people", "human-model": "mixed", "model-model": "model"}


@themed
def fig_pair_heatmap(
    matrix: ArrayLike,
    names: Sequence[str],
    rater_kinds: Sequence[str],
    *,
    value_name: str,
    ax: Axes | None = None,
) -> Figure:
    """Draw the agreement of every pair of raters, people first.

    Parameters
    ----------
    matrix
        Shape (raters, raters), symmetric; ``nan`` where there is no value.
    names, rater_kinds
        Names and kinds of the raters, people before models.
    value_name
        What the colours show.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_pair_heatmap([[float("nan"), 0.5], [0.5, float("nan")]], ["a", "b"],
    ...                           ["human", "model"], value_name="kappa")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.50', '0.50']
    """
    from matplotlib.colors import to_hex

    value = np.asarray(matrix, dtype=np.float64)
    n = len(names)
    side = min(WIDTH - 0.4, 1.9 + 0.3 * n)
    axes = ax or canvas(max(side * 0.93, 2.2), min(WIDTH, side + 1.3)).add_subplot()
    figure = figure_with(axes)
    colours, norm = _diverging(value)
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(value),
        cmap=colours,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8 if n <= 40 else 0.3,
    )
    if n <= _ANNOTATED:
        for row, column in np.argwhere(np.isfinite(value)):
            ground = to_hex(colours(norm(value[row, column])))
            axes.text(
                column + 0.5,
                row + 0.5,
                number(value[row, column]),
                ha="center",
                va="center",
                fontsize=8 if n <= 12 else 6.5,
                color=ink_on(ground),
            )
    _rater_ticks(axes, names, rater_kinds)
    n_people = sum(colour_of_kind(kind) == colour("people") for kind in rater_kinds)
    if 0 < n_people < n:
        axes.axhline(n_people, color=colour("ink"), linewidth=1)
        axes.axvline(n_people, color=colour("ink"), linewidth=1)
    bar = figure.colorbar(mesh, ax=axes, aspect=24, shrink=0.7, pad=0.02, anchor=(0.0, 1.0))
    bar.set_label(value_name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure


def draw_pair_heatmap(
    ax: Axes,
    table: Table,
    *,
    raters: Sequence[str],
    rater_kinds: Sequence[str],
    value_name: str,
) -> None:
    """Draw the agreement of every pair of raters, mean over labels, people first.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each label and pair, as :class:`affectlab.reliability.KappaResult` does.
    raters, rater_kinds
        All raters.
    value_name
        What the colours show.
    """
    from affectlab.reliability import KappaResult, kappa_matrix

    pairs = KappaResult((table,), raters=tuple(raters), rater_kinds=tuple(rater_kinds))
    matrix = kappa_matrix(pairs)
    fig_pair_heatmap(matrix.values, matrix.raters, matrix.rater_kinds, value_name=value_name, ax=ax)


def _diverging(value: np.ndarray) -> tuple[Colormap, Normalize]:
    """Colours from pale at 0 to deep blue upwards, and to rust downwards where that occurs."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    known = value[np.isfinite(value)]
    high = float(np.ceil(max(known.max(initial=0.0), 0.1) * 10 - 1e-9) / 10)
    low = float(np.floor(min(known.min(initial=0.0), 0.0) * 10 + 1e-9) / 10)
    rust, pale, blue = ("#7f2f04", "#d98747"), "#dde7ef", ("#7db0d3", "#2b6f9e", "#0b2f4f")
    zero = -low / (high - low)
    points: list[tuple[float, Any]] = [(zero, pale)]
    points += [
        (zero + (1 - zero) * at, tone) for at, tone in zip((1 / 3, 2 / 3, 1), blue, strict=True)
    ]
    if zero > 0:
        # Below 0 the colours deepen at the pace of those above, so equal distances look alike.
        depth = min(1.0, -low / high)
        scale = LinearSegmentedColormap.from_list("rust", [pale, rust[1], rust[0]])
        below = [(zero * k / 4, scale(depth * (1 - k / 4))) for k in range(4)]
        points = [*below, *points]
    return LinearSegmentedColormap.from_list("agreement", points), Normalize(low, high)


def _rater_ticks(axes: Axes, names: Sequence[str], rater_kinds: Sequence[str]) -> None:
    n = len(names)
    size = 8.5 if n <= 20 else 6.5
    short = [shown(name, 20) for name in names]
    at = np.arange(n) + 0.5
    axes.set_xticks(at, short, rotation=90 if max(map(len, short)) > 4 else 0, fontsize=size)
    axes.set_yticks(at, short, fontsize=size)
    axes.set_ylim(n, 0)
    axes.set_aspect("equal")
    axes.tick_params(length=0, pad=3)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        for text, kind in zip(labels, rater_kinds, strict=True):
            if colour_of_kind(kind) == colour("model"):
                text.set_color(colour("model"))


@themed
def fig_by_kind(
    values: Mapping[str, ArrayLike], *, value_name: str, shown_dots: int = MOST_DOTS
) -> Figure:
    """Draw the spread of agreement for each kind of pair: a box, the dots behind it, the median.

    Parameters
    ----------
    values
        Kind of pair (``human-human``, ``human-model``, ``model-model``) to its values.
    value_name
        What the axis shows.
    shown_dots
        Dots drawn per kind; of more, evenly spaced ones in rising order.

    Examples
    --------
    >>> figure = fig_by_kind({"human-human": [0.4, 0.5, 0.6]}, value_name="kappa")
    >>> figure.axes[0].get_xlabel()
    'kappa'
    """
    axes = canvas(0.75 + 0.62 * len(values)).add_subplot()
    _boxes(axes, values, value_name, shown_dots)
    return figure_with(axes)


def draw_by_kind(ax: Axes, table: Table, *, value_name: str) -> None:
    """Draw the spread of agreement for each kind of pair: a box, the dots behind it, the median.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each pair of raters, with its ``pair_kind`` and ``value``.
    value_name
        What the axis shows.
    """
    known = table.frame.drop_nulls("value")
    values = {
        kind: part["value"].to_numpy()
        for (kind,), part in known.group_by("pair_kind", maintain_order=True)
    }
    _boxes(ax, values, value_name, MOST_DOTS)


def _boxes(axes: Axes, values: Mapping[str, ArrayLike], value_name: str, shown_dots: int) -> None:
    for row, (kind, given) in enumerate(values.items()):
        known = np.sort(np.asarray(given, dtype=np.float64))
        tint = colour(_KIND_ROLE.get(kind, "neutral"))
        dots = known[np.unique(np.linspace(0, known.size - 1, shown_dots).astype(int))]
        # Fixed steps of the golden ratio spread the dots evenly without a random draw.
        spread = (np.arange(dots.size) * 0.618034) % 1 - 0.5
        axes.scatter(dots, row + 0.52 * spread, s=9, color=tint, alpha=0.35, linewidths=0)
        axes.boxplot(
            known,
            positions=[row],
            orientation="horizontal",
            widths=0.5,
            showfliers=False,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": "none", "edgecolor": tint, "linewidth": 1.2},
            medianprops={"color": colour("ink"), "linewidth": 1.8},
            whiskerprops={"color": tint, "linewidth": 1.2},
            capprops={"color": tint, "linewidth": 1.2},
        )
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    axes.set_xlabel(value_name)


# How many items are left, and confirmed, in each round of a sequential protocol.


@themed
def draw_consensus_flow(
    ax: Axes, table: Table, *, items_name: str = "items (a stimulus with a label)"
) -> None:
    r"""Draw a bar per round, with the part that was confirmed.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Batches, as :class:`affectlab.reliability.ConsensusFlow` has them.
    items_name
        What an item is, for the axis.

    Examples
    --------
    >>> from affectlab.reliability import consensus_flow
    >>> flow = consensus_flow([[1, 1, 1, 0], [1, 1, 0, float("nan")]])
    >>> flow.plot().texts[0].get_text()
    '75\xa0% of 4'
    """
    asked, least, most = (
        table.frame[name].to_numpy().astype(np.float64)
        for name in ("items", "agreement_low", "agreement_high")
    )
    rows = np.arange(table.frame.height)
    ax.barh(rows, asked, height=0.62, color=colour("line"))
    ax.barh(rows, asked * np.nan_to_num(least), height=0.62, color=colour("people"))
    ax.barh(
        rows,
        asked * np.nan_to_num(most - least),
        left=asked * np.nan_to_num(least),
        height=0.62,
        color=RAMP[2],
    )
    for row in rows:
        share = percent(least[row], 0 if least[row] * 100 % 1 == 0 else 1)
        if most[row] > least[row]:
            share = f"{100 * least[row]:.1f} to {percent(most[row], 1)}"
        ax.annotate(
            f"{share} of {count(asked[row])}",
            (asked[row], row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=colour("ink"),
        )
    names_on_y(ax, [_batch_name(row) for row in table.frame.iter_rows(named=True)])
    grid_along(ax, "x")
    ax.set_xlim(0, float(asked.max(initial=1)) * 1.3)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(items_name)
    entries = [("confirmed", swatch(colour("people"))), ("not confirmed", swatch(colour("line")))]
    if (most > least).any():
        entries.insert(1, ("the votes cannot tell", swatch(RAMP[2])))
    key_below(figure_with(ax), entries)


def _batch_name(row: Mapping[str, Any]) -> str:
    name = f"batch {row['batch']}" + (", contrastive" if row["kind"] == "contrastive" else "")
    return name if row.get("label") is None else f"{shown(row['label'], 18)}, {name}"


# How a quantity grows with the number of raters, and where it reaches the goal.


@themed
def draw_plan(
    ax: Axes, table: Table, *, goal: float, recommended: int | None, value_name: str
) -> None:
    """Draw a planned quantity over the number of raters per stimulus, up to three times the goal.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Numbers of raters with the quantity, as :class:`affectlab.reliability.Plan` has them.
    goal
        What is wanted, drawn as a dashed line.
    recommended
        Smallest number of raters that reaches it, or None.
    value_name
        What the quantity is, for the axis.

    Examples
    --------
    >>> from affectlab.reliability import PlanModel, plan
    >>> model = PlanModel(stimulus_sd=20, rater_bias_sd=6, inconsistency=12, scale="0-100 interval")
    >>> plan(model, goal=10, n_raters=[8, 16, 32], n_sim=10).plot().get_xlabel()
    'raters per stimulus'
    """
    n_raters, middle, least, most = (
        table.frame[name].to_numpy().astype(np.float64)
        for name in ("raters", "value", "low", "high")
    )
    ax.fill_between(n_raters, least, most, color=colour("people"), alpha=0.25, linewidth=0)
    ax.plot(n_raters, middle, color=colour("people"), linewidth=1.8)
    ax.axhline(goal, color=colour("ink"), linewidth=1, linestyle=(0, (4, 3)))
    if recommended is not None:
        at = int(np.flatnonzero(n_raters == recommended)[0])
        ax.plot(recommended, middle[at], "o", color=colour("model"), markersize=7)
        beside = -8 if 2 * recommended > n_raters[0] + n_raters[-1] else 8
        ax.annotate(
            f"{recommended} raters",
            (recommended, middle[at]),
            xytext=(beside, 8),
            textcoords="offset points",
            ha="right" if beside < 0 else "left",
            color=colour("ink"),
        )
    # Two raters leave intervals so wide that the part that matters would be a flat line.
    top = min(float(most.max()), 3 * max(goal, float(middle[-1])))
    ax.set_ylim(min(0.0, float(least.min())), 1.05 * top)
    grid_along(ax, "y")
    ax.set_xlabel("raters per stimulus")
    ax.set_ylabel(value_name)
