"""How answers spread over the scale, and what became of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import RAMP, colour, group_colours
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Floats
from affectlab.core.words import count, percent, shown

_ROLE = {"people": "people", "models": "model"}


def draw_answers(
    ax: Axes, table: Table, *, value_name: str = "answer", share_name: str = "share of answers"
) -> None:
    """Draw the share of answers on each point of the scale, people beside models.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``group`` (``people``, ``models``, or others), ``answer`` and ``share``, a row for
        each group and point of the scale; all groups have the same points.
    value_name, share_name
        What the axes show.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"group": ["people"] * 2, "answer": ["no", "yes"], "share": [0.25, 0.75]}
    >>> [float(bar.get_height()) for bar in draw_figure("answers", data).axes[0].patches]
    [0.25, 0.75]
    """
    shares = {
        str(group): part["share"].to_numpy()
        for (group,), part in table.frame.group_by("group", maintain_order=True)
    }
    points = table.frame["answer"].unique(maintain_order=True).to_list()
    at, width = np.arange(len(points)), 0.78 / max(len(shares), 1)
    others = set(shares) - set(_ROLE)
    tints = group_colours(shares) if others else {name: colour(_ROLE[name]) for name in shares}
    names = drawing.short_names(points, 24)
    longest = max(map(drawing.width_of, names), default=0)
    turned = longest * len(points) > 6
    steep = turned and 0.16 * len(points) > 3
    drawing.fit(ax, 2.3 + (longest if steep else 0.7 * longest if turned else 0.2))
    for k, (group, share) in enumerate(shares.items()):
        place = at + (k - (len(shares) - 1) / 2) * width
        ax.bar(place, share, width * 0.94, color=tints[group])
    # Very many points are named in part.
    every = -(-len(points) // 50)
    ax.set_xticks(
        at[::every],
        names[::every],
        rotation=90 if steep else 45 if turned else 0,
        ha="right" if turned and not steep else "center",
    )
    ax.set_xlim(-0.6, len(points) - 0.4)
    drawing.grid_along(ax, "y")
    ax.tick_params(axis="x", length=0)
    drawing.percent_along(ax, "y")
    ax.set_xlabel(value_name)
    ax.set_ylabel(share_name)
    if len(shares) > 1:
        drawing.key_below(ax, [(name, swatch(tints[name])) for name in shares])


def draw_levels_by_label(ax: Axes, table: Table, *, share_name: str = "share of answers") -> None:
    """Draw a bar per label, divided into the shares of the levels of the scale.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``label``, ``answer`` (levels from low to high) and ``share``, a row for each label
        and level; the shares of a label sum to 1.
    share_name
        What the axis shows.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["joy"] * 2, "answer": ["0", "1"], "share": [0.25, 0.75]}
    >>> len(draw_figure("levels_by_label", data).axes[0].collections)
    2
    """
    names, levels = (
        table.frame[name].unique(maintain_order=True).to_list() for name in ("label", "answer")
    )
    share = table.frame["share"].to_numpy().reshape(len(names), len(levels))
    order, share_name = drawing.ends_of(share @ np.arange(len(levels), dtype=float), share_name)
    tints = [RAMP[step] for step in np.rint(np.linspace(0, len(RAMP) - 1, len(levels))).astype(int)]
    drawing.fit(ax, 1.05 + 0.2 * order.size)
    drawing.stacked(ax, share[order], tints)
    drawing.names_on_y(ax, [names[k] for k in order], share_name)
    ax.set_xlim(0, 1)
    drawing.percent_along(ax, "x")
    key = [(name, swatch(tint)) for name, tint in zip(levels, tints, strict=True)]
    drawing.key_below(ax, key, columns=min(len(levels), 11))


_ROLES = {
    "ok": "ramp-1",
    "rule_violation": "positive",
    "schema_invalid": "ramp-5",
    "unparseable": "model",
    "truncated": "ambiguous",
    "empty": "ramp-8",
    "refused": "negative",
    "rejected": "mixed",
    "transport": "neutral",
}
"""From what can be used to what never arrived: the order of the parts of a bar."""


def draw_outcomes(ax: Axes, table: Table) -> None:
    """Draw a bar for each row of a table that counts outcomes, the 40 with most usable answers.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a column of counts for each outcome, and ``value``, ``low`` and ``high`` of the share
        that can be used; its keys name the rows.

    Examples
    --------
    >>> from affectlab.evaluation import outcome_table
    >>> from affectlab.evaluation.outcomes import Response
    >>> answers = [Response(text="3", parsed={"joy": 3})] * 9 + [Response(text="")]
    >>> drawn = outcome_table(answers).plot()
    >>> [part.get_paths()[0].get_extents().width.round(2).item() for part in drawn.collections]
    [0.9, 0.1]
    """
    frame, said = table.frame, "share of answers"
    if frame.height > drawing.MOST_ROWS:
        said += f" ({drawing.MOST_ROWS} with most usable answers of {frame.height:,})"
        frame = frame.sort("value", descending=True, maintain_order=True).head(drawing.MOST_ROWS)
    names = [" · ".join(map(shown, row)) for row in frame.select(table.keys).rows()]
    found = [name for name in _ROLES if name in frame.columns and frame[name].sum() > 0]
    counts = np.array(drawing.columns_of(frame, *found)).reshape(len(found), frame.height).T
    total = counts.sum(axis=1)
    share = np.divide(counts, total[:, None], out=np.zeros_like(counts), where=total[:, None] > 0)
    drawing.fit(ax, 0.95 + 0.25 * frame.height)
    drawing.stacked(ax, share, [colour(_ROLES[name]) for name in found])
    for row, ends in enumerate(zip(*drawing.columns_of(frame, "low", "high"), strict=True)):
        if not np.isnan(ends).any():
            ax.plot(ends, [row, row], color=colour("ink"), linewidth=1.1, marker="|")
    drawing.names_on_y(ax, names, said)
    ax.set_xlim(0, 1)
    drawing.percent_along(ax, "x")
    usable = share[:, found.index("ok")] if "ok" in found else 0 * total
    for row, n in enumerate(total):
        drawing.beside(ax, row, f"{percent(float(usable[row]), 1)} of {count(n)}" if n else "none")
    key = [(name.replace("_", " "), swatch(_ROLES[name])) for name in found]
    drawing.key_below(ax, key, columns=min(len(found), 5))


def draw_score_strips(
    ax: Axes,
    table: Table,
    *,
    panels: Sequence[Mapping[str, Any]],
    most: int = 1200,
    alone: str = "",
) -> None:
    """Draw the scores of all stimuli on a line for each label, a panel for each scale.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``label``, ``value``, ``low``, ``high`` and ``middle``, a row per stimulus and label.
        Stimuli whose interval does not hold the middle have a colour.
    panels
        Of each scale its ``labels``, the ``value_name`` of its axis, and its ``limits`` or None.
    most
        Dots that are drawn; of more, evenly spaced ones of each label in rising order.
    alone
        What the only line is called, where answers have no labels.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["awe", "awe"], "value": [0.5, 6.5], "low": [0.1, 6.0],
    ...         "high": [0.9, 7.0], "middle": [3.5, 3.5]}
    >>> of_awe = {"labels": ["awe"], "value_name": "mean answer", "limits": (0, 7)}
    >>> page = draw_figure("score_strips", data, panels=[of_awe])
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['awe']
    """
    fits = max(drawing.MOST_ROWS // len(panels), 1)
    few = [
        drawing.first_of(len(panel["labels"]), "labels", panel["value_name"], fits)
        for panel in panels
    ]
    n_labels = sum(n for n, _ in few)
    heights = [n + 0.9 for n, _ in few]
    drawing.fit(ax, 0.5 + 0.36 * sum(heights), drawing.NARROW)
    every = drawing.split(ax, len(panels), height_ratios=heights)
    for (axes,), panel, (n, said) in zip(every, panels, few, strict=True):
        for row, label in enumerate(panel["labels"][:n]):
            own = table.frame.filter(label=label).sort("value", maintain_order=True)
            dots = max(most // n_labels, 2)
            places = np.linspace(0, own.height - 1, min(dots, own.height)).round().astype(int)
            own = own[np.unique(places)]
            _strip(axes, row, *drawing.columns_of(own, "value", "low", "high", "middle"))
        drawing.names_on_y(axes, [alone] if alone else panel["labels"][:n], said, limit=18)
        if panel["limits"] is not None:
            low, high = panel["limits"]
            room = 0.02 * (high - low)
            axes.set_xlim(low - room, high + room)
            if (low, high) == (0.0, 1.0):
                drawing.percent_along(axes, "x")
    entries = [
        ("apart from the middle", swatch("people", "o", size=4)),
        ("not shown to be", swatch("neutral", "o", size=4)),
        ("highest and lowest", swatch("ink", "o", size=5)),
        ("middle", swatch("ink", "|", size=9)),
    ]
    drawing.key_below(ax, entries, columns=2)


def _strip(axes: Axes, row: int, value: Floats, low: Floats, high: Floats, middle: Floats) -> None:
    """Draw the scores of one label in rising order."""
    apart = (low > middle) | (high < middle)
    places = row + 0.5 * drawing.spread(value.size)
    for chosen, tint in ((~apart, "neutral"), (apart, "people")):
        axes.scatter(
            value[chosen], places[chosen], s=9, color=colour(tint), alpha=0.45, linewidths=0
        )
    axes.vlines(middle[:1], row - 0.36, row + 0.36, color=colour("ink"), linewidth=1.4)
    ends = np.array([0, value.size - 1])
    drawing.dots(axes, np.full(2, row), value[ends], low[ends], high[ends], colour("ink"))
