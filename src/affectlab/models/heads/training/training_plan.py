"""What a stage of training works on, whichever way it goes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, isfinite
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from affectlab.core.arrays import mixed_bits
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints
from affectlab.models.heads.training.stage import Report, Stage, StageResult
from affectlab.models.heads.weights import StackedWeights
from affectlab.models.training import fingerprint_of, read_state, write_state

__all__ = [
    "MIX",
    "HeadRowsPart",
    "Learned",
    "Plan",
    "Plateau",
    "Progress",
    "States",
    "Teller",
    "as_int32",
    "batches",
    "diverged",
    "dropout_keys",
    "fingerprint_of_rows",
    "head_precision",
    "keep_mask",
    "n_batches",
    "result_of",
    "rows_as",
    "scale_of",
    "states_of",
    "threshold_of",
]

# States of heads in training on disk: one file per head, replaced as a whole.


_NUMBERS = (
    "epoch",
    "step",
    "waited",
    "best_epoch",
    "rate",
    "plateau_best",
    "best_loss",
    "start_loss",
)
_VECTORS = ("weights", "first", "second", "best")


def fingerprint_of_rows(embeddings: NDArray[Any], pieces: int = 4096) -> str:
    """Hash embeddings, read piece by piece."""
    found = blake2b(repr((str(embeddings.dtype), embeddings.shape)).encode(), digest_size=16)
    for start in range(0, len(embeddings), pieces):
        found.update(np.ascontiguousarray(embeddings[start : start + pieces]).data)
    return found.hexdigest()


class States:
    """Files of the heads of one run.

    Parameters
    ----------
    fingerprints
        Per number of a head, what decides on its training, hashed.
    seconds
        Least time between two states of a head; its last state is always written.
    """

    def __init__(self, folder: Path, fingerprints: dict[int, str], seconds: float) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"checkpoints: {folder} cannot be made: {error.strerror}") from None
        self.folder = folder
        self.fingerprints = fingerprints
        self.seconds = seconds
        self._written = dict.fromkeys(fingerprints, time.monotonic())

    def is_due(self, head: int) -> bool:
        """Say whether a state of a head was written long enough ago."""
        return time.monotonic() - self._written[head] >= self.seconds

    def write(self, head: int, state: dict[str, Any]) -> None:
        """Write the state of a head.

        Raises
        ------
        InputError
            When it cannot be written, as on a full disk.
        """
        write_state(self._file(head), {"fingerprint": self.fingerprints[head], **state})
        self._written[head] = time.monotonic()

    def read(self, head: int, size: int) -> dict[str, Any] | None:
        """Read the state of a head; None where there is none.

        Parameters
        ----------
        size
            How many numbers the head has.

        Raises
        ------
        InputError
            When the file cannot be read or belongs to another run.
        """
        file = self._file(head)
        if not file.is_file():
            return None
        held = read_state(file, "the state of a head")
        if not isinstance(held, dict) or not isinstance(held.get("fingerprint"), str):
            raise InputError(f"{file} holds no 'fingerprint'; expected the state of a head")
        if held["fingerprint"] != self.fingerprints[head]:
            raise InputError(
                f"{file} is the state of another run (other embeddings, ratings, rows, weights, "
                "settings, precision or seed); expected one of this run, or an empty folder"
            )
        missing = _misfit(held, size)
        if missing:
            raise InputError(f"{file}: {missing}; expected the state of a head that this run wrote")
        return held

    def _file(self, head: int) -> Path:
        return self.folder / f"head{head:03d}.pt"


def _misfit(held: dict[str, Any], size: int) -> str:
    """Say what is wrong with a state; empty: nothing."""
    for name in _NUMBERS:
        if isinstance(held.get(name), bool) or not isinstance(held.get(name), int | float):
            return f"{name} is no number"
    if not isinstance(held.get("done"), bool) or not isinstance(held.get("history"), list):
        return "no 'done' or no 'history'"
    wanted = ("best",) if held["done"] else _VECTORS
    for name in wanted:
        part = held.get(name)
        if not isinstance(part, Tensor) or part.dtype != torch.float32 or part.shape != (size,):
            return f"{name} is not {size} numbers"
    return ""


_FAST_BF16 = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")
"""What processors call instructions that multiply bf16."""


@dataclass(frozen=True, eq=False)
class HeadRowsPart:
    """What one head learns from."""

    place: int
    """Of the head in the bank."""
    name: str
    """What it is called in errors and reports."""
    number: int
    """Of its random streams."""
    train: Ints
    validation: Ints
    targets: Floats
    """Of all rows, shape (n,); nan where not rated."""
    keep_start: bool = False
    """Whether what the head begins with may be what is kept."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A stage of training, checked."""

    weights: StackedWeights
    embeddings: NDArray[Any]
    parts: tuple[HeadRowsPart, ...]
    """Heads that have something to learn from."""
    stage: Stage
    seed: int
    device: torch.device
    precision: str
    progress: Report | None
    states: States | None = None

    @property
    def low(self) -> torch.dtype:
        """What matrices are multiplied in."""
        return torch.bfloat16 if self.precision == "bf16" else torch.float32


@dataclass(frozen=True, eq=False)
class Learned:
    """What one head has learned."""

    best: Tensor
    """Its numbers in the best epoch, shape (numbers of a head,), on the processor."""
    history: tuple[dict[str, float], ...]
    best_epoch: int
    best_loss: float
    start_loss: float


class Teller:
    """Reports from any thread, one at a time."""

    def __init__(self, plan: Plan) -> None:
        self.total = plan.stage.epochs * len(plan.parts)
        self.progress = plan.progress
        self.done = 0
        self.lock = Lock()

    def tell(self, what: str, epochs: int = 1) -> None:
        """Say that epochs of heads are done."""
        with self.lock:
            self.done += epochs
            if self.progress is not None:
                self.progress(what, self.done, self.total)


def head_precision(name: str, device: torch.device) -> str:
    """Give what matrices are multiplied in; ``auto`` is bf16 where the device is fast with it."""
    if name != "auto":
        return name
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    if device.type != "cpu":
        return "fp32"
    held = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return "bf16" if any(held.get(name, False) for name in _FAST_BF16) else "fp32"


_PIECE = 256
"""Rows read at once: they stay in the cache until they are converted."""


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


def diverged(head: str, epoch: int, rate: float) -> InputError:
    """Say that training ran away."""
    return InputError(
        f"{head}: training diverged in epoch {epoch} at learning rate {rate:g} (the loss is not "
        "finite); expected finite numbers: take a lower learning rate (--config learning_rate=)"
    )


def result_of(
    plan: Plan, learned: Mapping[int, Learned], not_trained: Mapping[int, str], stacked: bool
) -> StageResult:
    """Put the heads together again."""
    n_heads = plan.weights.n_heads
    weights = plan.weights.to("cpu").clone()
    for place, found in learned.items():
        weights.flat[place] = found.best
    heads = [learned.get(place) for place in range(n_heads)]
    return StageResult(
        weights=weights,
        history=tuple(() if head is None else head.history for head in heads),
        best_epoch=tuple(0 if head is None else head.best_epoch for head in heads),
        best_loss=tuple(float("nan") if head is None else head.best_loss for head in heads),
        start_loss=tuple(float("nan") if head is None else head.start_loss for head in heads),
        not_trained=dict(not_trained),
        device=plan.device.type,
        precision=plan.precision,
        stacked=stacked,
    )


def states_of(plan: Plan, folder: str | Path | None, seconds: float) -> States | None:
    """Give the files for the states of heads; None: no folder.

    Raises
    ------
    InputError
        When the folder cannot be made.
    """
    if folder is None:
        return None
    common = (
        fingerprint_of_rows(plan.embeddings),
        sorted(plan.stage.to_dict().items()),
        plan.precision,
        plan.seed,
        plan.weights.sizes,
    )
    fingerprints = {
        part.number: fingerprint_of(
            *common,
            part.number,
            plan.weights.flat[part.place].cpu().numpy().tobytes(),
            part.train.tobytes(),
            part.validation.tobytes(),
            part.targets.tobytes(),
            part.keep_start,
        )
        for part in plan.parts
    }
    return States(Path(folder), fingerprints, seconds)


# Learning rates of many heads, each lowered when its own loss stays on a plateau.


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


# Where the training of some heads stands.


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


# Random streams of training: functions of the seed, the head and the step, with no state.
#
# So a run goes on from any epoch as if it had never stopped, and heads trained one at a time or as
# a stack leave out the same units.


_ORDER = 1
_DROPOUT = 2
_SHARES = 1 << 16
"""A unit is left out with a probability that is a multiple of 1/65,536."""
MIX = (0x9E3779B1, 0x7FEB352D, 0x846CA68B)
"""Odd factors: the first spreads counters, the others are those of the hash `lowbias32`."""


def n_batches(n_rows: int, most: int) -> int:
    """Count the batches of an epoch."""
    return ceil(n_rows / most)


def batches(seed: int, head: int, epoch: int, n_rows: int, most: int) -> list[Ints]:
    """Shuffle 0..n-1 for one epoch of one head, in batches whose sizes differ by one at most."""
    order = np.random.default_rng([seed, head, _ORDER, epoch]).permutation(n_rows)
    return np.array_split(order, n_batches(n_rows, most))


def threshold_of(dropout: float) -> int:
    """Give how many of 65,536 values leave a unit out.

    Examples
    --------
    >>> threshold_of(0.2)
    13107
    """
    return min(round(dropout * _SHARES), _SHARES - 1)


def scale_of(threshold: int) -> float:
    """Give what kept units are multiplied by, so that their sum is right on average."""
    return _SHARES / (_SHARES - threshold)


def dropout_keys(seed: int, head: int, steps: ArrayLike, n_layers: int) -> NDArray[np.uint32]:
    """Give the keys of dropout, shape (steps, layers): one for a step of a head and a layer.

    The places of a step and a layer in the head's stream are hashed (splitmix64).
    """
    start = np.random.SeedSequence([seed, head, _DROPOUT]).generate_state(1, np.uint64)[0]
    place = np.asarray(steps, dtype=np.uint64)[:, None] * np.uint64(max(n_layers, 1))
    x = place + np.arange(n_layers, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed: NDArray[np.uint64] = mixed_bits(x * np.uint64(0x9E3779B97F4A7C15) + start)
    found: NDArray[np.uint32] = (mixed >> np.uint64(32)).astype(np.uint32)
    return found


def _signed(factor: int) -> int:
    return factor - (1 << 32) if factor >= 1 << 31 else factor


def keep_mask(keys: Tensor, rows: int, width: int, threshold: int) -> Tensor:
    """Say which hidden units are kept, shape (heads, rows, width).

    A counter per row and pair of units is hashed with the key of the head; the lower half of the
    bits decides on a unit of the first half of a layer, the upper half on one of the second.

    Parameters
    ----------
    keys
        The bits of :func:`dropout_keys` as int32, shape (heads,).
    """
    half = (width + 1) // 2
    x = torch.arange(rows * half, dtype=torch.int32, device=keys.device).view(1, rows, half)
    # Products of int32 wrap; shifts keep the sign, which the masks take away.
    x = x * _signed(MIX[0]) + keys.view(-1, 1, 1)
    x ^= (x >> 16) & 0xFFFF
    x *= _signed(MIX[1])
    x ^= (x >> 15) & 0x1FFFF
    x *= _signed(MIX[2])
    x ^= (x >> 16) & 0xFFFF
    found = torch.empty((len(keys), rows, width), dtype=torch.bool, device=keys.device)
    torch.ge(x & 0xFFFF, threshold, out=found[..., :half])
    upper = (x >> 16) & 0xFFFF
    torch.ge(upper[..., : width - half], threshold, out=found[..., half:])
    return found


def as_int32(keys: NDArray[np.uint32], device: Any) -> Tensor:
    """Give the bits of keys as int32 on a device."""
    return torch.from_numpy(np.ascontiguousarray(keys).view(np.int32)).to(device)
