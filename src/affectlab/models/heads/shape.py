"""The layers of a head: a small network that reads an embedding and gives one number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from affectlab.core.errors import InputError, check_choice

__all__ = ["BIG", "SHAPES", "SMALL", "HeadShape", "head_shape"]


@dataclass(frozen=True)
class HeadShape:
    """Hidden layers of a head; each is followed by ReLU and dropout, the last layer gives a number.

    The heads of EmoNet-Face (section B.2) are :data:`SMALL` and :data:`BIG`.

    Raises
    ------
    InputError
        When a layer has no unit, or dropout is not from 0 to below 1.

    Examples
    --------
    >>> HeadShape((128, 32), dropout=0.1).n_parameters(1152)
    151745
    """

    hidden: tuple[int, ...]
    """Units of the hidden layers; empty for a linear head."""
    dropout: float = 0.0
    """Share of hidden units left out in a training step."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for units in self.hidden:
            if isinstance(units, bool) or not isinstance(units, int) or units < 1:
                raise InputError(
                    f"hidden layer of {units!r} units; expected whole numbers from 1 on"
                )
        if not (isfinite(self.dropout) and 0 <= self.dropout < 1):
            raise InputError(f"dropout {self.dropout!r}; expected a number from 0 to below 1")

    def sizes(self, width: int) -> tuple[int, ...]:
        """Give the width of the embedding, of every hidden layer, and of the output.

        Raises
        ------
        InputError
            When the width is below 1.

        Examples
        --------
        >>> BIG.sizes(1152)
        (1152, 1024, 512, 256, 1)
        """
        if width < 1:
            raise InputError(f"embeddings of width {width}; expected 1 or more")
        return (int(width), *self.hidden, 1)

    def n_parameters(self, width: int) -> int:
        """Count weights and biases of one head on embeddings of a width.

        Examples
        --------
        >>> BIG.n_parameters(1152)
        1837057
        """
        sizes = self.sizes(width)
        return sum((a + 1) * b for a, b in pairwise(sizes))


SMALL = HeadShape((128, 32), dropout=0.1)
"""The small head of EmoNet-Face: 151,745 parameters on embeddings of width 1152."""
BIG = HeadShape((1024, 512, 256), dropout=0.2)
"""The big head of EmoNet-Face: 1,837,057 parameters on embeddings of width 1152."""
SHAPES = {"small": SMALL, "big": BIG}
"""Shapes by name."""


def head_shape(shape: str | HeadShape) -> HeadShape:
    """Find a shape by its name; a shape is given back as it is.

    Raises
    ------
    InputError
        When there is no such name.

    Examples
    --------
    >>> head_shape("big").hidden
    (1024, 512, 256)
    """
    if isinstance(shape, HeadShape):
        return shape
    check_choice("head shape", shape, SHAPES)
    return SHAPES[shape]
