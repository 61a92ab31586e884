"""What simulated people say of pairs of faces, and how their slider moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.simulate._differences_chance import Chance
from affectlab.simulate._differences_people import CARELESS_KINDS, DifferencePeople
from affectlab.simulate._differences_trials import DifferenceTrials

__all__ = ["DifferenceAnswers", "Noise", "difference_answers"]

_STABLE, _TRIAL, _PLACE, _AWAY, _TIME, _OVER = 21, 22, 23, 24, 25, 26
_HASTY = 2.0 / 3.0
_SECONDS = 9.0


@dataclass(frozen=True)
class Noise:
    """How far answers lie from the truth, beside the bias; see :func:`simulate_differences`."""

    item_sd: float
    trial_sd: float
    ambiguity: float

    def factor(self, truth: Floats) -> Floats:
        """Give the factor on the noise at true differences: 1 in the middle of the scale."""
        share = truth / 100.0
        found: Floats = 1.0 - self.ambiguity * (1.0 - 2.0 * np.sqrt(share * (1.0 - share)))
        return found


@dataclass(frozen=True, eq=False)
class DifferenceAnswers:
    """One entry per trial."""

    value: Floats
    """0 to 100 in steps of 1."""
    movement: Floats
    """Way of the slider in points."""
    rt_ms: Floats


def difference_answers(
    trials: DifferenceTrials,
    rater: Ints,
    batch: Ints,
    truth: Floats,
    people: DifferencePeople,
    noise: Noise,
    chance: Chance,
) -> DifferenceAnswers:
    """Answer all trials.

    Parameters
    ----------
    rater, batch
        Of each session.
    truth
        True difference of every pair, the golden ones last.
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
    return DifferenceAnswers(answer, movement, np.round(rt_ms))


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
