"""How often intervals of ICC(2,1) hold on complete data: ours, and the F interval of other tools.

``python -m benchmarks._icc_intervals [--runs 20000] [--seed 0]`` prints the share of simulated
studies whose 95 % interval holds the true value, and the mean width, for studies in which raters
differ by 0 to 2 standard deviations of stimuli, and noise has 1.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import stats

from affectlab.reliability.agreement.icc import _agreement

_DESIGNS = (
    *((n, k, sd) for n, k in ((30, 3), (100, 3), (1000, 3), (30, 10)) for sd in (0.0, 0.7, 2.0)),
    *((20, 2, 0.7), (100, 2, 0.2), (1000, 5, 2.0), (10, 30, 2.0), (100, 30, 0.7)),
)
"""Stimuli, raters, and the standard deviation of raters."""
Values = NDArray[np.float64]


def f_interval(b: Values, j: Values, e: Values, n: int, k: int) -> tuple[Values, Values]:
    """The interval of Shrout and Fleiss (McGraw and Wong: A), from mean squares."""
    value = (b - e) / (b + (k - 1) * e + k * (j - e) / n)
    of_raters, of_rest = k * value * j / e, n * (1 + (k - 1) * value) - k * value
    freedom = (k - 1) * (n - 1) * (of_raters + of_rest) ** 2
    freedom = freedom / ((n - 1) * of_raters**2 + of_rest**2)
    upper = stats.f.ppf(0.975, n - 1, freedom)
    lower = stats.f.ppf(0.975, freedom, n - 1)
    rest = k * j + (k * n - k - n) * e
    low = n * (b - upper * e) / (upper * rest + n * b)
    return low, n * (lower * b - e) / (rest + n * lower * b)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    table = Table("stimuli", "raters", "raters' SD", "F interval", "width", "ours", "width")
    for n, k, sd in _DESIGNS:
        truth = 1 / (2 + sd**2)
        size = np.array([k + 1, n * sd**2 + 1, 1])
        freedom = np.array([n - 1, k - 1, (n - 1) * (k - 1)])
        squares = size * rng.chisquare(freedom, (given.runs, 3)) / freedom
        row = [str(n), str(k), f"{sd:g}"]
        ours = _agreement(*squares.T, n, k, 0.95)[1:]
        for low, high in (f_interval(*squares.T, n, k), ours):
            row += [
                f"{((low <= truth) & (truth <= high)).mean():.3f}",
                f"{(high - low).mean():.3f}",
            ]
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
