"""What most others named for the same thing."""

from __future__ import annotations

from collections import Counter

__all__ = ["popular_without"]

_FEWEST = 2
"""Others who must have named something before it counts as popular."""


def popular_without(counts: Counter[str], own: frozenset[str]) -> set[str]:
    """Give what was named most often by others than the one who named `own`.

    Parameters
    ----------
    counts
        How many people named each, the one in question among them.

    Examples
    --------
    >>> popular_without(Counter({"hope": 3, "fear": 3}), frozenset({"hope"}))
    {'fear'}
    >>> popular_without(Counter({"hope": 2, "fear": 1}), frozenset({"hope"}))
    set()
    """
    others = {key: n - (key in own) for key, n in counts.items()}
    most = max(others.values(), default=0)
    return {key for key, n in others.items() if n == most} if most >= _FEWEST else set()
