"""Means of scores by group, with bootstrap intervals from shared draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from affectlab._resampling import Uncertainty, check_confidence, draw_weights, summarise
from affectlab._types import Floats, Ints
from affectlab.errors import InputError
from affectlab.estimates import Estimates
from affectlab.models.text_metrics._scores import TextScores

__all__ = ["score_means"]


def score_means(
    scores: Sequence[TextScores],
    groups: Mapping[str, Sequence[str | None]] | None = None,
    *,
    clusters: Sequence[str] | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimates:
    """Give the mean of each metric, over all items and by group.

    Items, or clusters of them, are drawn once for all metrics and groups. A group that is missing
    (None) in an item leaves the item out of that attribute.

    Parameters
    ----------
    scores
        Of one or more metrics on the same n items.
    groups
        For each attribute, the group of each item, n of them.
    clusters
        What items belong to, such as the image they are about, n of them; clusters are drawn
        instead of items, since scores about one image are alike.
    n_boot
        Bootstrap replicates; 0: no intervals.
    confidence
        Coverage that is aimed at.

    Returns
    -------
    Estimates
        Keys: metric, attribute and group; ``all`` and ``all`` first.

    Raises
    ------
    InputError
        When lengths differ, there is no score, or the confidence is off.

    References
    ----------
    Deng et al. (2023), Socratis, Table 2, which prints such means without intervals.

    Examples
    --------
    >>> from affectlab.models.text_metrics import TextScores
    >>> none = np.zeros(4, dtype=np.int64)
    >>> one = TextScores("CLIPScore", np.array([0.7, 0.8, 0.7, 0.9]), ("a", "b", "c", "d"), none,
    ...                  none, none > 0, 77, "clip", "image and candidate")
    >>> found = score_means([one], {"preferred": ["machine", "machine", "human", "human"]})
    >>> round(found["CLIPScore", "preferred", "human"].value, 2)
    0.8
    """
    check_confidence(confidence)
    if not scores:
        raise InputError("there are no scores; expected those of one metric or more")
    n = len(scores[0])
    for one in scores:
        if one.items != scores[0].items:
            raise InputError(
                f"{one.metric} and {scores[0].metric} are about other items; expected the same"
            )
    told_of = {**(groups or {}), **({"clusters": clusters} if clusters else {})}
    for name, given in told_of.items():
        if len(given) != n:
            raise InputError(f"{name}: {len(given)} values for {n} items; expected as many")
    keys = [("all", "all")]
    members = [np.ones(n)]
    for attribute, given in (groups or {}).items():
        for level in sorted({str(group) for group in given if group is not None}):
            keys.append((attribute, level))
            members.append(
                np.array([float(group is not None and str(group) == level) for group in given])
            )
    inside = np.stack(members)
    values = np.stack([one.scores for one in scores])
    sums = np.einsum("gn,mn->mgn", inside, values)
    unit = _units(clusters, n)
    n_units = int(unit.max()) + 1 if n else 0
    # By unit: what each adds to the sum and to the count of each group.
    by_unit = _by_unit(sums.reshape(-1, n), unit, n_units).reshape(len(scores), len(keys), n_units)
    counts = _by_unit(inside, unit, n_units)
    point = _ratio(sums.sum(axis=2), inside.sum(axis=1)).ravel()
    if n_boot and n_units:
        rng = np.random.default_rng(seed)
        replicates = np.concatenate(
            [
                _ratio(
                    np.einsum("bu,mgu->bmg", weights, by_unit),
                    np.einsum("bu,gu->bg", weights, counts)[:, None],
                ).reshape(len(weights), -1)
                for weights in draw_weights(rng, n_units, n_boot)
            ]
        )
        told = summarise(point, replicates, confidence)
    else:
        told = Uncertainty.none(point.size)
    sizes = inside.sum(axis=1).astype(int)
    return Estimates.build(
        {
            "metric": [one.metric for one in scores for _ in keys],
            "attribute": [key[0] for _ in scores for key in keys],
            "group": [key[1] for _ in scores for key in keys],
        },
        value=point,
        se=told.se,
        low=told.low,
        high=told.high,
        method="mean over items",
        resampled="clusters" if clusters else "units",
        n_items=np.tile(sizes, len(scores)),
        n_ratings=np.tile(sizes, len(scores)),
        status=["ok" if not math.isnan(value) else "undefined: no item" for value in point],
    )


def _units(clusters: Sequence[str] | None, n: int) -> Ints:
    if not clusters:
        return np.arange(n)
    return np.unique(np.array([str(one) for one in clusters]), return_inverse=True)[1].reshape(-1)


def _by_unit(rows: Floats, unit: Ints, n_units: int) -> Floats:
    """Add up the columns of each unit; shape (rows, units)."""
    return np.stack([np.bincount(unit, weights=row, minlength=n_units) for row in rows])


def _ratio(total: Floats, count: Floats) -> Floats:
    """Divide; ``nan`` where there is nothing."""
    found: Floats = np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)
    return found
