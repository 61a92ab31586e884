"""Just noticeable differences: staircases, times and strips of frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Bools, Floats, Image, pl
from affectlab.core.words import number, shown
from affectlab.stimuli.frames import View, find_transitions

_LINE = (0, (4, 3))
_MARKS = ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))
_MOST_MARKS = 7
_MOST_BOXES = 24
"""Boxes that fit below each other."""


def draw_jnd_times(
    ax: Axes,
    table: Table,
    *,
    chosen: float = math.nan,
    interval: tuple[float, float] = (math.nan, math.nan),
    own: Mapping[str, tuple[float, float, float]] | None = None,
    group_name: str = "actor",
) -> None:
    """Draw the times to 1 JND of each actor's expressions as a box, and the sampling interval.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``actor`` and ``time_ms``, a row for each expression; those that are ``nan`` or
        ``inf``, without change, are left out and counted beside the box.
    chosen
        The sampling interval in milliseconds, drawn as a line through all boxes.
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
    >>> from affectlab.report import draw_figure
    >>> data = {"actor": ["Ada"] * 2 + ["Ben"] * 2, "time_ms": [20, 40, 35, 60]}
    >>> page = draw_figure("jnd_times", data, chosen=20, interval=(17, 24))
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['Ada', 'Ben']
    """
    times = {
        str(name): drawing.columns_of(part, "time_ms")[0]
        for (name,), part in table.frame.group_by("actor", maintain_order=True)
    }
    if not times:
        raise InputError("there is no actor; expected at least one with times")
    known = {name: given[np.isfinite(given)] for name, given in times.items()}
    for name, given in known.items():
        if (given <= 0).any():
            raise InputError(f"{name}: a time of {given.min():g} ms; expected times above 0")
    n, said = drawing.first_of(
        len(known), f"{group_name}s", "time to 1 JND (ms, logarithmic)", _MOST_BOXES
    )
    known = dict([*known.items()][:n])
    drawing.fit(ax, 1.35 + 0.42 * len(known))
    drawing.names_on_y(ax, list(known))
    ax.set_ylim(len(known) - 0.4, -0.9)
    ax.set_xscale("log")
    model = colour("model")
    if not math.isnan(interval[0]) and math.isfinite(interval[1]):
        ax.axvspan(*interval, color=model, alpha=0.13, linewidth=0)
    for row, (name, given) in enumerate(known.items()):
        lacking = times[name].size - given.size
        if not given.size:
            drawing.say(ax, row, "no expression changes")
            continue
        drawing.box(ax, row, given, colour("people"))
        if own is not None and name in own:
            value, low, high = own[name]
            if math.isfinite(low) and math.isfinite(high):
                ax.plot([low, high], [row, row], color=model, linewidth=1.6, zorder=4)
            if math.isfinite(value):
                ax.scatter(value, row, s=26, marker="D", color=model, linewidths=0, zorder=5)
        if lacking:
            drawing.beside(ax, row, f"+ {lacking} without change")
    held = [chosen, *interval, *(end for one in known.values() for end in one.tolist())]
    held = [value for value in held if math.isfinite(value) and value > 0]
    if held:
        low, high = 0.8 * min(held), 1.2 * max(held)
        ax.set_xlim(low, high)
        _log_marks(ax.xaxis, low, high)
    else:
        ax.set_xticks([])
    drawing.grid_along(ax, "x")
    ax.set_xlabel(said)
    key = [("an expression", swatch("people", "o", size=4))]
    if own:
        key.append((f"shortest of the {group_name}", swatch(model, "D", size=5)))
    if math.isfinite(chosen):
        ax.axvline(chosen, color=model, linewidth=1.4, linestyle=_LINE)
        drawing.write(
            ax,
            f" {number(chosen, 1)} ms, {number(1000 / chosen, 0)} Hz",
            (chosen, -0.62),
            va="center",
            color=model,
            fontsize=8.5,
            fontweight="bold",
        )
        key.append(("sampling interval, with its interval", swatch(model, "|", size=9)))
    drawing.key_below(ax, key)


def _log_marks(axis: Any, low: float, high: float) -> None:
    """Put marks at 1, 2, 5, 10, … on a logarithmic axis, or closer where it is short."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _MARKS:
        marks = [step * 10.0**power for power in powers for step in steps]
        marks = [mark for mark in marks if low <= mark <= high]
        if len(marks) <= _MOST_MARKS:
            break
    axis.set_major_locator(FixedLocator(marks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def draw_latency(
    ax: Axes, table: Table, *, marked: Sequence[float] = (), group_name: str = "actor"
) -> None:
    """Draw the share of expressions that change by less than 1 JND within a delay.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``group``, ``latency_ms``, and ``below`` with ``low`` and ``high``: shares over all
        sequences (the group ``all``) with their interval, and of other groups, as thin lines.
    marked
        Delays to mark.
    group_name
        What the groups are, for the key.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"group": ["all"] * 3, "latency_ms": [0, 20, 40], "below": [1, 0.9, 0.5],
    ...         "low": [1, 0.8, 0.4], "high": [1, 0.95, 0.6]}
    >>> draw_figure("latency", data, marked=[20]).axes[0].get_xlabel()
    'delay (ms)'
    """
    frame = table.frame.sort("latency_ms", maintain_order=True)
    x, share, least, most = drawing.columns_of(
        frame.filter(group="all"), "latency_ms", "below", "low", "high"
    )
    if not x.size:
        raise InputError("there are no delays over all sequences; expected the group 'all'")
    groups = frame.filter(frame["group"] != "all")
    people, model = colour("people"), colour("model")
    drawing.fit(ax, 3.2)
    ax.fill_between(x, 100 * least, 100 * most, color=people, alpha=0.18, linewidth=0)
    for _, part in groups.group_by("group", maintain_order=True):
        at, below = drawing.columns_of(part, "latency_ms", "below")
        ax.plot(at, 100 * below, color=colour("neutral"), linewidth=0.8, alpha=0.6)
    ax.plot(x, 100 * share, color=people, linewidth=2.0)
    for delay in marked:
        height = float(np.interp(delay, x, 100 * share))
        ax.axvline(delay, color=model, linewidth=1.2, linestyle=_LINE)
        ax.scatter(delay, height, s=30, marker="D", color=model, linewidths=0, zorder=4)
        left = delay > (x[0] + x[-1]) / 2
        # The curve falls, so there is room below its start and above its end.
        drawing.write(
            ax,
            f"{number(delay, 0)} ms: {number(height, 0)} %",
            (delay, 5 if height > 50 else 92),
            (-6 if left else 6, 0),
            ha="right" if left else "left",
            color=model,
            fontweight="bold",
        )
    ax.set_xlim(x[0], max(x[-1], x[0] + 1e-9))
    ax.set_ylim(-2, 104)
    drawing.grid_along(ax, "y")
    ax.set_xlabel("delay (ms)")
    ax.set_ylabel("expressions below 1 JND (%)")
    key = [("all, with interval", swatch(people, "s"))]
    if groups.height:
        key.append(
            (
                f"each {shown(group_name, 20)}",
                swatch("neutral", "_", size=9),
            )
        )
    drawing.key_below(ax, key)


_MOST = 10
"""Frames of a strip."""
_MOST_STRIPS = 12
"""Strips that are drawn."""
_FEWEST = 6
"""Columns that a strip has room for at least, so that few frames do not become large."""
_ABOVE_AND_BELOW = 0.72
"""Room above and below a strip, in inches."""
_SIZE = 320
"""Longer side of a picture of a strip, in pixels."""


def draw_jnd_strips(
    ax: Axes,
    table: Table,
    *,
    images: Sequence[Image.Image] | None = None,
    films: str = "",
    fps: float | None = None,
) -> None:
    """Draw strips of frames; the first at or after 1 JND has a frame around it.

    Look at the first picture and at the marked one side by side: a change should be seen there,
    and none before.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the strips stand, a row for each actor and expression.
    table
        Holds ``actor``, ``expression``, ``time_ms`` (to 1 JND), ``frame``, ``since_ms`` (time after
        the first frame, rising from 0) and ``jnds`` (predicted change since it), a row for each
        frame.
    images
        Picture of each row, those of a strip of one size; by default they are taken from `films`.
    films, fps
        Folder of films, and their frames per second, see
        :func:`affectlab.stimuli.frames.find_transitions`.

    Raises
    ------
    InputError
        When there is no frame, or there are not as many pictures.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> from affectlab.simulate import draw_face
    >>> data = {"actor": ["ann"] * 3, "expression": ["joy"] * 3, "time_ms": [67.0] * 3,
    ...         "frame": [1, 2, 3], "since_ms": [0, 33, 67], "jnds": [0, 0.6, 1.2]}
    >>> faces = [draw_face("joy", 1 - k / 10, size=48) for k in range(3)]
    >>> page = draw_figure("jnd_strips", data, images=faces)
    >>> [text.get_text() for panel in page.axes for text in panel.texts][:3]
    ['0 ms', '', '33 ms']
    """
    frame = table.frame.with_row_index("place")
    if not frame.height or (images is not None and len(images) != frame.height):
        n = "no" if images is None else len(images)
        raise InputError(f"{n} pictures for {frame.height} frames; expected as many, and one")
    strips = [own for _, own in frame.group_by("actor", "expression", maintain_order=True)]
    n_strips, said = drawing.first_of(len(strips), "transitions", most=_MOST_STRIPS)
    strips = strips[:n_strips]
    pictures = _pictures(strips, films, fps) if images is None else dict(enumerate(images))
    columns = min(_MOST, max(own.height for own in strips))
    across = max(columns, _FEWEST)
    side = drawing.WIDTH / across - 0.06
    heights = [
        side * max(pictures[k].height / pictures[k].width for k in own["place"]) for own in strips
    ]
    drawing.fit(ax, sum(heights) + _ABOVE_AND_BELOW * len(strips))
    ratios = [height + _ABOVE_AND_BELOW for height in heights]
    grid = drawing.split(ax, len(strips), across, height_ratios=ratios)
    for panels, own in zip(grid, strips, strict=True):
        since, jnds = drawing.columns_of(own, "since_ms", "jnds")
        reached = np.flatnonzero(jnds >= 1)
        marked = int(reached[0]) if reached.size else -1
        chosen = _around(own.height, marked, columns)
        for axes, k in zip(panels, chosen, strict=False):
            picture = pictures[own["place"][k]]
            _draw_frame(axes, picture, since[k], jnds[k] if k else None, marked=k == marked)
        for empty in panels[len(chosen) :]:
            empty.remove()
        title = f"{own['actor'][0]}, {own['expression'][0]}"
        if own["time_ms"][0] is not None:
            title += f": 1 JND after {number(own['time_ms'][0], 0)} ms"
        panels[0].set_title(shown(title, 100), color=colour("ink"), fontweight="bold")

    if said:
        drawing.say_below(ax, said)


def _pictures(
    strips: Sequence[pl.DataFrame], films: str, fps: float | None
) -> dict[int, Image.Image]:
    """Take the frames of strips from their films, by the rows of the table."""
    found = find_transitions(Path(films), fps=fps)
    by_name = {(one.actor, one.expression): one for one in found.transitions}
    pictures: dict[int, Image.Image] = {}
    for own in strips:
        film = by_name[own["actor"][0], own["expression"][0]]
        images = film.images(own["frame"].to_list(), View(None, _SIZE))
        pictures |= dict(zip(own["place"].to_list(), images, strict=True))
    return pictures


def _draw_frame(
    axes: Axes, picture: Image.Image, since: float, jnds: float | None, *, marked: bool
) -> None:
    axes.imshow(np.asarray(picture.convert("RGB")))
    axes.set_xticks([])
    axes.set_yticks([])
    drawing.bare(axes)
    tint = colour("model" if marked else "ink")
    for spine in axes.spines.values():
        spine.set(visible=marked, color=tint, linewidth=2.6)
    said = "" if jnds is None else f"{number(jnds, 2)} JND"
    for line, text in enumerate((f"{number(since, 0)} ms", said)):
        drawing.write(
            axes,
            text,
            (0.5, 0),
            (0, -4 - 10 * line),
            xycoords="axes fraction",
            ha="center",
            va="top",
            fontsize=7.5,
            fontweight="bold" if marked else "normal",
            color=tint,
        )


def _around(n: int, marked: int, columns: int) -> list[int]:
    """Choose which frames are shown: the first, and those around the marked one."""
    if n <= columns:
        return list(range(n))
    last = min(n - 1, marked + 1 if marked >= 0 else n - 1)
    first = max(1, last - columns + 2)
    return [0, *range(first, first + columns - 1)]


def draw_staircases(
    ax: Axes,
    table: Table,
    *,
    thresholds: Sequence[Mapping[str, Any]],
    unit: str = "frames from the anchor",
    answers: tuple[str, str] = ("different", "same"),
) -> None:
    """Draw what was shown and answered in each trial, and the posterior of the threshold.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand, a row for each run.
    table
        Holds ``run`` (its place among `thresholds`, from 0), ``distance`` (what was shown, such as
        frames from the anchor; 0 in catch trials, which show the anchor beside itself) and
        ``different`` (whether it was answered so, or correctly), a row for each trial.
    thresholds
        Of each run its ``title``, ``grid`` (the thresholds that were told apart, ascending) and
        ``posterior``, the probability of each; and perhaps the threshold that was found
        (``value``) with its interval (``low``, ``high``), and a ``note`` beside the title.
    unit
        What the vertical axis shows; it is logarithmic, and the same in all rows.
    answers
        Names of the two answers.

    Raises
    ------
    InputError
        When there is no run, a posterior does not fit its thresholds, or a distance is below 0.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"run": [0, 0, 0], "distance": [16, 8, 4], "different": [True, True, False]}
    >>> found = {"title": "anchor: peak", "grid": [2, 4, 8, 16],
    ...          "posterior": [0.1, 0.4, 0.4, 0.1], "value": 5.7}
    >>> page = draw_figure("staircases", data, thresholds=[found])
    >>> [panel.get_xlabel() for panel in page.axes]
    ['trial', 'posterior']
    """
    from matplotlib.ticker import MaxNLocator

    if not thresholds:
        raise InputError("there is no run; expected at least one")
    n, said = drawing.first_of(len(thresholds), "runs", "trial", _MOST_RUNS)
    thresholds = thresholds[:n]
    runs = [_Run.of(table.frame, place, found) for place, found in enumerate(thresholds)]
    ends = [end for run in runs for end in run.ends]
    bottom, top = 0.75 * min(ends), 1.25 * max(ends)
    drawing.fit(ax, 0.5 + 2.5 * len(runs))
    panels = drawing.split(ax, len(runs), 2, sharey=True, sharex="col", width_ratios=(4, 1))
    for run, found, (left, right) in zip(runs, thresholds, panels, strict=True):
        _draw_trials(left, run.distance, run.different, bottom)
        left.set_ylabel(shown(unit, 40))
        left.set_title(shown(found["title"]), fontweight="bold", color=colour("ink"))
        left.set_title(shown(found.get("note", ""), 64), loc="right", color=colour("ink"))
        _draw_posterior(right, run.grid, run.posterior / run.posterior.max(initial=1e-300))
        for axes in (left, right):
            _mark_threshold(axes, found)
            axes.grid(visible=True, axis="y")
            axes.tick_params(axis="y", which="both", length=0)
            axes.spines["left"].set_visible(False)
    first, last = panels[0][0], panels[-1]
    first.set_yscale("log")
    first.set_ylim(bottom, top)
    _log_marks(first.yaxis, bottom, top)
    last[0].set_xlim(0, max(run.distance.size for run in runs) + 1)
    last[0].xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    last[0].set_xlabel(said)
    last[1].set_xlabel("posterior")
    people = colour("people")
    key = [
        (answers[0], swatch(people, "o")),
        (answers[1], swatch("paper", "o", edge=people)),
    ]
    if any((run.distance == 0).any() for run in runs):
        key.append(
            (
                "catch trial (two equal pictures)",
                swatch("soft", "D", size=5),
            )
        )
    drawing.key_below(ax, key)


_MOST_RUNS = 8
"""Runs that are drawn."""


@dataclass(frozen=True)
class _Run:
    """The trials of a run, its posterior, and what its axis has to hold."""

    distance: Floats
    different: Bools
    grid: Floats
    posterior: Floats
    ends: tuple[float, ...]
    """All distances and nearly all of the posterior."""

    @classmethod
    def of(cls, frame: pl.DataFrame, place: int, found: Mapping[str, Any]) -> _Run:
        own = frame.filter(run=place)
        (distance,) = drawing.columns_of(own, "distance")
        grid, posterior = (np.asarray(found[name], dtype=float) for name in ("grid", "posterior"))
        if grid.shape != posterior.shape or not grid.size:
            raise InputError(
                f"{found['title']}: thresholds and posterior have shapes {grid.shape} and "
                f"{posterior.shape}; expected one each"
            )
        if (distance < 0).any() or (grid <= 0).any():
            raise InputError(
                f"{found['title']}: a distance or threshold is out of range; expected distances "
                "from 0 on, and thresholds above 0"
            )
        likely = grid[posterior > 0.02 * posterior.max(initial=0.0)]
        held = (*distance[distance > 0], *likely, found.get("low"), found.get("high"))
        ends = tuple(float(end) for end in held if end is not None and not math.isnan(end))
        return cls(distance, own["different"].to_numpy().astype(bool), grid, posterior, ends)


def _draw_trials(axes: Axes, distance: Floats, different: Bools, bottom: float) -> None:
    """Draw a mark a trial, filled for the first answer, along a line; catch trials stand below."""
    trial, real, paper = 1 + np.arange(distance.size), distance > 0, colour("paper")
    axes.plot(trial[real], distance[real], color=colour("people"), linewidth=0.8, alpha=0.45)
    height = np.where(real, distance, 1.08 * bottom)
    for rows, role, marker, size in ((real, "people", "o", 22), (~real, "soft", "D", 18)):
        for answer in (True, False):
            at = rows & (different == answer)
            axes.scatter(
                trial[at],
                height[at],
                s=size,
                marker=marker,
                color=colour(role) if answer else paper,
                edgecolors=colour(role),
                linewidths=1.1,
                zorder=3,
            )


def _draw_posterior(axes: Axes, grid: Floats, height: Floats) -> None:
    """Draw the posterior on its side, beside the trials."""
    axes.fill_betweenx(grid, 0, height, color=colour("people"), alpha=0.25, linewidth=0)
    drawn = np.where(height > 0.003, height, np.nan)
    axes.plot(drawn, grid, color=colour("people"), linewidth=1.2)
    axes.set_xlim(0, 1.08)
    axes.set_xticks([])


def _mark_threshold(axes: Axes, found: Mapping[str, Any]) -> None:
    """Draw the threshold that was found as a line, and its interval as a band."""
    value, low, high = (found.get(name, math.nan) for name in ("value", "low", "high"))
    if not math.isnan(low) and not math.isnan(high):
        axes.axhspan(low, high, color=colour("model"), alpha=0.13, linewidth=0)
    if not math.isnan(value):
        axes.axhline(value, color=colour("model"), linewidth=1.2, linestyle=_LINE)
