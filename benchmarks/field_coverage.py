"""Do intervals hold on answers of the field's kind? Studies from known populations say so.

Apart from the atlas (``benchmarks/coverage.py``), with which it shares no code: populations of
stimuli, raters and their answers are described by a few lines below, and what is true of a
population is computed from 700 raters and 10,000 stimuli of it, or from its raters and stimuli
that were drawn where an interval is about these. Zero-heavy scales, rare answers, raters whose
slopes differ, careless raters, faces of the same actors, and crowds.

``python -m benchmarks.field_coverage --studies 1000`` goes on where it stopped, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

WORKLOADS = ()
CHUNK = 25
"""Studies that are stored together."""
DESIGNS_SEED = 20261129


@dataclass(frozen=True)
class Population:
    """A population of stimuli and raters, and the study that is drawn from it."""

    name: str
    n_stimuli: int
    n_raters: int
    per_stimulus: int = 0
    """Raters who answer to each stimulus; 0 for all."""
    middle: float = 3.5
    stimulus: float = 1.2
    rater: float = 0.6
    rest: float = 1.0
    slope: float = 0.0
    """Standard deviation of the logarithm of slopes of raters."""
    actors: int = 0
    actor: float = 0.0
    """Standard deviation between actors, beside that of the stimuli of one."""
    careless: float = 0.0
    """Share of raters who answer at random."""
    some_careless: bool = False
    """Whether only studies count that have one in them."""
    yes: float = 0.0
    """Share of yes, for answers yes or no."""

    @property
    def scale(self) -> str:
        return "0-1" if self.yes else "0-7"

    @property
    def cut(self) -> float:
        from scipy.special import ndtri

        whole = np.sqrt(self.stimulus**2 + self.actor**2 + self.rater**2 + self.rest**2)
        return float(-ndtri(self.yes) * whole)

    def of_stimuli(self, rng: np.random.Generator, n: int, actor: np.ndarray | None) -> np.ndarray:
        level = rng.normal(0, self.stimulus, n)
        if actor is not None:
            level = level + rng.normal(0, self.actor, int(actor.max()) + 1)[actor]
        return level

    def of_raters(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
        careless = rng.random(n) < self.careless
        while self.some_careless and n < 100 and not careless.any():
            careless = rng.random(n) < self.careless
        return rng.normal(0, self.rater, n), np.exp(rng.normal(0, self.slope, n)), careless

    def answers(
        self, rng: np.random.Generator, level: np.ndarray, raters: tuple[np.ndarray, ...]
    ) -> np.ndarray:
        """Give answers of shape (stimuli, raters)."""
        bias, slope, careless = raters
        noise = rng.normal(0, self.rest, (level.size, bias.size))
        latent = slope * level[:, None] + bias + noise
        if self.yes:
            given = (latent > self.cut).astype(np.float64)
            random = rng.integers(0, 2, latent.shape).astype(np.float64)
        else:
            given = np.clip(np.rint(latent + self.middle), 0, 7)
            random = rng.integers(0, 8, latent.shape).astype(np.float64)
        return np.where(careless, random, given)


ZEROS = {"middle": -1.6, "stimulus": 2.0, "rater": 0.7, "rest": 1.5, "slope": 0.4}
YES = {"stimulus": 1.0, "rater": 0.5, "rest": 1.0}
POPULATIONS = (
    Population("normal, 100 x 4", 100, 4),
    Population("79 % zeros, 100 x 4", 100, 4, **ZEROS),
    Population("79 % zeros, 60 x 12", 60, 12, **ZEROS),
    Population("5 % yes, 300 x 3", 300, 3, yes=0.05, **YES),
    Population("20 % yes, 100 x 5", 100, 5, yes=0.20, **YES),
    Population("slopes differ, 100 x 6", 100, 6, slope=0.4),
    Population("12 actors, 120 x 6", 120, 6, actors=12, actor=0.9, stimulus=0.8),
    Population("crowd of 82, 5 % yes, 500 x 3", 500, 82, per_stimulus=3, yes=0.05, **YES),
    Population("15 % careless, 60 x 40", 60, 40, careless=0.15),
    Population("15 % careless, some, 60 x 10", 60, 10, careless=0.15, some_careless=True),
)


@dataclass
class Study:
    """One study: its answers, what was shown, and its population's truth."""

    population: Population
    rng: np.random.Generator
    level: np.ndarray = field(init=False)
    actor: np.ndarray | None = field(init=False)

    def __post_init__(self) -> None:
        p = self.population
        self.actor = np.arange(p.n_stimuli) % p.actors if p.actors else None
        self.level = p.of_stimuli(self.rng, p.n_stimuli, self.actor)
        self.raters = p.of_raters(self.rng, p.n_raters)
        self.matrix = p.answers(self.rng, self.level, self.raters)
        self.mask = np.ones(self.matrix.shape, dtype=bool)
        if p.per_stimulus:
            order = self.rng.random(self.matrix.shape).argsort(axis=1)
            self.mask = order.argsort(axis=1) < p.per_stimulus

    def ratings(self, matrix: np.ndarray | None = None, **attributes: Any) -> Any:
        import polars as pl

        from affectlab import Ratings

        given = self.matrix if matrix is None else matrix
        s, r = np.nonzero(self.mask)
        names = np.array([f"s{k:04d}" for k in range(given.shape[0])])
        stimuli: dict[str, Any] = {"stimulus": names, **attributes}
        if self.actor is not None:
            stimuli["actor"] = np.array([f"a{k:02d}" for k in self.actor])
        frame = pl.DataFrame(
            {
                "stimulus": names[s],
                "rater": np.array([f"r{k:02d}" for k in range(given.shape[1])])[r],
                "value": given[s, r],
            }
        )
        return Ratings(frame, scale=self.population.scale, stimuli=pl.DataFrame(stimuli))


@cache
def complete(population: Population) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Draw 10,000 stimuli and 700 raters of a population: answers, levels, raters."""
    rng = np.random.default_rng([DESIGNS_SEED, POPULATIONS.index(population)])
    n = 10_000
    # Of a population of actors each has one face: stimuli are independent.
    actor = np.arange(n) if population.actors else None
    level = population.of_stimuli(rng, n, actor)
    raters = population.of_raters(rng, 700)
    return population.answers(rng, level, raters), level, raters


@cache
def single(population: Population) -> float:
    """Share of stimuli in the variance of one answer, by mean squares of the population."""
    x = complete(population)[0]
    n, k = x.shape
    x = x - x.mean()
    units, raters = x.mean(1), x.mean(0)
    b = k * (units**2).sum() / (n - 1)
    j = n * (raters**2).sum() / (k - 1)
    e = ((x - units[:, None] - raters) ** 2).sum() / ((n - 1) * (k - 1))
    signal = (b - e) / k
    return float(signal / (signal + (j - e) / n + e))


def of_mean(population: Population) -> float:
    k, one = population.per_stimulus or population.n_raters, single(population)
    return k * one / (1 + (k - 1) * one)


def pair_kappas(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Quadratic kappa of every column of one with every column of the other."""
    mx, my = x.mean(0), y.mean(0)
    covariance = (x - mx).T @ (y - my) / len(x)
    apart = x.var(0)[:, None] + y.var(0) + (mx[:, None] - my) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(apart > 0, 2 * covariance / apart, np.nan)


Found = Iterator[tuple[float, float, float, float]]
"""Values with the ends of their intervals, and what is true."""


def row(table: Any, **keys: Any) -> tuple[float, float, float]:
    frame = table.to_frame() if hasattr(table, "to_frame") else table
    if keys:
        frame = frame.filter(**keys)
    one = frame.row(0, named=True)
    ends = (one[name] for name in ("value", "low", "high"))
    low = [float("nan") if end is None else float(end) for end in ends]
    return low[0], low[1], low[2]


def alpha(study: Study) -> Found:
    from affectlab.reliability import krippendorff_alpha

    found = krippendorff_alpha(study.ratings(), level="interval")
    yield *row(found), single(study.population)


def icc_single(study: Study) -> Found:
    from affectlab.reliability import intraclass_correlation

    found = intraclass_correlation(study.ratings(), forms=("2,1",))
    yield *row(found, form="2,1"), single(study.population)


def icc_mean(study: Study) -> Found:
    from affectlab.reliability import intraclass_correlation

    found = intraclass_correlation(study.ratings(), forms=("2,k",))
    yield *row(found, form="2,k"), of_mean(study.population)


def page_one(study: Study) -> Found:
    from affectlab.reliability import reliability_of_means

    yield *row(reliability_of_means(study.ratings())), of_mean(study.population)


def scores(study: Study) -> Found:
    from affectlab.reliability import mean_opinion_scores

    p = study.population
    frame = mean_opinion_scores(study.ratings()).to_frame().sort("stimulus")
    truth = np.zeros(p.n_stimuli)
    # The mean of the population of raters for each stimulus that was drawn.
    for _ in range(4):
        truth += p.answers(study.rng, study.level, complete_raters(p)).mean(1) / 4
    for one, true in zip(frame.iter_rows(named=True), truth, strict=True):
        yield one["value"], one["low"], one["high"], float(true)


@cache
def complete_raters(population: Population) -> tuple[np.ndarray, ...]:
    return complete(population)[2]


def kappa(study: Study) -> Found:
    """Quadratic kappa of the first two raters, about other stimuli."""
    from affectlab.reliability import weighted_kappa

    p = study.population
    if p.per_stimulus:
        return
    bias, slope, careless = (part[:2] for part in study.raters)
    level = p.of_stimuli(study.rng, 40_000, np.arange(40_000) if p.actors else None)
    x = p.answers(study.rng, level, (bias, slope, careless))
    own = study.matrix[:, :2]
    more = {} if study.actor is None else {"cluster": study.actor}
    found = weighted_kappa(own[:, 0], own[:, 1], weights="quadratic", scale=p.scale, **more)
    yield found.value, found.low, found.high, float(pair_kappas(x[:, :1], x[:, 1:])[0, 0])


RIGHT, SPREAD = 0.7, 0.15
"""Accuracy of the classifier, and its standard deviation between actors."""


def macro_f1(study: Study) -> Found:
    """A classifier beside the true class; classes as frequent as the answers of the population."""
    from affectlab.evaluation import classification_metrics

    p, rng = study.population, study.rng
    share = np.array([1 - p.yes, p.yes]) if p.yes else np.array([0.05, 0.1, 0.2, 0.25, 0.4])
    if "zeros" in p.name:
        share = np.array([0.79, 0.09, 0.07, 0.05])
    truth, guess = predicted(rng, share, p.n_stimuli, study.actor)
    names = np.array([f"c{k}" for k in range(share.size)])
    found = classification_metrics(
        names[truth],
        names[guess],
        metrics=("macro_f1",),
        labels=names.tolist(),
        clusters=study.actor,
    )
    yield *row(found, metric="macro_f1"), true_f1(p, tuple(share))


def predicted(
    rng: np.random.Generator, share: np.ndarray, n: int, actor: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.choice(share.size, n, p=share)
    if actor is None:
        right = RIGHT
    else:
        right = np.clip(rng.normal(RIGHT, SPREAD, int(actor.max()) + 1), 0.05, 0.95)[actor]
    other = (truth + rng.integers(1, share.size, n)) % share.size
    return truth, np.where(rng.random(n) < right, truth, other)


@cache
def true_f1(p: Population, share: tuple[float, ...]) -> float:
    rng = np.random.default_rng(DESIGNS_SEED)
    n = 2_000_000
    truth, guess = predicted(rng, np.array(share), n, np.arange(n) if p.actors else None)
    k = len(share)
    table = np.bincount(truth * k + guess, minlength=k * k).reshape(k, k)
    return float((2 * table.diagonal() / (table.sum(0) + table.sum(1))).mean())


MODEL = {"bias": 0.3, "slope": 0.9}
"""How a model answers: as a person does, a little higher."""


def alignment(study: Study) -> Found:
    """Agreement of a model with people less that of people with one another."""
    from affectlab.evaluation import alignment as aligned
    from affectlab.ratings import Ratings

    p = study.population
    one = (np.array([MODEL["bias"]]), np.array([MODEL["slope"]]), np.array([False]))
    model = p.answers(study.rng, study.level, one)
    people = study.ratings()
    answers = {
        "stimulus": [f"s{k:04d}" for k in range(p.n_stimuli)],
        "rater": ["model"] * p.n_stimuli,
        "value": model[:, 0],
    }
    models = Ratings(answers, scale=p.scale, raters={"rater": ["model"], "rater_kind": ["model"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Held to a population with its careless people: nobody is left out.
        found = aligned(people, models, without="none")
    table = found.difference.to_frame()
    table = table.filter(measure=found.primary)
    yield *row(table), true_difference(p, found.pooled)


@cache
def true_difference(p: Population, pooled: bool) -> float:
    x, level, _ = complete(p)
    rng = np.random.default_rng([DESIGNS_SEED, 7])
    many = 100
    like_it = tuple(np.full(many, MODEL[key]) for key in ("bias", "slope"))
    model = p.answers(rng, level, (*like_it, np.zeros(many, dtype=bool)))
    people = x
    if pooled:
        return _pooled(model, people, same=False) - _pooled(people, people, same=True)
    among = pair_kappas(people, people)
    np.fill_diagonal(among, np.nan)
    with_model = np.nanmean(pair_kappas(model, people))
    return float(with_model - np.nanmean(among))


def _pooled(x: np.ndarray, y: np.ndarray, same: bool) -> float:
    """One less the disagreement of all pairs over what chance gives them."""
    mx, my = x.mean(0), y.mean(0)
    chance = x.var(0)[:, None] + y.var(0) + (mx[:, None] - my) ** 2
    apart = chance - 2 * (x - mx).T @ (y - my) / len(x)
    if same:
        np.fill_diagonal(chance, 0.0)
        np.fill_diagonal(apart, 0.0)
    return float(1 - apart.sum() / chance.sum())


EFFECT = 0.5
"""Standard deviations of stimuli by which a condition moves them."""


def mixed_model(study: Study) -> Found:
    """Difference of means between two conditions, which each actor has where there are some."""
    from affectlab.reliability import mixed_model as fitted

    p = study.population
    treated = (np.arange(p.n_stimuli) // max(p.actors, 1)) % 2 == 1
    level = study.level + treated * EFFECT * p.stimulus
    study.matrix = p.answers(study.rng, level, study.raters)
    condition = np.where(treated, "b", "a")
    found = fitted(study.ratings(condition=condition), fixed=["condition"])
    table = found.to_frame("contrasts")
    one = table.row(0, named=True)
    sign = -1.0 if one["a"] == "a" else 1.0
    ends = [float("nan") if one[k] is None else float(one[k]) for k in ("value", "low", "high")]
    yield ends[0], ends[1], ends[2], sign * true_effect(p)


@cache
def true_effect(p: Population) -> float:
    x, level, raters = complete(p)
    rng = np.random.default_rng([DESIGNS_SEED, 8])
    moved = p.answers(rng, level + EFFECT * p.stimulus, raters)
    return float(moved.mean() - x.mean())


STATISTICS: dict[str, Callable[[Study], Found]] = {
    "alpha": alpha,
    "ICC(2,1)": icc_single,
    "ICC(2,k)": icc_mean,
    "page one": page_one,
    "scores": scores,
    "kappa": kappa,
    "macro F1": macro_f1,
    "alignment": alignment,
    "mixed model": mixed_model,
}


def run(statistic: str, population: Population, start: int, n: int) -> dict[str, Any]:
    """Count, over some studies, intervals that hold what is true."""
    counts = dict.fromkeys(("n", "none", "undefined", "covered", "below", "above", "errors"), 0)
    width, error, warned = 0.0, "", 0
    began = time.process_time()
    for k in range(start, start + n):
        seed = [DESIGNS_SEED, list(STATISTICS).index(statistic), POPULATIONS.index(population), k]
        study = Study(population, np.random.default_rng(seed))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = list(STATISTICS[statistic](study))
            except Exception as problem:  # noqa: BLE001 - counted and printed, not hidden
                counts["errors"] += 1
                error = f"{type(problem).__name__}: {problem}"[:200]
                continue
        warned += bool(told)
        for value, low, high, true in found:
            counts["n"] += 1
            ends = np.array([np.nan if end is None else end for end in (low, high)], dtype=float)
            if value is None or value != value:
                counts["undefined"] += 1
            if np.isnan(ends).any():
                counts["none"] += 1
                continue
            width += ends[1] - ends[0]
            counts["covered"] += bool(ends[0] <= true <= ends[1])
            counts["below"] += bool(true < ends[0])
            counts["above"] += bool(true > ends[1])
    return {
        "statistic": statistic,
        "population": population.name,
        "start": start,
        "studies": n,
        **counts,
        "width": width,
        "warned": warned,
        "seconds": round(time.process_time() - began, 2),
        "error": error,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--statistics", nargs="*", default=list(STATISTICS))
    parser.add_argument("--populations", nargs="*", default=[p.name for p in POPULATIONS])
    parser.add_argument("--out", type=Path, default=Path("build/field_coverage.jsonl"))
    parser.add_argument("--print", action="store_true", dest="only_print")
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    rows = [json.loads(line) for line in lines]
    finished = {(r["statistic"], r["population"], r["start"]) for r in rows}
    for start in range(0, 0 if given.only_print else given.studies, CHUNK):
        for population in POPULATIONS:
            for statistic in given.statistics:
                key = (statistic, population.name, start)
                if population.name not in given.populations or key in finished:
                    continue
                rows.append(run(statistic, population, start, CHUNK))
                with given.out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print_table(rows)


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print, for each cell, what is covered with and without studies that have no interval."""
    heads = ("n", "holds", "of all", "none", "below", "above", "width", "errors")
    print(f"{'statistic':12} {'population':32}", *(f"{head:>6}" for head in heads))
    names = ("n", "none", "covered", "below", "above", "width", "errors")
    for statistic in STATISTICS:
        for population in POPULATIONS:
            key = statistic, population.name
            own = [row for row in rows if (row["statistic"], row["population"]) == key]
            total = {name: sum(row[name] for row in own) for name in names}
            n, has = total["n"], total["n"] - total["none"]
            if not own:
                continue
            shares = [
                (total["covered"], has),
                (total["covered"] + total["none"], n),
                (total["none"], n),
                *((total[name], has) for name in ("below", "above", "width")),
            ]
            cells = [f"{part / whole:6.3f}" if whole else f"{'-':>6}" for part, whole in shares]
            error = next((row["error"] for row in own if row["error"]), "")
            print(f"{key[0]:12} {key[1]:32} {n:6}", *cells, f"{total['errors']:6}", error[:80])


if __name__ == "__main__":
    main()
