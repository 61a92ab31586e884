"""Compiled loops; import them inside the function that needs them."""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Bools, Floats, Ints


@kernel
def weighted_ranks(order: Ints, last: Bools, weight: Floats, rank: Floats) -> None:
    """Rank every column of items that occur ``weight`` times each, ties at their middle.

    Parameters
    ----------
    order
        Items of each column in rising order, shape (L, n).
    last
        Whether the item at this place is the last of its ties, shape (L, n).
    weight
        Shape (n,).
    rank
        Filled: ranks around their mean, shape (n, L).
    """
    n = weight.size
    middle = weight.sum() / 2
    for column in range(order.shape[0]):
        before = 0.0
        start = 0
        tied = 0.0
        for place in range(n):
            tied += weight[order[column, place]]
            if last[column, place]:
                own = before + tied / 2 - middle
                for k in range(start, place + 1):
                    rank[order[column, k], column] = own
                before += tied
                tied = 0.0
                start = place + 1


@kernel
def push_apart(places: Floats, radius: Floats, weight: Floats, rounds: int) -> None:
    """Move discs, in place, until they hardly overlap; heavy ones move less."""
    n = radius.size
    for _ in range(rounds):
        worst = 0.0
        for a in range(n):
            for b in range(a + 1, n):
                dx = places[b, 0] - places[a, 0]
                dy = places[b, 1] - places[a, 1]
                need = radius[a] + radius[b]
                if abs(dx) >= need or abs(dy) >= need:
                    continue
                apart = np.sqrt(dx * dx + dy * dy)
                if apart >= need:
                    continue
                if apart < 1e-9:
                    dx, dy, apart = 1.0, 0.0, 1.0
                    step = need
                else:
                    step = need - apart
                share = weight[b] / (weight[a] + weight[b])
                places[a, 0] -= dx / apart * step * share
                places[a, 1] -= dy / apart * step * share
                places[b, 0] += dx / apart * step * (1 - share)
                places[b, 1] += dy / apart * step * (1 - share)
                worst = max(worst, step / need)
        if worst < 0.02:
            break
