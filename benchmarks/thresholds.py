"""Thresholds of 28 labels with the best F1, beside scikit-learn's curves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload, require_close

_TEXTS = {"tiny": 100, "quick": 1500, "full": 5426}
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
    """Take the best point of the curve of precision and recall of every label."""
    from sklearn.metrics import precision_recall_curve

    found, reached = [], []
    for scores, truth in zip(data.scores.T, data.truth.T, strict=True):
        with warnings.catch_warnings():
            # Of a label that never occurs nothing is compared.
            warnings.simplefilter("ignore")
            precision, recall, cuts = precision_recall_curve(truth, scores)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
        best = int(np.argmax(f1[:-1]))
        found.append(cuts[best])
        reached.append(f1[best])
    return np.array(found), np.array(reached)


def check(data: _Data, mine: Any, peer: Any) -> str:
    """Ours says what scikit-learn says of its thresholds, and both reach the same F1."""
    from sklearn.metrics import f1_score

    seen = data.truth.any(axis=0)
    for label in np.flatnonzero(seen):
        said = f1_score(data.truth[:, label], data.scores[:, label] >= mine[0][label])
        if abs(said - mine[1][label]) > 1e-12:
            raise Mismatch(f"label {label}: F1 {mine[1][label]}, and {said} by scikit-learn")
    return require_close(mine[1][seen], peer[1][seen], 1e-12, "F1")


WORKLOADS = (
    Workload(
        name="thresholds of 28 labels on 5,426 texts",
        peer="scikit-learn's precision_recall_curve, label by label",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=1.0,
        packages=("scikit-learn",),
        best="One sort a label; f1_score on a grid takes hundreds of times as long.",
    ),
)
