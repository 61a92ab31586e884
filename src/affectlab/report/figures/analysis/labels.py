"""Labels: how often each is used, its words, trees of labels, and the map of stimuli."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import RAMP, colour, group_colours
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Colormap, Floats, Normalize
from affectlab.core.words import number, shown


def draw_frequencies(
    ax: Axes,
    table: Table,
    *,
    count: str = "count",
    count_name: str = "stimuli",
    shade: str | None = None,
    shade_name: str = "interrater correlation",
    groups: str | None = None,
) -> None:
    """Draw a bar per label, longest first.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``label`` and how often each is used.
    count, count_name
        Column of the counts, and what is counted.
    shade, shade_name
        Column of the numbers that colour the bars, and what they are; where there is none the bar
        is grey. By default the colour is that of the group.
    groups
        Column of the group of each label. With `shade`, groups are dots beside the names.

    References
    ----------
    Demszky et al. (2020), GoEmotions, figure 1.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["joy", "fear"], "count": [10, 4], "r": [0.5, 0.3]}
    >>> page = draw_figure("frequencies", data, shade="r")
    >>> [float(bar.get_width()) for bar in page.axes[0].patches]
    [10.0, 4.0]
    """
    frame = table.frame
    colours = {} if groups is None else group_colours(frame[groups])
    frame = frame.sort(count, descending=True, maintain_order=True)
    n, count_name = drawing.first_of(frame.height, "labels", count_name)
    frame = frame.head(n)
    (amount,) = drawing.columns_of(frame, count)
    own = [colour("people") if groups is None else colours[name] for name in frame[groups or count]]
    fill = own
    drawing.fit(ax, 0.75 + 0.2 * frame.height + (0.25 if groups else 0))
    if shade is not None:
        (value,) = drawing.columns_of(frame, shade)
        edges, steps = _steps(value)
        fill = [_step_colour(one, edges, steps) for one in value]
        if np.isfinite(value).any():
            _shade_key(ax, edges, steps, shade_name)
    ax.barh(range(frame.height), amount, color=fill, height=0.72)
    drawing.names_on_y(ax, frame["label"].to_list(), count_name)
    ax.set_xlim(0, max(float(amount.max(initial=0)), 1.0) * 1.04)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    if groups is not None and shade is not None:
        left = np.full(frame.height, -0.012)
        style: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "clip_on": False}
        ax.scatter(left, range(frame.height), c=own, s=14, linewidths=0, **style)
        ax.tick_params(axis="y", pad=9)
    drawing.key_below(
        ax,
        [(name, swatch(tone, "o")) for name, tone in colours.items()],
    )


def _steps(value: np.ndarray[Any, Any]) -> tuple[list[float], list[str]]:
    """Ends of at most eight round steps that hold all values, and their colours."""
    known = value[np.isfinite(value)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    for step in (0.02, 0.05, 0.1, 0.2, 0.25):
        start = float(np.floor(low / step + 1e-9)) * step
        n = max(2, int(np.ceil((high - start) / step - 1e-9)))
        if n <= len(RAMP) - 1:
            break
    edges = [round(start + step * k, 4) for k in range(n + 1)]
    chosen = np.rint(np.linspace(1, len(RAMP) - 1, n)).astype(int)
    return edges, [RAMP[k] for k in chosen]


def _step_colour(value: float, edges: Sequence[float], steps: Sequence[str]) -> str:
    if not np.isfinite(value):
        return colour("line")
    return steps[int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(steps) - 1))]


def _shade_key(axes: Axes, edges: Sequence[float], steps: Sequence[str], name: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    figure = drawing.figure_with(axes)
    height = figure.get_figheight()
    bar = figure.colorbar(
        ScalarMappable(BoundaryNorm(edges, len(steps)), ListedColormap(steps)),
        ax=axes,
        location="right",
        aspect=16 * min(1.0, height / 3),
        shrink=min(1.0, 2.2 / height),
        pad=0.03,
        anchor=(0.0, 1.0),
        ticks=edges,
    )
    bar.set_label(name)
    bar.outline.set_visible(False)
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=0)
    bar.ax.yaxis.set_major_formatter("{x:.2f}")


_ACROSS = 4
_WORD_HEIGHT = 0.17
"""Height of a bar in inches."""


def draw_first_words(
    ax: Axes,
    table: Table,
    *,
    labels: Sequence[str],
    n: int,
    groups: Mapping[str, str] | None = None,
) -> None:
    """Draw the first words of each label as bars, one small chart per label.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the charts stand.
    table
        Holds ``label``, ``word`` and ``z``, the first words of a label first; a label may have
        none, or an empty one.
    labels
        The labels, in their order.
    n
        Words that are drawn of each.
    groups
        Group of each label, which gives the colour.

    References
    ----------
    Demszky et al. (2020), GoEmotions, table 3.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["joy", "joy"], "word": ["happy", "glad"], "z": [32.0, 27.0]}
    >>> page = draw_figure("first_words", data, labels=["joy", "grief"], n=5)
    >>> [panel.get_title(loc="left") for panel in page.axes]
    ['joy', 'grief']
    """
    fits, said = drawing.first_of(len(labels), "labels", most=drawing.MOST_PANELS)
    labels = labels[:fits]
    known = table.frame.filter(table.frame["word"] != "")
    words = {name: known.filter(label=name).head(n).select("word", "z").rows() for name in labels}
    across = min(_ACROSS, len(words))
    lines = max((len(found) for found in words.values()), default=1) or 1
    down = -(-len(words) // across)
    height = down * (0.36 + _WORD_HEIGHT * lines) + 0.1
    drawing.fit(ax, height, drawing.WIDTH if across > 1 else drawing.WIDTH / 2)
    most = max((z for found in words.values() for _, z in found), default=1.0)
    tints = group_colours((groups or {}).values())
    for panel, (label, found) in zip(
        drawing.panels_of(ax, len(words), across), words.items(), strict=True
    ):
        tint = colour("people") if groups is None else tints[groups[label]]
        bars = [z for _, z in found]
        panel.barh(range(len(found)), bars, color=tint, height=0.86, alpha=0.3)
        soft: dict[str, Any] = {"va": "center", "color": colour("soft")}
        for row, (word, z) in enumerate(found):
            panel.text(0.015 * most, row, shown(word, 20), va="center", fontsize=7.5)
            panel.text(most, row, number(z, 1), ha="right", fontsize=7, **soft)
        if not found:
            panel.text(0.015 * most, 0, "no word", fontsize=7.5, **soft)
        panel.set_xlim(0, most)
        panel.set_ylim(lines - 0.5, -0.5)
        panel.axis("off")
        panel.set_title(shown(label), fontweight="bold", color=tint)
    if said:
        drawing.say_below(ax, said)


# Cells of labels in the order of a tree, with the tree above.


_NAMED_ROWS = 80
"""Rows up to which all are named."""
_TREE = 0.8
"""Height of the tree in inches."""


def square(table: Table, first: str, second: str, names: Sequence[str]) -> Floats:
    """Spread the values of pairs of names over a matrix; ``nan`` where there is none."""
    place = {name: k for k, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    for a, b, value in table.frame.select(first, second, "value").iter_rows():
        if a in place and b in place and value is not None:
            matrix[place[a], place[b]] = matrix[place[b], place[a]] = value
    return matrix


def leaves(linkage: ArrayLike | None, n: int) -> list[int]:
    """Give the order of `n` things in a tree as SciPy writes it; those in no tree stand last."""
    from scipy.cluster.hierarchy import leaves_list

    if linkage is None or n < 2:
        return list(range(n))
    found: list[int] = leaves_list(np.asarray(linkage, dtype=np.float64)).tolist()
    return found + [k for k in range(n) if k >= len(found)]


def tree_and_cells(
    ax: Axes,
    value: Floats,
    names: Sequence[str],
    colours: tuple[Colormap, Normalize],
    value_name: str,
    *,
    linkage: ArrayLike | None,
    columns: Sequence[str] | None = None,
    strip: Sequence[str] = (),
    **written: Any,
) -> Axes:
    """Draw cells in the order of a tree, with the tree above them, and give the axes of the cells.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the parts stand.
    value
        Shape (n, n), in the order of the leaves.
    names, columns
        Names of rows and columns, the same by default.
    colours, value_name
        Colours of the cells, and what they show.
    linkage
        The tree as SciPy writes it; None: no tree.
    strip
        Colours of a strip between tree and cells.
    written
        As for :func:`affectlab.core.render.drawing.cells`.
    """
    from scipy.cluster.hierarchy import dendrogram

    n = len(names)
    size = 8.0 if n <= 20 else drawing.SMALLEST
    text = max((drawing.width_of(name, size) for name in names), default=0.1)
    cell = min(0.36, max((drawing.WIDTH - text - 0.9) / max(n, 4), 0.09))
    side = cell * max(n, 4)
    # Rows become higher than wide where only so their names fit.
    high = max(side, n * 1.17 * size / 72) if n <= _NAMED_ROWS else side
    tree = _TREE if linkage is not None and n > 1 else 0.0
    heights = [part for part in (tree, 0.09 if strip else 0.0, high) if part]
    below = text if columns is None else 0.25
    width = max(side + text + 0.95, 4.2 if columns is not None else 0)
    drawing.fit(ax, sum(heights) + below + 0.55, width, hspace=0.0, wspace=0.02, h_pad=0.015)
    parts = drawing.split(
        ax,
        len(heights),
        2,
        height_ratios=heights,
        width_ratios=(side, 0.13),
        spaces=(0.01, 0.03),
    )
    for left, right in parts[:-1]:
        left.set_axis_off()
        right.remove()
    if tree:
        top = parts[0][0]
        top.set_label("tree")
        found = dendrogram(np.asarray(linkage, dtype=np.float64), no_plot=True)
        for x, height in zip(found["icoord"], found["dcoord"], strict=True):
            # SciPy puts leaves at 5, 15, 25, …, and leaf k stands over the middle of cell k.
            top.plot(np.array(x) / 10, height, color=colour("soft"), linewidth=0.8)
        top.set_xlim(0, n)
        top.set_ylim(0, max(map(max, found["dcoord"])) * 1.04 or 1.0)
    for k, tint in enumerate(strip):
        parts[-2][0].axvspan(k, k + 1, color=tint, linewidth=0)
    if strip:
        parts[-2][0].set_xlim(0, n)
    heat, bar = parts[-1]
    heat.set_label("heat")
    mesh = drawing.cells(heat, value, *colours, **written)
    below_them = names if columns is None else columns
    drawing.name_cells(heat, names, below_them, size=size, limit=0, room=(high, side))
    heat.tick_params(pad=2.5)
    drawing.colour_bar(mesh, value_name, cax=bar)
    bar.tick_params(labelsize=7.5)
    return heat


def frame_runs(
    axes: Axes, clusters: Sequence[Any], tints: Mapping[Any, str], *, least: int, width: float
) -> None:
    """Frame runs of neighbours of one cluster, those of `least` members or more."""
    from matplotlib.patches import Rectangle

    for start, end in drawing.runs(clusters):
        if end - start >= least and clusters[start] is not None:
            frame: dict[str, Any] = {
                "edgecolor": tints[clusters[start]],
                "linewidth": width,
                "clip_on": False,
            }
            side = end - start
            axes.add_patch(Rectangle((start, start), side, side, fill=False, **frame))


def draw_label_heatmap(
    ax: Axes,
    table: Table,
    *,
    names: Sequence[str],
    linkage: Sequence[Sequence[float]] | None = None,
    cluster: Sequence[int] | None = None,
    groups: Sequence[str] | None = None,
    value_name: str = "correlation",
) -> None:
    """Draw the correlations of labels, ordered by their tree where there is one.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the parts stand.
    table
        Holds ``label_a``, ``label_b`` and ``value``; pairs without a value are grey, and the
        diagonal is blank.
    names
        The labels.
    linkage
        The tree as SciPy writes it, shape (n - 1, 4). None: no tree, labels as they are given.
    cluster
        Cluster of each label; clusters are framed.
    groups
        Group of each label, such as its sentiment, shown as a strip of colours.
    value_name
        What the colours show.

    References
    ----------
    Demszky et al. (2020), GoEmotions, figure 2.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label_a": ["joy"], "label_b": ["fear"], "value": [-0.2]}
    >>> page = draw_figure("label_heatmap", data, names=["joy", "fear"])
    >>> [text.get_text() for text in page.axes[0].get_yticklabels()]
    ['joy', 'fear']
    """
    value = square(table, "label_a", "label_b", names)
    np.fill_diagonal(value, np.nan)
    order = leaves(linkage, len(names))
    most = np.nanmax(np.abs(value), initial=0.0, where=np.isfinite(value))
    step = 0.05 if most < 0.4 else 0.1
    high = float(min(max(np.ceil(most / step - 1e-9) * step, 0.1), 1.0))
    heat = _label_cells(
        ax,
        value,
        order,
        names,
        drawing.diverging(-high, high),
        value_name,
        linkage,
        groups,
        diagonal=True,
    )
    if cluster is not None:
        own = [cluster[k] for k in order]
        frame_runs(heat, own, dict.fromkeys(own, colour("ink")), least=2, width=1.1)


def draw_confusion_clusters(
    ax: Axes,
    table: Table,
    *,
    labels: Sequence[str],
    linkage: Sequence[Sequence[float]] | None = None,
    tree_labels: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> None:
    """Draw a confusion matrix by rows, ordered by the tree of its labels.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the parts stand.
    table
        Holds ``true``, ``predicted`` and ``share`` of the row; a label that does not occur has a
        grey row.
    labels
        The labels.
    linkage
        The tree of `tree_labels`; the others come last.
    tree_labels
        Labels in the tree; None: all.
    groups
        Group of each label, shown as a strip of colours.

    References
    ----------
    Demszky et al. (2020), GoEmotions, figure 6.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"true": ["joy", "joy", "fear", "fear"], "predicted": ["joy", "fear"] * 2,
    ...         "share": [0.8, 0.2, 0.1, 0.9]}
    >>> page = draw_figure("confusion_clusters", data, labels=["joy", "fear"])
    >>> page.axes[0].get_ylabel()
    'true label'
    """
    from matplotlib.colors import Normalize

    place = {label: k for k, label in enumerate(labels)}
    share = np.full((len(labels), len(labels)), np.nan)
    for true, predicted, value in table.frame.select("true", "predicted", "share").iter_rows():
        share[place[true], place[predicted]] = np.nan if value is None else value
    inside = [place[name] for name in (labels if tree_labels is None else tree_labels)]
    order = [inside[k] for k in leaves(linkage, len(inside))]
    order += [k for k in range(len(labels)) if k not in set(order)]
    high = float(np.nanmax(share, initial=0.1, where=np.isfinite(share)))
    colours = drawing.counts_ramp(), Normalize(0, min(float(np.ceil(high * 10 - 1e-9) / 10), 1.0))
    heat = _label_cells(ax, share, order, labels, colours, "share of the row", linkage, groups)
    heat.set_ylabel("true label")
    heat.set_xlabel("predicted label")


def _label_cells(
    ax: Axes,
    value: Floats,
    order: Sequence[int],
    labels: Sequence[str],
    colours: tuple[Colormap, Normalize],
    value_name: str,
    linkage: ArrayLike | None,
    groups: Sequence[str] | None,
    *,
    diagonal: bool = False,
) -> Axes:
    """Draw cells of labels; what is not defined is grey, but for a blank diagonal."""
    from matplotlib.patches import Rectangle

    value = value[np.ix_(order, order)]
    short = drawing.short_names(labels, 26 if len(labels) <= 30 else 20)
    names = [short[k] for k in order]
    tints = group_colours(groups or ())
    strip = [] if groups is None else [tints[groups[k]] for k in order]
    heat = tree_and_cells(
        ax, value, names, colours, value_name, linkage=linkage, strip=strip, size=7
    )
    undefined = np.isnan(value)
    if diagonal:
        undefined &= ~np.eye(len(names), dtype=bool)
    for row, column in np.argwhere(undefined).tolist():
        corner = (column + 0.06, row + 0.06)
        heat.add_patch(Rectangle(corner, 0.88, 0.88, color=colour("line"), linewidth=0))
    if strip:
        drawing.tint_names(heat, strip)
    key = [(name, swatch(tint)) for name, tint in tints.items()]
    if undefined.any():
        key.append(("not defined", swatch("line")))
    drawing.key_below(ax, key)
    return heat


# A map of stimuli as a still picture.


_MANY = 3000
"""Dots above which they are drawn as pixels: as so many shapes a picture is slow to open."""
_FEW = 60
"""Dots up to which each is seen by itself."""
_NAME_HEIGHT = 0.029
_LETTER_WIDTH = 0.0125
"""Height of a name and width of a letter, as shares of the map."""


def draw_label_map(ax: Axes, table: Table, *, labels: Sequence[str] = ()) -> None:
    """Draw stimuli as dots, and the name of each label where most of its stimuli are.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds the place ``x`` and ``y``, ``colour`` and ``labels`` (separated by commas) of each
        stimulus, as :class:`affectlab.analysis.labels.LabelMap` does.
    labels
        Labels that are named.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"x": [0, 1], "y": [0, 1], "colour": ["#aa0000", "#00aa00"],
    ...         "labels": ["joy", "fear"]}
    >>> page = draw_figure("label_map", data, labels=["joy", "fear"])
    >>> sorted(text.get_text() for text in page.axes[0].texts)
    ['fear', 'joy']
    """
    import polars as pl

    frame = table.frame
    at = np.stack(drawing.columns_of(frame, "x", "y"), axis=1)
    drawing.fit(ax, drawing.WIDTH * 0.86)
    ax.scatter(
        at[:, 0],
        at[:, 1],
        c=frame["colour"].to_list(),
        s=float(np.clip(22000 / max(len(at), 1), 1.5, 30)),
        linewidths=0,
        alpha=0.85,
        rasterized=len(at) > _MANY,
    )
    if labels:
        listed = pl.format(", {}, ", pl.col("labels"))
        chosen = frame.select(
            listed.str.contains(f", {name}, ", literal=True).alias(name) for name in labels
        )
        _place_names(ax, at, chosen.to_numpy(), labels)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.04)
    ax.axis("off")


def _place_names(
    axes: Axes, at: np.ndarray[Any, Any], chosen: np.ndarray[Any, Any], labels: Sequence[str]
) -> None:
    """Write each name at the densest spot of its stimuli, frequent labels first."""
    from matplotlib.patheffects import withStroke

    span = max(float(np.ptp(at, axis=0).max()), 1e-9)
    used: list[tuple[float, float, int]] = []
    named = int(chosen.any(axis=0).sum())
    short = drawing.short_names(labels, 24)
    # Among few stimuli names stand beside the dots, which they would hide.
    steps = (1, -1, 2, -2, 3, -3, 4) if len(at) <= _FEW else (0, -1, 1, -2, 2, -3, 3, -4)
    for k in np.argsort(-chosen.sum(axis=0), kind="stable"):
        own = at[chosen[:, k]]
        if not len(own):
            continue
        # Stimuli with only this label say best where it is.
        alone = at[chosen[:, k] & (chosen.sum(axis=1) == 1)]
        x, y = _densest(alone if len(alone) else own, span)
        name = short[k]
        tried = [(x, y + _NAME_HEIGHT * span * step, len(name)) for step in steps]
        free = (place for place in tried if not _taken(place, used, span))
        place = next(free, None)
        if place is None:
            continue
        used.append(place)
        axes.text(
            place[0],
            place[1],
            name,
            ha="center",
            va="center",
            fontsize=8,
            color=colour("ink"),
            path_effects=[withStroke(linewidth=2.4, foreground=colour("paper"), alpha=0.85)],
        )
    if len(used) < named:
        drawing.say_below(axes, f"({len(used)} of {named} labels named)")


def _taken(
    place: tuple[float, float, int], used: Sequence[tuple[float, float, int]], span: float
) -> bool:
    """Say whether a name here would lie on another; a place is x, y and letters."""
    return any(
        abs(x - place[0]) < _LETTER_WIDTH * span * (letters + place[2]) / 2
        and abs(y - place[1]) < 0.97 * _NAME_HEIGHT * span
        for x, y, letters in used
    )


def _densest(at: np.ndarray[Any, Any], span: float) -> tuple[float, float]:
    """Middle of the fullest cell of a coarse grid."""
    cell = np.floor((at - at.min(axis=0)) / (0.12 * span)).astype(int)
    _, which, counts = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
    x, y = at[which.ravel() == counts.argmax()].mean(axis=0)
    return float(x), float(y)
