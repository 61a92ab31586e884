"""Simulated people whose answers are not ratings of labels: who they are, and what is planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

__all__ = ["Crowd", "Planted", "Someone", "draw_crowd"]


@dataclass(frozen=True)
class Someone:
    """A simulated person."""

    name: str
    preset: str
    """What kind of person it is; the careless ones are those that do not look."""
    attentive: bool


@dataclass(frozen=True, eq=False)
class Planted:
    """The truth that simulated people answer from, as a table."""

    frame: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        """Give the table."""
        return self.frame


@dataclass(frozen=True, eq=False)
class Crowd:
    """Simulated people and how long each looks at each stimulus."""

    profiles: tuple[Someone, ...]
    truth: Planted
    seconds: Mapping[tuple[str, str], float]
    """Time that (person, stimulus) takes."""
    seed: int

    def about(self, number: int) -> dict[str, Any]:
        """What the export says of one of them."""
        one = self.profiles[number]
        return {"planted": one.preset, "careless": not one.attentive}

    def rng(self, number: int, stimulus: str, again: bool) -> np.random.Generator:
        """Give the chance that decides about one answer: the same whenever it is asked for."""
        name = self.profiles[number].name
        return np.random.default_rng([self.seed, *f"{name}\0{stimulus}\0{again}".encode()])


def draw_crowd(
    n: int,
    careless: int,
    kinds: tuple[tuple[str, ...], tuple[str, ...]],
    names: list[str],
    seconds: float,
    rng: np.random.Generator,
) -> tuple[tuple[Someone, ...], dict[tuple[str, str], float]]:
    """Draw people of careful and of careless kinds, and the time that each takes.

    Parameters
    ----------
    n, careless
        People, and how many of them do not look.
    kinds
        Names of careful and of careless kinds, which are given out in turn.
    names
        Stimuli.
    seconds
        Median time of a careful person.

    Raises
    ------
    InputError
        When there are more careless people than people.
    """
    if not 0 <= careless <= n:
        raise InputError(f"careless {careless}: expected 0 to {n}, the number of people")
    careful, lazy = kinds
    drawn = [(lazy[k % len(lazy)], False) for k in range(careless)]
    drawn += [(careful[k % len(careful)], True) for k in range(n - careless)]
    people = tuple(
        Someone(f"p{number:03d}", *drawn[k])
        for number, k in enumerate(rng.permutation(n).tolist(), start=1)
    )
    times = {
        (one.name, name): float(
            rng.lognormal(np.log(seconds if one.attentive else seconds / 8), 0.4)
        )
        for one in people
        for name in names
    }
    return people, times
