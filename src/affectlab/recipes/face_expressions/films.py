"""From drawn transitions to pairs of frames: staircases, five frames of each, the design."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.types import Floats

if TYPE_CHECKING:
    from affectlab.simulate.faces import DrawnTransition, DrawnTransitions
    from affectlab.stimuli.pairs import PairDesign

__all__ = ["FULL", "JND", "QUICK", "Films", "Size", "make_films"]

JND = 20.0
"""True difference that observers detect three times of four: what staircases and scores should
find."""
_SLOPE, _LAPSE, _FALSE_ALARMS = 3.5, 0.01, 0.05
_OBSERVERS = 0.15
"""Standard deviation of the logarithm of the true difference that an observer needs."""


@dataclass(frozen=True)
class Size:
    """How large a simulated study is."""

    expressions: int | tuple[str, ...]
    common: int
    per_actor: tuple[int, ...]
    """Transitions of each actor."""
    batches: int
    people: int
    trials: int = 50
    raters: int = 32
    most_sessions: int = 20


FULL = Size(61, 41, (60, 60, 58, 57, 60, 58, 56, 53), batches=354, people=1021)
"""The numbers of the paper; which actor has how many transitions is ours, 462 in all."""
QUICK = Size(
    ("joy", "anger", "surprise", "smile-teeth", "mouth-left", "mouth-right", "jaw-down", "squint"),
    6,
    (8, 8, 7, 7),
    batches=8,
    people=48,
    trials=30,
)


@dataclass(frozen=True, eq=False)
class Films:
    """Drawn transitions, the five frames of each, and the pairs of frames that are compared."""

    transitions: DrawnTransitions
    frames: pl.DataFrame
    """``actor, expression, place, role, file, frame, time_ms, fps``, as ``frames.csv`` has them."""
    crossed: int
    """Transitions of less than about 2 JNDs, of which frames at equal steps were taken."""
    left_out: int
    """Transitions of which there are no five different frames."""
    design: PairDesign
    truth: Floats
    """True difference of every pair of the design."""

    def fastest(self) -> tuple[float, str]:
        """Find the shortest time to 1 JND at any moment, in milliseconds, and whose it is."""
        shortest, name = math.inf, ""
        for one in self.transitions.transitions:
            time = one.fastest(JND, most_ms=shortest - 1.0)
            if time < shortest:
                shortest, name = time, f"{one.actor} {one.expression}"
        return shortest, name


def make_films(size: Size, seed: int) -> Films:
    """Draw transitions, run two staircases over each, take five frames and design the pairs."""
    from affectlab.simulate import draw_transitions
    from affectlab.stimuli import ExpressionSequences, example_sequences, pair_design

    transitions = draw_transitions(len(size.per_actor), size.expressions, seed=seed)
    names = tuple(dict.fromkeys(one.expression for one in transitions.transitions))
    # Which transitions nobody filmed is drawn as the examples of designs draw it.
    example = example_sequences(
        len(size.per_actor),
        len(names),
        common=size.common,
        per_actor=dict(enumerate(size.per_actor, start=1)),
        seed=seed,
    )
    there = {
        (f"actor-{int(actor[-2:])}", names[int(expression[-2:]) - 1])
        for actor, expression in example.frames.select("actor", "expression").iter_rows()
    }
    everything = {(one.actor, one.expression) for one in transitions.transitions}
    transitions = draw_transitions(
        len(size.per_actor), size.expressions, missing=everything - there, seed=seed
    )
    rows, crossed, left = [], 0, 0
    for number, one in enumerate(transitions.transitions):
        chance = np.random.default_rng([9_001, seed, number])
        distances = [_staircase(one, anchor, size.trials, chance) for anchor in ("peak", "neutral")]
        found = _five(one, distances)
        left += not found
        crossed += any(row["role"] == "step_3" for row in found)
        rows += found
    if not rows:
        raise InputError("no drawn transition has five different frames")
    frames = pl.DataFrame(rows)
    design = pair_design(ExpressionSequences(frames), batches=size.batches, seed=seed)
    return Films(
        transitions,
        frames,
        crossed,
        left,
        design,
        transitions.truth(design.pairs, frames),
    )


def _staircase(
    one: DrawnTransition, anchor: str, trials: int, chance: np.random.Generator
) -> float:
    """Let one observer say which frames differ from an end; give the frames to 1 JND."""
    from affectlab.analysis import FrameStaircase, simulate_observer

    run = FrameStaircase.begin(one.n_frames, anchor, trials=trials)
    far = one.differences(run.anchor_frame)
    needed = math.log10(JND) + _OBSERVERS * float(chance.standard_normal()) / math.log(10)
    observer = simulate_observer(needed, _SLOPE, _LAPSE, _FALSE_ALARMS, seed=chance)

    def sees(intensity: float) -> bool:
        distance = round(10**intensity)
        difference = far[abs(run.anchor_frame - distance)]
        return observer(math.log10(difference) if difference > 0 else -math.inf)

    found = run.simulate(sees).result()
    if found.ok:
        return found.distance
    return math.inf if found.beyond > found.within else 0.0


def _five(one: DrawnTransition, distances: list[float]) -> list[dict[str, object]]:
    """Rows of the five frames; none where there are no five different frames."""
    from affectlab.stimuli.frames import UnusableError, five_frames

    try:
        five = five_frames(one.n_frames, *distances)
    except UnusableError:
        return []
    return [
        {
            "actor": one.actor,
            "expression": one.expression,
            "place": place,
            "role": role,
            "file": f"{one.actor}/{one.expression}/{role}.png",
            "frame": frame,
            "time_ms": float(one.times_ms[frame]),
            "fps": one.fps,
        }
        for place, (frame, role) in enumerate(zip(five.frames, five.roles, strict=True), start=1)
    ]
