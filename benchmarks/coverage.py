"""The coverage atlas: how often nominal 95 % intervals hold, over the designs that studies have.

``python -m benchmarks.coverage [STATISTIC ...] [--runs 1000] [--cells 150] [--minutes 60]``
simulates studies, adds what it finds to ``coverage.json``, and writes the page of the documentation
and the cells of which a result warns. What is done is not done again: it goes on where it stopped,
on all cores, or with ``--ray`` on those of a Ray cluster (``pip install ray``).

Each study has stimuli and raters drawn from normal populations,

    answer = stimulus + rater + rest,

with variances 1, that of raters, and 1; answers are cut into levels where the scale has some, and a
share of them is missing at random. The true values are exact: integrals over the populations where
these are drawn anew, sums over those of the study where an interval is about these.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from affectlab import reliability
from affectlab.core.estimates import Estimate

__all__ = ["STATISTICS", "WORKLOADS", "Cell", "Study", "cells_of", "covers", "simulate"]

WORKLOADS = ()
Task: TypeAlias = tuple[str, "Cell", int, int]
"""A statistic, a cell, the number of its first study, and how many studies."""
Floats: TypeAlias = NDArray[np.float64]
Target: TypeAlias = Literal["sample", "stimuli", "raters", "both"]

_HERE = Path(__file__).parent
_CONFIDENCE, _LEAST, _ERROR = 0.95, 0.93, 0.001
_REST = 1.0
_ITEMS = (10, 20, 30, 100, 300, 1000)
_RATERS = (3, 5, 10, 30, 100)
_GAPS = (0.0, 0.3, 0.6, 0.9)
_RATER_SDS = (0.0, 0.7, 2.0)
_SHARES = (0.05, 0.2, 0.5)
_CUTS = {"5 levels": (-1.2, -0.4, 0.4, 1.2), "8 levels": (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)}
"""Where answers are cut, in their standard deviations."""
_MOST_ANSWERS = 20_000
"""Answers of a study, so that a thousand of them are soon done."""
_FEWEST_PER_ITEM = 1.2
_LARGE_STUDIES = 100


@dataclass(frozen=True, order=True)
class Cell:
    """A design, and what an interval is about."""

    target: Target
    items: int
    raters: int
    gaps: float
    rater_sd: float
    """Standard deviation of the level of raters, in that of stimuli."""
    scale: str
    """``continuous``, ``5 levels``, ``8 levels``, or ``yes/no, 20 %`` with the share of yes."""

    @property
    def cuts(self) -> Floats | None:
        """Where answers are cut, None where they are not."""
        spread = math.sqrt(1 + self.rater_sd**2 + _REST)
        if self.scale.startswith("yes"):
            share = float(self.scale.rpartition(", ")[2].removesuffix(" %")) / 100
            return np.array([ndtri(1 - share) * spread])
        return np.array(_CUTS[self.scale]) * spread if self.scale in _CUTS else None

    @property
    def declared(self) -> str:
        """The scale in words that affectlab reads."""
        cuts = self.cuts
        return "interval" if cuts is None else f"0-{cuts.size}"


@dataclass(frozen=True, eq=False)
class Study:
    """The answers of one simulated study, and the populations behind them."""

    cell: Cell
    answers: Floats
    """Shape (raters, items), ``nan`` where there is none."""
    stimulus: Floats
    rater: Floats

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Study:
        """Draw stimuli, raters and answers."""
        stimulus, rater = rng.normal(size=cell.items), rng.normal(0, cell.rater_sd, cell.raters)
        answers = rng.normal(0, math.sqrt(_REST), (cell.raters, cell.items))
        answers += stimulus + rater[:, None]
        if cell.cuts is not None:
            answers = np.searchsorted(cell.cuts, answers).astype(np.float64)
        answers[rng.random(answers.shape) < cell.gaps] = np.nan
        return cls(cell, answers, stimulus, rater)


# True values.


@dataclass(frozen=True, eq=False)
class _Truth:
    """What infinitely many answers would show of the population that an interval is about."""

    pairs: Floats
    """Probability that two raters answer one stimulus with two levels, shape (q, q)."""
    shares: Floats
    """Shares of levels, shape (q,)."""

    @classmethod
    def of(cls, study: Study) -> _Truth:
        """Integrate over what is drawn anew, and sum over what is not."""
        cell = study.cell
        if cell.target == "both":
            return _of_populations(cell)
        if cell.target == "raters":
            chance = _levels(cell, study.stimulus, cell.rater_sd**2 + _REST)
            return cls(chance.T @ chance / len(chance), chance.mean(axis=0))
        node, weight = _nodes()
        # Shape (raters, nodes, levels).
        chance = np.stack([_levels(cell, node + level, _REST) for level in study.rater])
        total = chance.sum(axis=0)
        pairs = np.einsum("n,nk,nl->kl", weight, total, total)
        pairs -= np.einsum("n,rnk,rnl->kl", weight, chance, chance)
        n = len(study.rater)
        return cls(pairs / (n * (n - 1)), weight @ total / n)

    @property
    def observed(self) -> float:
        """Probability that two raters answer alike."""
        return float(np.trace(self.pairs))


@cache
def _nodes() -> tuple[Floats, Floats]:
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    return node, weight / weight.sum()


def _levels(cell: Cell, mean: Floats, variance: float) -> Floats:
    """Probabilities of levels around each mean, shape (means, levels)."""
    assert cell.cuts is not None
    below = ndtr((cell.cuts - mean[:, None]) / math.sqrt(variance))
    return np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)


@cache
def _of_populations(cell: Cell) -> _Truth:
    node, weight = _nodes()
    chance = _levels(cell, node, cell.rater_sd**2 + _REST)
    return _Truth(np.einsum("n,nk,nl->kl", weight, chance, chance), weight @ chance)


def _alpha(study: Study) -> float:
    if study.cell.cuts is None:
        return _alpha_of_numbers(study)
    truth = _Truth.of(study)
    level = np.arange(truth.shares.size)
    if study.cell.scale.startswith("yes"):
        distance = (level[:, None] != level).astype(np.float64)
    else:
        rank = np.cumsum(truth.shares) - truth.shares / 2
        distance = np.subtract.outer(rank, rank) ** 2
    return 1 - float((truth.pairs * distance).sum() / (truth.shares @ distance @ truth.shares))


def _alpha_of_numbers(study: Study) -> float:
    """Alpha of uncut answers at the interval level: of variances."""
    of_raters, of_stimuli = study.cell.rater_sd**2, 1.0
    within = of_raters + _REST
    if study.cell.target == "stimuli":
        # Two different ones of these raters; and any two answers, of the same rater or not.
        of_raters, within = study.rater.var(), study.rater.var(ddof=1) + _REST
    if study.cell.target == "raters":
        of_stimuli = study.stimulus.var()
    return 1 - within / (of_stimuli + of_raters + _REST)


def _fleiss(study: Study) -> float:
    truth = _Truth.of(study)
    chance = float(truth.shares @ truth.shares)
    return (truth.observed - chance) / (1 - chance)


def _gwet(study: Study) -> float:
    truth = _Truth.of(study)
    chance = float(truth.shares @ (1 - truth.shares)) / (truth.shares.size - 1)
    return (truth.observed - chance) / (1 - chance)


def _percent(study: Study) -> float:
    return _Truth.of(study).observed


def _agreement(study: Study) -> float:
    return 1 / (1 + study.cell.rater_sd**2 + _REST)


@cache
def _of_large_studies(name: str, cell: Cell) -> float:
    """Mean of a statistic over studies of many stimuli, with other raters in each."""
    per_item = cell.raters * (1 - cell.gaps)
    wide = replace(cell, items=max(cell.items, int(20_000 / per_item)))
    values = []
    for run in range(_LARGE_STUDIES):
        study = Study.draw(wide, np.random.default_rng([run, 9]))
        values.append(
            STATISTICS[name].estimate(replace(study, cell=replace(cell, target="sample")))
        )
    return float(np.nanmean([one.value for one in values]))


# Intervals.


def _by(function: Callable[..., Any], *, scaled: bool = True) -> Callable[[Study], Estimate]:
    """Call a coefficient as people do."""

    def estimate(study: Study) -> Estimate:
        options: dict[str, Any] = {"scale": study.cell.declared} if scaled else {}
        found: Estimate = function(study.answers, target=study.cell.target, **options)
        return found

    return estimate


def _of_alpha(study: Study) -> Estimate:
    scale = study.cell.scale
    level = "interval" if scale == "continuous" else "ordinal"
    found: Estimate = reliability.krippendorff_alpha(
        study.answers,
        level="nominal" if scale.startswith("yes") else level,
        target=study.cell.target,
    )
    return found


def _of_correlation(study: Study) -> Estimate:
    found = reliability.interrater_correlation(study.answers, target=study.cell.target)
    return found["rating"]


def _of_halves(study: Study) -> Estimate:
    found = reliability.split_half(study.answers, scorer="mean", target=study.cell.target)
    return found["rating"]


_YES = tuple(f"yes/no, {round(100 * share)} %" for share in _SHARES)
_TARGETS: tuple[Target, ...] = ("stimuli", "raters", "both")


@dataclass(frozen=True)
class Statistic:
    """An interval of the package, the true value that it is to hold, and where it is used."""

    estimate: Callable[[Study], Estimate]
    truth: Callable[[Study], float]
    scales: tuple[str, ...]
    targets: tuple[Target, ...] = _TARGETS
    most_gaps: float = 0.9


STATISTICS: dict[str, Statistic] = {
    "krippendorff_alpha": Statistic(_of_alpha, _alpha, (*_YES, *_CUTS, "continuous")),
    "fleiss_kappa": Statistic(_by(reliability.fleiss_kappa), _fleiss, (*_YES, "5 levels")),
    "gwet_ac": Statistic(_by(reliability.gwet_ac), _gwet, (*_YES, "5 levels")),
    "interrater_correlation": Statistic(
        _of_correlation,
        lambda study: _of_large_studies("interrater_correlation", study.cell),
        ("5 levels", "8 levels", "continuous"),
        targets=("both",),
    ),
    "split_half": Statistic(
        _of_halves,
        lambda study: _of_large_studies("split_half", study.cell),
        ("5 levels", "8 levels", "continuous"),
        targets=("both",),
    ),
    "percent_agreement": Statistic(
        _by(reliability.percent_agreement, scaled=False), _percent, (*_YES, "5 levels")
    ),
}


def covers(statistic: str, cell: Cell, seed: Sequence[int]) -> tuple[bool | None, float]:
    """Whether an interval holds the truth in one study, None where there is no interval; and width.

    Parameters
    ----------
    statistic
        A key of :data:`STATISTICS`.
    cell
        The design.
    seed
        Seed of the study.
    """
    made = STATISTICS[statistic]
    study = Study.draw(cell, np.random.default_rng(list(seed)))
    found = made.estimate(study)
    if math.isnan(found.low):
        return None, math.nan
    return bool(found.low <= made.truth(study) <= found.high), found.high - found.low


# Cells, and their runs.


def cells_of(statistic: str, most: int = 150) -> tuple[Cell, ...]:
    """Choose cells of all that there are, so that every level of a factor is met about as often.

    Examples
    --------
    >>> len(cells_of("krippendorff_alpha", 20))
    20
    """
    made = STATISTICS[statistic]
    grid = [
        Cell(*parts)
        for parts in itertools.product(
            made.targets, _ITEMS, _RATERS, _GAPS, _RATER_SDS, made.scales
        )
    ]
    grid = [cell for cell in grid if cell.gaps <= made.most_gaps and _is_feasible(cell)]
    rng = np.random.default_rng(1)
    met: dict[tuple[str, Any], int] = {}
    chosen: list[Cell] = []
    left = [grid[k] for k in rng.permutation(len(grid))]
    while left and len(chosen) < most:
        best = min(left, key=lambda cell: sum(met.get(part, 0) for part in asdict(cell).items()))
        left.remove(best)
        chosen.append(best)
        for part in asdict(best).items():
            met[part] = met.get(part, 0) + 1
    return tuple(chosen)


def _is_feasible(cell: Cell) -> bool:
    """Whether such studies exist: with answers to compare, and not too many to simulate."""
    per_item = cell.raters * (1 - cell.gaps)
    return per_item >= _FEWEST_PER_ITEM and cell.items * per_item <= _MOST_ANSWERS


def simulate(
    statistic: str, cell: Cell, first: int, runs: int, seconds: float = math.inf
) -> dict[str, Any]:
    """Count how often the interval holds in some studies.

    Parameters
    ----------
    statistic, cell
        What is simulated.
    first, runs
        Number of the first study, and how many.
    seconds
        Time after which no further study is begun.
    """
    hits, widths, none, done = 0, [], 0, 0
    start = time.monotonic()
    for run in range(first, first + runs):
        held, width = covers(statistic, cell, (run, *_key(cell)))
        done += 1
        none += held is None
        hits += held is True
        widths.append(width)
        if time.monotonic() - start > seconds:
            break
    known = [width for width in widths if not math.isnan(width)]
    return {
        "statistic": statistic,
        **asdict(cell),
        "runs": done,
        "none": none,
        "hits": hits,
        "width": float(np.median(known)) if known else math.nan,
    }


def _key(cell: Cell) -> tuple[int, ...]:
    """A seed for a cell: other cells have other studies."""
    return tuple(int.from_bytes(str(part).encode()[:8], "big") for part in asdict(cell).values())


# What was found.


def failing(row: Mapping[str, Any]) -> bool:
    """Whether coverage is below .93 by a one-sided binomial test at .001."""
    n = row["runs"] - row["none"]
    return bool(n and binom.cdf(row["hits"], n, _LEAST) < _ERROR)


def _added(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    if old is None:
        return new
    return {**new, **{name: old[name] + new[name] for name in ("runs", "none", "hits")}}


class _Atlas:
    """What is known, by statistic and cell, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = json.loads(path.read_text()) if path.exists() else []
        self.rows: dict[tuple[str, Cell], dict[str, Any]] = {}
        for row in rows:
            names = Cell.__dataclass_fields__
            self.rows[row["statistic"], Cell(**{name: row[name] for name in names})] = row

    def add(self, row: dict[str, Any]) -> None:
        """Add the runs of a cell, and keep them."""
        cell = Cell(**{name: row[name] for name in Cell.__dataclass_fields__})
        key = row["statistic"], cell
        self.rows[key] = _added(self.rows.get(key), row)
        ordered = [self.rows[key] for key in sorted(self.rows)]
        text = "[\n" + ",\n".join(json.dumps(one) for one in ordered) + "\n]\n"
        self.path.write_text(text, encoding="utf-8")

    def wanted(self, names: Sequence[str], cells: int, runs: int) -> Iterator[Task]:
        """Give the cells that lack runs: the next one of every statistic in turn."""
        for cells_in_turn in itertools.zip_longest(*(cells_of(name, cells) for name in names)):
            for name, cell in zip(names, cells_in_turn, strict=True):
                if cell is not None:
                    done = self.rows.get((name, cell), {"runs": 0})["runs"]
                    if done < runs:
                        yield name, cell, done, runs - done


def _on_all_cores(tasks: Sequence[Task], until: float) -> Iterator[dict[str, Any]]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ProcessPoolExecutor(cores) as pool:
        waiting = list(tasks)[::-1]
        running: set[Any] = set()
        while (waiting or running) and (running or time.monotonic() < until):
            while waiting and len(running) < (cores or 1) and time.monotonic() < until:
                left = until - time.monotonic()
                running.add(pool.submit(partial(simulate, *waiting.pop(), seconds=left)))
            done = next(as_completed(running))
            running.remove(done)
            yield done.result()


def _on_ray(tasks: Sequence[Task], until: float) -> Iterator[dict[str, Any]]:
    import ray

    remote = ray.remote(simulate)
    running = [remote.remote(*task, seconds=until - time.monotonic()) for task in tasks]
    while running:
        (done, *_), running = ray.wait(running)
        yield ray.get(done)


def main() -> None:
    """Simulate what is missing, and write what is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("statistics", nargs="*", metavar="STATISTIC")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cells", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--ray", action="store_true")
    given = parser.parse_args()
    atlas = _Atlas(_HERE / "coverage.json")
    tasks = list(atlas.wanted(given.statistics or list(STATISTICS), given.cells, given.runs))
    until = time.monotonic() + 60 * given.minutes
    console = Console()
    for row in (_on_ray if given.ray else _on_all_cores)(tasks, until):
        atlas.add(row)
        known = row["runs"] - row["none"]
        share = f"{row['hits'] / known:.3f}" if known else "none"
        named = ", ".join(str(row[name]) for name in Cell.__dataclass_fields__)
        console.print(f"{row['statistic']}: {named}: {share} of {known}", highlight=False)


if __name__ == "__main__":
    main()
