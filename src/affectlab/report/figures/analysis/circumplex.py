"""Places on two dimensions, such as valence and arousal, with ellipses and names that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render import drawing
from affectlab.core.render.drawing import short_names
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Floats

_SIZE = 6.0
"""Width and height of the page in inches."""
_ELLIPSES = 40
"""Places up to which ellipses are drawn."""
_MOST_NAMES = 40
"""Names that are written at most."""
_LETTER, _LINE = 0.0118, 0.024
"""Width of a letter and height of a line of names, as shares of the axes."""


def draw_circumplex(
    ax: Axes,
    table: Table,
    *,
    name: str,
    x_name: str = "valence",
    y_name: str = "arousal",
    x_limits: tuple[float | None, float | None] = (None, None),
    y_limits: tuple[float | None, float | None] = (None, None),
) -> None:
    """Draw a dot for each place, the ellipse around it, and as many names as fit.

    Names of places far from the others come first; none covers another name. Lines mark the middle
    of the scales.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``x``, ``y``, and where there are ellipses ``major``, ``minor`` and ``angle``.
    name
        Column of the names.
    x_name, y_name
        What the axes show.
    x_limits, y_limits
        Ends of the scales; None: from the values.

    Raises
    ------
    InputError
        When nothing is to be drawn.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"stimulus": ["sea", "war"], "x": [8.0, 2.0], "y": [2.0, 8.0]}
    >>> page = draw_figure("circumplex", data, name="stimulus", x_limits=(1, 9), y_limits=(1, 9))
    >>> sorted(text.get_text() for text in page.axes[0].texts)
    ['sea', 'war']
    """
    frame = table.frame
    x, y = drawing.columns_of(frame, "x", "y")
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        raise InputError("no places to draw; expected one at least")
    drawing.fit(ax, _SIZE, _SIZE)
    ends = [_ends(one[known], limits) for one, limits in ((x, x_limits), (y, y_limits))]
    ax.set_xlim(*ends[0])
    ax.set_ylim(*ends[1])
    for limits, line in ((x_limits, ax.axvline), (y_limits, ax.axhline)):
        if limits[0] is not None and limits[1] is not None:
            line((limits[0] + limits[1]) / 2, color=colour("soft"), linewidth=0.8, zorder=0)
    ax.grid(visible=True, axis="both")
    ax.tick_params(length=0)
    few = int(known.sum()) <= _ELLIPSES
    if {"major", "minor", "angle"} <= set(frame.columns) and few:
        _draw_ellipses(ax, x, y, *drawing.columns_of(frame, "major", "minor", "angle"))
    size = 26 if few else 12
    style: dict[str, Any] = {"edgecolors": colour("paper"), "linewidths": 0.6 if few else 0.3}
    ax.scatter(x[known], y[known], s=size, c=colour("people"), zorder=3, **style)
    n_names = _write_names(ax, frame[name].cast(str).to_list(), x, y, ends)
    said = x_name
    if n_names < known.sum():
        said += f" ({n_names} of {int(known.sum()):,} named)"
    ax.set_xlabel(said)
    ax.set_ylabel(y_name)


def _ends(values: Floats, limits: tuple[float | None, float | None]) -> tuple[float, float]:
    """Ends of an axis: those of the scale, or of the values, and a little room."""
    low, high = (
        own if given is None else given
        for given, own in zip(limits, (values.min(), values.max()), strict=True)
    )
    room = 0.03 * ((high - low) or 1.0)
    return float(low - room), float(high + room)


def _draw_ellipses(
    axes: Axes, x: Floats, y: Floats, major: Floats, minor: Floats, angle: Floats
) -> None:
    from matplotlib.patches import Ellipse

    for row in np.flatnonzero(np.isfinite(major) & np.isfinite(x) & np.isfinite(y)).tolist():
        mark = Ellipse(
            (x[row], y[row]),
            2 * major[row],
            2 * minor[row],
            angle=angle[row],
            facecolor=colour("people"),
            edgecolor=colour("people"),
            alpha=0.13,
            linewidth=0.8,
        )
        axes.add_patch(mark)


def _write_names(
    axes: Axes, names: Sequence[str], x: Floats, y: Floats, ends: Sequence[tuple[float, float]]
) -> int:
    """Write names beside dots where they fit, those far from other dots first; count them."""
    place = np.column_stack(
        [(one - low) / (high - low) for one, (low, high) in zip((x, y), ends, strict=True)]
    )
    known = np.flatnonzero(np.isfinite(place).all(axis=1))
    apart = np.hypot(*(place[known, None] - place[None, known]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    nearest = apart.min(axis=1)
    from_middle = np.hypot(*(place[known] - place[known].mean(axis=0)).T)
    order = known[np.argsort(-(np.minimum(nearest, 0.1) + from_middle), kind="stable")]
    short = short_names(names, 24)
    boxes: list[tuple[float, float, float, float]] = []
    dot = 0.008
    for row in order.tolist():
        if len(boxes) == _MOST_NAMES:
            break
        text = short[row]
        width, (at, up) = _LETTER * len(text), place[row]
        # Right of the dot, left of it, above, below: the box of the text, and which end is fixed.
        for left, bottom, fixed, side in (
            (at + 0.014, up - _LINE / 2, at + 0.014, "left"),
            (at - 0.014 - width, up - _LINE / 2, at - 0.014, "right"),
            (at - width / 2, up + 0.012, at, "center"),
            (at - width / 2, up - 0.012 - _LINE, at, "center"),
        ):
            box = left, bottom, left + width, bottom + _LINE
            free = min(box[:2]) >= 0 and max(box[2:]) <= 1
            free = free and not any(_overlap(box, other) for other in boxes)
            inside = (
                (place[known, 0] > box[0] - dot)
                & (place[known, 0] < box[2] + dot)
                & (place[known, 1] > box[1] - dot)
                & (place[known, 1] < box[3] + dot)
            )
            if free and not inside[known != row].any():
                boxes.append(box)
                drawing.write(
                    axes,
                    text,
                    (fixed, bottom + _LINE / 2),
                    xycoords="axes fraction",
                    ha=side,
                    va="center",
                    fontsize=7.5,
                    color=colour("ink"),
                )
                break
    return len(boxes)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
