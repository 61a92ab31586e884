"""Quadratic kappa of all pairs of raters on all labels, beside products of matrices."""

from __future__ import annotations

from dataclasses import dataclass
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


def points(data: _Data) -> Any:
    """All pairs and labels, from the table of answers, without intervals."""
    from affectlab.reliability import pairwise_kappa

    return pairwise_kappa(data.ratings, weights="quadratic", target="sample")


def from_table(data: _Data) -> NDArray[np.float64]:
    """Moments from the columns of the table, as numbers."""
    table = data.ratings
    values = np.full(data.values.shape, -1, dtype=np.float32)
    values[table.label_code, table.rater_code, table.stimulus_code] = table.value
    return by_moments(values)


def from_array(data: _Data) -> NDArray[np.float64]:
    """Moments from an array that is there."""
    return by_moments(data.values)


def by_moments(values: NDArray[Any]) -> NDArray[np.float64]:
    """Moments of what both raters answered, by products of matrices, label by label.

    In single precision, which is exact for sums of so many squares and takes half the time.
    """
    raters = values.shape[1]
    pairs, found = np.triu_indices(raters, 1), []
    for of_label in values:
        x = of_label.astype(np.float32)
        there = (x >= 0).astype(np.float32)
        x *= there
        moments = np.concatenate([there, x, x * x])
        products = (moments[: 2 * raters] @ moments.T).astype(np.float64)
        (n, _, square), (total, both, _) = products.reshape(2, raters, 3, raters).swapaxes(1, 2)
        squares = square + square.T
        found.append((1 - n * (squares - 2 * both) / (n * squares - 2 * total * total.T))[pairs])
    return np.concatenate(found)


def check(_: _Data, mine: Any, peer: Any) -> str:
    """Compare the coefficients."""
    return require_close(mine.to_frame()["value"].to_numpy(), peer, 1e-10, "coefficients")


_PEER = "numpy, products of matrices of moments"
_BEST = (
    "Vectorised, in single precision, which is exact here; scikit-learn's cohen_kappa_score, pair "
    "by pair, takes hundreds of times as long."
)
WORKLOADS = (
    Workload(
        name="quadratic kappa, 30 raters, 435 pairs x 40 labels x 2,500 stimuli",
        peer=_PEER,
        make=make,
        ours=ours,
        theirs=from_table,
        check=check,
        faster=0.8,
        best=_BEST,
        note="Ours also gives standard errors, intervals and statuses; the peer does not.",
    ),
    Workload(
        name="the same without intervals, both from a table",
        peer=_PEER,
        make=make,
        ours=points,
        theirs=from_table,
        check=check,
        faster=1.0,
        best=_BEST,
        note="The peer gives an array, ours a table of results.",
    ),
    Workload(
        name="the same without intervals, the peer from an array",
        peer=_PEER,
        make=make,
        ours=points,
        theirs=from_array,
        check=check,
        faster=0.5,
        best=_BEST,
        note="Most of our time is reading the table of 3 million answers, and writing one.",
    ),
)
"""With and without intervals, from a table and from an array."""
