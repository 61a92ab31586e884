"""Simulated pilots whose good and bad labels are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from affectlab.ratings import Ratings


@dataclass(frozen=True)
class Plan:
    """What raters do: how often an emotion is there, and how they answer."""

    shares: Mapping[str, float]
    """Share of the stimuli that express each label, seen by raters with the chance `hit`."""
    guessed: Mapping[str, float] = field(default_factory=dict)
    """Labels chosen with a chance that no stimulus changes: nobody agrees about them."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Labels that raters choose by the toss of a coin in place of another one."""
    missed: Mapping[str, float] = field(default_factory=dict)
    """Labels that are not offered: share of the stimuli that express them."""
    hit: float = 0.75
    slip: float = 0.002
    suggest: float = 0.5

    @property
    def labels(self) -> list[str]:
        return sorted([*self.shares, *self.guessed, *self.instead, "neutral"])


def simulate(
    plan: Plan, *, stimuli: int, raters: int = 10, each: int = 3, seed: int = 0
) -> tuple[Ratings, pl.DataFrame]:
    """Give the answers, one row per rater, stimulus and label, and the table of suggestions."""
    rng = np.random.default_rng(seed)
    there = {label: rng.random(stimuli) < share for label, share in plan.shares.items()}
    lacking = {label: rng.random(stimuli) < share for label, share in plan.missed.items()}
    who = np.argsort(rng.random((stimuli, raters)), axis=1)[:, :each].ravel()
    what = np.repeat(np.arange(stimuli), each)
    n = len(what)
    chosen: dict[str, np.ndarray] = {}
    for label, present in there.items():
        chosen[label] = rng.random(n) < np.where(present[what], plan.hit, plan.slip)
    for label, rate in plan.guessed.items():
        chosen[label] = rng.random(n) < rate
    for label, other in plan.instead.items():
        taken = chosen[other] & (rng.random(n) < 0.5)
        chosen[label], chosen[other] = taken, chosen[other] & ~taken
    chosen["neutral"] = ~np.any(list(chosen.values()), axis=0)
    labels = plan.labels
    ratings = Ratings(
        {
            "stimulus": np.repeat([f"t{k:04d}" for k in what], len(labels)),
            "rater": np.repeat([f"r{k:02d}" for k in who], len(labels)),
            "label": labels * n,
            "value": np.stack([chosen[label] for label in labels], axis=1).ravel().astype(float),
        },
        scale="binary",
    )
    rows = [
        (f"t{what[k]:04d}", f"r{who[k]:02d}", _spelled(label, int(rng.integers(3))))
        for label, present in lacking.items()
        for k in np.flatnonzero(present[what] & (rng.random(n) < plan.suggest))
    ]
    return ratings, pl.DataFrame(rows, schema=["stimulus", "rater", "suggestion"], orient="row")


def _spelled(label: str, how: int) -> str:
    return (label, label.upper(), f" {label}! ")[how]


def shares(labels: Sequence[str], low: float = 0.02, high: float = 0.15) -> dict[str, float]:
    """Give shares that fall from label to label."""
    return dict(zip(labels, np.geomspace(high, low, len(labels)).tolist(), strict=True))
