"""How often the intervals of JND times and of the sampling interval hold.

``python -m benchmarks._jnd_simulation [--runs 200] [--seed 0]`` prints four tables, each over
simulated studies whose truth is known:

1. **JND times** of every segment and sequence, from ratings of 8 and of 32 people by way of the
   subject model, and from scores with known errors.
2. **The sampling interval**: the shortest of many true times, over worlds in which one expression
   is far faster than the others, and in which all are equally fast. Beside the interval of tests
   stands that of a bootstrap around the estimates, and what each estimate has for a bias.
3. **1 JND and shares**: the median score of pairs 1 JND apart, the interval that keeps 95 % of
   sequences below 1 JND, and the share that stays below it within a delay.
4. **The floor**: 1 JND, times and the sampling interval from ratings as noisy as those of the
   paper, with answers of any size and with answers that end at 0 and 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console

from affectlab.analysis import jnd_times, latency_budget, sampling_interval
from affectlab.analysis.jnd import JndTimes, jnd_score
from affectlab.core.estimates import Estimate
from affectlab.core.render.grid import Table
from affectlab.ratings import Ratings

Floats = NDArray[np.float64]

JND = 20.39
"""Median true score of pairs 1 JND apart."""
_ROLES = ("peak", "near_peak", "middle", "near_neutral", "neutral")


@dataclass(frozen=True)
class World:
    """True scores and times of sequences."""

    steps: Floats
    """Score of each of the four steps between five frames, shape (sequences, 4)."""
    duration: Floats
    """Time of the two middle steps in milliseconds, shape (sequences, 2)."""
    actors: int

    @property
    def times(self) -> Floats:
        """True time to 1 JND of each middle step, shape (sequences, 2)."""
        found: Floats = JND * self.duration / self.steps[:, 1:3]
        return found


def _middle(kind: str, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores and durations of the middle steps, shape (n, 2) each."""
    shape = n, 2
    duration = np.exp(rng.normal(np.log(150), 0.5, shape))
    if kind == "scores alike":
        return np.clip(rng.normal(33, 13, shape), 4, 85), duration
    if kind == "speeds alike":
        return np.minimum(np.exp(rng.normal(np.log(0.2), 0.5, shape)) * duration, 85), duration
    if kind == "whole frames":
        frames = np.maximum(1, np.round(duration / 33.3)) * 33.3
        return np.clip(rng.normal(33, 13, shape), 4, 85), frames
    even = np.full(shape, 150.0)
    if kind == "one outlier":
        score = rng.normal(25, 4, shape)
        score[0] = 75
        return score, even
    if kind == "two groups":
        return np.where(rng.random(shape) < 0.1, 50.0, 20.0), even
    return np.full(shape, 33.0), even


KINDS = ("scores alike", "speeds alike", "whole frames", "one outlier", "two groups", "all equal")


def world(kind: str, n: int, rng: np.random.Generator, actors: int = 8) -> World:
    """Draw sequences; the first and last step scatter around 1 JND."""
    score, duration = _middle(kind, n, rng)
    ends = np.clip(rng.normal(JND, 6, (n, 2)), 3, None)
    return World(np.column_stack([ends[:, 0], score, ends[:, 1]]), duration, min(actors, n))


def tables(known: World, errors: Floats, noise: Floats) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give scores with errors, and the table of frames."""
    n = len(known.steps)
    actor = [f"a{k % known.actors}" for k in range(n)]
    expression = [f"e{k // known.actors}" for k in range(n)]
    scores = pl.DataFrame(
        {
            "actor": np.repeat(actor, 4),
            "expression_a": np.repeat(expression, 4),
            "role_a": list(_ROLES[:4]) * n,
            "expression_b": np.repeat(expression, 4),
            "role_b": list(_ROLES[1:]) * n,
            "value": (known.steps + noise).ravel(),
            "se": errors.ravel(),
        }
    ).with_columns(
        pl.concat_str("actor", "expression_a", "role_a", "role_b", separator="_").alias("stimulus")
    )
    start = np.zeros((n, 1))
    times = np.concatenate([start, known.duration.cumsum(axis=1)], axis=1) + 100
    frames = pl.DataFrame(
        {
            "actor": np.repeat(actor, 3),
            "expression": np.repeat(expression, 3),
            "role": list(_ROLES[1:4]) * n,
            "time_ms": times.ravel(),
        }
    )
    return scores, frames


def scored(known: World, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores with errors like those of the paper, 2 to 3.6."""
    errors = rng.uniform(2, 3.6, known.steps.shape)
    return tables(known, errors, rng.normal(0, errors))


def rated(
    known: World,
    raters: int,
    rng: np.random.Generator,
    *,
    noise: float = 15.0,
    bias_sd: float = 5.0,
    ends: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[Ratings, pl.DataFrame]:
    """Ratings of biased and unequally consistent people, on a slider with these ends."""
    scores, frames = tables(known, np.zeros(known.steps.shape), np.zeros(known.steps.shape))
    bias, sd = rng.normal(0, bias_sd, raters), np.exp(rng.normal(np.log(noise), 0.3, raters))
    n = scores.height
    value = scores["value"].to_numpy()[:, None] + bias + sd * rng.standard_normal((n, raters))
    value = np.clip(value, *ends)
    long = scores.drop("value", "se").join(
        pl.DataFrame({"rater": [f"r{k}" for k in range(raters)]}), how="cross"
    )
    long = long.with_columns(
        pl.Series("value", value.ravel()),
        pl.when(pl.col("expression_a") == pl.col("expression_b"))
        .then(pl.lit("intra"))
        .otherwise(pl.lit("inter"))
        .alias("kind"),
    )
    return Ratings(long, scale="interval"), frames


def held(times: JndTimes, known: World) -> tuple[float, float]:
    """Give the share of segments and of sequences whose true time lies in its interval."""
    names = [(f"a{k % known.actors}", f"e{k // known.actors}") for k in range(len(known.steps))]
    truth = dict(zip(names, known.times.tolist(), strict=True))
    one = [
        row["low_ms"]
        <= truth[row["actor"], row["expression"]][row["segment"] == "second"]
        <= row["high_ms"]
        for row in times.segments.iter_rows(named=True)
    ]
    both = [
        row["low_ms"] <= min(truth[row["actor"], row["expression"]]) <= row["high_ms"]
        for row in times.sequences.iter_rows(named=True)
    ]
    return float(np.mean(one)), float(np.mean(both))


def times_table(runs: int, seed: int) -> Table:
    """Simulate JND times."""
    table = _table("JND times: 95 % intervals that hold", "scores", "segments", "sequences")
    makers: dict[str, Callable[[World, np.random.Generator], tuple[object, pl.DataFrame]]] = {
        "8 raters": lambda known, rng: rated(known, 8, rng),
        "32 raters": lambda known, rng: rated(known, 32, rng),
        "given, with errors": scored,
    }
    for name, make in makers.items():
        found = []
        for run in range(runs):
            rng = np.random.default_rng([seed, run])
            known = world("scores alike", 16, rng)
            source, frames = make(known, rng)
            exact = Estimate(JND + rng.normal(0, 0.4), se=0.4)
            found.append(held(jnd_times(source, frames, jnd=exact), known))  # type: ignore[arg-type]
        segments, sequences = np.mean(found, axis=0)
        table.add_row(name, f"{segments:.1%}", f"{sequences:.1%}")
    return table


def again(times: JndTimes, rng: np.random.Generator, draws: int = 400) -> tuple[float, float]:
    """Give the interval of a bootstrap: errors are drawn around the estimates once more."""
    change, se, duration = (
        times.segments[name].to_numpy() for name in ("change", "change_se", "duration_ms")
    )
    drawn = (change + se * rng.standard_normal((draws, change.size))) / duration
    one = times.jnd.value + times.jnd.se * rng.standard_normal(draws)
    low, high = np.quantile(one / drawn.max(axis=1), [0.025, 0.975])
    return float(low), float(high)


def interval_table(runs: int, seed: int, sizes: tuple[int, ...]) -> Table:
    """Simulate sampling intervals."""
    table = _table(
        "Sampling interval: 95 % intervals that hold, and bias of the estimates",
        "world",
        "sequences",
        "tests",
        "bootstrap",
        "width of tests",
        "bias of shortest",
        "bias of corrected",
    )
    for kind in KINDS:
        for n in sizes:
            rows = []
            for run in range(runs):
                rng = np.random.default_rng([seed, n, run])
                known = world(kind, n, rng)
                source, frames = scored(known, rng)
                times = jnd_times(source, frames, jnd=Estimate(JND + rng.normal(0, 0.35), se=0.35))
                found, truth = sampling_interval(times), known.times.min()
                one = found.overall
                low, high = again(times, rng)
                rows.append(
                    (
                        one.low <= truth <= one.high,
                        low <= truth <= high,
                        one.low / truth,
                        one.high / truth,
                        one.value / truth - 1,
                        found.corrected / truth - 1,
                    )
                )
            mean = np.mean(rows, axis=0)
            table.add_row(
                kind,
                f"{n}",
                f"{mean[0]:.1%}",
                f"{mean[1]:.1%}",
                f"{mean[2]:.2f}-{mean[3]:.2f}",
                f"{mean[4]:+.1%}",
                f"{mean[5]:+.1%}",
            )
    return table


def shares_table(runs: int, seed: int, sizes: tuple[int, ...]) -> Table:
    """Simulate 1 JND, the interval for a share, and the share within a delay."""
    table = _table(
        "1 JND and shares: 95 % intervals that hold for sequences like these",
        "sequences",
        "1 JND",
        "interval for 95 %",
        "share within 50 ms",
    )
    many = world("scores alike", 200_000, np.random.default_rng(seed)).times.min(axis=1)
    quantile, within = float(np.quantile(many, 0.05)), float((many > 50).mean())
    for n in sizes:
        rows = []
        for run in range(runs):
            rng = np.random.default_rng([seed, n, run])
            source, frames = scored(world("scores alike", n, rng), rng)
            one = jnd_score(source, n_boot=500, seed=run)
            times = jnd_times(source, frames, jnd=one)
            share = sampling_interval(times).frame.row(0, named=True)
            low = 0.0 if np.isnan(share["share_low_ms"]) else share["share_low_ms"]
            budget = latency_budget(times, 50, n_boot=500, seed=run).at(50)
            rows.append(
                (
                    one.low <= JND <= one.high,
                    low <= quantile <= share["share_high_ms"],
                    budget["low"] <= within <= budget["high"],
                )
            )
        table.add_row(f"{n}", *(f"{value:.1%}" for value in np.mean(rows, axis=0)))
    return table


SLIDERS = {"of any size": (-np.inf, np.inf), "from 0 to 100": (0.0, 100.0)}
PAPER_NOISE = 16.5
"""Points around small differences with which scores from 32 people have the errors of the paper."""


def floor_runs(
    runs: int, seed: int, n: int, ends: tuple[float, float], *, n_boot: int = 500
) -> Floats:
    """Simulate studies on a slider with these ends; nobody has a bias, which would move all scores.

    Returns
    -------
    Shape (runs, 6): whether the interval of 1 JND holds, the relative error of 1 JND, the shares of
    segments and of sequences whose interval holds, whether the sampling interval's holds, and the
    relative error of the shortest time.
    """
    found = np.empty((runs, 6))
    for run in range(runs):
        rng = np.random.default_rng([seed, n, run])
        known = world("scores alike", n, rng)
        ratings, frames = rated(known, 32, rng, noise=PAPER_NOISE, bias_sd=0.0, ends=ends)
        one = jnd_score(ratings, n_boot=n_boot, seed=run)
        times = jnd_times(ratings, frames, jnd=one)
        interval, truth = sampling_interval(times).overall, known.times.min()
        found[run] = (
            one.low <= JND <= one.high,
            one.value / JND - 1,
            *held(times, known),
            interval.low <= truth <= interval.high,
            interval.value / truth - 1,
        )
    return found


def floor_table(runs: int, seed: int, sizes: tuple[int, ...]) -> Table:
    """Compare a slider that ends at 0 with one that does not end."""
    table = _table(
        "The floor: 95 % intervals that hold, and bias, at the noise of the paper",
        "answers",
        "sequences",
        "1 JND",
        "bias of 1 JND",
        "segments",
        "times",
        "interval",
        "bias of shortest",
    )
    for name, ends in SLIDERS.items():
        for n in sizes:
            one = floor_runs(runs, seed, n, ends).mean(axis=0)
            cells = [
                f"{value:+.1%}" if k in (1, 5) else f"{value:.1%}" for k, value in enumerate(one)
            ]
            table.add_row(name, f"{n}", *cells)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=None, header_style="bold", title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    return table


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="How often intervals of JND times hold.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 8, 58, 462])
    given = parser.parse_args()
    console = Console(width=110)
    sizes = tuple(given.sizes)
    console.print(times_table(given.runs, given.seed))
    console.print(shares_table(given.runs, given.seed, tuple(n for n in sizes if n > 1)))
    console.print(interval_table(given.runs, given.seed, sizes))
    console.print(floor_table(given.runs, given.seed, tuple(n for n in sizes if n > 1)))


if __name__ == "__main__":
    main()
