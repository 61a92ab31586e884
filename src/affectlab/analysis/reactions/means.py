"""Means with intervals from resampled clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from affectlab.core.errors import check_number
from affectlab.core.estimates import Estimate
from affectlab.core.inference import check_confidence, draw_weights, summarise_one
from affectlab.core.types import Floats, Ints


def check_draws(n_boot: int, confidence: float) -> None:
    """Refuse a number of draws, or a confidence, that gives no interval."""
    check_confidence(confidence)
    check_number("n_boot", n_boot, 2, whole=True)


def codes_of(names: Sequence[str]) -> tuple[Ints, int]:
    """Number names from 0 in the order of the alphabet, and count them.

    What is drawn from the numbers does not depend on the order in which the names come.
    """
    place = {name: k for k, name in enumerate(sorted(set(names)))}
    return np.fromiter((place[name] for name in names), np.int64, len(names)), len(place)


def ratio_estimate(
    above: Floats,
    below: Floats,
    clusters: Ints,
    *,
    method: str,
    target: str,
    n_boot: int,
    confidence: float,
    seed: int,
    n_items: int = 0,
    n_raters: int = 0,
) -> Estimate:
    """Give the sum of `above` over that of `below`, with an interval over clusters.

    Parameters
    ----------
    above, below
        Shape (n,); rows without a value have 0 in both.
    clusters
        Cluster of each row, from 0, shape (n,). Whole clusters are drawn with replacement.
    """
    total = float(below.sum())
    about: dict[str, Any] = {
        "n_items": n_items,
        "n_raters": n_raters,
        "n_ratings": int((below > 0).sum()),
    }
    if total == 0:
        status = "undefined: nothing to count"
        return Estimate(math.nan, method=method, status=status, **about)
    n = int(clusters.max()) + 1
    sums = np.bincount(clusters, above, n), np.bincount(clusters, below, n)
    used = sums[1] > 0
    tops, bottoms = sums[0][used], sums[1][used]
    value = float(above.sum() / total)
    if tops.size < 2:
        return Estimate(value, method=f"{method}; one cluster, no interval", **about)
    drawn = draw_weights(np.random.default_rng(seed), tops.size, n_boot)
    draws = [(weights @ tops) / (weights @ bottoms) for weights in drawn]
    spread = summarise_one(value, np.concatenate(draws), confidence)
    return Estimate(value, method=method, target=target, **spread.single, **about)
