"""Just noticeable differences: staircases, times and strips of frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab.analysis import FrameStaircase
from affectlab.core.errors import InputError
from affectlab.core.types import Axes, Bools, Figure, Floats, Image
from affectlab.core.words import number, shown
from affectlab.report.drawing import (
    WIDTH,
    canvas,
    colour,
    grid_along,
    key_below,
    names_on_y,
    say,
    swatch,
    themed,
)

__all__ = [
    "JndStrip",
    "StaircasePanel",
    "fig_jnd_strip",
    "fig_jnd_times",
    "fig_latency",
    "fig_staircase",
]

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


# A strip of frames at the rate of a display, with the first that is just noticeably different.


_MOST = 10
"""Frames of a strip."""
_FEWEST = 6
"""Columns that a strip has room for at least, so that few frames do not become large."""
_TITLE, _TEXT, _GAP = 0.3, 0.42, 0.06
"""Room above a strip, below it, and between frames, in inches."""


@dataclass(frozen=True)
class JndStrip:
    """Frames of one expression, n of them, from a first one on."""

    title: str
    images: Sequence[Image.Image]
    """All of one size."""
    times_ms: ArrayLike
    """Time of each after the first, shape (n,), rising from 0."""
    jnds: ArrayLike
    """Predicted change since the first in JNDs, shape (n,)."""
    note: str = ""
    """A few words beside the title."""


@themed
def fig_jnd_strip(strips: Sequence[JndStrip]) -> Figure:
    """Draw strips of frames; the first at or after 1 JND has a frame around it.

    Look at the first picture and at the marked one side by side: a change should be seen there,
    and none before.

    Parameters
    ----------
    strips
        One row each.

    Raises
    ------
    InputError
        When there is none, or one has no frames or as many times as frames.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> faces = [draw_face("joy", 1 - k / 10, size=48) for k in range(4)]
    >>> strip = JndStrip("ann, joy", faces, [0, 33, 67, 100], [0, 0.6, 1.2, 1.8])
    >>> figure = fig_jnd_strip([strip])
    >>> [text.get_text() for axes in figure.axes for text in axes.texts][:3]
    ['0 ms', '', '33 ms']
    """
    if not strips:
        raise InputError("there is no strip; expected at least one")
    for strip in strips:
        shape = np.shape(strip.times_ms)
        if not strip.images or shape != (len(strip.images),) or np.shape(strip.jnds) != shape:
            raise InputError(
                f"{strip.title}: {len(strip.images)} frames with {np.size(strip.times_ms)} times "
                f"and {np.size(strip.jnds)} changes; expected as many of each"
            )
    columns = min(_MOST, max(len(strip.images) for strip in strips))
    side = (WIDTH - _GAP) / max(columns, _FEWEST) - _GAP
    heights = [side * max(image.height / image.width for image in strip.images) for strip in strips]
    tall = sum(heights) + len(strips) * (_TITLE + _TEXT)
    figure = canvas(tall)
    figure.set_layout_engine("none")
    top = tall
    for strip, height in zip(strips, heights, strict=True):
        top -= _TITLE
        _draw(figure, strip, columns, (side / WIDTH, height / tall), top / tall)
        top -= height + _TEXT
    return figure


def _draw(
    figure: Figure, strip: JndStrip, columns: int, size: tuple[float, float], top: float
) -> None:
    """Draw the frames of a strip side by side; size and top are shares of the figure."""
    times = np.asarray(strip.times_ms, dtype=np.float64)
    jnds = np.asarray(strip.jnds, dtype=np.float64)
    reached = np.flatnonzero(jnds >= 1)
    marked = int(reached[0]) if reached.size else -1
    step = size[0] + _GAP / WIDTH
    for column, place in enumerate(_kept(len(strip.images), marked, columns)):
        # Axes of a given place stay there, whatever is written beside them.
        axes = figure.add_axes((_GAP / WIDTH + column * step, top - size[1], *size))
        axes.imshow(np.asarray(strip.images[place].convert("RGB")))
        axes.set_xticks([])
        axes.set_yticks([])
        tint = colour("model") if place == marked else colour("ink")
        for spine in axes.spines.values():
            spine.set(visible=place == marked, color=tint, linewidth=2.6)
        said = "" if place == 0 else f"{number(jnds[place], 2)} JND"
        for line, text in enumerate((f"{number(times[place], 0)} ms", said)):
            axes.annotate(
                text,
                (0.5, 0),
                xytext=(0, -4 - 10 * line),
                xycoords="axes fraction",
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=7.5,
                fontweight="bold" if place == marked else "normal",
                color=tint,
            )
        if not column:
            title = shown(strip.title, 40) + (f": {shown(strip.note, 60)}" if strip.note else "")
            axes.set_title(title, color=colour("ink"), fontweight="bold")


def _kept(n: int, marked: int, columns: int) -> list[int]:
    """Choose which frames are shown: the first, and those around the marked one."""
    if n <= columns:
        return list(range(n))
    last = min(n - 1, marked + 1 if marked >= 0 else n - 1)
    first = max(1, last - columns + 2)
    return [0, *range(first, first + columns - 1)]


# Runs of a staircase: what was shown, what was answered, and where the threshold is.


_DISTANCE_LINE = (0, (4, 3))
_MOST_LABELS = 7


@dataclass(frozen=True)
class StaircasePanel:
    """One run: n trials, and a posterior on m thresholds."""

    title: str
    distances: ArrayLike
    """What was shown in each trial, such as frames from the anchor, shape (n,); 0 in catch trials,
    which show the anchor beside itself."""
    different: ArrayLike
    """Whether each was answered with "different" (or correctly)."""
    thresholds: ArrayLike
    """Thresholds that were told apart, ascending, shape (m,), in the unit of `distances`."""
    posterior: ArrayLike
    """Probability of each."""
    distance: float = math.nan
    """The threshold that was found; ``nan`` for none."""
    low: float = math.nan
    """Lower end of its interval."""
    high: float = math.nan
    """Upper end of its interval."""
    note: str = ""
    """A few words beside the title."""

    @classmethod
    def of(cls, run: FrameStaircase, confidence: float = 0.95) -> StaircasePanel:
        """Take what is drawn from a run over the frames of a transition."""
        found = run.result(confidence)
        reach = f"1 JND = {number(found.distance, 1)} frames"
        if not math.isnan(found.low):
            reach += f" [{number(found.low, 1)}, {number(found.high, 1)}]"
        return cls(
            f"anchor: {run.anchor}",
            run.distances,
            run.different,
            10**run.quest.grid,
            run.quest.posterior,
            found.distance,
            found.low,
            found.high,
            reach if not math.isnan(found.distance) else found.status,
        )


@themed
def fig_staircase(
    panels: Sequence[StaircasePanel],
    *,
    unit: str = "frames from the anchor",
    answers: tuple[str, str] = ("different", "same"),
) -> Figure:
    """Draw what was shown and answered in each trial, and the posterior of the threshold.

    Parameters
    ----------
    panels
        One row for each run; see :meth:`StaircasePanel.of`.
    unit
        What the vertical axis shows; it is logarithmic, and the same in all rows.
    answers
        Names of the two answers.

    Raises
    ------
    InputError
        When there are no panels, or the arrays of one do not fit together.

    Examples
    --------
    >>> panel = StaircasePanel("anchor: peak", [16, 8, 4, 6], [True, True, False, True],
    ...                        [2, 4, 8, 16], [0.1, 0.4, 0.4, 0.1], 5.7, 2.5, 12)
    >>> figure = fig_staircase([panel])
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['trial', 'posterior']
    """
    if not panels:
        raise InputError("there are no panels; expected at least one run")
    rows = [_arrays(panel) for panel in panels]
    caught = any((distances == 0).any() for distances, *_ in rows)
    figure = canvas(0.5 + 2.5 * len(panels), WIDTH)
    grid = figure.subplots(
        len(panels), 2, sharey=True, sharex="col", width_ratios=(4, 1), squeeze=False
    )
    bottom, top = _limits(panels, rows)
    for (trials, beside), panel, row in zip(grid, panels, rows, strict=True):
        _draw_trials(trials, panel, row[0], row[1], bottom)
        _draw_posterior(beside, panel, row[2], row[3])
    first = grid[0, 0]
    first.set_yscale("log")
    first.set_ylim(bottom, top)
    _whole_numbers(first, bottom, top)
    for trials in grid[:, 0]:
        trials.set_ylabel(shown(unit, 40))
    most = max(distances.size for distances, *_ in rows)
    grid[-1, 0].set_xlim(0, most + 1)
    grid[-1, 0].xaxis.get_major_locator().set_params(integer=True)
    grid[-1, 0].set_xlabel("trial")
    grid[-1, 1].set_xlabel("posterior")
    entries = [
        (answers[0], swatch(colour("people"), "o")),
        (answers[1], swatch(colour("paper"), "o", edge=colour("people"))),
    ]
    if caught:
        entries.append(("catch trial (two equal pictures)", swatch(colour("soft"), "D", size=5)))
    key_below(figure, entries)
    return figure


def _arrays(panel: StaircasePanel) -> tuple[Floats, Bools, Floats, Floats]:
    """Read the arrays of a panel."""
    distances = np.asarray(panel.distances, dtype=np.float64)
    different = np.asarray(panel.different, dtype=np.bool_)
    thresholds = np.asarray(panel.thresholds, dtype=np.float64)
    posterior = np.asarray(panel.posterior, dtype=np.float64)
    for what, a, b in (
        ("distances and answers", distances, different),
        ("thresholds and posterior", thresholds, posterior),
    ):
        if a.ndim != 1 or a.shape != b.shape:
            raise InputError(
                f"{panel.title}: {what} have shapes {a.shape} and {b.shape}; expected one each"
            )
    if (distances < 0).any() or not thresholds.size or (thresholds <= 0).any():
        raise InputError(
            f"{panel.title}: a distance or threshold is out of range; expected distances from 0 "
            "on, and thresholds above 0"
        )
    return distances, different, thresholds, posterior


def _limits(
    panels: Sequence[StaircasePanel], rows: Sequence[tuple[Floats, Bools, Floats, Floats]]
) -> tuple[float, float]:
    """Choose ends of the axis that hold all trials and nearly all of each posterior."""
    ends: list[float] = []
    for panel, (distances, _, thresholds, posterior) in zip(panels, rows, strict=True):
        likely = thresholds[posterior > 0.02 * posterior.max(initial=0.0)]
        held = (*distances[distances > 0], *likely, panel.low, panel.high)
        ends += [float(end) for end in held if not math.isnan(end)]
    return 0.75 * min(ends), 1.25 * max(ends)


def _draw_trials(
    axes: Axes, panel: StaircasePanel, distances: Floats, different: Bools, bottom: float
) -> None:
    """Draw one mark a trial, filled for the first answer, along a line."""
    trial = 1 + np.arange(distances.size)
    real = distances > 0
    _draw_found(axes, panel)
    axes.plot(trial[real], distances[real], color=colour("people"), linewidth=0.8, alpha=0.45)
    for answer in (True, False):
        at = real & (different == answer)
        axes.scatter(
            trial[at],
            distances[at],
            s=22,
            color=colour("people") if answer else colour("paper"),
            edgecolors=colour("people"),
            linewidths=1.1,
            zorder=3,
        )
    for answer in (True, False):
        at = ~real & (different == answer)
        axes.scatter(
            trial[at],
            np.full(at.sum(), 1.08 * bottom),
            s=18,
            marker="D",
            color=colour("soft") if answer else colour("paper"),
            edgecolors=colour("soft"),
            linewidths=1.0,
            zorder=3,
        )
    axes.grid(visible=True, axis="y")
    axes.tick_params(axis="y", which="both", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_title(shown(panel.title, 24), fontweight="bold", color=colour("ink"))
    axes.set_title(shown(panel.note, 64), loc="right", color=colour("ink"))


def _draw_posterior(axes: Axes, panel: StaircasePanel, thresholds: Floats, share: Floats) -> None:
    """Draw the posterior on its side, beside the trials."""
    height = share / share.max(initial=1e-300)
    axes.fill_betweenx(thresholds, 0, height, color=colour("people"), alpha=0.25, linewidth=0)
    drawn = np.where(height > 0.003, height, np.nan)
    axes.plot(drawn, thresholds, color=colour("people"), linewidth=1.2)
    _draw_found(axes, panel)
    axes.set_xlim(0, 1.08)
    axes.set_xticks([])
    axes.tick_params(axis="y", which="both", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="y")


def _draw_found(axes: Axes, panel: StaircasePanel) -> None:
    """Draw the threshold that was found as a line, and its interval as a band."""
    if not math.isnan(panel.low) and not math.isnan(panel.high):
        axes.axhspan(panel.low, panel.high, color=colour("model"), alpha=0.13, linewidth=0)
    if not math.isnan(panel.distance):
        axes.axhline(panel.distance, color=colour("model"), linewidth=1.2, linestyle=_DISTANCE_LINE)


def _whole_numbers(axes: Axes, bottom: float, top: float) -> None:
    """Put marks at 1, 2, 5, 10, … or closer where the axis is short."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    for steps in ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(math.log10(bottom)), math.ceil(math.log10(top)) + 1)
        marks = [s * 10.0**p for p in powers for s in steps if bottom <= s * 10.0**p <= top]
        if len(marks) <= _MOST_LABELS:
            break
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
