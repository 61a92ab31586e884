"""Training all heads as one stack of matrices: for devices that are fast with large products only.

Heads are ordered by how many batches they have, so that those that have another batch in an epoch
are the first ones of the stack: a step works on them alone, without copying anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.optim.adam import adam

from affectlab.core.types import Ints
from affectlab.models.devices import pick_device
from affectlab.models.heads.training.stage import HeadPrecision, embeddings_of
from affectlab.models.heads.training.training_plan import (
    Learned,
    Plan,
    Progress,
    Teller,
    as_int32,
    batches,
    diverged,
    dropout_keys,
    head_precision,
    keep_mask,
    n_batches,
    rows_as,
    scale_of,
    threshold_of,
)
from affectlab.models.heads.weights import StackedWeights

__all__ = [
    "Adam",
    "back",
    "forward",
    "predict_heads",
    "train_stacked",
]

# Forward, backward and update of a stack of heads, by hand.
#
# Nothing is recorded and walked back: what is needed for the gradients is known.


def forward(
    held: StackedWeights,
    full: StackedWeights,
    x: Tensor,
    keys: Tensor | None,
    threshold: int,
    *,
    kept: bool = True,
) -> tuple[list[Tensor], Tensor]:
    """Compute the layers of heads.

    Parameters
    ----------
    held
        Weights as they are multiplied.
    full
        Weights in float32, for the last layer.
    x
        Embeddings, shape (heads, rows, width).
    keys
        Keys of dropout, int32, shape (heads, layers); None: nothing is left out.
    kept
        Whether outputs of all layers are given, as gradients need them, or the last one alone.

    Returns
    -------
    tuple
        Outputs of the hidden layers, `x` before them, and the scores, shape (heads, rows).
    """
    h = [x]
    for k in range(len(held.sizes) - 2):
        out = torch.baddbmm(held.bias[k], h[-1], held.weight[k])
        torch.relu_(out)
        if keys is not None and threshold:
            out *= keep_mask(keys[:, k], out.shape[1], out.shape[2], threshold)
            out *= scale_of(threshold)
        h = [*h, out] if kept else [out]
    said = torch.baddbmm(full.bias[-1], h[-1].float(), full.weight[-1])
    return h, said[..., 0]


def back(
    held: StackedWeights,
    full: StackedWeights,
    h: list[Tensor],
    d: Tensor,
    threshold: int,
    gradient: StackedWeights,
) -> None:
    """Take gradients back through the layers.

    Parameters
    ----------
    h
        Outputs of the hidden layers, as :func:`forward` gave them.
    d
        Gradient of the scores, shape (heads, rows).
    gradient
        Gradients of the weights are put here, in the precision of `held`.
    """
    scale = scale_of(threshold)
    d = d[..., None]
    gradient.weight[-1].copy_(torch.bmm(h[-1].float().mT, d))
    gradient.bias[-1].copy_(d.sum(dim=1, keepdim=True))
    into = d * (full.weight[-1].mT * scale)
    for k in range(len(h) - 2, -1, -1):
        d = torch.ops.aten.threshold_backward(into.to(h[k + 1].dtype), h[k + 1], 0)
        gradient.weight[k].copy_(torch.bmm(h[k].mT, d))
        gradient.bias[k].copy_(d.sum(dim=1, keepdim=True, dtype=torch.float32))
        if k:
            into = torch.bmm(d, held.weight[k].mT)
            if threshold:
                into *= scale


class Adam:
    """Adam for heads of a stack with a learning rate each.

    Heads with the same rate are updated together; there are as few rates as there were plateaus.
    """

    def __init__(self, progress: Progress) -> None:
        device = progress.best.device
        self.progress = progress
        self.steps = [
            torch.tensor(float(step), dtype=torch.float32, device=device) for step in progress.step
        ]
        self.rows = [
            list(part) for part in (progress.weights.flat, progress.first, progress.second)
        ]

    def update(self, gradient: Tensor, n_heads: int) -> None:
        """Update the first heads of the stack by their gradients, float32."""
        rates = self.progress.plateau.rate[:n_heads]
        grads = list(gradient[:n_heads])
        for rate in np.unique(rates):
            own = np.flatnonzero(rates == rate)
            weights, first, second = ([part[k] for k in own] for part in self.rows)
            adam(
                weights,
                [grads[k] for k in own],
                first,
                second,
                [],
                [self.steps[k] for k in own],
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=float(rate),
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )


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


# Scores of many heads on many embeddings.


@torch.inference_mode()
def predict_heads(
    weights: StackedWeights,
    X: ArrayLike,
    *,
    device: str = "auto",
    precision: HeadPrecision = "auto",
    batch: int | None = None,
) -> NDArray[np.float32]:
    """Score embeddings by every head.

    Parameters
    ----------
    X
        Embeddings, shape (n, width), of any floating-point type; a memory map is read in pieces.
    device
        ``cpu``, ``cuda``, ``mps``, or ``auto``: the fastest that is there.
    precision
        What matrices are multiplied in: ``fp32``, ``bf16``, or ``auto``: bf16 where the device
        multiplies it faster. The last layer is in float32 always.
    batch
        Rows at a time; None: as fits the caches of the device.

    Returns
    -------
    ndarray
        Shape (n, heads); on the scale that the heads were trained on, neither clipped nor
        calibrated.

    Raises
    ------
    InputError
        When the shape does not fit the heads, or a number is not finite.

    Examples
    --------
    >>> from affectlab.models.heads.shape import SMALL
    >>> weights = StackedWeights.initial(SMALL, width=16, heads=3)
    >>> predict_heads(weights, np.zeros((5, 16), dtype=np.float32), device="cpu").shape
    (5, 3)
    """
    embeddings = embeddings_of(X, weights.width)
    where = pick_device(device)
    low = torch.bfloat16 if head_precision(precision, where) == "bf16" else torch.float32
    full = weights.to(where)
    held = StackedWeights(weights.sizes, full.flat.to(low))
    found = np.empty((len(embeddings), weights.n_heads), dtype=np.float32)
    scores = _one_at_a_time if where.type == "cpu" else _stacked
    rows = batch or (_ROWS if where.type == "cpu" else _ROWS_STACKED)
    for start in range(0, len(embeddings), rows):
        own = range(start, min(start + rows, len(embeddings)))
        x = rows_as(embeddings, own, low).to(where)
        found[own.start : own.stop] = scores(held, full, x).cpu().numpy()
    return found


_ROWS = 1024
"""So that the outputs of a layer stay in the cache of a processor."""
_ROWS_STACKED = 4096


def _one_at_a_time(held: StackedWeights, full: StackedWeights, x: Tensor) -> Tensor:
    """Give the scores of all heads, shape (rows, heads)."""
    found = torch.empty((len(x), held.n_heads))
    layers = len(held.sizes) - 2
    into = [x.new_empty((len(x), size)) for size in held.sizes[1:-1]]
    for k in range(held.n_heads):
        h = x
        for layer in range(layers):
            torch.addmm(held.bias[layer][k, 0], h, held.weight[layer][k], out=into[layer])
            h = torch.relu_(into[layer])
        found[:, k] = torch.addmm(full.bias[-1][k], h.float(), full.weight[-1][k])[:, 0]
    return found


def _stacked(held: StackedWeights, full: StackedWeights, x: Tensor) -> Tensor:
    return forward(held, full, x.expand(held.n_heads, -1, -1), None, 0, kept=False)[1].T
