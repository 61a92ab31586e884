"""Which actors are left out to choose how much a learner is held back."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["DEFAULT_STRENGTH", "inner_folds"]

DEFAULT_STRENGTH = 1e-2
"""Where there is one actor alone, nothing can be left out to choose by."""


def inner_folds(
    actors: Iterable[int], most: int
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Give at most so many ways to learn from some actors and choose by the others.

    Each actor is left out once; none where there is one actor alone.

    Examples
    --------
    >>> inner_folds([0, 2, 5], 2)
    (((2,), (0, 5)), ((0, 5), (2,)))
    """
    names = sorted(actors)
    if len(names) < 2:
        return ()
    n = min(most, len(names))
    parts = [tuple(names[k::n]) for k in range(n)]
    return tuple((tuple(name for name in names if name not in part), part) for part in parts)
