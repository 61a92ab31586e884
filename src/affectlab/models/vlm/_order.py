"""In which order labels are asked for, and which side comes first: drawn by a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab.errors import InputError
from affectlab.protocols import Question

__all__ = ["drawn_order", "drawn_sides"]

_LABELS, _SIDES = 1, 2
"""Streams of one seed: the order of labels must not tell which side came first."""


def _generator(seed: int, stream: int) -> np.random.Generator:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"order_seed {seed!r}: expected a whole number from 0 on, or None")
    return np.random.default_rng([int(seed), stream])


def drawn_order(questions: Sequence[Question], seed: int | None) -> tuple[Question, ...]:
    """Shuffle questions by a seed: first their groups, then those of each group.

    Labels that a display keeps together stay together. Without a seed the order is that of the
    protocol, with the labels of each group side by side.

    Examples
    --------
    >>> asked = [Question("?", label) for label in ("joy", "fear", "anger", "love")]
    >>> [one.label for one in drawn_order(asked, 5)]
    ['anger', 'joy', 'love', 'fear']
    """
    groups: dict[tuple[str, ...], list[Question]] = {}
    for question in questions:
        groups.setdefault(question.groups, []).append(question)
    blocks = list(groups.values())
    if seed is not None:
        generator = _generator(seed, _LABELS)
        blocks = [blocks[place] for place in generator.permutation(len(blocks))]
        blocks = [[one[place] for place in generator.permutation(len(one))] for one in blocks]
    return tuple(question for block in blocks for question in block)


def drawn_sides(seed: int | None) -> bool:
    """Draw whether the second of two comes first; never without a seed.

    Examples
    --------
    >>> drawn_sides(None)
    False
    """
    return seed is not None and bool(_generator(seed, _SIDES).integers(2))
