"""Training all heads as one stack of matrices: for devices that are fast with large products only.

Heads are ordered by how many batches they have, so that those that have another batch in an epoch
are the first ones of the stack: a step works on them alone, without copying anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affectlab._types import Ints
from affectlab.models.heads._train_pass import Adam, back, forward
from affectlab.models.heads._train_plan import Learned, Plan, Teller, diverged, rows_as
from affectlab.models.heads._train_progress import Progress
from affectlab.models.heads._train_random import (
    as_int32,
    batches,
    dropout_keys,
    n_batches,
    threshold_of,
)
from affectlab.models.heads._weights import StackedWeights

__all__ = ["train_stacked"]


def train_stacked(plan: Plan) -> Mapping[int, Learned]:
    """Train all heads of a plan together."""
    teller = Teller(plan)
    size = plan.stage.batch
    parts = sorted(plan.parts, key=lambda part: -n_batches(len(part.train), size))
    progress = Progress.begin(plan, parts)
    taken_up = int(progress.epoch.sum())
    if taken_up:
        teller.tell(f"{taken_up} epochs of heads taken up", taken_up)
    found: dict[int, Learned] = {}
    data = _Data(plan)
    stack: _Stack | None = None
    while True:
        # Heads that are done leave the stack.
        for row in np.flatnonzero(progress.done).tolist():
            found[progress.parts[row].place] = progress.learned(row)
        if progress.done.any():
            left = np.flatnonzero(~progress.done).tolist()
            progress = progress.select(left)
            stack = None if stack is None or not left else stack.select(progress, left)
        if not progress.parts:
            return found
        if stack is None:
            stack = _Stack.of(plan, progress, data)
        fresh = progress.unjudged
        if fresh.size:
            progress.note_start(fresh, stack.judge()[fresh])
        train, loss = stack.learn(), stack.judge()
        bad = np.flatnonzero(~(np.isfinite(train) & np.isfinite(loss)))
        if bad.size:
            at, rate = int(bad[0]), float(progress.plateau.rate[bad[0]])
            raise diverged(progress.parts[at].name, int(progress.epoch[at]) + 1, rate)
        n = len(progress.parts)
        progress.note(np.arange(n), train, loss)
        for row in range(n):
            progress.save(plan, row)
        first = int(progress.epoch.min())
        teller.tell(f"epoch {first} of {n} heads: validation loss {loss.mean():.4f} on average", n)


class _Data:
    """The embeddings that any head sees, on the device."""

    def __init__(self, plan: Plan) -> None:
        self.device = plan.device
        self.used = np.unique(
            np.concatenate([rows for part in plan.parts for rows in (part.train, part.validation)])
        )
        self.embeddings = rows_as(plan.embeddings, self.used, plan.low).to(plan.device)
        self.place_of = np.full(len(plan.embeddings), -1, dtype=np.int64)
        self.place_of[self.used] = np.arange(len(self.used))

    def index(self, rows: Sequence[Sequence[Ints]]) -> Tensor:
        """Give places of rows, shape (batches, heads, rows); -1 where a head has fewer.

        Parameters
        ----------
        rows
            Per head its batches.
        """
        most = max(len(own) for own in rows)
        longest = max(len(batch) for own in rows for batch in own)
        found = np.full((most, len(rows), longest), -1, dtype=np.int64)
        for head, own in enumerate(rows):
            for step, batch in enumerate(own):
                found[step, head, : len(batch)] = self.place_of[batch]
        return torch.from_numpy(found).to(self.device)


class _Stack:
    """Heads in training; they change when some of them are done."""

    def __init__(
        self, plan: Plan, progress: Progress, data: _Data, targets: Tensor, validation: Tensor
    ) -> None:
        self.plan = plan
        self.progress = progress
        self.data = data
        self.targets = targets
        """Shape (heads, rows that are used)."""
        self.validation = validation
        """Places of validation rows, shape (batches, heads, rows)."""
        self.optimiser = Adam(progress)
        self.threshold = threshold_of(plan.stage.dropout)
        self.n_validation = np.array([len(part.validation) for part in progress.parts])
        self.n_train = np.array([len(part.train) for part in progress.parts])
        self.full = progress.weights
        self.held = StackedWeights(self.full.sizes, self.full.flat.to(plan.low))
        """Weights as they are multiplied; float32 ones are the weights themselves."""
        self.gradient = StackedWeights(self.full.sizes, torch.zeros_like(self.held.flat))
        self.wide = torch.zeros_like(self.full.flat) if self.mixed else self.gradient.flat

    @classmethod
    def of(cls, plan: Plan, progress: Progress, data: _Data) -> _Stack:
        """Put heads together."""
        targets = np.empty((len(progress.parts), len(data.used)), dtype=np.float32)
        for row, part in enumerate(progress.parts):
            # Rows that a head does not see may have no rating.
            targets[row] = np.nan_to_num(part.targets[data.used])
        size = plan.stage.batch
        validation = [
            np.array_split(part.validation, n_batches(len(part.validation), size))
            for part in progress.parts
        ]
        on_device = torch.from_numpy(targets).to(plan.device)
        return cls(plan, progress, data, on_device, data.index(validation))

    def select(self, progress: Progress, rows: Sequence[int]) -> _Stack:
        """Keep some heads, where they now stand; what does not change is not made again."""
        index = torch.as_tensor(rows, dtype=torch.int64, device=self.targets.device)
        targets = self.targets.index_select(0, index)
        validation = self.validation.index_select(1, index)
        return _Stack(self.plan, progress, self.data, targets, validation)

    @property
    def sums(self) -> torch.dtype:
        """What errors are summed in; Apple's devices have no float64."""
        return torch.float32 if self.plan.device.type == "mps" else torch.float64

    @property
    def mixed(self) -> bool:
        """Whether matrices are not multiplied in float32."""
        return self.plan.low != torch.float32

    def learn(self) -> NDArray[np.float64]:
        """Train every head for an epoch; give their mean squared errors."""
        plan, progress = self.plan, self.progress
        parts, size = progress.parts, plan.stage.batch
        orders = [
            [part.train[own] for own in batches(plan.seed, part.number, epoch, n_rows, size)]
            for part, epoch, n_rows in zip(
                parts, progress.epoch.tolist(), self.n_train.tolist(), strict=True
            )
        ]
        counts = np.array([len(order) for order in orders])
        index = self.data.index(orders)
        keys = np.zeros((counts.max(), len(parts), len(self.full.sizes) - 2), dtype=np.uint32)
        for k, part in enumerate(parts):
            steps = np.arange(progress.step[k], progress.step[k] + counts[k])
            keys[: counts[k], k] = dropout_keys(plan.seed, part.number, steps, keys.shape[2])
        on_device = as_int32(keys, plan.device)
        errors = torch.zeros(len(parts), dtype=self.sums, device=plan.device)
        for step in range(len(index)):
            # The stack is ordered by the number of batches.
            n = int((counts > step).sum())
            errors[:n] += self._step(index[step, :n], on_device[step, :n], n)
        progress.step += counts
        found: NDArray[Any] = errors.cpu().double().numpy() / self.n_train
        return found

    def _batch(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Gather embeddings, targets, and 1 for a row, 0 for what fills up."""
        weight = (index >= 0).float()
        place = index.clamp_min(0)
        x = self.data.embeddings.index_select(0, place.view(-1)).view(*index.shape, -1)
        return x, self.targets[: len(index)].gather(1, place), weight

    def _step(self, index: Tensor, keys: Tensor, n: int) -> Tensor:
        """Take a step with the first heads of the stack; give their sums of squared errors."""
        full, held = self.full.first(n), self.held.first(n)
        x, targets, weight = self._batch(index)
        h, said = forward(held, full, x, keys, self.threshold)
        error = (said - targets) * weight
        per_row = 2 / weight.sum(dim=1, keepdim=True)
        back(held, full, h, error * per_row, self.threshold, self.gradient.first(n))
        if self.mixed:
            self.wide[:n].copy_(self.gradient.flat[:n])
        self.optimiser.update(self.wide, n)
        if self.mixed:
            held.flat.copy_(full.flat)
        return error.square().sum(dim=1, dtype=self.sums)

    def judge(self) -> NDArray[np.float64]:
        """Give the mean squared errors on the validation rows, with nothing left out."""
        total = torch.zeros(len(self.full.flat), dtype=self.sums, device=self.plan.device)
        for index in self.validation:
            x, targets, weight = self._batch(index)
            _, said = forward(self.held, self.full, x, None, 0)
            total += ((said - targets) * weight).square().sum(dim=1, dtype=self.sums)
        found: NDArray[Any] = total.cpu().double().numpy() / self.n_validation
        return found
