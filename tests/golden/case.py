"""How a case is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CLOSED = 1e-9
"""Tolerance of closed forms, relative to the number: what another order of operations leaves."""
ITERATED = 1e-6
"""Tolerance of iterated fits."""


@dataclass(frozen=True)
class Case:
    """A function of the package, and of a table where it runs on some."""

    run: Callable[..., Any]
    tables: tuple[str, ...]
    tolerance: float


def case(*tables: str, tolerance: float = CLOSED) -> Callable[[Callable[..., Any]], Case]:
    """Declare ``f(al)``, or ``f(al, ratings)`` for each of the named tables, as a case."""
    return lambda run: Case(run, tables, tolerance)
