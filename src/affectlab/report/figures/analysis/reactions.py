"""Reactions: the words that people use for what they feel, and how much they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Floats, Image
from affectlab.core.words import percent, shown

_POLES = ("positive", "negative", "ambiguous", "neutral")
_BINS = 10
_BESIDE_WORDS = 4.8
"""Width in inches of bars and labels beside the longest words."""
_CROWD = 25
"""Emotions of which one figure is readable."""


def draw_emotion_words(
    ax: Axes,
    table: Table,
    *,
    polarity: Mapping[str, str],
    taxonomy: str = "",
    n: int = _CROWD,
) -> None:
    """Draw the words that people wrote most, with the label that each is mapped to.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``word``, ``n`` (how often each was named), and ``label``, null where a word has none;
        drawn in this order.
    polarity
        Polarity of labels, which gives the colour; others are grey.
    taxonomy
        Name of the taxonomy of the labels.
    n
        Words that are drawn.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"word": ["sad", "zen"], "n": [9, 2], "label": ["sadness", None]}
    >>> page = draw_figure("emotion_words", data, polarity={"sadness": "negative"})
    >>> [text.get_text() for text in page.axes[0].texts]
    ['sadness', 'no label']
    """
    n, said = drawing.first_of(table.frame.height, "words", "reactions", n)
    frame = table.frame.head(n)
    (amount,) = drawing.columns_of(frame, "n")
    labels: list[str | None] = frame["label"].to_list()
    poles = [polarity.get(label or "") for label in labels]
    poles = [pole if pole in _POLES else None for pole in poles]
    tints = [colour(pole or "line") for pole in poles]
    drawing.fit(ax, 0.95 + 0.22 * frame.height)
    ax.barh(range(frame.height), amount, color=tints, height=0.72)
    most = max(float(amount.max(initial=0)), 1.0)
    short = drawing.short_names(["no label" if one is None else one for one in labels])
    for row, (times, label) in enumerate(zip(amount.tolist(), short, strict=True)):
        at = times + 0.012 * most
        ax.text(at, row, label, va="center", fontsize=7.5, color=colour("soft"))
    drawing.names_on_y(ax, frame["word"].to_list())
    ax.set_xlabel(f"{said}; beside each bar the label in {taxonomy}" if taxonomy else said)
    longest = max((drawing.width_of(label, 7.5) for label in short), default=0)
    ax.set_xlim(0, most * max(1.25, _BESIDE_WORDS / (_BESIDE_WORDS - longest)))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    key = [(pole, swatch(colour(pole))) for pole in _POLES if pole in poles]
    if None in poles:
        key.append(("no polarity known", swatch("line")))
    drawing.key_below(ax, key)


def draw_pair_emotions(ax: Axes, table: Table) -> None:
    """Draw how many different emotions pairs have, and how often people's poles are opposed.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the two histograms stand.
    table
        Holds ``n_emotions`` and ``conflict`` of each pair: its different emotions, and the chance
        that two people's emotions are of opposite polarity, null where it is not defined.

    Raises
    ------
    InputError
        When there is no pair.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> page = draw_figure("pair_emotions", {"n_emotions": [2, 3], "conflict": [0.0, 0.5]})
    >>> [axes.get_ylabel() for axes in page.axes]
    ['pairs', 'pairs']
    """
    from matplotlib.ticker import MaxNLocator

    number, conflict = drawing.columns_of(table.frame, "n_emotions", "conflict")
    if not number.size:
        raise InputError("there is no pair to draw; expected at least one")
    drawing.fit(ax, 2.5)
    [[left, right]] = drawing.split(ax, 1, 2)
    edges = np.arange(number.min(), number.max() + 2) - 0.5
    _histogram(left, number, edges, "different emotions of a pair")
    left.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    left.set_title(f"mean {number.mean():.1f}")
    known = conflict[~np.isnan(conflict)]
    _histogram(right, known, np.linspace(0, 1, _BINS + 1), "chance of opposite poles in two people")
    right.set_xlim(0, 1)
    right.xaxis.set_major_formatter(lambda x, _: percent(float(x)))
    some = percent(float((known > 0).mean())) if known.size else "–"
    right.set_title(f"above 0 in {some} of {known.size:,} pairs")


def _histogram(axes: Axes, values: Floats, edges: Floats, name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.hist(values, bins=edges.tolist(), color=colour("people"), rwidth=0.9)
    drawing.grid_along(axes, "y")
    axes.set_xlabel(name)
    axes.set_ylabel("pairs")
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")


_SIDE, _GAP, _LINE = 1.3, 0.16, 0.155
"""Side of a picture, space between parts, and height of a line, in inches."""
_LETTERS = 80
_EXAMPLES = 8
"""Examples that are drawn."""
_ROLES = {"human": "people", "machine": "model"}


def draw_reaction_examples(ax: Axes, table: Table, *, images: Sequence[Image.Image]) -> None:
    """Draw pictures with their captions, and beside them what was said.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the examples stand.
    table
        Holds ``title``, ``caption``, ``emotion`` (what the reactions explain) and reactions, a
        column for each who wrote one (``human`` and ``machine`` have colours of their own); a row
        for each example.
    images
        Picture of each example.

    Raises
    ------
    InputError
        When there is no example, or not as many pictures.

    References
    ----------
    Deng et al. (2023), Socratis, figure 2.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> from affectlab.simulate import simulate_scenes
    >>> scene = simulate_scenes(8, seed=1).draw(3, size=32)
    >>> data = {"title": ["human better"], "caption": ["Peaks at dawn"], "emotion": ["amazed"],
    ...         "human": ["One feels small."], "machine": ["It is a peak."]}
    >>> page = draw_figure("reaction_examples", data, images=[scene])
    >>> page.axes[1].texts[-1].get_text()
    'machine: It is a peak.'
    """
    rows = table.frame.to_dicts()
    if not rows or len(rows) != len(images):
        raise InputError(f"{len(images)} pictures of {len(rows)} examples; expected one of each")
    n, left_out = drawing.first_of(len(rows), "examples", most=_EXAMPLES)
    rows, images = rows[:n], images[:n]
    texts = [_lines(row) for row in rows]
    heights = [max(_SIDE, _LINE * len(lines)) + _GAP for lines in texts]
    drawing.fit(ax, sum(heights) + _GAP)
    ratios = (_SIDE, drawing.WIDTH - _SIDE)
    grid = drawing.split(ax, len(rows), 2, height_ratios=heights, width_ratios=ratios)
    for (left, right), lines, image in zip(grid, texts, images, strict=True):
        left.imshow(np.asarray(image.convert("RGB")))
        left.set_anchor("N")
        left.set_xticks([])
        left.set_yticks([])
        drawing.bare(left)
        right.axis("off")
        for k, (text, role, weight) in enumerate(lines):
            drawing.write(
                right,
                text,
                (0, 1),
                (0, -72 * _LINE * k),
                xycoords="axes fraction",
                va="top",
                color=colour(role),
                fontweight=weight,
                fontsize=8,
            ).set_in_layout(False)

    if left_out:
        drawing.say_below(ax, left_out)


def _lines(row: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Give the lines beside a picture, with colour and weight."""
    said = {who: text for who, text in row.items() if who not in ("title", "caption", "emotion")}
    parts = [
        (row["title"], "soft", "normal"),
        (row["caption"], "ink", "bold"),
        (f"What makes people feel “{row['emotion']}”?", "ink", "normal"),
        *((f"{who}: {text}", _ROLES.get(who, "ink"), "normal") for who, text in said.items()),
    ]
    return [
        (line, role, weight)
        for text, role, weight in parts
        for line in wrap(shown(text), _LETTERS, subsequent_indent="    ") or [""]
    ]
