"""Invented sequences, to try designs out before there are pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from affectlab.errors import InputError
from affectlab.stimuli._sequences import FIVE_FRAMES, ExpressionSequences

__all__ = ["example_sequences"]


def example_sequences(
    actors: int = 8,
    expressions: int = 61,
    *,
    common: int | None = None,
    per_actor: Mapping[int, int] | None = None,
    seed: int = 0,
) -> ExpressionSequences:
    """Make a table of sequences of five frames whose files do not exist.

    Parameters
    ----------
    actors, expressions
        How many there are.
    common
        Expressions that all actors have; None for all of them.
    per_actor
        Number of sequences of actors by their number from 1; others have all. Each expression is
        left to at least one actor where that is possible.
    seed
        Draws which sequences are missing.

    Raises
    ------
    InputError
        When a number is out of range.

    Examples
    --------
    >>> example_sequences(actors=2, expressions=3, common=1, per_actor={2: 2})
    ExpressionSequences(5 sequences, 2 actors, 3 expressions, 25 frames)
    """
    shared = expressions if common is None else common
    counts = {number: (per_actor or {}).get(number, expressions) for number in range(1, actors + 1)}
    if actors < 1 or expressions < 1 or not 0 <= shared <= expressions:
        raise InputError(
            f"actors = {actors}, expressions = {expressions}, common = {shared}: expected at least "
            "one actor and expression, and not more common ones than there are"
        )
    for number, count in counts.items():
        if not shared <= count <= expressions:
            raise InputError(
                f"actor {number}: {count} sequences; expected {shared} to {expressions}"
            )
    rng = np.random.default_rng(seed)
    missing = _missing(counts, expressions, shared, rng)
    rows = [
        {
            "actor": f"actor-{number:02d}",
            "expression": f"expression-{expression + 1:02d}",
            "place": place,
            "role": role,
            "file": f"actor-{number:02d}/expression-{expression + 1:02d}/{role}.png",
        }
        for number in counts
        for expression in range(expressions)
        if (number, expression) not in missing
        for place, role in enumerate(FIVE_FRAMES, start=1)
    ]
    return ExpressionSequences(pl.DataFrame(rows))


def _missing(
    counts: Mapping[int, int], expressions: int, shared: int, rng: np.random.Generator
) -> set[tuple[int, int]]:
    """Draw what is missing, so that each expression that not all share is missing somewhere."""
    rare = rng.permutation(expressions)[shared:]
    lacking = np.zeros(expressions, dtype=int)
    missing: set[tuple[int, int]] = set()
    for number, count in counts.items():
        order = rng.permutation(rare)
        chosen = order[np.argsort(lacking[order], kind="stable")][: expressions - count]
        lacking[chosen] += 1
        missing.update((number, int(expression)) for expression in chosen)
    return missing
