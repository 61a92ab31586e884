"""``python -m benchmarks.demo_scores``: do intervals of scores hold the mean of all raters?

Of demonstrations without their careless people: intervals of means, and of the subject model,
beside the mean of 360 raters who are drawn as the attentive people of a demonstration are.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np
import polars as pl

WORKLOADS = ()
_LIKE_EACH = 40
"""Raters drawn like each of the attentive ones."""
_LEVEL = 0.25
"""Standard deviation of their levels beside what their kind brings, as in the demonstration."""


def study(seed: int) -> list[float]:
    """Give, for means and for the subject model, what share of intervals hold, and the error."""
    from affectlab.reliability import mean_opinion_scores, subject_model
    from affectlab.simulate import demo_study, simulate_raters
    from affectlab.simulate.demo import _PRESETS, rater_profile

    simulation, rng = demo_study(seed).simulation, np.random.default_rng(seed)
    kinds = [kind for kind in (rater_profile(name, name) for name in _PRESETS) if kind.attentive]
    many = [
        replace(
            kind, name=f"{place}-{k}", bias=kind.bias + float(rng.normal(0, _LEVEL)), missing=0.0
        )
        for place, kind in enumerate(kinds)
        for k in range(_LIKE_EACH)
    ]
    everyone = simulate_raters(simulation.truth, many, seed=seed).ratings.to_frame()
    true = everyone.group_by("stimulus", "label").agg(true=pl.col("value").cast(pl.Float64).mean())
    attentive = [
        one.name for one in simulation.profiles if one.kind == "simulated" and one.attentive
    ]
    panel, found = simulation.ratings.select(raters=attentive), []
    for scores in (mean_opinion_scores, subject_model):
        frame = scores(panel).to_frame().join(true, on=["stimulus", "label"])
        found.append(frame.select(pl.col("true").is_between("low", "high").mean()).item())
        found.append(float((frame["value"] - frame["true"]).pow(2).mean() ** 0.5))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    asked = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([study(seed) for seed in range(5000, 5000 + asked.studies)])
    for name, (held, error) in zip(
        ("means", "subject model"), found.T.reshape(2, 2, -1), strict=True
    ):
        print(f"{name}: {held.mean():.3f} hold, least {held.min():.3f}; error {error.mean():.3f}")


if __name__ == "__main__":
    main()
