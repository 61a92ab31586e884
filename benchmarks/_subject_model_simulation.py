"""What the subject model's methods find in panels of known truth.

``python -m benchmarks._subject_model_simulation [--seed 0] [--runs 60] [NETFLIX_JSON]`` prints the
tables of decision 6: error of scores, coverage of intervals, and collapses; over panels of 3 to 32
raters, with and without one rater of SD 25, complete, sparse and with repeats; and over random
panels of real ratings when their file is given.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console

from affectlab.core.render.grid import Table
from affectlab.ratings import Ratings
from affectlab.reliability import subject_model
from affectlab.reliability.subject_models import SubjectModel

Floats = NDArray[np.float64]

_LIMIT = 100
"""Rounds for plain REML, which creeps to zero without end where it collapses."""
_METHODS: dict[str, Callable[[Ratings], SubjectModel]] = {
    "p910": lambda table: subject_model(table, method="p910"),
    "plain REML": lambda table: subject_model(table, prior_df=0, max_iter=_LIMIT),
    "reml": subject_model,
}


@dataclass(frozen=True)
class Design:
    """A panel: raters, stimuli, and how many of the raters see each stimulus."""

    stimuli: int
    raters: int
    per_stimulus: int
    bad: bool
    repeats: float = 0.0

    def __str__(self) -> str:
        seen = "" if self.per_stimulus == self.raters else f", {self.per_stimulus} each"
        again = f", {self.repeats:.0%} repeated" if self.repeats else ""
        return f"{self.stimuli} x {self.raters}{seen}{again}"


@dataclass(frozen=True)
class Truth:
    """Simulated ratings and what they were made of."""

    ratings: Ratings
    score: Floats
    spread: Floats


def simulate(design: Design, rng: np.random.Generator) -> Truth:
    """Rater SDs from 5 to 12 on a scale of 0 to 100; a tenth, or one, of 25 when ``bad``."""
    spread = rng.uniform(5, 12, design.raters)
    if design.bad:
        spread[: max(1, design.raters // 20)] = 25
    score = rng.uniform(0, 100, design.stimuli)
    bias = rng.normal(0, 6, design.raters)
    bias -= bias.mean()
    order = np.argsort(rng.random((design.stimuli, design.raters)), axis=1)
    rater = order[:, : design.per_stimulus].ravel()
    stimulus = np.repeat(np.arange(design.stimuli), design.per_stimulus)
    trial = np.ones(rater.size, dtype=int)
    again = rng.random(rater.size) < design.repeats
    rater, stimulus = (np.append(codes, codes[again]) for codes in (rater, stimulus))
    trial = np.append(trial, np.full(int(again.sum()), 2))
    noise = spread[rater] * rng.standard_normal(rater.size)
    table = pl.DataFrame(
        {
            "stimulus": pl.Series([f"s{n:05d}" for n in range(design.stimuli)]).gather(stimulus),
            "rater": pl.Series([f"r{n:04d}" for n in range(design.raters)]).gather(rater),
            "trial": trial,
            "value": score[stimulus] + bias[rater] + noise,
        }
    )
    return Truth(Ratings(table, scale="interval"), score, spread)


@dataclass
class Tally:
    """Sums over runs."""

    error: list[float] = field(default_factory=list)
    covered: dict[str, list[float]] = field(default_factory=dict)
    collapsed: list[bool] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)

    def cover(self, name: str, inside: NDArray[np.bool_] | Floats) -> None:
        """Note which intervals hold the truth."""
        self.covered.setdefault(name, []).append(float(np.mean(inside)))


def tally(design: Design, runs: int, seed: int) -> dict[str, Tally]:
    """Simulate, fit, and compare with the truth."""
    rng = np.random.default_rng(seed)
    found = {name: Tally() for name in ("mean", *_METHODS)}
    for _ in range(runs):
        truth = simulate(design, rng)
        means = truth.ratings.frame.group_by(pl.col("stimulus").cast(pl.String)).agg(
            pl.col("value").mean()
        )
        found["mean"].error.append(_rmse(means.sort("stimulus")["value"].to_numpy(), truth.score))
        for name, fit in _METHODS.items():
            model = fit(truth.ratings)
            _note(found[name], model, truth)
    return found


def _note(into: Tally, model: SubjectModel, truth: Truth) -> None:
    scores = model.to_frame().sort("stimulus")
    value = scores["value"].to_numpy()
    into.error.append(_rmse(value, truth.score))
    into.collapsed.append(bool(model.collapsed))
    into.rounds.append(model.iterations)
    errors = {"rater": "se_rater", "stimulus": "se_stimulus"}
    for name, column in errors.items():
        half = 1.96 * scores[column].to_numpy()
        into.cover(name, np.abs(value - truth.score) <= half)
    if model.se == "model":
        low, high = (scores[end].to_numpy() for end in ("low", "high"))
        into.cover("model", (low <= truth.score) & (truth.score <= high))
        raters = model.raters_frame().sort("rater")
        ends = (raters[f"inconsistency_{end}"].to_numpy() for end in ("low", "high"))
        low, high = ends
        into.cover("inconsistency", (low <= truth.spread) & (truth.spread <= high))


def _rmse(found: Floats, truth: Floats) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def designs() -> Iterator[tuple[str, list[Design]]]:
    """Tables of designs."""
    for bad in (False, True):
        title = "complete, with one rater of SD 25" if bad else "complete"
        sizes = (3, 4, 5, 6, 8, 12, 16, 32)
        yield f"200 stimuli, {title}", [Design(200, n, n, bad) for n in sizes]
        yield f"20 stimuli, {title}", [Design(20, n, n, bad) for n in (3, 4, 6, 8, 16)]
    for bad in (False, True):
        title = "sparse, a twentieth (at least one) of SD 25" if bad else "sparse"
        yield (
            title,
            [
                Design(100, 30, 3, bad),
                Design(200, 20, 5, bad),
                Design(200, 20, 5, bad, 0.3),
                Design(300, 60, 4, bad),
                Design(1000, 400, 8, bad),
            ],
        )


def show(console: Console, title: str, rows: list[tuple[str, dict[str, Tally]]]) -> None:
    """Print one table."""
    table = Table(title=title, box=None, header_style="bold")
    for name in (
        "stimuli x raters", "RMSE mean", *(f"RMSE {name}" for name in _METHODS),
        "cover reml", "cover p910 rater", "cover p910 stimulus", "cover v_i",
        *(f"collapsed {name}" for name in _METHODS), "rounds reml",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for design, found in rows:
        errors = [f"{np.mean(found[name].error):.2f}" for name in ("mean", *_METHODS)]
        cover = [
            f"{np.mean(found[name].covered[kind]):.1%}"
            for name, kind in (
                ("reml", "model"), ("p910", "rater"), ("p910", "stimulus"),
                ("reml", "inconsistency"),
            )
        ]  # fmt: skip
        collapsed = [f"{np.mean(found[name].collapsed):.0%}" for name in _METHODS]
        rounds = f"{np.median(found['reml'].rounds):.0f}"
        table.add_row(design, *errors, *cover, *collapsed, rounds)
    console.print(table)


def real_panels(console: Console, path: Path, runs: int, seed: int) -> None:
    """Draw panels of real raters; the mean of all others stands for the truth."""
    videos = json.loads(path.read_text(encoding="utf-8"))["dis_videos"]
    matrix = np.array([video["os"] for video in videos], dtype=float).T
    rng = np.random.default_rng(seed)
    table = Table(title=f"panels of {path.stem}", box=None, header_style="bold")
    for name in (
        "raters", "RMSE mean", *(f"RMSE {name}" for name in _METHODS),
        *(f"collapsed {name}" for name in _METHODS),
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for size in (3, 4, 5, 6, 8, 10, 13):
        error: dict[str, list[float]] = {name: [] for name in ("mean", *_METHODS)}
        collapsed: dict[str, list[bool]] = {name: [] for name in _METHODS}
        for _ in range(runs):
            drawn = rng.permutation(matrix.shape[0])
            panel, others = matrix[drawn[:size]], matrix[drawn[size:]].mean(axis=0)
            error["mean"].append(_rmse(_centred(panel.mean(axis=0)), _centred(others)))
            for name, fit in _METHODS.items():
                model = fit(panel)  # type: ignore[arg-type]
                value = model.to_frame()["value"].to_numpy()
                error[name].append(_rmse(_centred(value), _centred(others)))
                collapsed[name].append(bool(model.collapsed))
        table.add_row(
            str(size),
            *(f"{np.mean(errors):.3f}" for errors in error.values()),
            *(f"{np.mean(some):.0%}" for some in collapsed.values()),
        )
    console.print(table)


def _centred(values: Floats) -> Floats:
    """Take off what the panel's mean bias adds to all scores."""
    return np.asarray(values - values.mean(), dtype=np.float64)


def priors(console: Console, runs: int, seed: int) -> None:
    """Print the error of scores by the weight of the prior."""
    weights = (0.0, 1.0, 2.0, 4.0, 8.0)
    table = Table(title="RMSE by prior_df", box=None, header_style="bold")
    for name in ("stimuli x raters", *(f"{weight:g}" for weight in weights)):
        table.add_column(name, justify="right")
    for bad in (False, True):
        for size in ((20, 3, 3), (20, 6, 6), (200, 4, 4), (100, 30, 3), (300, 60, 4)):
            design = Design(*size, bad)
            rng = np.random.default_rng(seed)
            drawn = [simulate(design, rng) for _ in range(_runs(design, runs))]
            errors = []
            for weight in weights:
                models = [
                    subject_model(one.ratings, prior_df=weight, max_iter=_LIMIT) for one in drawn
                ]
                scores = [model.to_frame().sort("stimulus")["value"].to_numpy() for model in models]
                found = [_rmse(x, one.score) for x, one in zip(scores, drawn, strict=True)]
                errors.append(f"{np.mean(found):.2f}")
            table.add_row(f"{design}{', with SD 25' if bad else ''}", *errors)
    console.print(table)


def _runs(design: Design, runs: int) -> int:
    """Fewer runs of large designs, whose runs vary less."""
    return max(5, runs * 60 // (60 + design.raters))


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("netflix", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    console = Console(width=180)
    for title, some in designs():
        rows = [
            (str(design), tally(design, _runs(design, chosen.runs), chosen.seed)) for design in some
        ]
        show(console, title, rows)
    priors(console, chosen.runs, chosen.seed)
    if chosen.netflix is not None:
        real_panels(console, chosen.netflix, chosen.runs, chosen.seed)


if __name__ == "__main__":
    main()
