"""Bootstrap of the mean Spearman correlation of many models, beside scipy's ranks in a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close

_SIZES = {"tiny": (2, 2, 50, 20), "quick": (6, 10, 1000, 200), "full": (22, 40, 2500, 1000)}
_MEASURED = 4
"""Replicates that the peer computes; each takes the same time."""


@dataclass(frozen=True)
class _Data:
    people: Any
    models: Any
    median: NDArray[np.float64]
    """Median of the people, shape (labels, stimuli)."""
    scores: NDArray[np.float64]
    """Shape (models, labels, stimuli)."""
    n_boot: int


def make(size: Size) -> _Data:
    """Simulate four people with whole ratings 0 to 7; half of the models answer in fractions."""
    models, labels, units, n_boot = _SIZES[size]
    rng = np.random.default_rng(3)
    truth = np.clip(rng.normal(1.5, 2.0, (labels, units)), 0, 7)
    people = np.clip(np.rint(truth + rng.normal(0, 1.2, (4, labels, units))), 0, 7)
    noise = rng.uniform(0.5, 4.0, (models, 1, 1))
    scores = np.clip(truth + noise * rng.normal(0, 1, (models, labels, units)), 0, 7)
    scores[::2] = np.rint(scores[::2])
    return _Data(
        _ratings("person", people), _ratings("model", scores), np.median(people, 0), scores, n_boot
    )


def _ratings(kind: str, values: NDArray[np.float64]) -> Any:
    import polars as pl

    from affectlab.ratings import Ratings

    rater, label, unit = (place.ravel() for place in np.indices(values.shape, dtype=np.int32))

    def names(prefix: str, code: NDArray[np.int32]) -> pl.Series:
        return pl.Series([f"{prefix}{k:05d}" for k in range(code.max() + 1)]).gather(code)

    frame = pl.DataFrame(
        {
            "stimulus": names("s", unit),
            "rater": names(kind, rater),
            "label": names("e", label),
            "value": values.ravel(),
        }
    )
    return Ratings(frame, scale="0-7 interval")


def ours(data: _Data) -> Any:
    """Means over labels with intervals over stimuli."""
    from affectlab.reliability import mean_spearman

    return mean_spearman(
        data.people, data.models, n_boot=data.n_boot, interval="percentile", seed=1
    )


def theirs(data: _Data) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Loop over replicates, in each of which all rows are ranked at once."""
    from scipy.stats import rankdata

    n_units = data.median.shape[1]
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, n_units, (_replicates(data), n_units))

    def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
        ranked = rankdata(values, axis=-1)
        ranked -= ranked.mean(axis=-1, keepdims=True)
        return ranked / np.linalg.norm(ranked, axis=-1, keepdims=True)

    def means(rows: Any) -> NDArray[np.float64]:
        median, scores = ranks(data.median[:, rows]), ranks(data.scores[:, :, rows])
        return np.einsum("mlu,lu->ml", scores, median).mean(axis=1)

    return np.array(means(slice(None))), np.array([means(rows) for rows in drawn])


def _replicates(data: _Data) -> int:
    return min(_MEASURED, data.n_boot)


def scale(data: _Data) -> float:
    """Say how much more than the measured part the whole is."""
    return (1 + data.n_boot) / (1 + _replicates(data))


def check(_: _Data, mine: Any, peer: tuple[NDArray[np.float64], NDArray[np.float64]]) -> str:
    """Compare the means; the very same replicates are compared in the tests."""
    frame = mine.to_frame()
    same = require_close(frame["value"].to_numpy(), peer[0], 1e-10, "mean correlations")
    apart = np.abs(peer[1] - frame["value"].to_numpy()) / frame["se"].to_numpy()
    require_close(np.median(apart), 0.67, 0.5, "median deviation of the peer's replicates")
    return f"{same}; replicates by random resamples, with deviations as our standard errors say"


WORKLOADS = (
    Workload(
        name="bootstrap of the mean Spearman, 22 models x 40 labels x 2,500, 1,000 replicates",
        peer="scipy.stats.rankdata of all rows at once, a loop over replicates",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=50,
        scale=scale,
        extrapolated=f"the point and {_MEASURED} of 1,000 replicates, times 1,001 / 5",
        packages=("scipy",),
        best="All rows are ranked at once; spearmanr, row by row, takes a third longer.",
        rounds=3,
    ),
)
