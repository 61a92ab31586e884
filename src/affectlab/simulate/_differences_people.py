"""Who rates differences in a simulation: biases, inconsistencies, and those who do not look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name

__all__ = ["CARELESS_KINDS", "DifferencePeople", "difference_people"]

CARELESS_KINDS: tuple[str, ...] = ("still", "constant", "random", "reversed", "hasty")
"""Ways of not looking: the slider stays where it starts; it goes to one place always; anywhere; to
the wrong end; or two of three trials are answered anywhere and the others with care."""


@dataclass(frozen=True, eq=False)
class DifferencePeople:
    """People of a simulated study of differences."""

    names: tuple[str, ...]
    bias: Floats
    """Added to every answer, in points, shape (n,)."""
    inconsistency: Floats
    """Factor on both standard deviations of the noise, mean square 1, shape (n,)."""
    careless: tuple[str, ...]
    """Kind of carelessness, see :data:`CARELESS_KINDS`; empty for who looks."""

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"DifferencePeople({len(self):,}, {sum(map(bool, self.careless)):,} careless)"

    def to_frame(self) -> pl.DataFrame:
        """Give one row per person: ``rater, bias, inconsistency, careless``."""
        return pl.DataFrame(
            {
                "rater": self.names,
                "bias": self.bias,
                "inconsistency": self.inconsistency,
                "careless": self.careless,
            }
        )


def difference_people(
    n: int,
    *,
    bias_sd: float = 5.0,
    inconsistency: float = 0.3,
    careless: float = 0.0,
    kinds: Sequence[str] = CARELESS_KINDS,
    seed: int = 0,
) -> DifferencePeople:
    """Draw people who rate differences.

    Parameters
    ----------
    n
        Number of people, at least 1.
    bias_sd
        Standard deviation of biases, in points.
    inconsistency
        Standard deviation of the logarithm of each person's factor on the noise.
    careless
        Share of people who do not look, rounded to whole people.
    kinds
        How they do not look, in turn; of :data:`CARELESS_KINDS`.
    seed
        Same seed, same people.

    Raises
    ------
    InputError
        When a number is out of range or a kind is not known.

    Examples
    --------
    >>> people = difference_people(200, careless=0.05, seed=1)
    >>> people
    DifferencePeople(200, 10 careless)
    >>> round(float((people.inconsistency**2).mean()), 1)
    1.0
    """
    if n < 1:
        raise InputError(f"n = {n}: expected at least 1 person")
    for name, value, most in (
        ("bias_sd", bias_sd, math.inf),
        ("inconsistency", inconsistency, 3.0),
        ("careless", careless, 1.0),
    ):
        if not 0 <= value <= most or not math.isfinite(value):
            raise InputError(f"{name} = {value!r}: expected a number from 0 to {most:g}")
    for kind in kinds:
        if kind not in CARELESS_KINDS:
            raise unknown_name("kind of carelessness", kind, CARELESS_KINDS)
    count = round(careless * n)
    if count and not kinds:
        raise InputError("kinds: none given; expected at least one kind of carelessness")
    rng = np.random.default_rng([8_123, seed])
    drawn = rng.standard_normal((2, n))
    planted = [""] * n
    for place, person in enumerate(rng.permutation(n)[:count].tolist()):
        planted[person] = kinds[place % len(kinds)]
    width = max(4, len(str(n)))
    return DifferencePeople(
        names=tuple(f"r{number:0{width}d}" for number in range(1, n + 1)),
        bias=bias_sd * drawn[0],
        # exp(s z - s^2) has the mean square 1, so that the noise keeps its size.
        inconsistency=np.exp(inconsistency * drawn[1] - inconsistency**2),
        careless=tuple(planted),
    )
