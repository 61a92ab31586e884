"""An order of rows that is drawn from a seed, within the database."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast

__all__ = ["drawn_order"]

_PRIME = 2**31 - 1


def drawn_order(column: ColumnElement[Any], seed: str) -> ColumnElement[int]:
    """Give the place of each number of a column in an order that is drawn from a seed.

    A line modulo a prime: every two numbers stand in every order of theirs equally often.
    """
    drawn = random.Random(seed)
    factor, shift = drawn.randrange(1, _PRIME), drawn.randrange(_PRIME)
    return (cast(column, BigInteger) * factor + shift) % _PRIME
