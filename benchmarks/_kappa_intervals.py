"""How often intervals of quadratic kappa of two raters hold: ours, and the large-sample interval.

``python -m benchmarks._kappa_intervals [--runs 4000] [--seed 0]`` prints, for studies of the
coverage atlas and others whose raters differ more, the share of 95 % intervals that hold the true
value, and of studies that have one.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.special import ndtr, ndtri

from affectlab.reliability.agreement.chance_corrected.kappa import (
    disagreement_weights,
    kappa_of_tables,
)

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
_CUTS = {
    "5 levels": np.array([-1.2, -0.4, 0.4, 1.2]),
    "8 levels": np.linspace(-1.5, 1.5, 7),
    "5 alike": ndtri([0.2, 0.4, 0.6, 0.8]),
    "yes/no, 20 %": ndtri([0.8]),
}
"""Where answers are cut, in their standard deviations."""
_DESIGNS = (
    *((scale, 0.7, 1.0) for scale in ("5 levels", "8 levels", "yes/no, 20 %")),
    ("5 alike", 2.0, 0.5),
)
"""Scale, and the standard deviations of raters and of the rest, in that of stimuli."""
_ITEMS = (10, 20, 30, 100)


def true_kappas(cuts: Values, level: Values, rest: float) -> Values:
    """Kappa of two raters of these levels, shape (runs, 2), on all stimuli there are."""
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    below = ndtr((cuts - node[:, None] - level[..., None, None]) / rest)
    chance = np.diff(np.pad(below, [(0, 0)] * 3 + [(1, 1)], constant_values=0), axis=-1)
    chance[..., -1] += 1.0
    both = np.einsum("n,rnk,rnl->rkl", weight / weight.sum(), chance[:, 0], chance[:, 1])
    w = disagreement_weights("quadratic", cuts.size + 1)
    by_chance = np.einsum("rk,kl,rl->r", both.sum(axis=2), w, both.sum(axis=1))
    return np.asarray(1 - (both * w).sum(axis=(1, 2)) / by_chance)


def large_sample(tables: Counts) -> tuple[Values, Values]:
    """Value and standard error of Fleiss, Cohen and Everitt (1969)."""
    w = disagreement_weights("quadratic", tables.shape[-1])
    n = tables.sum(axis=(1, 2))
    share = tables / n[:, None, None]
    rows, columns = share.sum(axis=2), share.sum(axis=1)
    observed = np.einsum("kij,ij->k", share, w)
    expected = np.einsum("ki,ij,kj->k", rows, w, columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = observed / expected
        pull = w - ratio[:, None, None] * ((columns @ w)[:, :, None] + (rows @ w)[:, None, :])
        pull += observed[:, None, None]
        se = np.sqrt(np.einsum("kij,kij->k", share, pull**2) / n) / expected
    return 1 - ratio, se


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    table = Table("scale", "raters' SD", "rest", "items", "large sample", "of", "ours", "of")
    for scale, rater_sd, rest in _DESIGNS:
        cuts = _CUTS[scale] * math.sqrt(1 + rater_sd**2 + rest**2)
        for items in _ITEMS:
            level = rng.normal(0, rater_sd, (given.runs, 2))
            felt = rng.normal(size=(given.runs, 1, items)) + level[..., None]
            felt += rng.normal(0, rest, felt.shape)
            first, second = np.moveaxis(np.searchsorted(cuts, felt), 1, 0)
            tables = np.zeros((given.runs, cuts.size + 1, cuts.size + 1), dtype=np.int64)
            np.add.at(tables, (np.arange(given.runs)[:, None], first, second), 1)
            truth = true_kappas(cuts, level, rest)
            value, se = large_sample(tables)
            half = np.where(se > 0, ndtri(0.975) * se, np.nan)
            _, low, high = kappa_of_tables(tables, "quadratic").ends(0.95)
            row = [scale, f"{rater_sd:g}", f"{rest:g}", str(items)]
            for lower, upper in ((value - half, value + half), (low, high)):
                known = ~np.isnan(lower)
                held = ((lower <= truth) & (truth <= upper))[known].mean()
                row += [f"{held:.3f}", f"{known.mean():.2f}"]
            table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
