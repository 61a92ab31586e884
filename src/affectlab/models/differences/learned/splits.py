"""Splits of pairs by actor: whoever is tested was never learned from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.words import count, joined, plural

__all__ = ["ActorSplit", "actor_splits", "check_seed"]

_MOST_SPLITS = 1000


@dataclass(frozen=True)
class ActorSplit:
    """Who is learned from, and who is tested."""

    train: tuple[str, ...]
    test: tuple[str, ...]

    def __str__(self) -> str:
        """Name the split by whom it tests."""
        return ", ".join(self.test)


def actor_splits(
    actors: Iterable[str], n_test: int = 2, *, n_splits: int | None = None, seed: int = 0
) -> tuple[ActorSplit, ...]:
    """Give every way to test on some of the actors and learn from all others.

    Parameters
    ----------
    actors
        Names; one that comes several times, as in a column of pairs, counts once.
    n_test
        Actors that each split tests, 1 or more.
    n_splits
        Draw so many different splits; None: all of them, as in the paper (28 for 8 actors).
    seed
        Draws the splits where not all are taken.

    Returns
    -------
    tuple of ActorSplit
        All in the order of combinations of sorted names; drawn ones in the same order.

    Raises
    ------
    InputError
        When nobody would be left to learn from, or there are more than 1,000 splits.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.1.

    Examples
    --------
    >>> splits = actor_splits(f"actor {k}" for k in range(1, 9))
    >>> len(splits), splits[0].test, len(splits[0].train)
    (28, ('actor 1', 'actor 2'), 6)
    """
    names = tuple(sorted({str(name) for name in actors}))
    if not _is_whole(n_test) or n_test < 1:
        raise InputError(f"n_test = {n_test!r}: expected 1 or more actors for the test")
    if len(names) <= n_test:
        raise InputError(
            f"{plural(len(names), 'actor')} ({joined(names[:5]) if names else 'none'}), of which "
            f"{n_test} would be tested: expected at least {n_test + 1}, so that one is left to "
            "learn from"
        )
    if n_splits is not None and (not _is_whole(n_splits) or not 1 <= n_splits <= _MOST_SPLITS):
        raise InputError(
            f"n_splits = {n_splits!r}: expected 1 or more, up to {count(_MOST_SPLITS)}, or "
            "None for all"
        )
    check_seed(seed)
    total = comb(len(names), n_test)
    if n_splits is None or n_splits >= total:
        if total > _MOST_SPLITS:
            raise InputError(
                f"{len(names)} actors have {count(total)} splits with {n_test} for the test; "
                f"expected n_splits to say how many of them to draw"
            )
        chosen = list(combinations(names, n_test))
    else:
        chosen = _drawn(names, n_test, n_splits, seed)
    return tuple(
        ActorSplit(tuple(name for name in names if name not in test), test) for test in chosen
    )


def check_seed(seed: Any) -> int:
    """Check a seed; raises InputError when it is no whole number from 0 on."""
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"seed = {seed!r}: expected a whole number from 0 on")
    return int(seed)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _drawn(names: tuple[str, ...], n_test: int, n_splits: int, seed: int) -> list[tuple[str, ...]]:
    """Draw different splits, each as likely as any other."""
    rng = np.random.default_rng([seed, len(names), n_test])
    found: set[tuple[int, ...]] = set()
    while len(found) < n_splits:
        places = rng.permutation(len(names))[:n_test]
        found.add(tuple(sorted(int(place) for place in places)))
    return [tuple(names[place] for place in places) for places in sorted(found)]
