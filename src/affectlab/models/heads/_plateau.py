"""Learning rates of many heads, each lowered when its own loss stays on a plateau."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats, Ints

__all__ = ["Plateau"]

_PROGRESS = 1e-4
"""Smallest relative fall of the loss that counts as progress."""
_SMALLEST = 1e-8
"""A rate that would fall by less stays."""


class Plateau:
    """Reduce on plateau, for all heads at once.

    A loss counts as progress when it is below (1 - 1e-4) times the head's best; after more than
    `patience` epochs without progress the head's rate is multiplied by `factor`, and counting
    begins anew. This is what ``torch.optim.lr_scheduler.ReduceLROnPlateau`` does with its
    defaults for one optimiser.

    Examples
    --------
    >>> plateau = Plateau(2, learning_rate=1.0, factor=0.2, patience=1)
    >>> for losses in ([3.0, 3.0], [2.0, 3.0], [1.0, 3.0]):
    ...     plateau.step([0, 1], losses)
    >>> plateau.rate.tolist()
    [1.0, 0.2]
    """

    def __init__(self, n_heads: int, learning_rate: float, factor: float, patience: int) -> None:
        self.factor = factor
        self.patience = patience
        self.rate: Floats = np.full(n_heads, learning_rate)
        """Shape (heads,)."""
        self.best: Floats = np.full(n_heads, np.inf)
        self.waited: Ints = np.zeros(n_heads, dtype=np.int64)
        """Epochs since there was progress, or since the rate fell."""

    def step(self, heads: ArrayLike, losses: ArrayLike) -> None:
        """Note the losses of an epoch.

        Parameters
        ----------
        heads
            Places of the heads that had an epoch; the others stay as they are.
        losses
            Their losses.
        """
        places = np.asarray(heads, dtype=np.int64)
        loss = np.asarray(losses, dtype=np.float64)
        progress = loss < self.best[places] * (1 - _PROGRESS)
        self.best[places] = np.where(progress, loss, self.best[places])
        waited = np.where(progress, 0, self.waited[places] + 1)
        falls = waited > self.patience
        self.waited[places] = np.where(falls, 0, waited)
        lower = self.rate[places] * self.factor
        falls &= self.rate[places] - lower > _SMALLEST
        self.rate[places] = np.where(falls, lower, self.rate[places])

    def select(self, places: ArrayLike) -> Plateau:
        """Copy what is known of some heads, in the order given."""
        rows = np.asarray(places, dtype=np.int64)
        found = Plateau(len(rows), 0.0, self.factor, self.patience)
        found.rate, found.best = self.rate[rows], self.best[rows]
        found.waited = self.waited[rows]
        return found
