"""How a network is trained: the settings, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from affectlab.models.text._settings import check_training

__all__ = ["Optimiser", "Schedule", "Training", "Watch"]

Optimiser: TypeAlias = Literal["adamw", "sgd", "adagrad"]
Schedule: TypeAlias = Literal["linear", "decay", "constant"]
Watch: TypeAlias = Literal["average_precision", "loss"]

_OF_THIS_RUN = ("device", "checkpoints", "checkpoint_steps", "micro_batch")
"""Settings that change nothing of what is learned."""


@dataclass(frozen=True)
class Training:
    """Settings of a training run."""

    epochs: int = 4
    """Times that every text is seen, at most."""
    batch_size: int = 16
    """Texts per step, over all processes together."""
    learning_rate: float = 5e-5
    schedule: Schedule = "linear"
    """``linear``: up to the learning rate during `warmup`, then down to 0 at the last epoch.
    ``decay``: times `decay` after every epoch. ``constant``."""
    warmup: float = 0.1
    """Share of all steps over which the learning rate grows."""
    decay: float = 0.95
    optimiser: Optimiser = "adamw"
    weight_decay: float = 0.01
    clip: float = 1.0
    """Largest norm of a gradient; 0: any."""
    patience: int = 2
    """Epochs without progress on dev after which training stops; the best one is kept."""
    watch: Watch = "average_precision"
    """What counts as progress on dev: the mean over labels of average precision, or the loss."""
    precision: str = "auto"
    """``fp32``, ``bf16``, ``fp16``, or ``auto``: half precision on GPUs."""
    device: str = "auto"
    """``cpu``, ``cuda``, ``mps``, or ``auto``: the fastest that is there."""
    micro_batch: int | None = None
    """Texts that a process takes at once, where a whole batch does not fit into memory."""
    checkpoints: str | Path | None = None
    """Folder for the state of training; a run that was interrupted goes on from there."""
    checkpoint_steps: int | None = None
    """Write the state after so many steps, and not only after epochs."""

    def __post_init__(self) -> None:
        check_training({field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def split(cls, defaults: Training, given: dict[str, Any]) -> tuple[Training, dict[str, Any]]:
        """Take the settings of training out of all settings."""
        known = {field.name for field in fields(cls)}
        own = {name: value for name, value in given.items() if name in known}
        return replace(defaults, **own), {k: v for k, v in given.items() if k not in known}

    def to_dict(self) -> dict[str, Any]:
        """Give what decides on the weights, as plain values."""
        return {name: value for name, value in asdict(self).items() if name not in _OF_THIS_RUN}

    def rate(self, step: int, per_epoch: int) -> float:
        """Give the learning rate of a step, counted from 0."""
        total = per_epoch * self.epochs
        if self.schedule == "linear":
            rising = round(self.warmup * total)
            if step < rising:
                return self.learning_rate * (step + 1) / rising
            return self.learning_rate * (total - step) / max(total - rising, 1)
        if self.schedule == "decay":
            return float(self.learning_rate * self.decay ** (step // per_epoch))
        return self.learning_rate
