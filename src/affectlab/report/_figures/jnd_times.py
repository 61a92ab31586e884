"""Times to 1 JND: boxes by actor with the chosen interval, and what a delay costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Figure, Floats
from affectlab._words import number, shown
from affectlab.errors import InputError
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, say, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_jnd_times", "fig_latency"]

_LINE = (0, (4, 3))
_MARKS = ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))
_MOST_MARKS = 7


@themed
def fig_jnd_times(
    times: Mapping[str, ArrayLike],
    chosen: float,
    interval: tuple[float, float] = (math.nan, math.nan),
    *,
    own: Mapping[str, tuple[float, float, float]] | None = None,
    group_name: str = "actor",
) -> Figure:
    """Draw the times to 1 JND of each actor's expressions as a box, and the sampling interval.

    Parameters
    ----------
    times
        Actor to the times of the expressions in milliseconds; those that are ``nan`` or ``inf``,
        without change, are left out and counted beside the box.
    chosen
        The sampling interval, drawn as a line through all boxes.
    interval
        Its ends, drawn as a band.
    own
        Actor to the shortest time with its ends, where each is to have its own.
    group_name
        What the groups are, for the key.

    Raises
    ------
    InputError
        When there is no actor, or a time is not above 0.

    Examples
    --------
    >>> figure = fig_jnd_times({"Ada": [20, 40, 90], "Ben": [35, 60, 80]}, 20, (17, 24))
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['Ada', 'Ben']
    """
    known = {name: _finite(name, given) for name, given in times.items()}
    if not known:
        raise InputError("there is no actor; expected at least one with times")
    figure = canvas(1.35 + 0.42 * len(known))
    axes = figure.add_subplot()
    names_on_y(axes, list(known))
    axes.set_ylim(len(known) - 0.4, -0.9)
    axes.set_xscale("log")
    if not math.isnan(interval[0]) and math.isfinite(interval[1]):
        axes.axvspan(*interval, color=colour("model"), alpha=0.13, linewidth=0)
    if math.isfinite(chosen):
        axes.axvline(chosen, color=colour("model"), linewidth=1.4, linestyle=_LINE)
    for row, (name, found) in enumerate(known.items()):
        lacking = np.size(times[name]) - found.size
        if not found.size:
            say(axes, row, "no expression changes")
            continue
        _box(axes, row, found)
        if own is not None and name in own:
            _own(axes, row, own[name])
        if lacking:
            axes.annotate(
                f"+ {lacking} without change",
                (1.0, row),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="bottom",
                fontsize=7.5,
                color=colour("soft"),
                style="italic",
            )
    _time_marks(axes, [chosen, *interval, *(end for one in known.values() for end in one)])
    grid_along(axes, "x")
    axes.set_xlabel("time to 1 JND (ms, logarithmic)")
    if math.isfinite(chosen):
        axes.annotate(
            f" {number(chosen, 1)} ms, {number(1000 / chosen, 0)} Hz",
            (chosen, -0.62),
            va="center",
            color=colour("model"),
            fontsize=8.5,
            fontweight="bold",
        )
    entries = [("an expression", swatch(colour("people"), "o", size=4))]
    if own:
        entries.append((f"shortest of the {group_name}", swatch(colour("model"), "D", size=5)))
    entries.append(("sampling interval, with its interval", swatch(colour("model"), "|", size=9)))
    key_below(figure, entries)
    return figure


def _finite(name: str, given: ArrayLike) -> Floats:
    values = np.asarray(given, dtype=np.float64).ravel()
    found = np.sort(values[np.isfinite(values)])
    if (found <= 0).any():
        raise InputError(f"{name}: a time of {found[0]:g} ms; expected times above 0")
    return found


def _box(axes: Axes, row: int, found: Floats) -> None:
    tint = colour("people")
    spread = (np.arange(found.size) * 0.618034) % 1 - 0.5
    axes.scatter(found, row + 0.5 * spread, s=9, color=tint, alpha=0.4, linewidths=0, zorder=2)
    axes.boxplot(
        found,
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
        zorder=3,
    )


def _own(axes: Axes, row: int, one: tuple[float, float, float]) -> None:
    value, low, high = one
    if math.isfinite(low) and math.isfinite(high):
        axes.plot([low, high], [row, row], color=colour("model"), linewidth=1.6, zorder=4)
    if math.isfinite(value):
        axes.scatter(value, row, s=26, marker="D", color=colour("model"), linewidths=0, zorder=5)


def _time_marks(axes: Axes, values: Sequence[float]) -> None:
    """Put marks at 1, 2, 5, 10, … or closer where the axis is short."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    held = [value for value in values if math.isfinite(value) and value > 0]
    if not held:
        axes.set_xticks([])
        return
    low, high = 0.8 * min(held), 1.2 * max(held)
    axes.set_xlim(low, high)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _MARKS:
        marks = [step * 10.0**power for power in powers for step in steps]
        marks = [mark for mark in marks if low <= mark <= high]
        if len(marks) <= _MOST_MARKS:
            break
    axes.xaxis.set_major_locator(FixedLocator(marks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


@themed
def fig_latency(
    latency_ms: ArrayLike,
    below: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    groups: Mapping[str, ArrayLike] | None = None,
    marked: Sequence[float] = (),
    group_name: str = "actor",
) -> Figure:
    """Draw the share of expressions that change by less than 1 JND within a delay.

    Parameters
    ----------
    latency_ms
        Delays in rising order, shape (n,).
    below, low, high
        Share over all sequences and its interval, shape (n,), in [0, 1].
    groups
        Group to its shares, shape (n,), as thin lines.
    marked
        Delays to mark.
    group_name
        What the groups are, for the key.

    Examples
    --------
    >>> figure = fig_latency([0, 20, 40], [1, 0.9, 0.5], [1, 0.8, 0.4], [1, 0.95, 0.6], marked=[20])
    >>> figure.axes[0].get_xlabel()
    'delay (ms)'
    """
    x, share, least, most = (
        np.asarray(given, dtype=np.float64) for given in (latency_ms, below, low, high)
    )
    if x.ndim != 1 or not x.size or not x.shape == share.shape == least.shape == most.shape:
        raise InputError(
            f"delays of shape {x.shape} with shares of shape {share.shape}; expected as many"
        )
    figure = canvas(3.2)
    axes = figure.add_subplot()
    axes.fill_between(x, 100 * least, 100 * most, color=colour("people"), alpha=0.18, linewidth=0)
    for given in (groups or {}).values():
        own = 100 * np.asarray(given, dtype=np.float64)
        axes.plot(x, own, color=colour("neutral"), linewidth=0.8, alpha=0.6)
    axes.plot(x, 100 * share, color=colour("people"), linewidth=2.0)
    for delay in marked:
        at = float(np.interp(delay, x, 100 * share))
        axes.axvline(delay, color=colour("model"), linewidth=1.2, linestyle=_LINE)
        axes.scatter(delay, at, s=30, marker="D", color=colour("model"), linewidths=0, zorder=4)
        left = delay > (x[0] + x[-1]) / 2
        # The curve falls, so there is room below its start and above its end.
        axes.annotate(
            f"{number(delay, 0)} ms: {number(at, 0)} %",
            (delay, 5 if at > 50 else 92),
            xytext=(-6 if left else 6, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            color=colour("model"),
            fontweight="bold",
        )
    axes.set_xlim(x[0], max(x[-1], x[0] + 1e-9))
    axes.set_ylim(-2, 104)
    grid_along(axes, "y")
    axes.set_xlabel("delay (ms)")
    axes.set_ylabel("expressions below 1 JND (%)")
    entries = [("all, with interval", swatch(colour("people"), "s"))]
    if groups:
        entries.append((f"each {shown(group_name, 20)}", swatch(colour("neutral"), "_", size=9)))
    key_below(figure, entries)
    return figure
