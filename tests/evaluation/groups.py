"""People and a model whose answers differ between groups as much as a test wants."""

from __future__ import annotations

import numpy as np

from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy

LABELS = ("joy", "fear")


def study(
    seed=0,
    n=120,
    raters=12,
    gap=0.0,
    rater_gap=0.0,
    actor=0.0,
    groups=("man", "woman"),
    label_gap=(1.0, 1.0),
) -> tuple[Ratings, Ratings]:
    """People and a model; the model rates the last group higher, people in group f too."""
    rng = np.random.default_rng(seed)
    code = np.arange(n) % len(groups)
    cast = 4 * code + rng.integers(0, 4, n)
    truth = rng.normal(3.5, 1, (n, 2))
    mine = (
        truth + rng.normal(0, 0.7, (n, 2)) + (rng.normal(0, actor, 4 * len(groups)))[cast][:, None]
    )
    mine += gap * np.array(label_gap) * (code == len(groups) - 1)[:, None]
    theirs = truth[:, :, None] + rng.normal(0, 0.7, (n, 2, raters))
    theirs += rater_gap * (np.arange(raters) % 2)
    stimulus, label, rater = (at.ravel() for at in np.indices(theirs.shape))
    people = Ratings(
        {
            "stimulus": [f"s{k}" for k in stimulus],
            "rater": [f"p{k}" for k in rater],
            "label": [LABELS[k] for k in label],
            "value": np.clip(np.rint(theirs.ravel()), 0, 7),
        },
        scale="0-7",
        stimuli={
            "stimulus": [f"s{k}" for k in range(n)],
            "gender": [groups[k] for k in code],
            "actor": [f"a{k}" for k in cast],
        },
        raters={
            "rater": [f"p{k}" for k in range(raters)],
            "gender": ["f" if k % 2 else "m" for k in range(raters)],
            "age": [20 + 4 * k for k in range(raters)],
        },
    )
    stimulus, label = (at.ravel() for at in np.indices(mine.shape))
    model = Ratings(
        {
            "stimulus": [f"s{k}" for k in stimulus],
            "rater": ["net"] * stimulus.size,
            "label": [LABELS[k] for k in label],
            "value": np.clip(mine.ravel(), 0, 7),
        },
        scale="0-7 interval",
    )
    return people, model


def values(found) -> dict[str, float]:
    return {keys[-1]: estimate.value for keys, estimate in found.groups}


def classified(right: np.ndarray, seed: int) -> Ratings:
    """A model that is right with these chances, and errs alike where it errs."""
    rng = np.random.default_rng(seed)
    ring = np.array(load_taxonomy("mikels").labels)
    n = right.size
    truth = rng.integers(0, 8, n)
    wrong = rng.random(n) > right
    said = np.where(wrong, (truth + rng.integers(1, 8, n)) % 8, truth)
    stimuli = [f"s{k}" for k in range(n)]
    return Ratings(
        {"stimulus": stimuli, "rater": ["m"] * n, "value": ring[said].tolist()},
        scale="nominal:" + ",".join(ring),
        raters={"rater": ["m"], "rater_kind": ["model"]},
        stimuli={
            "stimulus": stimuli,
            "g": ["x", "y"] * (n // 2),
            "truth": ring[truth].tolist(),
        },
    )
