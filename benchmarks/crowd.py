"""Learning from raters against majority and soft labels: simulated populations, and GoEmotions.

``python -m benchmarks.crowd populations [--simulations 100]`` simulates raters who differ by bias,
by groups, by spam, or not at all, and says how often a gain is shown, and how large it is. ``python
-m benchmarks.crowd goemotions RAW.csv`` does so for GoEmotions' raw answers, on comments that are
kept aside, and on raters. Both write what is found as JSON to ``--out``, and print it as Markdown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from benchmarks._harness import Workload

WORKLOADS: tuple[Workload, ...] = ()
"""None: what is found is looked at, and not how long it takes."""

_LABELS = ("joy", "fear", "anger")
_STIMULI, _RATERS, _EACH, _WIDTH, _NOISE = 60, 12, 5, 12, 0.3
_GRID: dict[str, Any] = {"n_splits": 3, "penalties": (0.5,), "shrinkages": (1.0, 10.0)}


def simulated(differs: str, seed: int) -> tuple[Any, dict[str, Any]]:
    """Answers of a population, and features that hold the truth with noise."""
    from affectlab.simulate import population, simulate_raters, simulate_truth

    rng = np.random.default_rng([seed, 1])
    truth = simulate_truth(_STIMULI, _LABELS, "binary", seed=seed, spread=0.05)
    people = population(differs, _RATERS, seed, labels=_LABELS, scale="binary")
    ratings = simulate_raters(truth, people, seed=seed, raters_per_stimulus=_EACH).ratings
    value = (truth.value - truth.value.mean(0)) / truth.value.std(0)
    seen = value @ rng.normal(size=(len(_LABELS), _WIDTH))
    seen = seen / seen.std() + _NOISE * rng.normal(size=seen.shape)
    return ratings, dict(zip(truth.stimuli, seen, strict=True))


def populations(names: list[str], simulations: int, start: int) -> Iterator[dict[str, Any]]:
    """Compare on simulated populations; a row for each gain."""
    from affectlab.models.crowd import compare_crowd_models

    for differs in names:
        for seed in range(start, start + simulations):
            started = perf_counter()
            found = compare_crowd_models(*simulated(differs, seed), seed=seed, **_GRID)
            rows = found.gains.select("how", "against", "measure", "value", "low", "high", "shown")
            seconds = perf_counter() - started
            for row in rows.to_dicts():
                yield {"population": differs, "seed": seed, "seconds": seconds, **row}


def goemotions(
    raw: Path, level: str | None, held_out: Any, width: int, splits: int, shrinkages: list[float]
) -> Iterator[dict[str, Any]]:
    """Compare on raw answers of GoEmotions; a row for each measure and each gain."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    from affectlab.models.crowd import compare_crowd_models
    from affectlab.ratings import read_ratings

    ratings = read_ratings(raw)
    texts = dict(ratings.stimuli.select("stimulus", "text").iter_rows())
    if level is not None:
        ratings = ratings.group_labels(level)
    words = TfidfVectorizer(min_df=3, ngram_range=(1, 2), sublinear_tf=True)
    seen = TruncatedSVD(width, random_state=0).fit_transform(words.fit_transform(texts.values()))
    started = perf_counter()
    found = compare_crowd_models(
        ratings,
        dict(zip(texts, seen, strict=True)),
        held_out=held_out,
        n_splits=splits,
        penalties=(0.1,),
        shrinkages=shrinkages,
    )
    told = {
        "level": level or "goemotions",
        "held_out": held_out,
        "width": width,
        "n_stimuli": found.settings["n_stimuli"],
        "n_raters": found.settings["n_raters"],
        "seconds": perf_counter() - started,
    }
    for table in (found.measures.with_columns(against=pl.lit("")), found.gains):
        for row in table.select("how", "against", "measure", "value", "low", "high").to_dicts():
            yield {**told, **row}


def rates(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Say how often a gain over majority and soft labels is shown, and how large it is."""
    both = (
        pl.DataFrame(rows, infer_schema_length=None)
        .filter(pl.col("how") != "soft")
        .group_by("population", "seed", "how", "measure", maintain_order=True)
        .agg(
            shown=pl.col("shown").all(),
            gain=pl.col("value").filter(pl.col("against") == "soft").first(),
        )
    )
    by_how = both.group_by("population", "how", "measure", maintain_order=True).agg(
        shown=pl.col("shown").mean(),
        gain=pl.col("gain").mean(),
        low=pl.col("gain").quantile(0.05),
        high=pl.col("gain").quantile(0.95),
        n=pl.len(),
    )
    anything = both.group_by("population", "seed").agg(pl.col("shown").any())
    whole = anything.group_by("population", maintain_order=True).agg(
        pl.col("shown").mean(), n=pl.len()
    )
    return pl.concat([by_how, whole.with_columns(how=pl.lit("any"))], how="diagonal")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("populations", "goemotions"))
    parser.add_argument("raw", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=["none", "bias", "groups", "spam"])
    parser.add_argument("--level")
    parser.add_argument("--held-out", default="stimuli")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--shrinkages", type=float, nargs="*", default=[0.3, 3.0, 30.0])
    given = parser.parse_args()
    if given.what == "populations":
        made = populations(given.only, given.simulations, given.start)
    else:
        settings = given.width, given.splits, given.shrinkages
        made = goemotions(given.raw, given.level, given.held_out, *settings)
    rows = []
    with given.out.open("w", encoding="utf-8") as file:
        for row in made:
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
    table = rates(rows) if given.what == "populations" else pl.DataFrame(rows)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_formatting="MARKDOWN", float_precision=3):
        print(table)


if __name__ == "__main__":
    main()
