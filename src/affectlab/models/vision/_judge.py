"""How good a classifier is, and how mild its mistakes are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.errors import InputError
from affectlab.evaluation import Confusion
from affectlab.models.vision._training import VisionTraining
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = ["MEASURES", "note_epoch", "progress_of", "scores_of"]

MEASURES = {"acc": "accuracy", "acc2": "acc2", "ecc": "ecc", "emc": "emc"}
"""Names of measures here, and in :mod:`affectlab.evaluation`."""


def scores_of(
    truth: Ints,
    proba: Floats,
    labels: Sequence[str],
    taxonomy: Taxonomy,
    costs: CostMatrix | None,
    needed: str = "acc",
) -> dict[str, float]:
    """Compute all measures that the taxonomy allows, and the mean cross-entropy as ``loss``.

    Parameters
    ----------
    truth
        Places of true labels, shape (n,).
    proba
        Shape (n, C); the most probable label is taken.
    needed
        A measure that must be among them.

    Returns
    -------
    dict
        ``emc`` is nan where there is no mistake.

    Raises
    ------
    InputError
        When the labels have not what `needed` asks for.
    """
    k = len(labels)
    counts = np.zeros((k, k), dtype=np.int64)
    np.add.at(counts, (truth, proba.argmax(axis=1)), 1)
    seen = Confusion.from_counts(counts, labels, taxonomy, costs=costs)
    found: dict[str, float] = {}
    for name, metric in MEASURES.items():
        try:
            found[name] = seen.metric(metric)
        except InputError:
            # A taxonomy may have no polarity or no costs, and then only what it has is told.
            if name == needed:
                raise
    own = proba[np.arange(len(truth)), truth]
    found["loss"] = float(-np.log(np.maximum(own, np.finfo(np.float64).tiny)).mean())
    return found


def progress_of(scores: dict[str, float], select: str) -> float:
    """Give a score by which epochs are compared; without a mistake, EMC counts as 1."""
    value = scores[select]
    return 1.0 if math.isnan(value) else value


class _State(Protocol):
    best_score: float
    best_epoch: int
    worse: int
    done: bool


def note_epoch(
    state: _State, entry: dict[str, float], scores: dict[str, float], training: VisionTraining
) -> bool:
    """Note what an epoch reached on dev; says whether it is the best so far."""
    entry |= {f"dev {name}": value for name, value in scores.items()}
    score = progress_of(scores, training.select)
    if score > state.best_score:
        state.best_score, state.best_epoch, state.worse = score, int(entry["epoch"]), 0
        return True
    state.worse += 1
    state.done = state.worse >= training.patience
    return False
