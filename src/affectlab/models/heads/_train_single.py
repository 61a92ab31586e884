"""Training heads one at a time, one per core: a head's weights stay in the cache of its core.

Forward and backward are written by hand, on buffers that are made once: for heads this small,
recording what was done would take as long as doing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from threading import Event
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affectlab._types import Ints
from affectlab.models.heads._train_kernels import (
    adam,
    adam_mixed,
    back_through,
    output_pass,
    relu_dropout,
)
from affectlab.models.heads._train_plan import (
    HeadRowsPart,
    Learned,
    Plan,
    Teller,
    diverged,
    rows_as,
)
from affectlab.models.heads._train_progress import Progress
from affectlab.models.heads._train_random import batches, dropout_keys, scale_of, threshold_of
from affectlab.models.heads._weights import StackedWeights

__all__ = ["train_single"]

_GATHERED_BYTES = 256_000_000
"""Rows of a head are copied side by side where they take less than this; else batch by batch."""
_BETA1, _BETA2, _EPS = 0.9, 0.999, np.float32(1e-8)


def train_single(plan: Plan) -> Mapping[int, Learned]:
    """Train every head by itself; heads run side by side on the threads that torch may use."""
    threads = torch.get_num_threads()
    workers = max(1, min(threads, len(plan.parts)))
    teller, stop = Teller(plan), Event()
    found: dict[int, Learned] = {}

    def work(part: HeadRowsPart) -> None:
        if stop.is_set():
            return
        try:
            found[part.place] = _train(plan, part, teller, stop)
        except BaseException:
            stop.set()
            raise

    if workers == 1:
        for part in plan.parts:
            work(part)
        return found
    try:
        with ThreadPoolExecutor(
            workers, initializer=lambda: torch.set_num_threads(max(1, threads // workers))
        ) as pool:
            try:
                for _ in pool.map(work, plan.parts):
                    pass
            finally:
                stop.set()
    finally:
        # Threads that are made later take the last number that was set.
        torch.set_num_threads(threads)
    return found


def _train(plan: Plan, part: HeadRowsPart, teller: Teller, stop: Event) -> Learned:
    progress = Progress.begin(plan, [part])
    stage = plan.stage
    if progress.epoch[0]:
        teller.tell(f"{part.name}: {progress.epoch[0]} epochs taken up", progress.epoch[0])
    if progress.done[0]:
        return progress.learned(0)
    network = _Network(plan, progress)
    learn, judge = _Rows(plan, part, part.train), _Rows(plan, part, part.validation)
    if progress.unjudged.size:
        progress.note_start(progress.unjudged, [network.judge(judge)])
    while not progress.done[0]:
        epoch, step = int(progress.epoch[0]), int(progress.step[0])
        order = batches(plan.seed, part.number, epoch, len(part.train), stage.batch)
        keys = dropout_keys(
            plan.seed, part.number, np.arange(step, step + len(order)), network.n_hidden
        )
        total = 0.0
        for rows, key in zip(order, keys, strict=True):
            if stop.is_set():
                # Another head failed: what this one has learned is not asked for.
                return progress.learned(0)
            total += network.learn(learn, rows, key, float(progress.plateau.rate[0]), step)
            step += 1
        progress.step[0] = step
        train_loss = total / len(part.train)
        loss = network.judge(judge)
        if not np.isfinite(train_loss) or not np.isfinite(loss):
            raise diverged(part.name, epoch + 1, float(progress.plateau.rate[0]))
        progress.note([0], [train_loss], [loss])
        progress.save(plan, 0)
        teller.tell(f"{part.name}, epoch {epoch + 1}: validation loss {loss:.4f}")
    return progress.learned(0)


class _Rows:
    """Rows of one head, with their targets."""

    def __init__(self, plan: Plan, part: HeadRowsPart, rows: Ints) -> None:
        self.rows = rows
        self.embeddings = plan.embeddings
        self.low = plan.low
        self.targets = part.targets[rows].astype(np.float32)
        size = len(rows) * plan.weights.width * plan.low.itemsize
        self.gathered = rows_as(plan.embeddings, rows, plan.low) if size < _GATHERED_BYTES else None

    def __len__(self) -> int:
        return len(self.rows)

    def into(self, places: Ints, x: Tensor) -> NDArray[np.float32]:
        """Put the embeddings of some rows into a tensor, and give their targets."""
        if self.gathered is not None:
            torch.index_select(self.gathered, 0, torch.from_numpy(places), out=x)
        else:
            x.copy_(rows_as(self.embeddings, self.rows[places], self.low))
        return self.targets[places]


def _array(part: Tensor) -> NDArray[Any]:
    """Share the numbers of a tensor with NumPy; bf16 as its bits."""
    return part.view(torch.uint16).numpy() if part.dtype == torch.bfloat16 else part.numpy()


class _Buffers:
    """Outputs and gradients of the layers for batches of one size."""

    def __init__(self, sizes: tuple[int, ...], rows: int, low: torch.dtype) -> None:
        self.x = torch.empty((rows, sizes[0]), dtype=low)
        self.h = [self.x, *(torch.empty((rows, size), dtype=low) for size in sizes[1:-1])]
        """Embeddings, and outputs of the hidden layers."""
        self.d = [torch.empty_like(part) for part in self.h]
        """Gradients of what came before ReLU; those of the embeddings are not computed."""
        self.h_array = [_array(part) for part in self.h]
        self.d_array = [_array(part) for part in self.d]


class _Network:
    """One head in training."""

    def __init__(self, plan: Plan, progress: Progress) -> None:
        self.sizes = plan.weights.sizes
        self.low = plan.low
        self.n_hidden = len(self.sizes) - 2
        self.threshold = threshold_of(plan.stage.dropout)
        self.scale = scale_of(self.threshold)
        self.batch = plan.stage.batch
        self.full = progress.weights
        self.numbers = _array(self.full.flat[0])
        self.first, self.second = _array(progress.first[0]), _array(progress.second[0])
        mixed = self.low != torch.float32
        held = self.full.flat.to(self.low) if mixed else self.full.flat
        self.held = StackedWeights(self.sizes, held)
        """Weights as they are multiplied; float32 ones are the weights themselves."""
        self.gradient = StackedWeights(self.sizes, torch.zeros_like(held))
        self.held_array = _array(held[0])
        self.gradient_array = _array(self.gradient.flat[0])
        self.weight = [part[0] for part in self.held.weight]
        self.bias = [part[0, 0] for part in self.held.bias]
        self.weight_gradient = [part[0] for part in self.gradient.weight]
        self.bias_gradient = [_array(part[0, 0]) for part in self.gradient.bias]
        self.last_weight = _array(self.full.weight[-1][0, :, 0])
        self.last_bias = _array(self.full.bias[-1][0, 0])
        self.last_weight_gradient = _array(self.gradient.weight[-1][0, :, 0])
        self.last_bias_gradient = _array(self.gradient.bias[-1][0, 0])
        self.sums = np.empty((2, max(self.sizes)), dtype=np.float32)
        self.unused = _array(torch.empty(self.sizes[0], dtype=self.low))
        self.buffers: dict[int, _Buffers] = {}

    def _of(self, rows: int) -> _Buffers:
        if rows not in self.buffers:
            self.buffers[rows] = _Buffers(self.sizes, rows, self.low)
        return self.buffers[rows]

    def _forward(self, held: _Buffers, key: Any) -> None:
        """Compute the hidden layers; without a key nothing is left out."""
        threshold = np.uint32(0 if key is None else self.threshold)
        scale = np.float32(1 if key is None else self.scale)
        for k in range(self.n_hidden):
            torch.addmm(self.bias[k], held.h[k], self.weight[k], out=held.h[k + 1])
            if threshold:
                relu_dropout(held.h_array[k + 1], key[k], threshold, scale)
            else:
                torch.relu_(held.h[k + 1])

    def learn(self, rows: _Rows, places: Ints, key: Any, rate: float, step: int) -> float:
        """Take one step; give the sum of squared errors before it."""
        held = self._of(len(places))
        targets = rows.into(places, held.x)
        self._forward(held, key)
        scale = np.float32(self.scale)
        top = self.n_hidden
        total = output_pass(
            held.h_array[top],
            self.last_weight,
            self.last_bias,
            targets,
            scale,
            self.last_weight_gradient,
            self.last_bias_gradient,
            held.d_array[top],
            self.bias_gradient[top - 1] if top else self.unused,
            self.sums[0, : self.sizes[top]],
            self.sums[1, : self.sizes[top]],
        )
        for k in range(top - 1, -1, -1):
            torch.mm(held.h[k].T, held.d[k + 1], out=self.weight_gradient[k])
            if k:
                torch.mm(held.d[k + 1], self.weight[k].T, out=held.d[k])
                back_through(
                    held.d_array[k],
                    held.h_array[k],
                    scale,
                    self.sums[0, : self.sizes[k]],
                    self.bias_gradient[k - 1],
                )
        self._update(rate, step + 1)
        return float(total)

    def _update(self, rate: float, step: int) -> None:
        keep1, keep2 = np.float32(1 - _BETA1), np.float32(1 - _BETA2)
        rate1 = np.float32(rate / (1 - _BETA1**step))
        root = np.float32(1 / sqrt(1 - _BETA2**step))
        weights, gradient = self.numbers, self.gradient_array
        if self.low == torch.float32:
            adam(weights, self.first, self.second, gradient, keep1, keep2, rate1, root, _EPS)
        else:
            first, second, low = self.first, self.second, self.held_array
            adam_mixed(weights, first, second, gradient, low, keep1, keep2, rate1, root, _EPS)

    def judge(self, rows: _Rows) -> float:
        """Give the mean squared error, with nothing left out."""
        total = 0.0
        weight, bias = self.full.weight[-1][0], self.full.bias[-1][0]
        for places in np.array_split(np.arange(len(rows)), -(-len(rows) // self.batch)):
            held = self._of(len(places))
            targets = torch.from_numpy(rows.into(places, held.x))
            self._forward(held, None)
            said = torch.addmm(bias, held.h[-1].float(), weight)[:, 0]
            total += float((said - targets).square().sum(dtype=torch.float64))
        return total / len(rows)
