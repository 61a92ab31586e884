"""Agreement of raters: pairs, rounds of consensus, and how many raters are needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import RAMP, colour, colour_of_kind
from affectlab.core.tables import Table
from affectlab.core.types import Axes, pl
from affectlab.core.words import count, in_brackets, number, percent
from affectlab.reliability.agreement import KappaResult, kappa_matrix


def draw_pair_heatmap(
    ax: Axes,
    table: Table,
    *,
    raters: Sequence[str],
    rater_kinds: Sequence[str],
    value_name: str,
    chosen: Sequence[str] | None = None,
) -> None:
    """Draw the agreement of every pair of raters, mean over labels, people first.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        A row for each label and pair, as :func:`affectlab.reliability.pairwise_kappa` gives them.
    raters, rater_kinds
        All raters.
    value_name
        What the colours show.
    chosen
        Raters that are drawn; by default all.

    Examples
    --------
    >>> from affectlab.reliability import pairwise_kappa
    >>> from affectlab.report import draw_figure
    >>> pairs = pairwise_kappa([[0, 1, 1, 0], [0, 1, 0, 0]], scale="binary")
    >>> page = draw_figure("pair_heatmap", pairs.frame, keys=pairs.keys, raters=pairs.raters,
    ...                    rater_kinds=pairs.rater_kinds, value_name="kappa")
    >>> [text.get_text() for text in page.axes[0].texts]
    ['0.50', '0.50']
    """
    pairs = KappaResult((table,), raters=tuple(raters), rater_kinds=tuple(rater_kinds))
    matrix = kappa_matrix(pairs)
    drawn = [k for k, name in enumerate(matrix.raters) if chosen is None or name in set(chosen)]
    value = matrix.values[np.ix_(drawn, drawn)]
    names, kinds = ([part[k] for k in drawn] for part in (matrix.raters, matrix.rater_kinds))
    n = len(names)
    side = min(drawing.WIDTH - 0.4, 1.9 + 0.3 * n)
    drawing.fit(ax, max(side * 0.93, 2.2), min(drawing.WIDTH, side + 1.3))
    known = value[np.isfinite(value)]
    high = float(np.ceil(max(known.max(initial=0.0), 0.1) * 10 - 1e-9) / 10)
    low = float(np.floor(min(known.min(initial=0.0), 0.0) * 10 + 1e-9) / 10)
    mesh = drawing.cells(
        ax, value, *drawing.diverging(low, high), size=8 if n <= 12 else 7, most=16
    )
    room = side - 1.2, side - 1.2
    drawing.name_cells(ax, names, names, size=8.5 if n <= 20 else 7, limit=20, room=room)
    ax.set_aspect("equal")
    model = [colour_of_kind(kind) == colour("model") for kind in kinds]
    drawing.tint_names(ax, [colour("model" if own else "ink") for own in model])
    if 0 < sum(model) < n:
        for line in (ax.axhline, ax.axvline):
            line(n - sum(model), color=colour("ink"), linewidth=1)
    drawing.colour_bar(mesh, value_name, ax=ax)


def draw_consensus_flow(
    ax: Axes, table: Table, *, items_name: str = "items (a stimulus with a label)"
) -> None:
    r"""Draw a bar per round, with the part that was confirmed.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Batches, as :func:`affectlab.reliability.consensus_flow` gives them.
    items_name
        What an item is, for the axis.

    Examples
    --------
    >>> from affectlab.reliability import consensus_flow
    >>> flow = consensus_flow([[1, 1, 1, 0], [1, 1, 0, float("nan")]])
    >>> flow.plot().texts[0].get_text()
    '75\xa0% of 4'
    """
    n, items_name = drawing.first_of(table.frame.height, "batches", items_name)
    frame = table.frame.head(n)
    asked, least, most = drawing.columns_of(frame, "items", "agreement_low", "agreement_high")
    rows = np.arange(n)
    drawing.fit(ax, 1.2 + 0.24 * n)
    sure, unsure = asked * np.nan_to_num(least), asked * np.nan_to_num(most - least)
    ax.barh(rows, asked, height=0.62, color=colour("line"))
    ax.barh(rows, sure, height=0.62, color=colour("people"))
    ax.barh(rows, unsure, left=sure, height=0.62, color=RAMP[2])
    for row in rows:
        share = percent(least[row], 0 if least[row] * 100 % 1 == 0 else 1)
        if most[row] > least[row]:
            share = f"{100 * least[row]:.1f} to {percent(most[row], 1)}"
        drawing.write(
            ax,
            f"{share} of {count(asked[row])}",
            (asked[row], row),
            (5, 0),
            va="center",
            color=colour("ink"),
        )
    drawing.names_on_y(ax, _batch_names(frame), items_name, limit=40)
    ax.set_xlim(0, float(asked.max(initial=1)) * 1.3)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    entries = [
        ("confirmed", swatch("people")),
        ("not confirmed", swatch("line")),
    ]
    if (most > least).any():
        entries.insert(1, ("the votes cannot tell", swatch(RAMP[2])))
    drawing.key_below(ax, entries)


def _batch_names(frame: pl.DataFrame) -> list[str]:
    names = [
        f"batch {batch}" + (", contrastive" if kind == "contrastive" else "")
        for batch, kind in frame.select("batch", "kind").iter_rows()
    ]
    if "label" not in frame.columns or not frame["label"].count():
        return names
    labels = drawing.short_names(frame["label"].fill_null("").to_list(), 18)
    return [
        f"{label}, {name}" if label else name for label, name in zip(labels, names, strict=True)
    ]


def draw_plan(
    ax: Axes, table: Table, *, goal: float, recommended: int | None, value_name: str
) -> None:
    """Draw a planned quantity over the number of raters per stimulus, up to three times the goal.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Numbers of raters with the quantity, as :func:`affectlab.reliability.plan` gives them.
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
    from matplotlib.ticker import MaxNLocator

    n_raters, middle, least, most = drawing.columns_of(
        table.frame, "raters", "value", "low", "high"
    )
    drawing.fit(ax, 3.6)
    ax.fill_between(n_raters, least, most, color=colour("people"), alpha=0.25, linewidth=0)
    ax.plot(n_raters, middle, color=colour("people"), linewidth=1.8)
    ax.axhline(goal, color=colour("ink"), linewidth=1, linestyle=(0, (4, 3)))
    if recommended is not None:
        at = int(np.flatnonzero(n_raters == recommended)[0])
        ax.plot(recommended, middle[at], "o", color=colour("model"), markersize=7)
        left = 2 * recommended > n_raters[0] + n_raters[-1]
        drawing.write(
            ax,
            f"{recommended} raters",
            (recommended, middle[at]),
            (-8 if left else 8, 8),
            ha="right" if left else "left",
            color=colour("ink"),
        )
    # Two raters leave intervals so wide that the part that matters would be a flat line.
    top = min(float(most.max()), 3 * max(goal, float(middle[-1])))
    ax.set_ylim(min(0.0, float(least.min())), 1.05 * top)
    drawing.grid_along(ax, "y")
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.set_xlabel("raters per stimulus")
    ax.set_ylabel(value_name)


_AT_LEAST = 20
"""Raters to which the axis goes at least."""
_NUMBERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw_raters_needed(
    ax: Axes,
    table: Table,
    *,
    steps: Sequence[float] = (0.7, 0.8, 0.9),
    names: str = "label",
    alone: str = "",
    most: int = drawing.MOST_ROWS,
) -> None:
    """Draw on a line for each label how reliable the mean of how many raters is.

    Colours give the steps that the mean of so many raters reaches; a dot says how many there are,
    and numbers beside the line what their mean reaches.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``single`` (the reliability of one rater), ``k`` (raters there are), ``value``,
        ``low`` and ``high`` (of their mean), a row per label.
    steps
        Reliabilities at which colours change, in rising order.
    names
        Column that names the lines, the most reliable first.
    alone
        What the only line is called, where answers have no labels.
    most
        Lines that are drawn; of more, half of them from either end.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["awe"], "single": [0.5], "k": [4], "value": [0.8], "low": [0.7],
    ...         "high": [0.9]}
    >>> page = draw_figure("raters_needed", data)
    >>> [text.get_text() for text in page.axes[0].texts]
    ['0.80 (0.70 to 0.90)']
    """
    frame = table.frame.drop_nans("value")
    places, said = drawing.ends_of(frame["value"].to_numpy(), "raters per stimulus", most=most)
    frame, n = frame[places], len(places)
    single, k, value, low, high = drawing.columns_of(frame, "single", "k", "value", "low", "high")
    one = np.clip(np.nan_to_num(single), 1e-9, 1 - 1e-9)
    end = max(_AT_LEAST, 2.5 * float(np.nanmax(k, initial=1.0)))
    tints = (RAMP[0], *(RAMP[2 + 2 * step] for step in range(len(steps))))
    rows = np.arange(n)
    drawing.fit(ax, 0.8 + 0.27 * n, drawing.NARROW)
    # Raters from which on each step is reached: the odds of a mean are k times those of one.
    bounds = [np.ones_like(one)]
    bounds += [np.clip(at / (1 - at) * (1 - one) / one, 1, end) for at in steps]
    bounds.append(np.full_like(one, end))
    for (left, right), tint in zip(pairwise(bounds), tints, strict=True):
        ax.barh(rows, right - left, left=left, height=0.6, color=tint)
    ax.scatter(
        k, rows, s=44, color=colour("paper"), edgecolors=colour("ink"), linewidths=1.6, zorder=3
    )
    for row in rows.tolist():
        reached = number(value[row]) + in_brackets(low[row], high[row])
        drawing.beside(ax, row, reached)
    ax.set_xscale("log")
    ax.set_xlim(1, end)
    ticks = [tick for tick in _NUMBERS if tick <= end]
    ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
    ax.minorticks_off()
    drawing.names_on_y(ax, [alone] if alone else frame[names].to_list(), said, limit=18)
    ax.grid(visible=False)
    ends_of = [f"{number(a)} to {number(b)}" for a, b in pairwise(steps)]
    said_of = (f"below {number(steps[0])}", *ends_of, f"{number(steps[-1])} or more")
    key = [(name, swatch(tint)) for name, tint in zip(said_of, tints, strict=True)]
    there = ("raters there are", swatch("paper", "o", edge="ink"))
    drawing.key_below(ax, [*key, there], columns=3)
