"""The linear text model end to end, beside one scikit-learn regression per label in two jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload
from benchmarks._posts import Posts, posts

_COST = 0.7
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class _Result:
    scores: NDArray[Any]
    """Of dev, shape (texts, labels)."""
    macro_f1: float


def ours(data: Posts) -> _Result:
    """Count, weight, fit all labels together, score dev, choose thresholds."""
    from affectlab.models.text import FeatureSettings
    from affectlab.models.text.features import learn_features
    from affectlab.models.text.linear.logistic import MultiLabelLogistic

    features, matrix = learn_features(data.texts, FeatureSettings())
    found = MultiLabelLogistic(cost=_COST, tolerance=_TOLERANCE).fit(matrix, data.truth)
    scores = found.decision_function(features.transform(data.dev_texts))
    return _judged(scores, data)


def theirs(data: Posts) -> _Result:
    """The same features by the same code, penalty and tolerance; one label after another."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    from affectlab.models.text import FeatureSettings
    from affectlab.models.text.features import learn_features

    features, matrix = learn_features(data.texts, FeatureSettings())
    single = LogisticRegression(solver="lbfgs", C=_COST, tol=_TOLERANCE, max_iter=1000)
    model = OneVsRestClassifier(single, n_jobs=2).fit(matrix, data.truth.astype(int))
    return _judged(model.decision_function(features.transform(data.dev_texts)), data)


def _judged(scores: NDArray[Any], data: Posts) -> _Result:
    """Cross-fit thresholds on halves of dev."""
    from affectlab.models.text.decisions.tuning import tune_level

    labels = [f"label{k}" for k in range(data.truth.shape[1])]
    *_, tuned = tune_level(
        np.asarray(scores, dtype=np.float64), data.dev_truth > 0.5, labels, calibrate="none"
    )
    return _Result(scores, tuned.macro_f1)


def check(_: Posts, mine: _Result, peer: _Result) -> str:
    """Compare what both are worth."""
    apart = mine.macro_f1 - peer.macro_f1
    if abs(apart) > 0.005:
        raise Mismatch(f"macro F1 {mine.macro_f1:.4f}, and {peer.macro_f1:.4f} of the peer")
    return (
        f"macro F1 {mine.macro_f1:.4f} and {peer.macro_f1:.4f}, cross-fitted on dev; logits "
        f"{np.abs(mine.scores - peer.scores).mean():.3f} apart on average"
    )


def make(size: Size) -> Posts:
    """Give the posts."""
    return posts(size)


WORKLOADS = (
    Workload(
        name="linear text model, 43,410 texts, 28 labels: features, training, thresholds",
        peer="scikit-learn, OneVsRestClassifier of LogisticRegression (lbfgs), 2 jobs",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=2,
        memory_mb=2000,
        packages=("scikit-learn", "scipy"),
        best="A job for each core; its other solvers were not tried.",
        note="Both make the same features by our code and choose thresholds alike. Published "
        "GoEmotions splits where they lie beside the project, else simulated posts.",
        rounds=3,
    ),
)
