"""Training heads one at a time, one per core: a head's weights stay in the cache of its core.

Forward and backward are written by hand, on buffers that are made once: for heads this small,
recording what was done would take as long as doing it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from threading import Event
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray
from torch import Tensor

from affectlab.core.types import Ints
from affectlab.models.heads.training.training_plan import (
    MIX,
    HeadRowsPart,
    Learned,
    Plan,
    Progress,
    Teller,
    batches,
    diverged,
    dropout_keys,
    rows_as,
    scale_of,
    threshold_of,
)
from affectlab.models.heads.weights import StackedWeights

__all__ = [
    "adam",
    "adam_mixed",
    "back_through",
    "output_pass",
    "relu_dropout",
    "train_single",
]

# Inner loops of training heads on a processor, on float32 numbers or on the bits of bf16.
#
# NumPy has no bf16: its numbers are held as uint16, the upper half of a float32. Each loop does
# what would take several passes over memory, and a draw of random numbers, in torch.


_Function = TypeVar("_Function", bound=Callable[..., Any])
_C0, _C1, _C2 = (np.uint32(factor) for factor in MIX)


def _compiled(function: _Function) -> _Function:
    """As :func:`affectlab.core.compiled.kernel`, for arithmetic that may be done several at a time.

    Checks of division by zero and the order of sums would keep processors from it.
    """
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract"},
    }
    try:
        return cast(_Function, njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(_Function, njit(**options)(function))


def _number(held: Any) -> Any:
    """Give the number that is held as itself, or as bits of bf16."""
    raise NotImplementedError("compiled code only")


def _held(number: Any, like: Any) -> Any:
    """Hold a number as itself, or as bits of bf16, rounded to the nearest, ties to even."""
    raise NotImplementedError("compiled code only")


@overload(_number, inline="always")
def _number_of(held: Any) -> Any:
    def widened(held: Any) -> Any:
        return np.uint32(np.uint32(held) << np.uint32(16)).view(np.float32)

    def same(held: Any) -> Any:
        return held

    return widened if held == types.uint16 else same


# Numba finds arguments by their names, whether a way needs them or not.
@overload(_held, inline="always")
def _held_as(number: Any, like: Any) -> Any:  # noqa: ARG001
    def rounded(number: Any, like: Any) -> Any:  # noqa: ARG001
        bits = np.float32(number).view(np.uint32)
        even = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(1))
        return np.uint16(np.uint32(bits + np.uint32(0x7FFF) + even) >> np.uint32(16))

    def same(number: Any, like: Any) -> Any:  # noqa: ARG001
        return number

    return rounded if like == types.uint16 else same


@_compiled
def _mixed(counter: Any, key: Any) -> Any:
    """Hash a counter with a key, as :func:`keep_mask` of the training plan does."""
    x = np.uint32(np.uint32(counter) * _C0 + key)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * _C1)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(15))) * _C2)
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))


@_compiled
def relu_dropout(h: Any, key: Any, threshold: Any, scale: Any) -> None:
    """Put ReLU and dropout on outputs of a layer, in place.

    Parameters
    ----------
    h
        Shape (rows, units).
    key
        Key of the step and the layer, uint32.
    threshold
        How many of 65,536 values leave a unit out, uint32.
    scale
        What kept units are multiplied by, float32.
    """
    rows, width = h.shape
    half = (width + 1) // 2
    zero = np.float32(0)
    for r in range(rows):
        lower = h[r, :half]
        upper = h[r, half:]
        start = r * half
        for c in range(width - half):
            x = _mixed(start + c, key)
            a = _number(lower[c])
            b = _number(upper[c])
            # Written so that nan stays, and is noticed.
            if a <= zero or np.uint32(x & np.uint32(0xFFFF)) < threshold:
                a = zero
            if b <= zero or np.uint32(x >> np.uint32(16)) < threshold:
                b = zero
            lower[c] = _held(a * scale, lower[c])
            upper[c] = _held(b * scale, upper[c])
        if 2 * half > width:
            c = half - 1
            x = _mixed(start + c, key)
            a = _number(lower[c])
            if a <= zero or np.uint32(x & np.uint32(0xFFFF)) < threshold:
                a = zero
            lower[c] = _held(a * scale, lower[c])


@_compiled
def back_through(d: Any, h: Any, scale: Any, sums: Any, bias: Any) -> None:
    """Take gradients back through dropout and ReLU in place, and sum them over rows.

    Parameters
    ----------
    d
        Gradients of the outputs `h`; those of what came before ReLU are put there.
    sums
        Work space, float32, shape (units,).
    bias
        Gradient of the bias is put here, shape (units,).
    """
    rows, width = d.shape
    zero = np.float32(0)
    sums[:] = zero
    for r in range(rows):
        row = d[r]
        out = h[r]
        for c in range(width):
            g = _number(row[c]) * scale
            if _number(out[c]) <= zero:
                g = zero
            row[c] = _held(g, row[c])
            sums[c] += g
    for c in range(width):
        bias[c] = _held(sums[c], bias[c])


@_compiled
def output_pass(
    h: Any,
    w: Any,
    b: Any,
    y: Any,
    scale: Any,
    gw: Any,
    gb: Any,
    dh: Any,
    bias: Any,
    of_weight: Any,
    of_bias: Any,
) -> Any:
    """Give the sum of squared errors, and take the gradients of their mean back through the output.

    Parameters
    ----------
    h
        Last hidden outputs, shape (rows, units).
    w, b
        Weights and bias of the output, float32.
    y
        Targets, float32, shape (rows,).
    scale
        What kept units were multiplied by.
    gw, gb
        Gradients of `w` and `b` are put here.
    dh
        Gradients of what came before ReLU are put here, shape (rows, units).
    bias
        Gradient of the bias before ReLU is put here, shape (units,).
    of_weight, of_bias
        Work space, float32, shape (units,).
    """
    rows, width = h.shape
    zero = np.float32(0)
    of_weight[:] = zero
    of_bias[:] = zero
    total = 0.0
    of_output = zero
    twice = np.float32(2.0 / rows)
    for r in range(rows):
        out = h[r]
        into = dh[r]
        said = zero
        for c in range(width):
            said += _number(out[c]) * w[c]
        error = np.float32(said + b[0] - y[r])
        total += float(error) * float(error)
        g = np.float32(error * twice)
        of_output += g
        for c in range(width):
            a = _number(out[c])
            of_weight[c] += a * g
            back = g * w[c] * scale
            if a <= zero:
                back = zero
            into[c] = _held(back, into[c])
            of_bias[c] += back
    for c in range(width):
        gw[c] = _held(of_weight[c], gw[c])
        bias[c] = _held(of_bias[c], bias[c])
    gb[0] = _held(of_output, gb[0])
    return total


@_compiled
def adam(
    p: Any, m: Any, v: Any, g: Any, keep1: Any, keep2: Any, step: Any, root: Any, eps: Any
) -> None:
    """Update float32 weights by Adam, in place.

    Parameters
    ----------
    p, m, v, g
        Weights, first and second moments, gradients.
    keep1, keep2
        1 - beta1 and 1 - beta2.
    step
        Learning rate over the correction of the first moment.
    root
        1 over the root of the correction of the second moment.
    """
    for i in range(p.size):
        gi = g[i]
        mi = m[i] + (gi - m[i]) * keep1
        vi = v[i] + (gi * gi - v[i]) * keep2
        m[i] = mi
        v[i] = vi
        p[i] -= step * mi / (np.sqrt(vi) * root + eps)


@_compiled
def adam_mixed(
    p: Any,
    m: Any,
    v: Any,
    g: Any,
    low: Any,
    keep1: Any,
    keep2: Any,
    step: Any,
    root: Any,
    eps: Any,
) -> None:
    """As :func:`adam` with gradients in bf16; the weights are also put into `low`, in bf16."""
    for i in range(p.size):
        gi = _number(g[i])
        mi = m[i] + (gi - m[i]) * keep1
        vi = v[i] + (gi * gi - v[i]) * keep2
        m[i] = mi
        v[i] = vi
        pi = p[i] - step * mi / (np.sqrt(vi) * root + eps)
        p[i] = pi
        low[i] = _held(pi, low[i])


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
