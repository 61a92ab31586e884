"""Heads as one stack of matrices: batched products, gradients by autograd, fused Adam of torch.

On a processor every head is a stack of its own, and stacks are trained side by side, one per core:
a head's weights stay in the cache of its core. Other devices train all heads as one stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil, isfinite
from threading import Event, Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.optim.adam import adam

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.models.devices import pick_device
from affectlab.models.heads.rows import rows_of
from affectlab.models.heads.training.progress import HeadPart, HeadProgress, States
from affectlab.models.heads.training.stage import HeadPrecision, Report, Stage
from affectlab.models.heads.weights import StackedWeights

__all__ = [
    "Plan",
    "Stack",
    "batches",
    "dropout_keys",
    "dropout_mask",
    "groups_of",
    "head_precision",
    "predict_heads",
    "stack_scores",
    "train_heads",
]

_FAST_BF16 = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")
"""What processors call instructions that multiply bf16."""
_HELD_BYTES = 256_000_000
"""A processor holds the rows of a stack where they take less than this; else they are read batch by
batch."""
_PIECE = 256
"""Rows read at once: they stay in the cache until they are converted."""
_WORK = 400e6
"""Multiplications and additions of a step that are worth the calls that it takes."""
_TILE = 32
"""Batches are filled up to a multiple of so many rows: then products of a row do not depend on how
many others there are."""
_ROWS = {"cpu": 1024}
"""Rows that are scored at once, so that the outputs of a layer stay in the cache."""
_ORDER, _DROPOUT = 1, 2
"""Random streams of a head."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A stage of training, checked."""

    weights: StackedWeights
    embeddings: NDArray[Any]
    parts: tuple[HeadPart, ...]
    """Heads that have something to learn from."""
    stage: Stage
    seed: int
    device: torch.device
    precision: str
    progress: Report | None = None
    states: States | None = None

    @property
    def low(self) -> torch.dtype:
        """What matrices are multiplied in."""
        return torch.bfloat16 if self.precision == "bf16" else torch.float32


def head_precision(name: str, device: torch.device) -> str:
    """Give what matrices are multiplied in; ``auto`` is bf16 where the device is fast with it."""
    if name != "auto":
        return name
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    if device.type != "cpu":
        return "fp32"
    held = torch.cpu.get_capabilities()
    return "bf16" if any(held.get(name, False) for name in _FAST_BF16) else "fp32"


def batches(seed: int, head: int, epoch: int, n_rows: int, most: int) -> list[Ints]:
    """Shuffle 0..n-1 for one epoch of one head, in batches whose sizes differ by one at most."""
    order = np.random.default_rng([seed, head, _ORDER, epoch]).permutation(n_rows)
    return np.array_split(order, ceil(n_rows / most))


def dropout_keys(seed: int, head: int, epoch: int, steps: int) -> NDArray[np.int32]:
    """Give a key for every step of an epoch of a head, shape (steps,)."""
    stream = np.random.SeedSequence([seed, head, _DROPOUT, epoch])
    return stream.generate_state(steps).view(np.int32)


def dropout_mask(keys: Tensor, rows: int, width: int, dropout: float) -> Tensor:
    """Say which of some hidden units are kept, shape (heads, rows, width).

    It is a function of the key, the row and the unit, with no state: a run goes on from any epoch
    as if it had never stopped, and every device and every size of a stack leave out the same units.
    A counter per row and pair of units is hashed (``lowbias32`` of Wellons), and each half of the
    bits decides on one unit: dropout is a multiple of 1/65,536.

    Parameters
    ----------
    keys
        int32, shape (heads,).

    Examples
    --------
    >>> dropout_mask(torch.tensor([5], dtype=torch.int32), 1, 6, 0.5).int().tolist()
    [[[0, 1, 0, 0, 0, 1]]]
    """
    pairs = (width + 1) // 2
    x = torch.arange(rows * pairs, dtype=torch.int32, device=keys.device).view(1, rows, pairs)
    # Products of int32 wrap; shifts keep the sign, which the masks take away.
    x = x * -0x61C88647 + keys.view(-1, 1, 1)
    x ^= (x >> 16) & 0xFFFF
    x *= 0x7FEB352D
    x ^= (x >> 15) & 0x1FFFF
    x *= -0x7B935975
    x ^= (x >> 16) & 0xFFFF
    return x.view(torch.int16)[..., :width] >= round(dropout * 65536) - 32768


def stack_scores(
    weight: Sequence[Tensor],
    bias: Sequence[Tensor],
    x: Tensor,
    kept: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Compute the scores of a stack, float32, shape (heads, rows).

    Parameters
    ----------
    weight, bias
        Of the layers, as :class:`StackedWeights` gives them; multiplied in the precision of `x`,
        those of the last layer in float32.
    x
        Embeddings, shape (heads, rows, width).
    kept
        1 for units of all hidden layers that are kept, else 0, side by side; None: all are kept.
    dropout
        Share that is left out: what is kept counts for it.
    """
    widths = [part.shape[-1] for part in bias[:-1]]
    masks = [None] * len(widths) if kept is None else kept.split_with_sizes(widths, dim=-1)
    alpha = 1.0
    for k, mask in enumerate(masks):
        x = torch.baddbmm(bias[k].to(x.dtype), x, weight[k].to(x.dtype), alpha=alpha).relu()
        if mask is not None:
            # Made up for in the next product.
            x, alpha = x * mask, 1 / (1 - dropout)
    # A product with one column is rounded differently in a stack of one head.
    return (x.float() * (alpha * weight[-1].mT)).sum(dim=-1) + bias[-1][..., 0]


def groups_of(plan: Plan, size: int | None = None) -> list[list[HeadPart]]:
    """Divide heads into stacks; heads that have another batch in an epoch stand first.

    A processor multiplies heads together whose batches have as many rows, and as many heads as are
    worth the calls, so that a head learns the same in a stack of any size.

    Parameters
    ----------
    size
        Heads of a stack, at most; None: as fits the device.
    """
    most, heads = plan.stage.batch, len(plan.parts)
    together: dict[int, list[HeadPart]] = {}
    for part in sorted(plan.parts, key=lambda part: -ceil(len(part.train) / most)):
        n = len(part.train)
        rows = _padded(ceil(n / ceil(n / most))) if plan.device.type == "cpu" else heads
        together.setdefault(rows, []).append(part)
    found = []
    for rows, parts in together.items():
        work = 6 * rows * plan.weights.flat.shape[1]
        fits = ceil(_WORK / work) if plan.device.type == "cpu" else heads
        own = size or fits
        found += [parts[start : start + own] for start in range(0, len(parts), own)]
    return found


def _padded(rows: int) -> int:
    return _TILE * ceil(rows / _TILE)


def train_heads(plan: Plan, size: int | None = None) -> Mapping[int, tuple[HeadProgress, Tensor]]:
    """Train the heads of a plan in stacks, side by side on the threads that torch may use.

    Parameters
    ----------
    size
        As of :func:`groups_of`.

    Returns
    -------
    mapping
        Per place of a head where it stands in the end, and its best weights.
    """
    groups = groups_of(plan, size)
    found: dict[int, tuple[HeadProgress, Tensor]] = {}
    total, done, lock, stop = plan.stage.epochs * len(plan.parts), 0, Lock(), Event()

    def tell(what: str, epochs: int) -> None:
        nonlocal done
        with lock:
            done += epochs
            if plan.progress is not None:
                plan.progress(what, done, total)

    def work(group: Sequence[HeadPart]) -> None:
        try:
            stack = Stack(plan, group)
            taken_up = sum(head.epoch for head in stack.heads)
            if taken_up:
                tell(f"{group[0].name}: {taken_up} epochs taken up", taken_up)
            found.update(stack.leave())
            while stack.heads and not stop.is_set():
                n, loss = len(stack.heads), stack.epoch()
                epoch = max(head.epoch for head in stack.heads)
                who = stack.heads[0].part.name if n == 1 else f"{n} heads"
                tell(f"{who}, epoch {epoch}: validation loss {loss:.4f}", n)
                found.update(stack.leave())
        except BaseException:
            stop.set()
            raise

    threads = torch.get_num_threads()
    workers = max(1, min(threads, len(groups)))
    try:
        with ThreadPoolExecutor(
            workers, initializer=lambda: torch.set_num_threads(max(1, threads // workers))
        ) as pool:
            try:
                list(pool.map(work, groups))
            finally:
                stop.set()
    finally:
        # Threads that are made later take the last number that was set.
        torch.set_num_threads(threads)
    return found


class Stack:
    """Heads that are trained together; those that are done leave it."""

    def __init__(self, plan: Plan, parts: Sequence[HeadPart]) -> None:
        self.plan = plan
        self.heads = [HeadProgress(part, plan.stage) for part in parts]
        weights = plan.weights.select([part.place for part in parts]).to(plan.device)
        self.weights = weights
        self.first = StackedWeights(weights.sizes, torch.zeros_like(weights.flat))
        self.second = StackedWeights(weights.sizes, torch.zeros_like(weights.flat))
        self.best = StackedWeights(weights.sizes, weights.flat.clone())
        if plan.states is not None:
            for row, head in enumerate(self.heads):
                plan.states.take_up(head, self._parts(row))
        used = np.unique(np.concatenate([np.r_[part.train, part.validation] for part in parts]))
        self.rows = used
        size = len(used) * weights.width * plan.low.itemsize
        self.held: Tensor | None = None
        if plan.device.type != "cpu" or size < _HELD_BYTES:
            self.held = rows_as(plan.embeddings, used, plan.low).to(plan.device)
        # Rows that a head does not see may have no rating.
        targets = np.stack([np.nan_to_num(part.targets[used]) for part in parts])
        self.targets = torch.from_numpy(targets.astype(np.float32)).to(plan.device)
        # Apple's devices have no float64.
        self.sums = torch.float32 if plan.device.type == "mps" else torch.float64
        self._split()

    def _split(self) -> None:
        """Take the layers of the heads apart, as the optimiser takes them: views of the stack."""
        self.layers = [
            [tuple(part.unbind()) for part in (*of.weight, *of.bias)]
            for of in (self.weights, self.first, self.second)
        ]
        steps = torch.tensor([head.step for head in self.heads], dtype=torch.float32)
        repeated = steps.repeat(len(self.layers[0]), 1).to(self.plan.device)
        self.steps = [tuple(row.unbind()) for row in repeated.unbind()]

    def _parts(self, row: int) -> dict[str, Tensor]:
        names = ("best", "weights", "first", "second")
        return {name: getattr(self, name).flat[row] for name in names}

    def leave(self) -> dict[int, tuple[HeadProgress, Tensor]]:
        """Take out the heads that are done, and give their progress and best weights by place."""
        found = {
            head.part.place: (head, self.best.flat[row].cpu())
            for row, head in enumerate(self.heads)
            if head.done
        }
        if found:
            left = [row for row, head in enumerate(self.heads) if not head.done]
            self.heads = [self.heads[row] for row in left]
            for name in ("weights", "first", "second", "best"):
                setattr(self, name, getattr(self, name).select(left))
            self.targets = self.targets[left]
            self._split()
        return found

    def epoch(self) -> float:
        """Train for an epoch, judge, and note it; give the mean validation loss.

        Raises
        ------
        InputError
            When training diverges, or a state cannot be written.
        """
        fresh = [head for head in self.heads if head.part.keep_start and not head.epoch]
        if fresh:
            # What an epoch has to surpass; the learning rate does not look at it.
            for head, loss in zip(self.heads, self.judge(), strict=True):
                if head in fresh:
                    head.start_loss = loss
                    head.best_loss = loss if isfinite(loss) else float("inf")
        train, validation = self.learn(), self.judge()
        for row, head in enumerate(self.heads):
            if head.note(train[row], validation[row]):
                self.best.flat[row] = self.weights.flat[row]
            if self.plan.states is not None:
                self.plan.states.write(head, self._parts(row))
        return float(np.mean(validation))

    def learn(self) -> list[float]:
        """Train every head for an epoch; give their mean squared errors."""
        plan = self.plan
        orders = [
            [
                np.searchsorted(self.rows, head.part.train[own])
                for own in batches(
                    plan.seed, head.part.place, head.epoch, len(head.part.train), plan.stage.batch
                )
            ]
            for head in self.heads
        ]
        counts = np.array([len(order) for order in orders])
        keys = np.zeros((counts.max(), len(orders)), dtype=np.int32)
        for k, head in enumerate(self.heads):
            keys[: counts[k], k] = dropout_keys(plan.seed, head.part.place, head.epoch, counts[k])
        index, on_device = self._index(orders), torch.from_numpy(keys).to(plan.device)
        errors = torch.zeros(len(orders), dtype=self.sums, device=plan.device)
        for step in range(counts.max()):
            n = int((counts > step).sum())
            errors[:n] += self._step(index[step, :n], on_device[step, :n])
        for head, count in zip(self.heads, counts.tolist(), strict=True):
            head.step += count
        sizes = np.array([len(head.part.train) for head in self.heads])
        found: list[float] = (errors.cpu().numpy() / sizes).tolist()
        return found

    def judge(self) -> list[float]:
        """Give the mean squared errors on the validation rows, with nothing left out."""
        parts = [np.searchsorted(self.rows, head.part.validation) for head in self.heads]
        index = self._index(
            [np.array_split(own, ceil(len(own) / self.plan.stage.batch)) for own in parts]
        )
        errors = torch.zeros(len(parts), dtype=self.sums, device=self.plan.device)
        with torch.no_grad():
            for places in index:
                x, targets, there = self._batch(places)
                said = stack_scores(self.weights.weight, self.weights.bias, x)
                errors += ((said - targets) * there).square().sum(dim=1, dtype=self.sums)
        found: list[float] = (errors.cpu().numpy() / [len(own) for own in parts]).tolist()
        return found

    def _index(self, rows: Sequence[Sequence[Ints]]) -> Tensor:
        """Give batches of heads, shape (batches, heads, rows); -1 where there are fewer."""
        most = max(len(own) for own in rows)
        longest = _padded(max(len(batch) for own in rows for batch in own))
        found = np.full((most, len(rows), longest), -1, dtype=np.int64)
        for head, own in enumerate(rows):
            for step, batch in enumerate(own):
                found[step, head, : len(batch)] = batch
        return torch.from_numpy(found).to(self.plan.device)

    def _batch(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Gather embeddings, targets, and 1 for a row, 0 for what fills up."""
        place = index.clamp_min(0)
        if self.held is not None:
            x = self.held.index_select(0, place.flatten())
        else:
            rows = self.rows[place.flatten().numpy()]
            x = rows_as(self.plan.embeddings, rows, self.plan.low)
        there = (index >= 0).float()
        return x.view(*index.shape, -1), self.targets[: len(index)].gather(1, place), there

    def _step(self, index: Tensor, keys: Tensor) -> Tensor:
        """Take a step with the first heads of the stack; give their sums of squared errors."""
        n, dropout = len(index), self.plan.stage.dropout
        x, targets, there = self._batch(index)
        layers = [
            part[:n].detach().requires_grad_()
            for part in (*self.weights.weight, *self.weights.bias)
        ]
        half = len(layers) // 2
        units = sum(self.weights.sizes[1:-1])
        kept = None
        if dropout and units:
            kept = dropout_mask(keys, x.shape[1], units, dropout).to(x.dtype)
        said = stack_scores(layers[:half], layers[half:], x, kept, dropout)
        errors = ((said - targets) * there).square()
        gradients = torch.autograd.grad((errors.sum(dim=1) / there.sum(dim=1)).sum(), layers)
        self._update([part.unbind() for part in gradients], n)
        return errors.detach().sum(dim=1, dtype=self.sums)

    def _update(self, gradients: Sequence[Sequence[Tensor]], n: int) -> None:
        """Update the first heads by Adam; heads with the same learning rate go together."""
        rates = np.array([head.rate for head in self.heads[:n]])
        for rate in np.unique(rates):
            own = np.flatnonzero(rates == rate).tolist()
            weights, grads, first, second, steps = (
                [layer[k] for layer in of for k in own]
                for of in (self.layers[0], gradients, *self.layers[1:], self.steps)
            )
            adam(
                weights,
                grads,
                first,
                second,
                [],
                steps,
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=float(rate),
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )


def rows_as(embeddings: NDArray[Any], rows: Ints | range, dtype: torch.dtype) -> Tensor:
    """Read rows of embeddings as a tensor on the processor.

    Parameters
    ----------
    rows
        Their numbers; a range is read as a whole.

    Raises
    ------
    InputError
        When a number is not finite.
    """
    found = torch.empty((len(rows), embeddings.shape[1]), dtype=dtype)
    for start in range(0, len(rows), _PIECE):
        own = rows[start : start + _PIECE]
        piece = embeddings[own.start : own.stop] if isinstance(own, range) else embeddings[own]
        # Torch warns of arrays that it could write to, but should not, such as maps of files.
        shared = piece if piece.flags.writeable and piece.flags.c_contiguous else piece.copy()
        numbers = torch.from_numpy(shared)
        # The sum tells at the speed of reading, and is looked into where it is not finite.
        if not isfinite(float(numbers.sum(dtype=torch.float32))):
            broken = np.flatnonzero(~np.isfinite(piece).all(axis=1))
            if broken.size:
                raise InputError(
                    f"embeddings, row {own[broken[0]]}: a number is not finite; expected finite "
                    "numbers"
                )
        found[start : start + len(own)] = numbers
    return found


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
    embeddings = rows_of(X, weights.width, None).values
    where = pick_device(device)
    low = torch.bfloat16 if head_precision(precision, where) == "bf16" else torch.float32
    full = weights.to(where)
    layers = [[part.to(low) for part in of[:-1]] for of in (full.bias, full.weight)]
    found = np.empty((len(embeddings), weights.n_heads), dtype=np.float32)
    rows = batch or _ROWS.get(where.type, 4096)
    for start in range(0, len(embeddings), rows):
        own = range(start, min(start + rows, len(embeddings)))
        x = rows_as(embeddings, own, low).to(where)
        said = []
        for head in range(weights.n_heads):
            h = x
            for bias, weight in zip(*layers, strict=True):
                h = torch.addmm(bias[head], h, weight[head]).relu_()
            said.append(torch.addmm(full.bias[-1][head], h.float(), full.weight[-1][head]))
        found[own.start : own.stop] = torch.cat(said, dim=1).cpu().numpy()
    return found
