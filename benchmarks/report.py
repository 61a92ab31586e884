"""The whole report on people and models, beside the obvious libraries for its numbers."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close
from benchmarks.kappa import by_moments

_SIZES = {"tiny": (4, 2, 2, 60), "quick": (10, 3, 8, 600), "full": (25, 5, 40, 2500)}
_REPLICATES = 1000
_DRAWN = 3
"""Replicates that the peer draws."""


@dataclass(frozen=True)
class _Data:
    ratings: Any
    values: NDArray[np.int64]
    """Shape (labels, raters, stimuli); people come first."""
    people: int


def make(size: Size) -> _Data:
    """Simulate people and models who rate everything, scale 0 to 7."""
    import polars as pl

    from affectlab.ratings import Ratings

    people, models, labels, units = _SIZES[size]
    raters = people + models
    rng = np.random.default_rng(7)
    truth = rng.gamma(0.6, 1.6, (labels, 1, units))
    error = np.concatenate([rng.uniform(0.6, 1.6, people), rng.uniform(0.4, 3, models)])
    drawn = truth + error[:, None] * rng.normal(size=(labels, raters, units))
    values = np.clip(np.rint(drawn), 0, 7).astype(np.int64)
    unit, rater, label = (
        place.ravel() for place in np.indices((units, raters, labels), dtype=np.int32)
    )
    names = [f"{'p' if k < people else 'm'}{k:02d}" for k in range(raters)]
    frame = pl.DataFrame(
        {
            "stimulus": pl.Series([f"s{k:05d}" for k in range(units)]).gather(unit),
            "rater": pl.Series(names).gather(rater),
            "label": pl.Series([f"e{k:02d}" for k in range(labels)]).gather(label),
            "value": values.transpose(2, 1, 0).ravel(),
        }
    )
    kinds = {"rater": names, "rater_kind": ["human"] * people + ["model"] * models}
    return _Data(Ratings(frame, scale="0-7", raters=kinds), values, people)


def ours(data: _Data) -> dict[str, NDArray[np.float64]]:
    """Write the report, figures and tables with it, and read the first label from its tables."""
    import polars as pl

    from affectlab.report import write_report

    with tempfile.TemporaryDirectory() as folder:
        write_report(data.ratings, folder, n_boot=_REPLICATES)
        tables = Path(folder) / "tables"
        alpha = pl.read_csv(tables / "agreement.csv").filter(label="e00")
        pairs = pl.read_csv(tables / "pairs.csv").filter(label="e00")
        models = pl.read_csv(tables / "models_by_label.csv").filter(label="e00")
        by_measure = models.sort("measure", "rater", maintain_order=True)
        return {
            "alpha": alpha["value"].to_numpy(),
            "kappas": pairs["value"].to_numpy(),
            "agreement": by_measure["agreement"].to_numpy(),
        }


def theirs(data: _Data) -> dict[str, NDArray[np.float64]]:
    """Compute one label, and three bootstrap replicates of it, all raters at once."""
    values, people = data.values[0], data.people
    found = _numbers(values, people)
    rng = np.random.default_rng(0)
    for _ in range(_DRAWN):
        drawn = rng.integers(0, values.shape[1], values.shape[1])
        _numbers(values[:, drawn], people)
    return found


def _numbers(values: NDArray[np.int64], people: int) -> dict[str, NDArray[np.float64]]:
    """Alpha of people, kappa of all pairs, and models against people, on one label."""
    import krippendorff
    from scipy.stats import rankdata

    raters, levels = values.shape[0], np.arange(8)
    counts = (values[:people, :, None] == levels).sum(axis=0)
    alpha = krippendorff.alpha(
        value_counts=counts, value_domain=levels, level_of_measurement="ordinal"
    )
    kappas = by_moments(values[None])
    kappa = np.zeros((raters, raters))
    kappa[np.triu_indices(raters, 1)] = kappas
    others = [np.median(np.delete(values[:people], k, axis=0), axis=0) for k in range(people)]
    ranks, medians = (rankdata(part, axis=1) for part in (values[people:], np.array(others)))
    spearman = np.corrcoef(ranks, medians)[: raters - people, raters - people :]
    return {
        "alpha": np.array([alpha]),
        "kappas": kappas,
        "agreement": np.array([*kappa[:people, people:].mean(axis=0), *spearman.mean(axis=1)]),
    }


def _scale(data: _Data) -> float:
    """All labels, and a thousand replicates for each beside the data themselves."""
    return data.values.shape[0] * (_REPLICATES + 1) / (_DRAWN + 1)


def check(_: _Data, mine: Any, peer: Any) -> str:
    """Compare the coefficients of the first label."""
    said = [require_close(mine[name], peer[name], 1e-8, name) for name in peer]
    return said[-1].replace("agreement", "alpha, kappas and agreement with people")


WORKLOADS = (
    Workload(
        name="report on 25 people, 5 models, 2,500 stimuli x 40 labels, 1,000 replicates",
        peer="krippendorff, numpy and scipy, label by label",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=50,
        scale=_scale,
        extrapolated="from one label with three replicates to all labels with a thousand",
        packages=("krippendorff", "scipy"),
        best="Kappas and correlations of all raters at once, alpha from counts of values.",
        note=(
            "Ours also writes the page, its tables and its figures, draws people as well as "
            "stimuli, and tests; the peer only computes coefficients, and redoes them in every "
            "replicate over stimuli."
        ),
        rounds=3,
    ),
)
"""The report as a whole."""
