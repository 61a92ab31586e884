"""Agreement and other measures by group, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import CYCLE, colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Transform
from affectlab.core.words import shown

_KINDS = {"human-human": "people", "human-model": "mixed", "model-model": "model"}
_MOST_BOXES = 20
"""Groups that are drawn."""
_CHARACTER = 0.0092
"""Width of a letter of a small text, as a share of the width of a figure."""


def _tint(name: str, place: int) -> str:
    """Give people the colour of people, and the groups behind them the others in turn."""
    return colour(_KINDS.get(name, CYCLE[place] if place < len(CYCLE) else "neutral"))


def draw_groups_compared(
    ax: Axes,
    table: Table,
    *,
    value_name: str,
    group: str = "group",
    groups: Sequence[str] = (),
    comparisons: Sequence[tuple[str, str, str]] = (),
) -> None:
    """Draw a box per group with the dots behind it, and what was found between groups beside it.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a column ``value`` and that of the groups; rows without a group are not drawn.
    value_name
        What the axis shows.
    group
        Column of the groups.
    groups
        Groups in their order, also those without a value; by default as they occur.
    comparisons
        Two groups and what to write at the bracket between them, for example a p-value.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"group": ["people", "people", "models"], "value": [0.4, 0.5, 0.3]}
    >>> page = draw_figure("groups_compared", data, value_name="kappa",
    ...                    comparisons=[("people", "models", "p = 0.10")])
    >>> page.axes[0].texts[-1].get_text()
    'p = 0.10'
    """
    frame = table.frame.drop_nulls(group)
    names = list(groups or frame[group].unique(maintain_order=True))
    n, value_name = drawing.first_of(len(names), "groups", value_name, _MOST_BOXES)
    names = names[:n]
    comparisons = [one for one in comparisons if {one[0], one[1]} <= set(names)]
    drawing.fit(ax, 0.75 + 0.5 * len(names))
    for row, name in enumerate(names):
        (value,) = drawing.columns_of(frame.filter(frame[group] == name), "value")
        known = value[np.isfinite(value)]
        if known.size:
            drawing.box(ax, row, known, _tint(name, row))
        else:
            drawing.say(ax, row, "no values")
    drawing.names_on_y(ax, names, value_name)
    ax.set_ylim(len(names) - 0.5, -0.5)
    _brackets(ax, names, comparisons)


def _brackets(axes: Axes, names: list[str], comparisons: Sequence[tuple[str, str, str]]) -> None:
    """Draw brackets right of the boxes, short ones inside.

    Where every comparison is one with the first group, the text beside a group is enough.
    """
    if not comparisons:
        return
    texts = [text for _, _, text in comparisons]
    width = 0.02 + _CHARACTER * max(len(line) for text in texts for line in text.split("\n"))
    if len(comparisons) > 1 and all(first == names[0] for first, _, _ in comparisons):
        heading = f"beside {shown(names[0], 20)}:"
        left = _room_for(axes, max(width, 0.02 + _CHARACTER * len(heading)))
        _write(axes, left, 0, heading)
        for _, other, text in comparisons:
            _write(axes, left, names.index(other), text)
        return
    spans = [
        (min(places), max(places), text)
        for *pair, text in comparisons
        if (places := [names.index(name) for name in pair])
    ]
    spans.sort(key=lambda span: span[1] - span[0])
    columns: list[list[tuple[int, int]]] = []
    chosen = []
    for first, last, _ in spans:
        free = (
            k
            for k, taken in enumerate(columns)
            if all(last <= start or first >= end for start, end in taken)
        )
        column = next(free, len(columns))
        if column == len(columns):
            columns.append([])
        columns[column].append((first, last))
        chosen.append(column)
    left = _room_for(axes, (width + 0.02) * len(columns))
    for (first, last, text), column in zip(spans, chosen, strict=True):
        x = left + (width + 0.02) * column
        # A hair's breadth apart, so that brackets that follow each other do not touch.
        top, bottom = first + 0.07, last - 0.07
        (line,) = axes.plot(
            [x, x + 0.008, x + 0.008, x],
            [top, top, bottom, bottom],
            transform=_beside(axes),
            color=colour("soft"),
            linewidth=0.9,
            clip_on=False,
        )
        line.set_in_layout(False)
        _write(axes, x + 0.016, (first + last) / 2, text)


def _room_for(axes: Axes, width: float) -> float:
    """Keep a part of the figure free on the right; give where it starts."""
    engine = axes.figure.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, 0, 1 - width - 0.01, 1))  # type: ignore[call-arg]
    return 1 - width


def _beside(axes: Axes) -> Transform:
    """Place things by the width of the figure, and by the rows of the axes."""
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(axes.figure.transFigure, axes.transData)


def _write(axes: Axes, x: float, row: float, text: str) -> None:
    written = axes.text(
        x,
        row,
        "\n".join(map(shown, text.split("\n"))),
        transform=_beside(axes),
        va="center",
        fontsize=7.5,
        color=colour("ink"),
    )
    written.set_in_layout(False)


def draw_kinds_by_label(ax: Axes, table: Table, *, value_name: str) -> None:
    """Draw the mean agreement of each kind of pair on each label, sorted by the first kind.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``label``, ``pair_kind`` and ``mean``.
    value_name
        What the axis shows.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["joy", "awe"], "pair_kind": ["human-human"] * 2, "mean": [0.2, 0.4]}
    >>> page = draw_figure("kinds_by_label", data, value_name="kappa")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['awe', 'joy']
    """
    frame = table.frame
    labels = frame["label"].unique(maintain_order=True).to_list()
    kinds = [kind for kind in _KINDS if kind in frame["pair_kind"]]
    means = {row[:2]: row[2] for row in frame.select("pair_kind", "label", "mean").iter_rows()}
    value = np.array(
        [[means.get((kind, label)) for label in labels] for kind in kinds], dtype=np.float64
    )
    order, value_name = drawing.ends_of(value[0], value_name)
    rows, value = np.arange(order.size), value[:, order]
    known = np.where(np.isnan(value).all(axis=0), 0.0, value)
    drawing.fit(ax, 1.0 + 0.2 * order.size)
    ends = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
    ax.hlines(rows, *ends, colors=colour("line"), linewidth=1.4)
    key = []
    for kind, own, marker in zip(kinds, value, "oDs", strict=False):
        tint = colour(_KINDS[kind])
        ax.scatter(own, rows, s=22, color=tint, marker=marker, linewidths=0, zorder=3)
        key.append((kind, swatch(tint, marker, size=5)))
    drawing.names_on_y(ax, [labels[k] for k in order], value_name)
    ax.axvline(0, color=colour("soft"), linewidth=0.8)
    drawing.key_below(ax, key)


_HEADING = 1.15
"""Rows that a heading takes, with the space above it."""
_MOST_DOTS = 60
"""Groups, over all models and labels, that a figure shows."""


def draw_fairness(
    ax: Axes,
    table: Table,
    *,
    row: Sequence[str],
    section: Sequence[str],
    value_name: str,
    size: str | None = None,
    line: float | None = None,
    band: float = 0.0,
) -> None:
    """Draw a dot with its interval per group, one block per model or label.

    Of many models and labels those with a gap that is shown are drawn first.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``value``, ``low`` and ``high`` of groups, or of gaps between them, and ``flagged``:
        whether a gap is shown, which is stressed.
    row, section
        Columns that name a row, and the block that it stands in.
    value_name
        What the axis shows.
    size
        Column with the number of stimuli, or people, written beside the names.
    line
        A value to mark, such as 0 for a signed difference or for gaps.
    band
        What counts as small: values that lie no further than this from the line stand on grey.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"rater": ["net", "net"], "group": ["man", "woman"], "value": [0.4, 0.7],
    ...         "low": [0.3, 0.6], "high": [0.5, 0.8], "flagged": [False, True]}
    >>> page = draw_figure("fairness", data, row=["group"], section=["rater"], value_name="error")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['man', 'woman']
    """
    import polars as pl

    frame = table.frame.with_columns(
        section=pl.concat_str(section, separator=" · "),
        row=pl.concat_str(row, separator=" − "),
    ).filter(pl.col("value").is_not_nan() | (len(row) == 1))
    loud = frame.filter("flagged")["section"].unique(maintain_order=True).to_list()
    found = list(dict.fromkeys([*loud, *frame["section"]]))
    rows = {name: frame.filter(section=name) for name in found}
    if (most := max((block.height for block in rows.values()), default=0)) > drawing.MOST_ROWS:
        _, value_name = drawing.first_of(most, "groups", value_name)
    fits = (
        np.cumsum([min(block.height, drawing.MOST_ROWS) for block in rows.values()]) <= _MOST_DOTS
    )
    chosen = found[: int(fits.sum())]
    if len(chosen) < len(found):
        value_name += f" ({len(chosen)} of {len(found):,} models and labels)"
    blocks = {name: rows[name].head(drawing.MOST_ROWS) for name in chosen}
    at, places, headings = -0.4, list[float](), dict[float, str]()
    for name, block in blocks.items():
        if len(blocks) > 1:
            headings[at + 0.55] = name
            at += _HEADING
        places += [at + 0.4 + k for k in range(block.height)]
        at += block.height
    frame = pl.concat(blocks.values()) if blocks else frame
    place = np.array(places)
    value, low, high = drawing.columns_of(frame, "value", "low", "high")
    stressed = frame["flagged"].to_numpy().astype(bool)
    drawing.fit(ax, 0.8 + 0.2 * (at + 0.4) + (0.2 if stressed.any() else 0))
    if line is not None:
        ax.axvspan(line - band, line + band, color=colour("faint"), linewidth=0, zorder=0)
        ax.axvline(line, color=colour("soft"), linewidth=0.8, dashes=(4, 3))
    looks = (("people", "o", ~stressed), ("model", "D", stressed))
    for role, marker, own in looks:
        drawing.dots(ax, place[own], value[own], low[own], high[own], colour(role), marker=marker)
    sizes = [""] * frame.height if size is None else [f"  ({n:,})" for n in frame[size]]
    short = drawing.short_names(frame["row"].to_list(), 34)
    names = [name + n for name, n in zip(short, sizes, strict=True)]
    drawing.names_on_y(ax, names, value_name, limit=60)
    ax.set_yticks(place, names)
    ax.set_ylim(at + 0.1, -0.6)
    ax.margins(x=0.04)
    for height, name in headings.items():
        drawing.write(
            ax,
            shown(name, 60),
            (0, height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontweight="bold",
            color=colour("ink"),
        )
    for missing in place[np.isnan(value)]:
        drawing.say(ax, missing)
    if np.isnan(value).all():
        ax.set_xlim(0, 1)
    if stressed.any():
        key = [
            ("a gap is shown", swatch("model", "D", size=5)),
            ("no gap is shown", swatch("people", "o", size=5)),
        ]
        drawing.key_below(ax, key)
