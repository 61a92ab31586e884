"""Which words moved a prediction: bars along a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affectlab._types import Axes, Figure
from affectlab._words import number, shown
from affectlab.report._figures._base import WIDTH, canvas
from affectlab.report._theme import colour, themed

__all__ = ["fig_contributions"]

_MOST = 40
"""Tokens that are drawn; of a longer text those with the longest bars."""
_LINE = 0.19
"""Height of a token in inches."""


@themed
def fig_contributions(
    parts: Mapping[str, Sequence[tuple[str, float]]],
    *,
    probabilities: Mapping[str, float] | None = None,
) -> Figure:
    """Draw what each token of a text adds to the logits of some labels.

    Parameters
    ----------
    parts
        Label to the tokens of the text in order, with what each adds; the same tokens for all.
    probabilities
        Of the labels, written beside their names.

    Examples
    --------
    >>> figure = fig_contributions({"joy": [("so", 0.2), ("happy", 4.1), ("not", -1.0)]})
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['so', 'happy', 'not']
    """
    first = next(iter(parts.values()), ())
    strength = [max(abs(own[row][1]) for own in parts.values()) for row in range(len(first))]
    strongest = sorted(range(len(first)), key=lambda row: -strength[row])[:_MOST]
    kept = sorted(strongest)
    reach = max((strength[row] for row in kept), default=1.0) or 1.0
    figure = canvas(0.55 + _LINE * max(len(kept), 1), WIDTH if len(parts) > 1 else WIDTH / 2)
    names = [shown(first[row][0], 18) for row in kept]
    for place, (label, own) in enumerate(parts.items()):
        axes = figure.add_subplot(1, max(len(parts), 1), place + 1)
        _bars(axes, [own[row][1] for row in kept], reach)
        axes.set_yticks(range(len(kept)), names if place == 0 else [""] * len(kept))
        certain = "" if probabilities is None else f"  p = {number(probabilities[label])}"
        axes.set_title(f"{shown(label, 20)}{certain}", fontweight="bold", color=colour("ink"))
    return figure


def _bars(axes: Axes, values: Sequence[float], reach: float) -> None:
    """Draw one bar per token, up to the right, down to the left, with its number."""
    tints = [colour("people") if value > 0 else colour("model") for value in values]
    axes.barh(range(len(values)), values, color=tints, height=0.78, alpha=0.75)
    axes.axvline(0, color=colour("soft"), linewidth=0.8)
    for row, value in enumerate(values):
        if abs(value) >= 0.05 * reach:
            axes.annotate(
                number(value),
                (value, row),
                xytext=(3 if value > 0 else -3, 0),
                textcoords="offset points",
                va="center",
                ha="left" if value > 0 else "right",
                fontsize=7,
                color=colour("soft"),
            )
    axes.set_xlim(-1.35 * reach, 1.35 * reach)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.tick_params(length=0)
    axes.set_xticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
