"""Compiled loops of the room. Import from here inside the function that needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.compiled.groups import root_of
from affectlab.core.types import Floats, Ints


@kernel
def join_alike(
    run: NDArray[np.int32],
    end: NDArray[np.int32],
    small: Ints,
    large: Ints,
    least: float,
    group: Ints,
) -> Floats:
    """Join the groups of sets whose similarity reaches the least one, pair by pair.

    Parameters
    ----------
    run, end
        Members of all sets one after the other, in rising order, and where each set begins and
        the last one ends.
    small, large
        Pairs of sets, shape (p,).
    group
        A set of the same group, or the set itself; changed in place. Shape (n,).

    Returns
    -------
    Similarity of the pairs that joined two groups, 0 for all others, shape (p,).
    """
    similarity = np.zeros(small.size)
    for pair in range(small.size):
        one, two = root_of(group, small[pair]), root_of(group, large[pair])
        if one == two:
            continue
        i, j = end[small[pair]], end[large[pair]]
        last_i, last_j = end[small[pair] + 1], end[large[pair] + 1]
        both = 0
        total = last_i - i + last_j - j
        needed = least / (1 + least) * total
        while i < last_i and j < last_j and both + min(last_i - i, last_j - j) >= needed:
            if run[i] == run[j]:
                both += 1
                i += 1
                j += 1
            elif run[i] < run[j]:
                i += 1
            else:
                j += 1
        if both >= needed:
            group[two] = one
            similarity[pair] = both / (total - both)
    return similarity
