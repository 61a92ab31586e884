"""Who rates differences in a simulation: biases, inconsistencies, and those who do not look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choices, check_number
from affectlab.core.types import Bools, Floats, Ints
from affectlab.simulate.differences.trials import Chance, DifferenceTrials

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

    Returns
    -------
    DifferencePeople
        ``names``, ``bias``, ``inconsistency`` and ``careless`` of each; ``to_frame()``.

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
    check_number("n", n, 1, whole=True)
    for name, value, most in (
        ("bias_sd", bias_sd, math.inf),
        ("inconsistency", inconsistency, 3.0),
        ("careless", careless, 1.0),
    ):
        check_number(name, value, 0, most)
    check_choices("kind of carelessness", kinds, CARELESS_KINDS)
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


# What simulated people say of pairs of faces, and how their slider moves.


_STABLE, _TRIAL, _PLACE, _AWAY, _TIME, _OVER = 21, 22, 23, 24, 25, 26
_HASTY = 2.0 / 3.0
_SECONDS = 9.0


@dataclass(frozen=True)
class Noise:
    """How far answers lie from the truth, beside the bias; see :func:`simulate_differences`."""

    item_sd: float
    trial_sd: float
    ambiguity: float

    def __post_init__(self) -> None:
        for name, most in (("item_sd", math.inf), ("trial_sd", math.inf), ("ambiguity", 1.0)):
            check_number(name, getattr(self, name), 0, most)

    def factor(self, truth: Floats) -> Floats:
        """Give the factor on the noise at true differences: 1 in the middle of the scale."""
        share = truth / 100.0
        found: Floats = 1.0 - self.ambiguity * (1.0 - 2.0 * np.sqrt(share * (1.0 - share)))
        return found


def difference_answers(
    trials: DifferenceTrials,
    rater: Ints,
    batch: Ints,
    truth: Floats,
    people: DifferencePeople,
    noise: Noise,
    chance: Chance,
) -> tuple[Floats, Floats, Floats]:
    """Answer all trials.

    Parameters
    ----------
    rater, batch
        Of each session.
    truth
        True difference of every pair, the golden ones last.

    Returns
    -------
    Values from 0 to 100 in steps of 1, the way of the slider in points, and times in
    milliseconds; one for each trial.
    """
    who, where = rater[trials.session], batch[trials.session]
    truly = truth[trials.pair]
    size = people.inconsistency[who] * noise.factor(truth)[trials.pair]
    value = truly + people.bias[who]
    if noise.item_sd:
        value += noise.item_sd * size * chance.normal(_STABLE, who, trials.pair)
    if noise.trial_sd:
        value += noise.trial_sd * size * chance.normal(_TRIAL, who, trials.pair, where, trials.kind)
    over = np.abs(8.0 * chance.normal(_OVER, who, trials.pair, where, trials.kind))
    pace = _SECONDS * np.exp(0.25 * chance.normal(_TIME, np.arange(len(people))))
    keys = (who, trials.pair, where, trials.kind)
    rt_ms = 1000.0 * pace[who] * np.exp(0.4 * chance.normal(_TIME, *keys))
    kinds = np.array([("", *CARELESS_KINDS).index(kind) for kind in people.careless])[who]
    if kinds.any():
        _careless(value, truly, over, kinds, keys, chance)
        rt_ms[kinds > 0] *= 0.25
    answer = np.clip(np.round(value), 0.0, 100.0)
    # The slider starts at 0, goes past the answer and comes back.
    movement = np.round(answer + 2.0 * np.minimum(over, 100.0 - answer))
    return answer, movement, np.round(rt_ms)


def _careless(
    value: Floats,
    truly: Floats,
    over: Floats,
    kinds: Ints,
    keys: tuple[Ints, Ints, Ints, Ints],
    chance: Chance,
) -> None:
    """Put the answers of those who do not look in place of careful ones."""
    who, _, where, _ = keys

    def rows(kind: str) -> Bools:
        found: Bools = kinds == 1 + CARELESS_KINDS.index(kind)
        return found

    def anywhere(chosen: Bools) -> Floats:
        return 100.0 * chance.uniform(_PLACE, *(key[chosen] for key in keys))

    still, constant, turned = rows("still"), rows("constant"), rows("reversed")
    value[still] = over[still] = 0.0
    jitter = np.round(2.0 * chance.uniform(_AWAY, *(key[constant] for key in keys)) - 1.0)
    value[constant] = jitter + 20.0 + 60.0 * chance.uniform(_PLACE, who[constant], where[constant])
    over[constant] = 0.0
    value[turned] += 100.0 - 2.0 * truly[turned]
    blind = rows("random")
    hasty = rows("hasty")
    blind[hasty] = chance.uniform(_AWAY, *(key[hasty] for key in keys)) < _HASTY
    value[blind] = anywhere(blind)
