"""What training loops of networks share: the rows of a process, seeds, devices, optimisers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.core.types import Ints

__all__ = [
    "all_finite",
    "diverged",
    "on_device",
    "optimiser_of",
    "seed_device",
    "shuffled",
    "step_seed",
]


def optimiser_of(
    learned: list[nn.Parameter],
    name: str,
    learning_rate: float,
    weight_decay: float,
    momentum: float = 0.0,
) -> torch.optim.Optimizer:
    """Make an optimiser: ``adamw``, ``sgd`` (with `momentum`) or ``adagrad``.

    Weights of matrices decay; biases and the scales of norms, which are vectors, do not.
    """
    groups: list[dict[str, Any]] = [
        {"params": [part for part in learned if part.ndim > 1]},
        {"params": [part for part in learned if part.ndim <= 1], "weight_decay": 0.0},
    ]
    options: dict[str, Any] = {"lr": learning_rate, "weight_decay": weight_decay}
    if name == "sgd":
        return torch.optim.SGD(groups, momentum=momentum, **options)
    if name == "adagrad":
        return torch.optim.Adagrad(groups, **options)
    return torch.optim.AdamW(groups, **options)


def step_seed(seed: int, step: int, rank: int) -> int:
    """Give the seed of a step of a process."""
    return int(np.random.SeedSequence([seed, 2, step, rank]).generate_state(1, np.uint64)[0] >> 1)


def seed_device(seed: int, device: torch.device) -> None:
    """Seed the CPU and one device, which is what a step of a process draws from.

    Where no GPU was used yet, :func:`torch.manual_seed` notes the whole stack each time.
    """
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)


def shuffled(n: int, batches: int, draw: tuple[int, ...]) -> list[Ints]:
    """Shuffle rows into batches of nearly the same size: norms over a batch need two rows."""
    return np.array_split(np.random.default_rng(list(draw)).permutation(n), batches)


def diverged(what: str, epoch: int, rate: float) -> InputError:
    """Say that training diverged."""
    return InputError(
        f"training diverged in epoch {epoch + 1}: {what}, at learning rate {rate:g}; expected "
        "finite numbers: lower learning_rate, or raise warmup"
    )


def all_finite(parts: list[nn.Parameter]) -> bool:
    """Say whether all weights are numbers."""
    return all(bool(torch.isfinite(part).all()) for part in parts)


def on_device(inputs: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """Bring the inputs of a batch to a device."""
    return {name: part.to(device, non_blocking=True) for name, part in inputs.items()}
