"""How a case is declared; files of cases import nothing else but numpy, polars and the inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CLOSED = 1e-9
"""Tolerance of closed forms: what another order of the same operations leaves."""
ITERATED = 1e-6
"""Tolerance of iterated fits."""


@dataclass(frozen=True)
class Case:
    """A function of the package, and of a table where it runs on some."""

    run: Callable[..., Any]
    tables: tuple[str, ...]
    tolerance: float
    quick: bool
    needs: tuple[str, ...]


def case(
    *tables: str, tolerance: float = CLOSED, quick: bool = False, needs: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Case]:
    """Declare ``f(al)``, or ``f(al, ratings)`` for each of the named tables, as a case.

    Quick cases make up the small set that the tests run. A case is left out where one of the
    libraries that it `needs` is not installed.
    """
    return lambda run: Case(run, tables, tolerance, quick, needs)
