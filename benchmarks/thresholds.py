"""Thresholds of 28 labels with the best F1, beside a grid of 0.01 with scikit-learn's F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload

_TEXTS = {"tiny": 100, "quick": 1500, "full": 5426}
_GRID = np.arange(0.01, 1.0, 0.01)
_SHARES = np.geomspace(0.0024, 0.33, 28)
"""How often each label occurs: as the rarest and the most frequent of GoEmotions do."""


@dataclass(frozen=True)
class _Data:
    scores: NDArray[np.float64]
    truth: NDArray[np.bool_]


def make(size: Size) -> _Data:
    """Simulate calibrated probabilities of a model that knows something of each label."""
    rng = np.random.default_rng(4)
    n = _TEXTS[size]
    z = np.log(_SHARES / (1 - _SHARES)) + 2.0 * rng.normal(size=(n, 28)) - 1.0
    p = 1 / (1 + np.exp(-z))
    return _Data(p, rng.random(p.shape) < p)


def ours(data: _Data) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sort, and sum."""
    from affectlab.models.text import best_thresholds

    return best_thresholds(data.scores, data.truth)


def theirs(data: _Data) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Try every hundredth for every label."""
    from sklearn.metrics import f1_score

    found, reached = [], []
    for scores, truth in zip(data.scores.T, data.truth.T, strict=True):
        tried = [f1_score(truth, scores >= cut, zero_division=0.0) for cut in _GRID]
        best = int(np.argmax(tried))
        found.append(_GRID[best])
        reached.append(tried[best])
    return np.array(found), np.array(reached)


def check(data: _Data, mine: Any, peer: Any) -> str:
    """Ours says what scikit-learn says of its thresholds, and is nowhere worse than the grid."""
    from sklearn.metrics import f1_score

    seen = data.truth.any(axis=0)
    for label in np.flatnonzero(seen):
        said = f1_score(data.truth[:, label], data.scores[:, label] >= mine[0][label])
        if abs(said - mine[1][label]) > 1e-12:
            raise Mismatch(f"label {label}: F1 {mine[1][label]}, and {said} by scikit-learn")
        if mine[1][label] < peer[1][label] - 1e-12:
            raise Mismatch(f"label {label}: F1 {mine[1][label]}, and {peer[1][label]} on the grid")
    gain = float((mine[1] - peer[1])[seen].mean())
    return f"F1 is nowhere below that of the grid, and {gain:.4f} above it on average"


WORKLOADS = (
    Workload(
        name="thresholds of 28 labels on 5,426 texts",
        peer="scikit-learn's f1_score on a grid of 0.01",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=50,
        packages=("scikit-learn",),
        note="Ours looks at every threshold that makes a difference, the peer at 99.",
    ),
)
