"""Reactions: the words that people use for what they feel, and how much they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Axes, Figure, Floats, Image
from affectlab.core.words import percent, shown
from affectlab.report.drawing import (
    WIDTH,
    canvas,
    colour,
    grid_along,
    key_below,
    names_on_y,
    swatch,
    themed,
)

__all__ = [
    "ReactionExample",
    "fig_emotion_words",
    "fig_pair_emotions",
    "fig_reaction_examples",
]

_POLES = ("positive", "negative", "ambiguous", "neutral")
_NO_POLE = "no polarity known"
_BINS = 10


@themed
def fig_emotion_words(
    words: Sequence[str],
    counts: Sequence[float],
    *,
    labels: Sequence[str | None],
    polarities: Sequence[str | None],
    taxonomy: str = "",
) -> Figure:
    """Draw the words that people wrote most, with the label that each is mapped to.

    Parameters
    ----------
    words, counts
        Emotions and how often each was named, shape (n,), drawn in this order.
    labels
        Label of each; None when it has none.
    polarities
        Polarity of the label, which gives the colour; None for grey.
    taxonomy
        Name of the taxonomy of the labels.

    Raises
    ------
    InputError
        When the lengths differ.

    Examples
    --------
    >>> figure = fig_emotion_words(
    ...     ["sad", "zen"], [9, 2], labels=["sadness", None], polarities=["negative", None])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['sadness', 'no label']
    """
    if not len(words) == len(counts) == len(labels) == len(polarities):
        raise InputError("words, counts, labels and polarities differ in length; expected one each")
    amount = np.asarray(counts, dtype=np.float64)
    figure = canvas(0.95 + 0.22 * len(words))
    axes = figure.add_subplot()
    poles = [one if one in _POLES else None for one in polarities]
    tints = [colour("line") if one is None else colour(one) for one in poles]
    axes.barh(range(len(words)), amount, color=tints, height=0.72)
    most = max(float(amount.max(initial=0)), 1.0)
    for row, (count, label) in enumerate(zip(amount, labels, strict=True)):
        axes.text(
            count + 0.012 * most,
            row,
            "no label" if label is None else shown(label, 30),
            va="center",
            fontsize=7.5,
            color=colour("soft"),
        )
    names_on_y(axes, list(words))
    grid_along(axes, "x")
    axes.set_xlabel(
        f"reactions; beside each bar the label in {taxonomy}" if taxonomy else "reactions"
    )
    axes.set_xlim(0, most * 1.25)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    used = [(pole, swatch(colour(pole), "s")) for pole in _POLES if pole in poles]
    if None in poles:
        used.append((_NO_POLE, swatch(colour("line"), "s")))
    key_below(figure, used)
    return figure


@themed
def fig_pair_emotions(n_emotions: Sequence[int], conflict: Sequence[float | None]) -> Figure:
    """Draw how many different emotions pairs have, and how often people's poles are opposed.

    Parameters
    ----------
    n_emotions
        Different emotions of each pair, shape (n,).
    conflict
        Chance that two people's emotions are of opposite polarity, shape (n,); None where it is
        not defined.

    Raises
    ------
    InputError
        When there is no pair.

    Examples
    --------
    >>> figure = fig_pair_emotions([2, 3, 3], [0.0, 0.5, None])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['pairs', 'pairs']
    """
    if not len(n_emotions):
        raise InputError("there is no pair to draw; expected at least one")
    figure = canvas(2.5)
    left, right = figure.subplots(1, 2)
    number = np.asarray(n_emotions, dtype=np.int64)
    edges = np.arange(number.min(), number.max() + 2) - 0.5
    _histogram(left, number.astype(np.float64), edges, "different emotions of a pair")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.set_title(f"mean {number.mean():.1f}", loc="left")
    known = np.array([one for one in conflict if one is not None], dtype=np.float64)
    _histogram(right, known, np.linspace(0, 1, _BINS + 1), "chance of opposite poles in two people")
    right.set_xlim(0, 1)
    right.xaxis.set_major_formatter(lambda x, _: percent(float(x)))
    some = percent(float((known > 0).mean())) if known.size else "–"
    right.set_title(f"above 0 in {some} of {known.size:,} pairs", loc="left")
    return figure


def _histogram(axes: Axes, values: Floats, edges: Floats, name: str) -> None:
    axes.hist(values, bins=edges.tolist(), color=colour("people"), rwidth=0.9)
    grid_along(axes, "y")
    axes.set_xlabel(name)
    axes.set_ylabel("pairs")
    axes.yaxis.set_major_formatter("{x:,.0f}")


# Examples of reactions: a picture with its caption, and what people and machines say of it.


_SIDE, _GAP, _LINE = 1.3, 0.16, 0.155
"""Side of a picture, space between parts, and height of a line, in inches."""
_LETTERS = 80
_ROLES = {"human": "people", "machine": "model"}


@dataclass(frozen=True)
class ReactionExample:
    """A picture, its caption, and reactions to both."""

    title: str
    image: Image.Image
    caption: str
    emotion: str
    """What the reactions explain."""
    reactions: Sequence[tuple[str, str]]
    """Who wrote it (``human`` and ``machine`` have colours of their own), and what."""


@themed
def fig_reaction_examples(examples: Sequence[ReactionExample]) -> Figure:
    """Draw pictures with their captions, and beside them what was said.

    Parameters
    ----------
    examples
        One row each.

    Raises
    ------
    InputError
        When there is no example.

    References
    ----------
    Deng et al. (2023), Socratis, figure 2.

    Examples
    --------
    >>> from affectlab.simulate import simulate_scenes
    >>> scene = simulate_scenes(8, seed=1).draw(3, size=32)
    >>> one = ReactionExample("human better", scene, "Peaks at dawn", "amazed",
    ...                       [("human", "One feels small."), ("machine", "It is a peak.")])
    >>> len(fig_reaction_examples([one]).axes)
    1
    """
    if not examples:
        raise InputError("there is no example; expected at least one")
    texts = [_lines(one) for one in examples]
    heights = [max(_SIDE, _LINE * len(lines)) for lines in texts]
    tall = sum(heights) + _GAP * (len(heights) + 1)
    figure = canvas(tall)
    figure.set_layout_engine("none")
    top = tall
    for one, lines, height in zip(examples, texts, heights, strict=True):
        top -= _GAP
        axes = figure.add_axes((_GAP / WIDTH, (top - _SIDE) / tall, _SIDE / WIDTH, _SIDE / tall))
        axes.imshow(np.asarray(one.image.convert("RGB")))
        axes.set_xticks([])
        axes.set_yticks([])
        for k, (text, role, weight) in enumerate(lines):
            figure.text(
                (_SIDE + 2 * _GAP) / WIDTH,
                (top - _LINE * k) / tall,
                text,
                color=colour(role),
                fontweight=weight,
                fontsize=8,
                va="top",
            )
        top -= height
    return figure


def _lines(one: ReactionExample) -> list[tuple[str, str, str]]:
    """Give the lines beside a picture, with colour and weight."""
    parts = [(one.title, "soft", "normal"), (one.caption, "ink", "bold")]
    parts.append((f"What makes people feel “{one.emotion}”?", "ink", "normal"))
    parts += [(f"{who}: {text}", _ROLES.get(who, "ink"), "normal") for who, text in one.reactions]
    return [
        (line, role, weight)
        for text, role, weight in parts
        for line in wrap(shown(text), _LETTERS, subsequent_indent="    ") or [""]
    ]
