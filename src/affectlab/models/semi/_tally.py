"""What an epoch adds up: how many pseudo-labels counted, and how good they were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as nnf

from affectlab._types import Ints
from affectlab.errors import InputError
from affectlab.evaluation import Confusion
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = ["Tally"]

_MEASURES = {"pseudo_accuracy": "accuracy", "pseudo_ecc": "ecc", "pseudo_emc": "emc"}


class Tally(nn.Module):
    """Counts over an epoch; buffers alone, so that a checkpoint in its middle holds them.

    The truth of unlabelled examples, where it is known, is looked at here and nowhere else.
    """

    confusion: Tensor
    """Sums of weights, shape (C, C): true classes in rows, pseudo-labels in columns."""
    sums: Tensor
    """Sum of weights; examples; wrong pseudo-labels that were wrong before; the same ones."""
    wrong: Tensor
    """The wrong pseudo-label that each example had when it was last used, -1 for none, shape
    (N,)."""

    def __init__(
        self,
        labels: Sequence[str],
        taxonomy: Taxonomy,
        costs: CostMatrix | None,
        truth: Ints | None,
        n: int,
    ) -> None:
        super().__init__()
        self.labels, self.taxonomy, self.costs = tuple(labels), taxonomy, costs
        k = len(self.labels)
        self.register_buffer("confusion", torch.zeros(k, k))
        self.register_buffer("sums", torch.zeros(4))
        self.register_buffer("wrong", torch.full((n,), -1))
        known = torch.empty(0, dtype=torch.int64) if truth is None else torch.from_numpy(truth)
        self.register_buffer("truth", known, persistent=False)

    def clear(self) -> None:
        """Begin another epoch; what was wrong is remembered."""
        self.confusion.zero_()
        self.sums.zero_()

    @torch.no_grad()
    def add(self, rows: Tensor, targets: Tensor, weights: Tensor) -> None:
        """Count a step: rows, shape (u,), their pseudo-labels, shape (u, C), and weights."""
        weights = weights.float()
        self.sums[0] += weights.sum()
        self.sums[1] += len(weights)
        truth: Tensor = self.get_buffer("truth")
        if not len(truth):
            return
        said, true = targets.argmax(dim=1), truth[rows]
        k = len(self.labels)
        # A product of matrices adds up in the same order each time, on GPUs as well.
        self.confusion += nnf.one_hot(true, k).float().T @ (
            nnf.one_hot(said, k).float() * weights[:, None]
        )
        before = self.wrong[rows]
        mistaken = (weights > 0) & (said != true)
        self.sums[2] += (mistaken & (before >= 0)).sum()
        self.sums[3] += (mistaken & (before == said)).sum()
        now = torch.where(mistaken, said, torch.full_like(said, -1))
        self.wrong[rows] = torch.where(weights > 0, now, before)

    def entry(self) -> dict[str, float]:
        """Give what the history shows of an epoch.

        ``utilisation`` is the mean weight of unlabelled examples; ``pseudo_accuracy``,
        ``pseudo_ecc`` and ``pseudo_emc`` judge pseudo-labels by their weights; ``confirmed`` is the
        share of wrong ones that stayed the same since they were last used, among those that were
        wrong then. What cannot be said is nan.
        """
        used, seen, again, same = self.sums.tolist()
        if not seen:
            return {}
        found = {"utilisation": used / seen}
        if not len(self.get_buffer("truth")):
            return found
        counts = self.confusion.double().cpu().numpy()
        for name, metric in _MEASURES.items():
            found[name] = self._measured(counts, metric)
        found["confirmed"] = same / again if again else float("nan")
        return found

    def _measured(
        self, counts: np.ndarray[tuple[int, int], np.dtype[np.float64]], name: str
    ) -> float:
        if not counts.sum():
            return float("nan")
        try:
            seen = Confusion.from_counts(counts, self.labels, self.taxonomy, costs=self.costs)
            return seen.metric(name)
        except InputError:
            # A taxonomy may have no costs, and then ECC and EMC cannot be said.
            return float("nan")
