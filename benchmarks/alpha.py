"""Krippendorff's alpha of many labels with bootstrap intervals, beside a loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close

_SIZES = {"tiny": (2, 60, 20), "quick": (8, 500, 200), "full": (40, 2500, 1000)}
_MEASURED = 25
"""Replicates that the peer computes; each takes the same time."""


@dataclass(frozen=True)
class _Data:
    ratings: object
    matrices: NDArray[np.float64]
    n_boot: int


def make(size: Size) -> _Data:
    """Simulate four of eight raters on every unit, scale 0 to 7."""
    from affectlab.ratings import Ratings

    labels, units, n_boot = _SIZES[size]
    rng = np.random.default_rng(1)
    truth = np.clip(rng.normal(2.0, 2.0, (labels, 1, units)), 0, 7)
    matrices = np.clip(np.rint(truth + rng.normal(0, 1.2, (labels, 8, units))), 0, 7)
    absent = np.argsort(rng.random((8, units)), axis=0) >= 4
    matrices[:, absent] = np.nan
    return _Data(_ratings(matrices, Ratings), matrices, n_boot)


def _ratings(matrices: NDArray[np.float64], make_ratings: type) -> object:
    import polars as pl

    label, rater, unit = np.nonzero(~np.isnan(matrices))
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{code:05d}" for code in unit],
            "rater": [f"r{code}" for code in rater],
            "label": [f"e{code:02d}" for code in label],
            "value": matrices[label, rater, unit],
        }
    )
    return make_ratings(frame, scale="0-7")


def ours_joint(data: _Data) -> object:
    """Alpha with intervals, one resample of units shared by all labels."""
    from affectlab.reliability import krippendorff_alpha

    return krippendorff_alpha(
        data.ratings,
        level="interval",
        n_boot=data.n_boot,
        seed=1,
        interval="percentile",
        target="stimuli",
    )


def ours_independent(data: _Data) -> object:
    """Alpha with intervals, units resampled for every label anew."""
    from affectlab.reliability import krippendorff_alpha

    return krippendorff_alpha(
        data.ratings,
        level="interval",
        n_boot=data.n_boot,
        seed=1,
        joint=False,
        interval="percentile",
        target="stimuli",
    )


def theirs(data: _Data) -> tuple[list[float], NDArray[np.float64]]:
    """Count the values of each unit once, then loop over labels and replicates."""
    import krippendorff

    rng = np.random.default_rng(1)
    n = data.matrices.shape[2]
    levels = np.arange(8)
    counts = (data.matrices[..., None] == levels).sum(axis=1)

    def alpha(rows: NDArray[np.intp]) -> float:
        return float(krippendorff.alpha(value_counts=rows, value_domain=levels))

    drawn = rng.integers(0, n, (_replicates(data), n))
    replicates = [[alpha(of_label[units]) for of_label in counts] for units in drawn]
    return [alpha(of_label) for of_label in counts], np.array(replicates)


def _replicates(data: _Data) -> int:
    return min(_MEASURED, data.n_boot)


def scale(data: _Data) -> float:
    """Say how much more than the measured part the whole is."""
    return (1 + data.n_boot) / (1 + _replicates(data))


def check(data: _Data, ours: object, peer: tuple[list[float], NDArray[np.float64]]) -> str:
    """Compare the coefficients, and the standard errors as far as chance allows."""
    frame = ours.to_frame()  # type: ignore[attr-defined]
    same = require_close(frame["value"].to_numpy(), peer[0], 1e-10, "coefficients")
    ratio = np.median(frame["se"].to_numpy() / peer[1].std(axis=0, ddof=1))
    require_close(ratio, 1.0, 0.25, "median ratio of standard errors, to one")
    return f"{same}; standard errors by random resamples, {_replicates(data)} of the peer's"


_EXTRAPOLATED = f"the peer's loop over {_MEASURED} of 1,000 replicates, times 1,001 / 26"

_BEST = (
    "Values are counted once, which saves a quarter of its time from a matrix of answers; it takes "
    "one label and one replicate at a time."
)

WORKLOADS = (
    Workload(
        name="interval alpha, 40 labels x 2,500 units x 4 of 8 raters, 1,000 joint replicates",
        peer="krippendorff in a loop, on counts of values",
        make=make,
        ours=ours_joint,
        theirs=theirs,
        check=check,
        faster=200,
        scale=scale,
        extrapolated=_EXTRAPOLATED,
        packages=("krippendorff",),
        best=_BEST,
    ),
    Workload(
        name="the same, 1,000 independent replicates per label",
        peer="krippendorff in a loop, on counts of values",
        make=make,
        ours=ours_independent,
        theirs=theirs,
        check=check,
        faster=30,
        scale=scale,
        extrapolated=_EXTRAPOLATED,
        packages=("krippendorff",),
        best=_BEST,
    ),
)
