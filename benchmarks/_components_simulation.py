"""How often the intervals of variance components hold, and how long they take beside lme4.

``python -m benchmarks._components_simulation [--runs 400] [--seed 0] [--large]`` prints tables:

1. **Coverage** of 95 % intervals of the agreement of single ratings, ICC(2,1), and of each
   variance, over simulated studies in which the standard deviation of raters is 0.7 of that of
   stimuli.
2. **Seconds** of one fit, and of lme4 in R on the same answers where ``Rscript`` and lme4 are
   installed; the estimates of both must be the same to 1e-4. ``--large`` adds 2.26 million ratings,
   without lme4, which takes minutes for them.
3. **Seconds** of one cumulative probit model of answers in five categories, and of ``clmm`` of the
   R package ordinal where that is installed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from affectlab.ratings import Ratings
from affectlab.reliability import variance_components
from affectlab.reliability.components.cumulative_link import CumulativeModel, fit_cumulative
from affectlab.reliability.components.restricted_likelihood import Factor, MixedModel, Solution, fit

_TRUTH = {"stimulus": 1.0, "rater": 0.49, "residual": 1.0}
_DESIGNS = ((30, 3, 1.0), (30, 5, 1.0), (100, 8, 0.4), (100, 20, 0.3))
"""Stimuli, raters, and the share of cells that have a rating."""
_CUTS = (-2.0, -1.0, 0.5, 1.5)
_R = """
suppressMessages(library(lme4))
d <- read.csv("ratings.csv"); d$stimulus <- factor(d$stimulus); d$rater <- factor(d$rater)
seconds <- system.time(m <- lmer(value ~ 1 + (1 | stimulus) + (1 | rater), d))[["elapsed"]]
v <- as.data.frame(VarCorr(m)); rownames(v) <- v$grp
cat(seconds, v["stimulus", "vcov"], v["rater", "vcov"], v["Residual", "vcov"])
"""


_R_ORDINAL = """
suppressMessages(library(ordinal))
d <- read.csv("ratings.csv"); d$stimulus <- factor(d$stimulus); d$rater <- factor(d$rater)
d$value <- ordered(d$value)
seconds <- system.time(m <- clmm(value ~ 1 + (1 | stimulus) + (1 | rater), d, link = "probit"))
v <- VarCorr(m)
cat(seconds[["elapsed"]], v$stimulus[1], v$rater[1])
"""


def _study(
    rng: np.random.Generator, n_stimuli: int, n_raters: int, share: float
) -> dict[str, NDArray[np.float64]]:
    s, r = np.nonzero(rng.random((n_stimuli, n_raters)) < share)
    value = rng.normal(0, 1, n_stimuli)[s] + rng.normal(0, 0.7, n_raters)[r]
    return {"stimulus": s, "rater": r, "value": value + rng.normal(0, 1, s.size)}


def _coverage(runs: int, seed: int) -> Table:
    table = Table("stimuli", "raters", "rated", "ICC(2,1)", *_TRUTH, title=f"{runs} studies each")
    agreement = _TRUTH["stimulus"] / sum(_TRUTH.values())
    for n_stimuli, n_raters, share in _DESIGNS:
        hits = np.zeros(4)
        for run in range(runs):
            rng = np.random.default_rng([seed, run])
            ratings = Ratings(_study(rng, n_stimuli, n_raters, share), scale="interval")
            found = variance_components(ratings, k=(1,))
            one = found.to_frame("reliability").row(0, named=True)
            rows = found.to_frame().iter_rows(named=True)
            inside = [row["low"] <= _TRUTH[row["factor"]] <= row["high"] for row in rows]
            hits += [one["low"] <= agreement <= one["high"], *inside]
        shown = [f"{hit / runs:.3f}" for hit in hits]
        table.add_row(str(n_stimuli), str(n_raters), f"{share:.0%}", *shown)
    return table


def _timed(study: dict[str, NDArray[np.float64]]) -> tuple[float, Solution]:
    start = time.perf_counter()
    factors = [
        Factor(name, study[name].astype(np.int64), int(study[name].max()) + 1)
        for name in ("stimulus", "rater")
    ]
    found = fit(MixedModel.of(study["value"], factors))
    return time.perf_counter() - start, found


def _in_r(code: str, study: dict[str, NDArray[np.float64]]) -> list[float] | None:
    """Seconds and variances of R; None where it, or the package, is not installed."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        pl.DataFrame(study).write_csv(Path(folder) / "ratings.csv")
        done = subprocess.run(
            ["Rscript", "-e", code], cwd=folder, capture_output=True, text=True, check=False
        )
    return [float(part) for part in done.stdout.split()] if not done.returncode else None


def _speed(seed: int, *, large: bool) -> Table:
    table = Table("ratings", "stimuli", "raters", "seconds", "lme4", "ratio", title="One fit")
    rng = np.random.default_rng(seed)
    _timed(_study(rng, 30, 5, 1.0))
    for n_stimuli, n_raters, share in ((900, 145, 0.1), *(((70_500, 1021, 0.0314),) * large)):
        study = _study(rng, n_stimuli, n_raters, share)
        seconds, found = min((_timed(study) for _ in range(3)), key=lambda one: one[0])
        theirs = _in_r(_R, study) if n_stimuli < 1000 else None
        cells = ["", ""]
        if theirs is not None:
            own = [*(found.theta * found.residual), found.residual]
            np.testing.assert_allclose(own, theirs[1:], rtol=1e-4)
            cells = [f"{theirs[0]:.2f}", f"{theirs[0] / seconds:.1f}"]
        counts = (f"{study['value'].size:,}", f"{n_stimuli:,}", f"{n_raters:,}")
        table.add_row(*counts, f"{seconds:.2f}", *cells)
    return table


def _ordinal_speed(seed: int) -> Table:
    table = Table("ratings", "stimuli", "raters", "seconds", "clmm", "ratio", title="Five answers")
    n_stimuli, n_raters = 300, 60
    study = _study(np.random.default_rng(seed), n_stimuli, n_raters, 0.2)
    study["value"] = np.searchsorted(_CUTS, study["value"]).astype(np.float64)
    factors = [
        Factor(name, study[name].astype(np.int64), n)
        for name, n in (("stimulus", n_stimuli), ("rater", n_raters))
    ]
    start = time.perf_counter()
    found = fit_cumulative(CumulativeModel.of(study["value"], factors, None, "probit"))
    seconds = time.perf_counter() - start
    theirs = _in_r(_R_ORDINAL, study)
    cells = ["", ""]
    if theirs is not None and found is not None:
        own = [found.variance(name) for name in ("stimulus", "rater")]
        np.testing.assert_allclose(own, theirs[1:], rtol=1e-3)
        cells = [f"{theirs[0]:.2f}", f"{theirs[0] / seconds:.1f}"]
    counts = (f"{study['value'].size:,}", f"{n_stimuli:,}", f"{n_raters:,}")
    table.add_row(*counts, f"{seconds:.2f}", *cells)
    return table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Intervals and speed of variance components.")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    console = Console()
    console.print(_speed(given.seed, large=given.large))
    console.print(_ordinal_speed(given.seed))
    console.print(_coverage(given.runs, given.seed))


if __name__ == "__main__":
    main()
