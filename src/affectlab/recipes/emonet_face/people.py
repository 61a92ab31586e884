"""Simulated experts and models that rate invented faces, with a truth that is known.

Each face shows one emotion and some of those near to it. Emotions differ in how clearly faces show
them, raters in how much they err, and both are planted: the statistics have to find them again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from affectlab.recipes.emonet_face.agreement import MODELS, OWN, PEOPLE, RANDOM, STAND_INS

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
    from affectlab.simulate.raters import Truth

__all__ = ["BLIND", "NOISE", "PER_IMAGE", "REPEATS", "Faces", "ask_experts", "ask_models", "faces"]

PER_IMAGE = 4
"""Experts who rate each image."""
REPEATS = 20
"""Images that each expert rates again."""
_ANSWERED = 1847 / 2500
"""Share of the images that Gemini 2.5 Pro answered before it was withdrawn."""

_CLEAR = {"Elation": 1.0, "Amusement": 1.0, "Anger": 0.9}
_DULL = {"Interest": 0.04, "Concentration": 0.04, "Contemplation": 0.04}
"""How much of an emotion a face shows at most, as a share of the scale."""

NOISE = {
    "human-2": 0.8, "human-1": 0.88, "human-3": 0.92, "human-8": 0.96, "human-5": 1.0,
    "human-7": 1.05, "human-4": 1.15, "human-6": 1.35,
    "Gemini 2.5 Pro 03-25 ZS": 0.97, "Gemini 2.0 Flash ZS": 1.1, "Gemini 2.5 Flash MS": 1.3,
    "Gemini 2.0 Flash MS": 2.0, "Hume Face*": 2.2,
}  # fmt: skip
"""Standard deviation of the errors of each rater, in points of the scale."""
BLIND = tuple(
    name
    for name, family in MODELS.items()
    if name not in NOISE and family != OWN and name != RANDOM
)
"""Models that answer in the right form, about any image."""


@dataclass(frozen=True)
class Faces:
    """Invented faces: what they show, and how clearly each emotion is shown."""

    truth: Truth
    clarity: dict[str, float]


def faces(n: int, seed: int, *, what: int = 0) -> Faces:
    """Invent faces; `what` tells sets of one seed apart, in which emotions are as clear."""
    from affectlab.simulate import simulate_truth
    from affectlab.simulate.raters import Truth

    drawn = simulate_truth(
        n, "emonet_face", "0-7", seed=np.random.default_rng([8_001, seed, what]), tau=0.5, spread=0
    )
    given = _CLEAR | _DULL
    others = [name for name in drawn.labels if name not in given]
    # The order is drawn, so that clarity goes with no other property of an emotion.
    order = np.random.default_rng([8_002, seed]).permutation(len(others))
    steps = np.linspace(0.2, 0.85, len(others))
    clarity = given | {others[k]: float(step) for k, step in zip(order, steps, strict=True)}
    share = np.array([clarity[name] for name in drawn.labels])
    stimuli = tuple(f"face-{what}-{k:05d}" for k in range(n))
    return Faces(Truth(drawn.value * share, stimuli, drawn.labels, drawn.scale), clarity)


def ask_experts(shown: Faces, seed: int) -> Ratings:
    """Let eight experts rate faces, four for each face, and some faces twice."""
    from affectlab.simulate import simulate_raters
    from affectlab.simulate.raters import RaterProfile

    experts = [RaterProfile(name, inconsistency=NOISE[name]) for name in PEOPLE]
    return simulate_raters(
        shown.truth,
        experts,
        seed=np.random.default_rng([8_003, seed]),
        raters_per_stimulus=PER_IMAGE,
        repeats=min(REPEATS, len(shown.truth.stimuli) // 4),
        source="simulated experts",
    ).ratings


def ask_models(shown: Faces, people: Ratings, seed: int) -> Ratings:
    """Let readers of known strength stand in for the models that the paper did not train.

    Returns
    -------
    Answers on the scale 0 to 7 without steps, since one of them gives fractions.
    """
    from affectlab.ratings import Scale
    from affectlab.simulate import random_baseline, simulate_raters
    from affectlab.simulate.raters import RaterProfile

    readers = [name for name in NOISE if name not in PEOPLE]
    fine = replace(shown.truth, scale=Scale.parse("0-7 interval"))
    seen = simulate_raters(
        fine,
        [
            RaterProfile(STAND_INS[name], kind="model", inconsistency=NOISE[name])
            for name in readers
        ],
        seed=np.random.default_rng([8_004, seed]),
    ).ratings
    whole = np.array([name != STAND_INS["Hume Face*"] for name in seen.rater_names])[
        seen.rater_code
    ]
    values = np.where(whole, np.rint(seen.value), seen.value)
    seen = seen.with_values(values, step="language models answer in whole numbers")
    part = [STAND_INS["Gemini 2.5 Pro 03-25 ZS"]]
    answered = shown.truth.stimuli[: round(_ANSWERED * len(shown.truth.stimuli))]
    seen = seen.select(raters=[name for name in seen.rater_names if name not in part]).merge(
        seen.select(raters=part, stimuli=answered)
    )
    main = people.answers()
    drawn = [
        random_baseline(main, seed=seed + k, how="shuffled", name=STAND_INS[name])
        for k, name in enumerate(BLIND)
    ]
    drawn.append(random_baseline(main, seed=seed + len(BLIND), name=STAND_INS[RANDOM]))
    on_fine = [
        one.with_values(one.value, "0-7 interval", step="on the scale of the others")
        for one in drawn
    ]
    return seen.merge(*on_fine)
