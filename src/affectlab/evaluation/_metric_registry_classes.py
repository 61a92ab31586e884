"""The metrics of a classification, for any weights of the units."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from affectlab._types import Floats
from affectlab.evaluation._metric_registry import AnswerMetric, Compared
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS
from affectlab.evaluation._metrics_table import metrics_of_confusion

__all__ = ["class_metrics"]


def class_metrics() -> Iterator[AnswerMetric]:
    """All metrics that follow from a confusion matrix."""
    for name, metric in CLASSIFICATION_METRICS.items():
        yield AnswerMetric(
            name, metric.title, _weighted(name), "classes", metric.better, pooled=True
        )


def _weighted(name: str) -> Callable[[Compared, Floats], Floats]:
    def compute(data: Compared, weights: Floats) -> Floats:
        k = len(data.labels)
        cell = data.truth.astype(np.int64) * k + data.answer.astype(np.int64)
        counts = data.grouped(cell, k * k, np.ones_like(data.answer), weights)
        found = metrics_of_confusion(
            counts.reshape(-1, k, k), data.labels, data.taxonomy, metrics=[name], costs=data.costs
        )
        return np.asarray(found[name], dtype=np.float64)

    return compute
