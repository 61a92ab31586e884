"""Examples of reactions: a picture with its caption, and what people and machines say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from affectlab._types import Figure, Image
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas
from affectlab.report._theme import colour, themed

__all__ = ["ReactionExample", "fig_reaction_examples"]

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
