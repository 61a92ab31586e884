"""The sums that all metrics of a classification are made of.

Every metric is a function of a few sums over items that are linear in how often each item counts,
so bootstrap replicates and permutations cost matrix products, and no loop over items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.core.types import Floats, Ints
from affectlab.evaluation.label_facts import LabelFacts

__all__ = ["Tally", "sums_of_cells", "tally_of_counts", "tally_of_sums"]

_HEAD = 6


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over items, each of shape (...) or (..., k) for k labels."""

    n: Floats
    """Items, or the sum of their weights."""
    hits: Floats
    same_side: Floats
    """Items whose two labels share a polarity or group."""
    closeness: Floats
    """Sum of 1 / W."""
    mildness: Floats
    """Sum of 1 / (W - 1) over mistakes."""
    cost: Floats
    """Sum of W."""
    label_hits: Floats
    label_true: Floats
    label_predicted: Floats
    distances: Floats | None
    """W - 1, shape (k, k)."""

    @property
    def mistakes(self) -> Floats:
        """Items that are not hits; what rounding leaves of weighted sums is none."""
        left = self.n - self.hits
        return np.where(left > 1e-9 * np.maximum(self.n, 1.0), left, 0.0)


def sums_of_cells(facts: LabelFacts, cells: Ints) -> Floats:
    """What one item in each of these cells adds to the sums, shape (cells, 6 + 3 k).

    A cell is ``true * k + predicted``. Labels without costs or side add numbers that mean nothing;
    see :meth:`LabelFacts.without_costs`.
    """
    k = len(facts.labels)
    true, predicted = np.divmod(cells, k)
    hit = true == predicted
    row = np.arange(cells.size)
    sums = np.zeros((cells.size, _HEAD + 3 * k))
    sums[:, 0] = 1.0
    sums[:, 1] = hit
    if facts.sides is not None:
        sums[:, 2] = facts.sides[true] == facts.sides[predicted]
    if facts.costs is not None:
        cost = _whole(facts.costs)[true, predicted]
        sums[:, 3] = 1 / cost
        sums[~hit, 4] = 1 / (cost[~hit] - 1)
        sums[:, 5] = cost
    sums[row[hit], _HEAD + true[hit]] = 1.0
    sums[row, _HEAD + k + true] = 1.0
    sums[row, _HEAD + 2 * k + predicted] = 1.0
    return sums


def tally_of_sums(facts: LabelFacts, sums: Floats) -> Tally:
    """Name the sums, shape (..., 6 + 3 k)."""
    k = len(facts.labels)
    by_label = sums[..., _HEAD:]
    return Tally(
        n=sums[..., 0],
        hits=sums[..., 1],
        same_side=sums[..., 2],
        closeness=sums[..., 3],
        mildness=sums[..., 4],
        cost=sums[..., 5],
        label_hits=by_label[..., :k],
        label_true=by_label[..., k : 2 * k],
        label_predicted=by_label[..., 2 * k :],
        distances=_distances(facts),
    )


def tally_of_counts(facts: LabelFacts, counts: Floats) -> Tally:
    """Sum over confusion matrices, shape (..., k, k), true labels in rows."""
    nothing = np.zeros(counts.shape[:-2])
    closeness, mildness, cost, same_side = nothing, nothing, nothing, nothing
    if facts.sides is not None:
        same_side = (counts * (facts.sides[:, None] == facts.sides)).sum(axis=(-2, -1))
    if facts.costs is not None:
        whole = _whole(facts.costs)
        closeness = (counts / whole).sum(axis=(-2, -1))
        mild = np.divide(1.0, whole - 1, out=np.zeros_like(whole), where=whole > 1)
        mildness = (counts * mild).sum(axis=(-2, -1))
        cost = (counts * whole).sum(axis=(-2, -1))
    diagonal = np.diagonal(counts, axis1=-2, axis2=-1)
    return Tally(
        n=counts.sum(axis=(-2, -1)),
        hits=diagonal.sum(axis=-1),
        same_side=same_side,
        closeness=closeness,
        mildness=mildness,
        cost=cost,
        label_hits=diagonal,
        label_true=counts.sum(axis=-1),
        label_predicted=counts.sum(axis=-2),
        distances=_distances(facts),
    )


def _whole(costs: Floats) -> Floats:
    """Costs with any number for labels that have none, whose metrics are not given."""
    whole: Floats = np.where(np.isnan(costs), 2.0, costs)
    np.fill_diagonal(whole, 1.0)
    return whole


def _distances(facts: LabelFacts) -> Floats | None:
    return None if facts.costs is None else _whole(facts.costs) - 1
