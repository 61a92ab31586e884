"""Which actors show which pair of expressions: all the same number, as far as that goes."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError

__all__ = ["allocate_pairs"]


def allocate_pairs(
    available: NDArray[np.bool_], copies: int, seed: int | np.random.Generator = 0
) -> NDArray[np.bool_]:
    """Give each pair of expressions to actors who have both, with loads as equal as can be.

    Pairs that the fewest actors have come first, and each takes the actors with the smallest loads
    so far, as in FaceExpressions-70k (section 3.3). What that leaves unequal is then repaired:
    while work can move along a chain of actors from one to another who has at least two pairs less,
    it moves. When no such chain is left no other allocation has more equal loads, in the sense of
    their sum of squares and of their largest (Harvey and others, 2006, on semi-matchings).

    Parameters
    ----------
    available
        Shape (pairs, actors): whether the actor has both expressions of the pair.
    copies
        Number of actors for each pair; a pair that fewer have gets all of them.
    seed
        Draws among actors with equal loads.

    Returns
    -------
    numpy.ndarray
        Shape (pairs, actors): whether the actor shows the pair.

    Raises
    ------
    InputError
        When `available` has another shape, or `copies` is not between 1 and the number of actors.

    Examples
    --------
    Two actors lack the last expression pair; the third shows it and less of the others.

    >>> import numpy as np
    >>> have = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 1]], dtype=bool)
    >>> allocate_pairs(have, copies=1).sum(axis=0).tolist() in ([2, 2, 1], [2, 1, 2], [1, 2, 2])
    True
    """
    if available.ndim != 2 or available.dtype != np.bool_:
        raise InputError(
            "available: expected true or false for each pair and actor, shape (pairs, actors), "
            f"not {available.dtype} of shape {available.shape}"
        )
    actors = available.shape[1]
    if not 1 <= copies <= actors:
        raise InputError(f"copies = {copies}: expected 1 to the number of actors, {actors}")
    rng = np.random.default_rng(seed)
    held = _greedy(available, copies, rng)
    while _even_out(available, held, rng):
        continue
    return held


def _greedy(
    available: NDArray[np.bool_], copies: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    held = np.zeros_like(available)
    loads = np.zeros(available.shape[1])
    shuffled = rng.permutation(len(available))
    for pair in shuffled[np.argsort(available[shuffled].sum(axis=1), kind="stable")]:
        able = np.flatnonzero(available[pair])
        rest = rng.permutation(able)
        chosen = rest[np.argsort(loads[rest], kind="stable")][:copies]
        held[pair, chosen] = True
        loads[chosen] += 1
    return held


def _even_out(
    available: NDArray[np.bool_], held: NDArray[np.bool_], rng: np.random.Generator
) -> bool:
    """Move a pair along a chain of actors from a larger load to a smaller; False: none is left."""
    loads = held.sum(axis=0)
    free = available & ~held
    # How many pairs the first of two actors could hand to the second.
    handed = held.T.astype(np.float64) @ free.astype(np.float64)
    for giver in np.argsort(-loads, kind="stable"):
        chain = _chain(handed > 0, loads, int(giver))
        if chain:
            for first, second in pairwise(chain):
                pair = rng.choice(
                    np.flatnonzero(held[:, first] & available[:, second] & ~held[:, second])
                )
                held[pair, first], held[pair, second] = False, True
            return True
    return False


def _chain(edges: NDArray[np.bool_], loads: NDArray[np.int64], giver: int) -> list[int]:
    """Find the shortest chain from an actor to one with at least two pairs less; empty: none."""
    before = {giver: -1}
    queue = deque([giver])
    while queue:
        actor = queue.popleft()
        if loads[actor] <= loads[giver] - 2:
            chain = [actor]
            while before[chain[-1]] >= 0:
                chain.append(before[chain[-1]])
            return chain[::-1]
        for following in np.flatnonzero(edges[actor]):
            if int(following) not in before:
                before[int(following)] = actor
                queue.append(int(following))
    return []
