"""How often intervals of metrics of classification hold.

``python -m benchmarks._classification_coverage [--runs 200]`` prints, for classifiers of Mikels'
eight emotions with one item each or with clusters that differ in accuracy, the share of simulated
data sets in which 95 % intervals hold the value of a very large one: from leaving out, and from
bootstrap percentiles.
"""

from __future__ import annotations

import argparse
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from affectlab.evaluation import classification_metrics
from affectlab.taxonomy import load_taxonomy

_METRICS = ("accuracy", "macro_f1", "ecc", "emc", "kappa", "weighted_kappa")
_DESIGNS = (
    (50, 0.6, 0.0, 0),
    (100, 0.6, 1.0, 0),
    (100, 0.9, 1.0, 0),
    (200, 0.7, 1.5, 0),
    (200, 0.6, 0.0, 5),
    (200, 0.6, 0.0, 10),
    (400, 0.8, 1.0, 20),
)
"""Items, accuracy, how unequal labels are (power of their rank), and clusters; 0 for none."""
_SPREAD = 0.15
"""Standard deviation of the accuracy of clusters."""
_LARGE = 400_000
Labels: TypeAlias = NDArray[np.str_]


def _data(
    rng: np.random.Generator, n: int, accuracy: float, skew: float, clusters: int
) -> tuple[Labels, Labels, NDArray[np.int64] | None]:
    names = np.array(load_taxonomy("mikels").labels)
    share = np.arange(1, names.size + 1) ** -skew
    share /= share.sum()
    true = rng.choice(names.size, n, p=share)
    cluster = np.arange(n) % clusters if clusters else None
    right = np.full(n, accuracy)
    if cluster is not None:
        right = np.clip(accuracy + rng.normal(0, _SPREAD, clusters), 0, 1)[cluster]
    near, far = (true + 1) % names.size, rng.choice(names.size, n, p=share)
    said = np.where(rng.random(n) < 0.6, near, far)
    return names[true], names[np.where(rng.random(n) < right, true, said)], cluster


def _held(runs: int, design: tuple[int, float, float, int]) -> list[str]:
    n, accuracy, skew, clusters = design
    wide = _data(np.random.default_rng(9), _LARGE, accuracy, skew, clusters and _LARGE // 10)
    large = classification_metrics(*wide[:2], "mikels", metrics=_METRICS, n_boot=0)
    truth = large.frame["value"].to_numpy()
    held, known = np.zeros((2, 2, len(_METRICS)))
    for run in range(runs):
        true, said, cluster = _data(np.random.default_rng([run, 1]), n, accuracy, skew, clusters)
        for place, interval in enumerate(("jackknife", "percentile")):
            frame = classification_metrics(
                true,
                said,
                "mikels",
                metrics=_METRICS,
                clusters=cluster,
                interval=interval,  # type: ignore[arg-type]
                n_boot=400,
                seed=run,
            ).frame
            low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
            held[place] += (low <= truth) & (truth <= high)
            known[place] += ~np.isnan(low)
    share = held / np.maximum(known, 1)
    return [f"{one:.2f} / {other:.2f}" for one, other in share.T]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Coverage of intervals of classification.")
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    table = Table("items", "accuracy", "unequal", "clusters", *_METRICS)
    table.title = f"Leaving out / percentiles; {runs} data sets each, those with an interval"
    for design in _DESIGNS:
        table.add_row(*map(str, design), *_held(runs, design))
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
