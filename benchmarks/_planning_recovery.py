"""How well a plan foretells a study, from pilots of few raters per stimulus of real panels.

``python -m benchmarks._planning_recovery [--pilots 325] [--seed 0]`` takes the ratings of videos in
the folder of shared data beside the checkout. Pilots are drawn from them, with a few people who
judge everything (all sets of so many people, where they are few) or with a few people for each
video; what a plan says of studies of 4, 8 and 16 people, on average over pilots, stands beside what
panels of that size give. It takes some 5 minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from affectlab.ratings import Ratings
from affectlab.reliability import (
    intraclass_correlation,
    mean_opinion_scores,
    plan,
    plan_model,
    spearman_brown,
    split_half,
)
from affectlab.reliability.planning import PlanModel

_DATA = Path(__file__).parents[1].parent / "shared" / "data" / "subjective_quality"
SIZES = (4, 8, 16)
PILOTS = (2, 3, 5, 10)
_FORMS = {"icc": "2,1", "reliability": "3,1"}
"""Targets about mean scores, and the form that all people of the panel give for one rating."""
Matrix = NDArray[np.float64]


def videos(folder: Path = _DATA) -> Matrix:
    """Ratings of 79 videos by 26 people from 1 to 5, people in rows."""
    source = json.loads((folder / "netflix_public.json").read_text(encoding="utf-8"))
    return np.array([video["os"] for video in source["dis_videos"]], dtype=np.float64).T


def pilot(panel: Matrix, size: int, rng: np.random.Generator, *, whole: bool) -> Matrix:
    """Draw people, or people for each stimulus."""
    if whole:
        return panel[rng.choice(len(panel), size, replace=False)]
    order = np.argsort(np.argsort(rng.random(panel.shape), axis=0), axis=0)
    return np.where(order < size, panel, np.nan)


def pilots(
    panel: Matrix, size: int, n_pilots: int, rng: np.random.Generator, *, whole: bool
) -> Iterator[Matrix]:
    """Draw pilots, or take all that there are of people who judge everything."""
    if whole and math.comb(len(panel), size) <= n_pilots:
        for people in itertools.combinations(panel, size):
            yield np.array(people)
    else:
        for _ in range(n_pilots):
            yield pilot(panel, size, rng, whole=whole)


def model_of(values: Matrix) -> PlanModel:
    """The model of a pilot on the scale of the study."""
    rater, stimulus = np.nonzero(~np.isnan(values))
    columns = {"stimulus": stimulus, "rater": rater, "value": values[rater, stimulus]}
    frame = pl.DataFrame(columns).with_columns(pl.col("stimulus", "rater").cast(pl.String))
    return plan_model(Ratings(frame, scale="1-5"))


def foretold(model: PlanModel, n_stimuli: int, rng: np.random.Generator) -> dict[str, Matrix]:
    """What a plan says, by target, for each size."""
    values = {}
    for target in ("interval", "split_half", *_FORMS):
        made = plan(
            model,
            quantity=target,
            goal=0.5,
            n_raters=SIZES,
            n_stimuli=n_stimuli,
            n_sim=40,
            seed=rng,
        )
        values[target] = made.to_frame()["value"].to_numpy()
    return values


def given(panel: Matrix, rng: np.random.Generator, n_panels: int = 400) -> dict[str, Matrix]:
    """What panels of each size give; people who agree have an interval of width 0."""
    widths, halves = [], []
    for size in SIZES:
        drawn = [pilot(panel, size, rng, whole=True) for _ in range(n_panels)]
        frames = [mean_opinion_scores(one, interval="student").frame for one in drawn]
        widths.append(np.mean([(one["high"] - one["low"]).fill_nan(0).mean() for one in frames]))
        correlations = [split_half(one, scorer="mean", n_splits=10)["rating"] for one in drawn]
        halves.append(np.mean([one.value for one in correlations]))
    single = intraclass_correlation(panel)
    means = {
        target: np.array([spearman_brown(single["rating", form].value, size) for size in SIZES])
        for target, form in _FORMS.items()
    }
    return {"interval": np.array(widths), "split_half": np.array(halves), **means}


def ratios(
    panel: Matrix,
    n_pilots: int,
    seed: int,
    sizes: Sequence[int] = PILOTS,
    kinds: Sequence[bool] = (True, False),
) -> dict[tuple[bool, int, str], Matrix]:
    """Foretold over given, by whether people judged everything, size of the pilot and target.

    Each of shape (pilots, sizes of the study).
    """
    rng = np.random.default_rng(seed)
    truth = given(panel, rng)
    ratio = {}
    for whole in kinds:
        for size in sizes:
            plans = [
                foretold(model_of(drawn), panel.shape[1], rng)
                for drawn in pilots(panel, size, n_pilots, rng, whole=whole)
            ]
            for target, expected in truth.items():
                ratio[whole, size, target] = np.array([one[target] for one in plans]) / expected
    return ratio


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Plans beside studies.")
    parser.add_argument("--pilots", type=int, default=325)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sizes = [f"{size} people" for size in SIZES]
    table = Table("pilot", "target", *sizes, "SD of one", title="plan / study, mean over pilots")
    for (whole, size, target), found in ratios(videos(), options.pilots, options.seed).items():
        name = f"{size} people" if whole else f"{size} a video of 26"
        mean, sd = found.mean(axis=0), found.std(axis=0).mean()
        table.add_row(name, target, *(f"{value:.3f}" for value in mean), f"{sd:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
