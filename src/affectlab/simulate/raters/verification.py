"""Simulated yes/no answers of a sequential verification protocol."""

from __future__ import annotations

import numpy as np
import polars as pl

from affectlab.core.errors import check_number
from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy


def simulate_verification(
    n_stimuli: int = 1000,
    *,
    n_raters: int = 7,
    rounds: int = 3,
    present: float = 0.8,
    hit: float = 0.9,
    false_alarm: float = 0.1,
    taxonomy: str = "emonet_face",
    seed: int | np.random.Generator = 0,
) -> Ratings:
    """Simulate a sequential protocol: what one rater affirms, another is asked to confirm.

    Each stimulus is asked about one emotion that is present with probability `present`, and once
    about another one that is absent (the contrastive question). A rater says yes to a present
    emotion with probability `hit` and to an absent one with probability `false_alarm`. Positives
    go on to another rater until `rounds` raters have affirmed.

    Parameters
    ----------
    n_stimuli
        Number of stimuli.
    n_raters
        Size of the panel; at least `rounds`.
    rounds
        Confirmations at most, the first answer included.
    present, hit, false_alarm
        Probabilities.
    taxonomy
        Where the emotions come from.
    seed
        Same seed, same answers.

    Returns
    -------
    Ratings
        Binary answers; a rater answers about a stimulus and an emotion at most once.

    Raises
    ------
    InputError
        When a number is out of range.

    References
    ----------
    EmoNet-Face (2025), section 3 and table 2.

    Examples
    --------
    >>> simulate_verification(50, seed=1).scale
    Scale('binary, 0 or 1')
    """
    check_number("n_stimuli", n_stimuli, 1, whole=True)
    check_number("rounds", rounds, 1, n_raters - 1, whole=True)
    for name, chance in (("present", present), ("hit", hit), ("false_alarm", false_alarm)):
        check_number(name, chance, 0, 1)
    rng = np.random.default_rng(seed)
    labels = load_taxonomy(taxonomy).labels
    asked = rng.integers(len(labels), size=n_stimuli)
    contrast = (asked + rng.integers(1, len(labels), size=n_stimuli)) % len(labels)
    there = rng.random(n_stimuli) < present
    panel = rng.permuted(np.tile(np.arange(n_raters), (n_stimuli, 1)), axis=1)
    parts = []
    going = np.arange(n_stimuli)
    for turn in range(rounds):
        yes = rng.random(len(going)) < np.where(there[going], hit, false_alarm)
        parts.append((going, panel[going, turn], asked[going], yes))
        going = going[yes]
    everyone = np.arange(n_stimuli)
    yes = rng.random(n_stimuli) < false_alarm
    parts.append((everyone, panel[:, rounds], contrast, yes))
    stimulus, rater, label, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    frame = pl.DataFrame(
        {
            "stimulus": [f"face-{index:05d}" for index in stimulus],
            "rater": [f"rater-{index + 1}" for index in rater],
            "label": [labels[index] for index in label],
            "value": value.astype(np.float64),
        }
    )
    people = pl.DataFrame(
        {
            "rater": [f"rater-{index + 1}" for index in range(n_raters)],
            "rater_kind": ["simulated"] * n_raters,
        }
    )
    return Ratings(
        frame,
        scale="binary",
        taxonomy=taxonomy,
        raters=people.filter(pl.col("rater").is_in(frame["rater"].unique().implode())),
        source="simulated sequential verification",
    )
