"""Simulated people in a study with a page of its own: they hand in trials, as a page would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.study.rehearsal.crowd import Crowd, Planted, draw_crowd
from affectlab.study.store import Store

__all__ = ["Visitors", "draw_visitors"]

_STEPS = 3
_SECONDS = 12.0
_LEVELS = 5


@dataclass(frozen=True, eq=False)
class Visitors(Crowd):
    """Simulated people."""

    liking: Mapping[str, float]
    """Planted mean response to each stimulus, from 0 to 1."""

    def answer(
        self,
        store: Store,  # noqa: ARG002
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],  # noqa: ARG002
        again: bool,
    ) -> dict[str, Any]:
        """Hand in a few trials, marked as simulated: only the page itself knows what it asks."""
        drawn = self.rng(number, stimulus, again)
        attentive = self.profiles[number].attentive
        elapsed, trials = 0, []
        for step in range(_STEPS):
            rt = int(1000 * drawn.lognormal(np.log(1.5 if attentive else 0.15), 0.3))
            elapsed += rt
            mean = self.liking[stimulus] if attentive else 0.0
            response = int(drawn.binomial(_LEVELS - 1, mean))
            trials.append(
                {
                    "trial_type": "simulated",
                    "trial_index": step,
                    "rt": rt,
                    "time_elapsed": elapsed,
                    "response": response,
                }
            )
        return {"trials": trials}


def draw_visitors(store: Store, n: int, careless: int, seed: int) -> Visitors:
    """Draw people, and the mean response to each stimulus (``stimulus``, ``response``, 0 to 4)."""
    import polars as pl

    rng = np.random.default_rng(seed)
    names = [str(content["name"]) for content in store.content.values()]
    liking = rng.uniform(0.1, 0.9, len(names))
    people, seconds = draw_crowd(
        n, careless, (("careful",), ("first button",)), names, _SECONDS, rng
    )
    truth = pl.DataFrame({"stimulus": names, "response": liking * (_LEVELS - 1)})
    shares = dict(zip(names, liking.tolist(), strict=True))
    return Visitors(people, Planted(truth), seconds, seed, shares)
