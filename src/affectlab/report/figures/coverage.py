"""How well kinds of stimuli are covered."""

from __future__ import annotations

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes
from affectlab.core.words import count, shown

_LIMIT = 26
_MOST_BARS = 20
"""Values of an attribute that are drawn."""


def draw_coverage(
    ax: Axes,
    table: Table,
    *,
    counted: str = "n_accepted",
    count_name: str = "pictures",
    short: str | None = None,
    short_name: str = "under-covered",
) -> None:
    """Draw how often each label occurs with the values of some attributes, one panel for each.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``label``, ``attribute`` and ``value`` with counts, a row for each combination.
    counted
        Column of the counts.
    count_name
        What is counted.
    short
        Column that says where there are too few: these cells are framed.
    short_name
        What a frame means.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, figure 2.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["Awe"] * 2, "attribute": ["age"] * 2, "value": ["20", "30"],
    ...         "n": [3, 0], "few": [False, True]}
    >>> page = draw_figure("coverage", data, counted="n", short="few")
    >>> [text.get_text() for text in page.axes[0].texts]
    ['3', '0']
    """
    from matplotlib.colors import Normalize, to_hex
    from matplotlib.patches import Rectangle

    frame = table.frame
    labels = frame["label"].unique(maintain_order=True).to_list()
    n, said = drawing.first_of(len(labels), "labels")
    labels = labels[:n]
    frame = frame.filter(frame["label"].is_in(labels))
    names = {
        str(name): own["value"].unique(maintain_order=True).to_list()[:_MOST_BARS]
        for (name,), own in frame.group_by("attribute", maintain_order=True)
    }
    wide = sum(map(len, names.values()))
    size = 8.0 if n <= 16 else drawing.SMALLEST
    left = 0.25 + max(drawing.width_of(shown(one, _LIMIT), size) for one in labels)
    turned = max(len(shown(one, _LIMIT)) for own in names.values() for one in own)
    cell = min(0.34, (drawing.WIDTH - left - 0.15 * len(names)) / wide)
    width = max(3.2, left + wide * cell + 0.2 * len(names) + 0.2)
    high = n * max(0.17, min(0.3, cell)) + 0.35 + turned * 7 * 0.0085
    drawing.fit(ax, high + 0.75, min(width, drawing.WIDTH))
    panels = drawing.split(
        ax, 1, len(names), sharey=True, width_ratios=[*map(len, names.values())]
    )[0]
    ramp = drawing.counts_ramp()
    for axes, (name, values) in zip(panels, names.items(), strict=True):
        own = frame.filter(frame["value"].is_in(values), attribute=name)
        counts = own[counted].to_numpy().reshape(n, len(values)).astype(np.float64)
        # Each panel has its own shades: three genders share what fourteen ethnicities share.
        top = max(float(counts.max(initial=0)), 1.0)
        # A number of that many digits fits into a cell in print that can be read.
        fits = min(7.5, cell * 72 / (0.75 * len(count(counts.max(initial=0)))))
        drawing.cells(
            axes,
            counts,
            ramp,
            Normalize(0, top),
            size=fits,
            write=count,
            most=len(values) if fits >= 6 else 0,
        )
        if short is not None:
            few = own[short].to_numpy().reshape(n, len(values))
            for row, column in np.argwhere(few).tolist():
                corner = (column + 0.07, row + 0.07)
                tint = colour("negative")
                axes.add_patch(
                    Rectangle(corner, 0.86, 0.86, fill=False, edgecolor=tint, linewidth=1.1)
                )
        axes.set_title(name, pad=6)
        texts = drawing.short_names(values, _LIMIT)
        at = np.arange(len(values)) + 0.5
        axes.set_xticks(at, texts, rotation=0 if max(map(len, texts)) <= 2 else 90, fontsize=7)
    panels[0].set_yticks(np.arange(n) + 0.5, drawing.short_names(labels, _LIMIT), fontsize=size)
    key = [
        (f"no {count_name}", swatch(to_hex(ramp(0.0)), edge="line")),
        ("most of the attribute", swatch(to_hex(ramp(1.0)))),
    ]
    if short is not None:
        key.append((short_name, swatch("none", edge="negative")))
    drawn = {one for own in names.values() for one in own}
    if frame["value"].n_unique() > len(drawn):
        said = f"{said} (the first {_MOST_BARS} values of each)".strip()
    drawing.key_below(ax, key, note=said)
