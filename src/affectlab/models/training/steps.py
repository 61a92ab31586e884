"""What training loops of networks share: the rows of a process, seeds, devices, optimisers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.models.devices import pick_device
from affectlab.models.processes import can_meet, n_processes, started_alone

__all__ = [
    "accelerator_on",
    "all_finite",
    "diverged",
    "on_device",
    "optimiser_of",
    "seed_device",
    "shares_of",
    "shuffled",
    "step_seed",
    "summed",
]


@dataclass(frozen=True)
class _Alone:
    """The only process of a run, with what is used of accelerate's ``Accelerator``.

    That one keeps a single state for the whole life of a process, the device of the first fit
    included, whatever later ones ask for. Nothing of it is needed where nothing is shared.
    """

    device: torch.device
    process_index = 0
    num_processes = 1
    is_main_process = True

    def prepare_model(self, network: nn.Module) -> nn.Module:
        return network

    def no_sync(self, _: nn.Module) -> AbstractContextManager[None]:
        return nullcontext()

    def wait_for_everyone(self) -> None:
        """Nobody else is there."""

    def reduce(self, value: Tensor, _: str) -> Tensor:
        return value


def accelerator_on(device: str) -> Any:
    """Join the processes of a run, or be the only one.

    Raises
    ------
    InputError
        As :func:`check_device`; when processes were started together that cannot meet, and each
        would train alone; or when they have met on another device than the one that is asked for.
    """
    where = pick_device(device)
    n = n_processes()
    if n == 1:
        return _Alone(where)
    if not can_meet():
        raise started_alone()
    from accelerate import Accelerator
    from accelerate.state import PartialState
    from accelerate.utils import parse_flag_from_env

    told_cpu = parse_flag_from_env("ACCELERATE_USE_CPU")
    if told_cpu and device not in ("auto", "cpu"):
        raise InputError(
            f"device {device!r}: accelerate was told to use the CPU; expected one of both"
        )
    # Without a GPU they meet on the processor, which accelerate does only where it is told to.
    on_cpu = told_cpu or where.type == "cpu"
    state = PartialState(cpu=on_cpu)
    if state.num_processes != n:
        raise started_alone()
    if state.device.type != ("cpu" if on_cpu else where.type):
        raise InputError(
            f"device {device!r}: the processes of this run have met on {state.device.type}, and "
            "cannot move; expected the same device for all models, or another run"
        )
    # Precision is ours: accelerate keeps one for all models of a process.
    return Accelerator(cpu=on_cpu, mixed_precision="no")


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


def shares_of(rows: Ints, rank: int, world: int, micro: int | None) -> list[tuple[Ints, int]]:
    """Rows of this process, in parts, with how many of each count; all processes have as many.

    Examples
    --------
    >>> shares_of(np.arange(5), 1, 2, None)
    [(array([1, 3]), 2)]
    """
    most = -(-len(rows) // world)
    pieces = -(-most // (micro or most))
    own = np.array_split(rows[rank::world], pieces)
    # A process without a row of its own computes one for nothing, since all must take part.
    return [(part, len(part)) if len(part) else (rows[:1], 0) for part in own]


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


def summed(accelerator: Any, value: float) -> float:
    """Sum a number over processes."""
    held = torch.tensor(value, dtype=torch.float32, device=accelerator.device)
    return float(accelerator.reduce(held, "sum"))
