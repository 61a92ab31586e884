"""People and models in arrays, as ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab import Ratings
from affectlab.evaluation.human_alignment.panel import Copies

Array = NDArray[np.float64]


def table(
    values: Array,
    names: Sequence[str],
    kind: str,
    scale: str = "0-7",
    *,
    labels: Sequence[str] = (),
    **attributes: Sequence[str | None],
) -> Ratings:
    """Make ratings of an array by rater, label and stimulus; ``nan`` is no answer."""
    rater, label, unit = np.nonzero(~np.isnan(values))
    said = labels or [f"e{k}" for k in range(values.shape[1])]
    return Ratings(
        {
            "stimulus": [f"s{k:04d}" for k in unit],
            "rater": [names[k] for k in rater],
            "label": [said[k] for k in label],
            "value": values[rater, label, unit],
        },
        scale=scale,
        raters={"rater": list(names), "rater_kind": [kind] * len(names), **attributes},
    )


def people_of(values: Array, **options: Any) -> Ratings:
    return table(values, [f"p{k:02d}" for k in range(len(values))], "human", **options)


def models_of(values: Array, scale: str = "0-7 interval", **options: Any) -> Ratings:
    return table(values, [f"m{k}" for k in range(len(values))], "model", scale, **options)


def study(
    rng: np.random.Generator, n_people: int, n: int, n_labels: int, noises: Sequence[float]
) -> tuple[Array, Array]:
    """People who differ in noise (1 to 2) and bias; models with given noise and no bias."""
    truth = rng.normal(3, 2, (n_labels, n))
    noise, bias = rng.uniform(1, 2, n_people), rng.normal(0, 0.4, n_people)
    shape = (n_people, n_labels, n)
    said = truth + bias[:, None, None] + noise[:, None, None] * rng.normal(size=shape)
    models = [truth + one * rng.normal(size=truth.shape) for one in noises]
    return np.clip(np.rint(said), 0, 7), np.clip(np.stack(models), 0, 7)


def copies_of(n_stimuli: int, n_people: int, n_drawn: int, seed: int = 0) -> Copies:
    """All; without each person, each stimulus, and one of both; then drawn with replacement."""
    rng = np.random.default_rng(seed)
    n_rows = 1 + n_people + n_stimuli + 1 + n_drawn
    stimuli, people = np.ones((n_rows, n_stimuli), np.uint8), np.ones((n_rows, n_people), np.int32)
    people[1 : 1 + n_people] -= np.eye(n_people, dtype=np.int32)
    stimuli[1 + n_people : 1 + n_people + n_stimuli] -= np.eye(n_stimuli, dtype=np.uint8)
    if n_people > 2:
        people[-1 - n_drawn, 0] = 0
    stimuli[-1 - n_drawn, 0] = 0
    for row in range(n_rows - n_drawn, n_rows):
        stimuli[row] = rng.multinomial(n_stimuli, np.full(n_stimuli, 1 / n_stimuli))
        while True:
            people[row] = rng.multinomial(n_people, np.full(n_people, 1 / n_people))
            if n_people < 2 or (people[row] > 0).sum() > 1:
                break
    return Copies(stimuli, people)
