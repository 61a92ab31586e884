"""What became of pseudo-labels: thresholds, how many were used, and how good they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from affectlab._types import Axes, Figure, Floats
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas, grid_along, key_below
from affectlab.report._theme import colour, themed

__all__ = ["fig_semi_quality", "fig_semi_threshold", "fig_semi_utilisation"]

Histories: TypeAlias = Mapping[str, Sequence[Mapping[str, float]]]
"""What each epoch reached, by name of run; see :attr:`affectlab.models.semi.SemiRun.history`."""

_ROLES = ("people", "model", "mixed", "positive", "negative", "ambiguous", "neutral", "accent")
_DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))
_DOTS = (0, (2, 3))
_QUALITY = (
    ("pseudo_accuracy", "ACC"),
    ("pseudo_ecc", "ECC"),
    ("pseudo_emc", "EMC"),
)


@themed
def fig_semi_threshold(histories: Histories) -> Figure:
    """Draw the threshold of confidence over epochs, a line for each run.

    Parameters
    ----------
    histories
        Runs; those without a threshold are left out. Where thresholds differ by class, a history
        holds their mean.

    Raises
    ------
    InputError
        When no run has a threshold, or there are more than can be told apart.

    Examples
    --------
    >>> figure = fig_semi_threshold({"emc": [{"epoch": 1, "threshold": 0.9},
    ...                                      {"epoch": 2, "threshold": 0.8}]})
    >>> figure.axes[0].get_ylabel()
    'threshold (mean over classes)'
    """
    return _single(histories, "threshold", "threshold (mean over classes)")


@themed
def fig_semi_utilisation(histories: Histories) -> Figure:
    """Draw the mean weight of unlabelled examples over epochs, a line for each run.

    Where weights are 0 and 1, this is the share of examples whose pseudo-label is learned from.

    Parameters
    ----------
    histories
        As for :func:`fig_semi_threshold`.

    Raises
    ------
    InputError
        When no run has used unlabelled examples, or there are more runs than can be told apart.

    Examples
    --------
    >>> figure = fig_semi_utilisation({"fixmatch": [{"epoch": 1, "utilisation": 0.4}]})
    >>> figure.axes[0].get_ylabel()
    'share of unlabelled examples that count'
    """
    return _single(histories, "utilisation", "share of unlabelled examples that count")


@themed
def fig_semi_quality(histories: Histories) -> Figure:
    """Draw ACC, ECC and EMC of pseudo-labels over epochs, a panel for each.

    Parameters
    ----------
    histories
        As for :func:`fig_semi_threshold`, of runs that were told the truth of unlabelled examples.
        An epoch in which none counted has no quality, and leaves a gap.

    Raises
    ------
    InputError
        When no run was told the truth, or there are more runs than can be told apart.

    Examples
    --------
    >>> history = [{"epoch": 1, "pseudo_accuracy": 0.6, "pseudo_ecc": 0.7, "pseudo_emc": 0.4}]
    >>> [axes.get_title(loc="left") for axes in fig_semi_quality({"emc": history}).axes]
    ['ACC', 'ECC', 'EMC']
    """
    runs = _chosen(histories, _QUALITY[0][0])
    figure = canvas(2.8)
    panels = figure.subplots(1, len(_QUALITY), sharey=True, sharex=True)
    for axes, (name, title) in zip(panels, _QUALITY, strict=True):
        _lines(axes, runs, name)
        axes.set_title(title, fontweight="bold", color=colour("ink"))
        axes.set_xlabel("epoch")
    panels[0].set_ylabel("of pseudo-labels, by weight")
    _key(figure, runs)
    return figure


def _single(histories: Histories, name: str, said: str) -> Figure:
    runs = _chosen(histories, name)
    figure = canvas(3.0, WIDTH * 0.75)
    axes = figure.add_subplot()
    _lines(axes, runs, name)
    axes.set_xlabel("epoch")
    axes.set_ylabel(said)
    _key(figure, runs)
    return figure


def _chosen(histories: Histories, name: str) -> dict[str, Sequence[Mapping[str, float]]]:
    """Keep runs whose history has a value."""
    found = {
        run: entries
        for run, entries in histories.items()
        if any(name in entry for entry in entries)
    }
    if not found:
        raise InputError(
            f"no history has {name!r}; expected one of a run that has it, such as "
            f"{'one that was told the truth' if name.startswith('pseudo') else 'of fixmatch'}"
        )
    most = len(_ROLES) * len(_DASHES)
    if len(found) > most:
        raise InputError(f"{len(found)} runs; expected {most} at most, to be told apart")
    return found


def _style(place: int) -> dict[str, Any]:
    return {
        "color": colour(_ROLES[place % len(_ROLES)]),
        # Of runs that do the same, the dashes of one show the other.
        "linestyle": _DASHES[(place + 2 * (place // len(_ROLES))) % len(_DASHES)],
        "linewidth": 1.5,
    }


def _lines(axes: Axes, runs: Mapping[str, Sequence[Mapping[str, float]]], name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    last = 1.0
    for place, entries in enumerate(runs.values()):
        epochs: Floats = np.array([entry["epoch"] for entry in entries], dtype=np.float64)
        values: Floats = np.array([entry.get(name, np.nan) for entry in entries], dtype=np.float64)
        last = max(last, float(epochs.max()))
        # A single epoch between gaps would be no line.
        alone = np.isfinite(values) & ~_beside(np.isfinite(values))
        style = _style(place)
        axes.plot(epochs, values, **style)
        axes.plot(epochs[alone], values[alone], "o", markersize=3, color=style["color"])
        _mark_switch(axes, entries, style["color"])
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlim(1 - 0.02 * last, last * 1.02)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    grid_along(axes, "y")


def _beside(
    finite: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Say which places have a finite neighbour."""
    found = np.zeros_like(finite)
    found[1:] |= finite[:-1]
    found[:-1] |= finite[1:]
    return found


def _mark_switch(axes: Axes, entries: Sequence[Mapping[str, float]], line_colour: str) -> None:
    """Mark where the loss on labelled examples changed, unless it did so at the start."""
    at = _switched(entries)
    if at:
        axes.axvline(at, color=line_colour, linewidth=0.8, linestyle=_DOTS)


def _switched(entries: Sequence[Mapping[str, float]]) -> float:
    """Give the epoch in which the loss changed; 0: in none, or in the first."""
    said = [entry.get("switched", 0.0) for entry in entries]
    return entries[said.index(1.0)]["epoch"] if any(said) and not said[0] else 0.0


def _key(figure: Figure, runs: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    from matplotlib.lines import Line2D

    entries = [(run, Line2D([], [], **_style(place))) for place, run in enumerate(runs)]
    if any(_switched(held) for held in runs.values()):
        mark = Line2D([], [], color=colour("soft"), linewidth=0.8, linestyle=_DOTS)
        entries.append(("another loss on labelled ones from here", mark))
    # As many in each line, so that none stands alone.
    lines = -(-len(entries) // 5)
    key_below(figure, entries, columns=-(-len(entries) // lines))
