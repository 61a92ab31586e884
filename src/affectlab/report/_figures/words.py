"""The words that go with each label, as small charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affectlab._types import Axes, Figure
from affectlab._words import number, shown
from affectlab.report._figures._base import WIDTH, canvas
from affectlab.report._figures.frequencies import group_colours
from affectlab.report._theme import colour, themed

__all__ = ["fig_words"]

_ACROSS = 4
_LINE = 0.17
"""Height of a bar in inches."""


@themed
def fig_words(
    words: Mapping[str, Sequence[tuple[str, float]]],
    *,
    groups: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the first words of each label as bars, one small chart per label.

    Parameters
    ----------
    words
        Label to its words with their z, the first first; a label may have none.
    groups
        Group of each label, which gives the colour.

    References
    ----------
    Demszky et al. (2020), GoEmotions, table 3.

    Examples
    --------
    >>> figure = fig_words({"joy": [("happy", 32.0), ("glad", 27.0)], "grief": []})
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['joy', 'grief']
    """
    across = min(_ACROSS, max(len(words), 1))
    down = -(-len(words) // across)
    lines = max((len(found) for found in words.values()), default=1) or 1
    figure = canvas(down * (0.36 + _LINE * lines) + 0.1, WIDTH if across > 1 else WIDTH / 2)
    most = max((z for found in words.values() for _, z in found), default=1.0)
    tints = {} if groups is None else group_colours(list(groups.values()))
    for k, (label, found) in enumerate(words.items()):
        axes = figure.add_subplot(down, across, k + 1)
        tint = colour("people") if groups is None else tints[groups[label]]
        _bars(axes, found, lines, most, tint)
        axes.set_title(shown(label, 24), fontweight="bold", color=tint)
    return figure


def _bars(
    axes: Axes, found: Sequence[tuple[str, float]], lines: int, most: float, tint: str
) -> None:
    """Draw bars with the word and its z inside or beside them."""
    axes.barh(range(len(found)), [z for _, z in found], color=tint, height=0.86, alpha=0.3)
    for row, (word, z) in enumerate(found):
        axes.text(0.015 * most, row, shown(word, 20), va="center", fontsize=7.5)
        axes.text(
            most, row, number(z, 1), va="center", ha="right", fontsize=7, color=colour("soft")
        )
    if not found:
        axes.text(0.015 * most, 0, "no word", va="center", fontsize=7.5, color=colour("soft"))
    axes.set_xlim(0, most)
    axes.set_ylim(lines - 0.5, -0.5)
    axes.axis("off")
