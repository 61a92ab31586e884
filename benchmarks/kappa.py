"""Quadratic kappa of all pairs of raters on all labels, beside scikit-learn in a loop."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close

_SIZES = {"tiny": (3, 2, 50), "quick": (10, 10, 1000), "full": (30, 40, 2500)}


@dataclass(frozen=True)
class _Data:
    ratings: Any
    values: NDArray[np.int64]
    """Shape (labels, raters, stimuli)."""


def make(size: Size) -> _Data:
    """Simulate raters who all rate everything, scale 0 to 7; rows by stimulus, rater and label."""
    import polars as pl

    from affectlab.ratings import Ratings

    raters, labels, units = _SIZES[size]
    rng = np.random.default_rng(2)
    truth = rng.normal(2.5, 2.0, (labels, 1, units))
    values = np.clip(np.rint(truth + rng.normal(0, 1.5, (labels, raters, units))), 0, 7)
    unit, rater, label = (
        place.ravel() for place in np.indices((units, raters, labels), dtype=np.int32)
    )
    frame = pl.DataFrame(
        {
            "stimulus": _names("s", unit, units),
            "rater": _names("r", rater, raters),
            "label": _names("e", label, labels),
            "value": values.transpose(2, 1, 0).ravel(),
        }
    )
    return _Data(Ratings(frame, scale="0-7"), values.astype(np.int64))


def _names(prefix: str, code: NDArray[np.int32], n: int) -> Any:
    import polars as pl

    return pl.Series([f"{prefix}{k:05d}" for k in range(n)]).gather(code)


def ours(data: _Data) -> Any:
    """All pairs and labels, with standard errors and intervals."""
    from affectlab.reliability import pairwise_kappa

    return pairwise_kappa(data.ratings, weights="quadratic")


def theirs(data: _Data) -> list[float]:
    """Loop over labels and pairs."""
    from sklearn.metrics import cohen_kappa_score

    levels = range(8)
    return [
        cohen_kappa_score(of_label[a], of_label[b], labels=levels, weights="quadratic")
        for of_label in data.values
        for a, b in combinations(range(data.values.shape[1]), 2)
    ]


def check(_: _Data, mine: Any, peer: list[float]) -> str:
    """Compare the coefficients."""
    return require_close(mine.to_frame()["value"].to_numpy(), peer, 1e-10, "coefficients")


WORKLOADS = (
    Workload(
        name="quadratic kappa, 30 raters, 435 pairs x 40 labels x 2,500 stimuli",
        peer="scikit-learn in a loop",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=300,
        packages=("scikit-learn",),
        note="Ours also gives standard errors, intervals and statuses; the peer does not.",
    ),
)
