"""What a stage of training works on, whichever way it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affectlab._types import Floats, Ints
from affectlab.errors import InputError
from affectlab.models._checkpoints import fingerprint_of
from affectlab.models.heads._stage import Report, Stage, StageResult
from affectlab.models.heads._train_states import States, fingerprint_of_rows
from affectlab.models.heads._weights import StackedWeights

__all__ = [
    "HeadRowsPart",
    "Learned",
    "Plan",
    "Teller",
    "diverged",
    "head_precision",
    "result_of",
    "rows_as",
    "states_of",
]

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
        "finite); expected finite numbers: take a lower learning rate (--learning-rate)"
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
