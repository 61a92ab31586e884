"""The sums that all metrics of a classification are made of.

Every metric is a function of a few sums over items that are linear in how often each item counts,
so bootstrap replicates and permutations cost matrix products, and no loop over items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.label_facts import LabelFacts

_HEAD = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelSums:
    """Sums over items that need no more than the labels, each of shape (...) or (..., k)."""

    n: Floats
    """Items, or the sum of their weights."""
    hits: Floats
    """Items that are right; where items have several labels, right in all of them."""
    label_hits: Floats
    label_true: Floats
    label_predicted: Floats

    @property
    def occurs(self) -> Bools:
        """Whether each label occurs, in truth or prediction."""
        return np.asarray((self.label_true > 0) | (self.label_predicted > 0))

    def precision(self, otherwise: float = np.nan) -> Floats:
        """Precision of each label, shape (..., k)."""
        return ratio(self.label_hits, self.label_predicted, otherwise)

    def recall(self, otherwise: float = np.nan) -> Floats:
        """Recall of each label, shape (..., k)."""
        return ratio(self.label_hits, self.label_true, otherwise)

    def f1(self, otherwise: float = np.nan) -> Floats:
        """F1 of each label, shape (..., k): 2 hits / (predicted + true)."""
        return ratio(2 * self.label_hits, self.label_predicted + self.label_true, otherwise)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tally(LabelSums):
    """The same with what is known of mistakes."""

    same_side: Floats
    """Items whose two labels share a polarity or group."""
    closeness: Floats
    """Sum of 1 / W."""
    mildness: Floats
    """Sum of 1 / (W - 1) over mistakes."""
    cost: Floats
    """Sum of W."""
    distances: Floats | None
    """W - 1, shape (k, k)."""

    @property
    def mistakes(self) -> Floats:
        """Items that are not hits; what rounding leaves of weighted sums is none."""
        left = self.n - self.hits
        return np.where(left > 1e-9 * np.maximum(self.n, 1.0), left, 0.0)


def _item_sums(facts: LabelFacts, cells: Ints) -> Floats:
    """What one item in each cell adds to the sums that are not of a label, shape (cells, 6)."""
    true, predicted = np.divmod(cells, len(facts.labels))
    hit = true == predicted
    sums = np.zeros((cells.size, _HEAD))
    sums[:, 0] = 1.0
    sums[:, 1] = hit
    if facts.sides is not None:
        sums[:, 2] = facts.sides[true] == facts.sides[predicted]
    if facts.costs is not None:
        cost = _whole(facts.costs)[true, predicted]
        sums[:, 3] = 1 / cost
        sums[~hit, 4] = 1 / (cost[~hit] - 1)
        sums[:, 5] = cost
    return sums


def sums_of_cells(facts: LabelFacts, cells: Ints) -> Floats:
    """What one item in each of these cells adds to the sums, shape (cells, 6 + 3 k).

    A cell is ``true * k + predicted``. Labels without costs or side add numbers that mean nothing;
    see :meth:`LabelFacts.without_costs`.
    """
    labels = np.arange(len(facts.labels))
    true, predicted = (part[:, None] == labels for part in np.divmod(cells, labels.size))
    return np.concatenate([_item_sums(facts, cells), true & predicted, true, predicted], axis=1)


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
        distances=None if facts.costs is None else _whole(facts.costs) - 1,
    )


def tally_of_counts(facts: LabelFacts, counts: Floats) -> Tally:
    """Sum over confusion matrices, shape (..., k, k), true labels in rows."""
    k = counts.shape[-1]
    of_items = counts.reshape(*counts.shape[:-2], k * k) @ _item_sums(facts, np.arange(k * k))
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    by_label = (hits, counts.sum(axis=-1), counts.sum(axis=-2))
    return tally_of_sums(facts, np.concatenate([of_items, *by_label], axis=-1))


def _whole(costs: Floats) -> Floats:
    """Costs with any number for labels that have none, whose metrics are not given."""
    whole: Floats = np.where(np.isnan(costs), 2.0, costs)
    np.fill_diagonal(whole, 1.0)
    return whole
