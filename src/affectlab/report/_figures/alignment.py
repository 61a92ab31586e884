"""Models beside people: their differences on the margin, and bars by family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Artist, Figure, Line2D
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, say, swatch
from affectlab.report._figures.discrepancy import fig_discrepancy
from affectlab.report._figures.groups import fig_groups_compared, fig_kinds_by_label
from affectlab.report._theme import colour, themed

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
