"""Means with intervals about other pairs, or other people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import infer
from affectlab.core.statistic import from_weights
from affectlab.core.types import Floats, Ints


def codes_of(names: Sequence[str]) -> tuple[Ints, int]:
    """Number names from 0 in the order of the alphabet, and count them.

    What is drawn from the numbers does not depend on the order in which the names come.
    """
    place = {name: k for k, name in enumerate(sorted(set(names)))}
    return np.fromiter((place[name] for name in names), np.int64, len(names)), len(place)


def ratio_estimates(
    keys: Mapping[str, Sequence[str]],
    above: Floats,
    below: Floats,
    clusters: Ints,
    *,
    method: Sequence[str],
    confidence: float,
    **more: Any,
) -> Estimates:
    """Give sums over sums, with Student's intervals from leaving out clusters.

    Parameters
    ----------
    keys, method
        One for each of k ratios.
    above, below
        Shape (n, k); rows without a value have 0 in both.
    clusters
        Cluster of each row, from 0, shape (n,); whole ones are left out.
    confidence
        Coverage of the intervals, in (0, 1).
    more
        Other fields of :class:`~affectlab.core.statistic.Statistic`.
    """
    n = int(clusters.max(initial=-1)) + 1
    top, bottom = np.zeros((2, n, above.shape[1]))
    np.add.at(top, clusters, above)
    np.add.at(bottom, clusters, below)
    statistic = from_weights(
        keys,
        n,
        lambda weights: ratio(weights @ top, weights @ bottom),
        method=method,
        undefined=Reason(Cause.NONE, of="answers to count"),
        n_ratings=np.count_nonzero(below, axis=0),
        left_out=lambda: ratio(top.sum(axis=0) - top, bottom.sum(axis=0) - bottom),
        **more,
    )
    design = replace(statistic.design, stimulus=(bottom > 0).T)
    statistic = replace(statistic, design=design)
    return infer(statistic, interval="jackknife", confidence=confidence)
