"""Runs of a staircase: what was shown, what was answered, and where the threshold is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Bools, Figure, Floats
from affectlab._words import number, shown
from affectlab.analysis import FrameStaircase
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas, key_below, swatch
from affectlab.report._theme import colour, themed

__all__ = ["StaircasePanel", "fig_staircase"]

_LINE = (0, (4, 3))
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
        axes.axhline(panel.distance, color=colour("model"), linewidth=1.2, linestyle=_LINE)


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
