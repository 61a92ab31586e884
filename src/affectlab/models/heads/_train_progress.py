"""Where the training of some heads stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from affectlab._types import Bools, Floats, Ints
from affectlab.models.heads._plateau import Plateau
from affectlab.models.heads._stage import Stage
from affectlab.models.heads._train_plan import HeadRowsPart, Learned, Plan
from affectlab.models.heads._weights import StackedWeights

__all__ = ["Progress"]


class Progress:
    """Weights, moments of Adam, learning rates and best epochs of heads, side by side.

    Arrays have one entry, tensors one row per head.
    """

    def __init__(self, parts: Sequence[HeadRowsPart], weights: StackedWeights, stage: Stage):
        n = len(parts)
        self.parts = tuple(parts)
        self.stage = stage
        self.weights = weights
        self.first: Tensor = torch.zeros_like(weights.flat)
        self.second: Tensor = torch.zeros_like(weights.flat)
        self.best: Tensor = weights.flat.clone()
        self.plateau = Plateau(n, stage.learning_rate, stage.factor, stage.patience)
        self.epoch: Ints = np.zeros(n, dtype=np.int64)
        """Epochs that are done."""
        self.step: Ints = np.zeros(n, dtype=np.int64)
        """Steps that are done."""
        self.best_loss: Floats = np.full(n, np.inf)
        self.best_epoch: Ints = np.zeros(n, dtype=np.int64)
        self.start_loss: Floats = np.full(n, np.nan)
        """Validation loss before the first epoch; nan where it does not matter."""
        self.done: Bools = np.zeros(n, dtype=np.bool_)
        self.history: list[list[dict[str, float]]] = [[] for _ in parts]

    @classmethod
    def begin(cls, plan: Plan, parts: Sequence[HeadRowsPart]) -> Progress:
        """Begin to train heads, or go on where their states on disk stopped."""
        places = [part.place for part in parts]
        found = cls(parts, plan.weights.to(plan.device).select(places), plan.stage)
        if plan.states is not None:
            for row, part in enumerate(parts):
                state = plan.states.read(part.number, found.best.shape[1])
                if state is not None:
                    found._take_up(row, state)
        return found

    @property
    def unjudged(self) -> Ints:
        """Heads whose weights may be kept as they are, and were not judged yet."""
        keep = np.array([part.keep_start for part in self.parts], dtype=np.bool_)
        return np.flatnonzero(keep & (self.epoch == 0))

    def note_start(self, rows: Ints, validation_loss: ArrayLike) -> None:
        """Note how good some heads are before the first epoch.

        It is what an epoch has to surpass; the learning rate does not look at it.
        """
        loss = np.asarray(validation_loss, dtype=np.float64)
        self.start_loss[rows] = loss
        self.best_loss[rows] = np.where(np.isfinite(loss), loss, np.inf)

    def note(self, rows: ArrayLike, train_loss: ArrayLike, validation_loss: ArrayLike) -> Ints:
        """Note an epoch of some heads: history, best weights, learning rate, and whether to stop.

        Returns
        -------
        ndarray
            Heads whose weights are the best so far.
        """
        places = np.asarray(rows, dtype=np.int64)
        train = np.asarray(train_loss, dtype=np.float64)
        validation = np.asarray(validation_loss, dtype=np.float64)
        self.epoch[places] += 1
        for place, learned, kept in zip(places, train, validation, strict=True):
            self.history[place].append(
                {
                    "epoch": float(self.epoch[place]),
                    "train_loss": float(learned),
                    "validation_loss": float(kept),
                    "learning_rate": float(self.plateau.rate[place]),
                }
            )
        better = places[validation < self.best_loss[places]]
        self.best_loss[places] = np.minimum(self.best_loss[places], validation)
        self.best_epoch[better] = self.epoch[better]
        if better.size:
            index = torch.as_tensor(better, device=self.best.device)
            self.best.index_copy_(0, index, self.weights.flat.index_select(0, index))
        self.plateau.step(places, validation)
        self.done[places] = self.epoch[places] >= self.stage.epochs
        if self.stage.early_stopping is not None:
            waited = self.epoch[places] - self.best_epoch[places]
            self.done[places] |= waited >= self.stage.early_stopping
        return better

    def save(self, plan: Plan, row: int) -> None:
        """Write the state of a head, when it is time to."""
        number = self.parts[row].number
        if plan.states is None or not (self.done[row] or plan.states.is_due(number)):
            return
        plan.states.write(number, self._state(row))

    def _state(self, row: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "epoch": int(self.epoch[row]),
            "step": int(self.step[row]),
            "rate": float(self.plateau.rate[row]),
            "plateau_best": float(self.plateau.best[row]),
            "waited": int(self.plateau.waited[row]),
            "best_loss": float(self.best_loss[row]),
            "best_epoch": int(self.best_epoch[row]),
            "start_loss": float(self.start_loss[row]),
            "done": bool(self.done[row]),
            "history": [dict(entry) for entry in self.history[row]],
            "best": self.best[row].cpu().clone(),
        }
        if not found["done"]:
            found["weights"] = self.weights.flat[row].cpu().clone()
            found["first"] = self.first[row].cpu().clone()
            found["second"] = self.second[row].cpu().clone()
        return found

    def _take_up(self, row: int, state: dict[str, Any]) -> None:
        self.epoch[row], self.step[row] = state["epoch"], state["step"]
        self.plateau.rate[row] = state["rate"]
        self.plateau.best[row] = state["plateau_best"]
        self.plateau.waited[row] = state["waited"]
        self.best_loss[row], self.best_epoch[row] = state["best_loss"], state["best_epoch"]
        self.start_loss[row], self.done[row] = state["start_loss"], state["done"]
        self.history[row] = [dict(entry) for entry in state["history"]]
        self.best[row] = state["best"]
        if not state["done"]:
            self.weights.flat[row] = state["weights"]
            self.first[row] = state["first"]
            self.second[row] = state["second"]

    def learned(self, row: int) -> Learned:
        """Give what a head has learned."""
        return Learned(
            self.best[row].cpu().clone(),
            tuple(self.history[row]),
            int(self.best_epoch[row]),
            float(self.best_loss[row]),
            float(self.start_loss[row]),
        )

    def select(self, rows: Sequence[int]) -> Progress:
        """Copy where some heads stand, in the order given."""
        index = torch.as_tensor(rows, dtype=torch.int64, device=self.best.device)
        found = Progress.__new__(Progress)
        found.parts = tuple(self.parts[row] for row in rows)
        found.stage = self.stage
        found.weights = self.weights.select(rows)
        found.first = self.first.index_select(0, index)
        found.second = self.second.index_select(0, index)
        found.best = self.best.index_select(0, index)
        found.plateau = self.plateau.select(rows)
        places = np.asarray(rows, dtype=np.int64)
        found.epoch, found.step = self.epoch[places], self.step[places]
        found.best_loss, found.best_epoch = self.best_loss[places], self.best_epoch[places]
        found.start_loss, found.done = self.start_loss[places], self.done[places]
        found.history = [self.history[row] for row in rows]
        return found
