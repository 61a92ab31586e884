"""Batches of rows, pass after pass, that follow from a seed and a step alone."""

from __future__ import annotations

from affectlab._types import Ints
from affectlab.models._steps import shuffled

__all__ = ["Cycle"]


class Cycle:
    """Goes through n rows again and again, in another order each time.

    Examples
    --------
    >>> cycle = Cycle(n=5, size=2, draw=(0, 1))
    >>> sorted(row for step in range(3) for row in cycle.batch(step)[1].tolist())
    [0, 1, 2, 3, 4]
    >>> cycle.batch(3)[0]
    1
    """

    def __init__(self, n: int, size: int, draw: tuple[int, ...]) -> None:
        self.n, self.draw = n, draw
        self.batches = -(-n // size)
        self._turn = -1
        self._held: list[Ints] = []

    def batch(self, step: int) -> tuple[int, Ints]:
        """Give which pass a step is in, and its rows, each once."""
        turn, place = divmod(step, self.batches)
        if turn != self._turn:
            self._held = shuffled(self.n, self.batches, (*self.draw, turn))
            self._turn = turn
        return turn, self._held[place]
