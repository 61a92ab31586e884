"""How a vision classifier is trained: the settings, checked."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from affectlab.core.errors import InputError, check_choice, check_choices, unknown_name

__all__ = ["LossName", "Optimiser", "Schedule", "Select", "VisionTraining"]

Select: TypeAlias = Literal["acc", "acc2", "ecc", "emc"]
LossName: TypeAlias = Literal["cross-entropy", "rank", "soft"]
Optimiser: TypeAlias = Literal["adamw", "sgd"]
Schedule: TypeAlias = Literal["cosine", "linear", "constant"]

_OF_THIS_RUN = ("device", "checkpoints", "checkpoint_steps", "micro_batch", "workers")
"""Settings that change nothing of what is learned."""


@dataclass(frozen=True)
class VisionTraining:
    """Settings of a training run.

    Examples
    --------
    >>> plan = VisionTraining(epochs=2, learning_rate=0.1, warmup=0.0, schedule="linear")
    >>> [round(plan.rate(step, per_epoch=2), 3) for step in range(4)]
    [0.1, 0.075, 0.05, 0.025]
    """

    epochs: int = 10
    """Times that every image is seen, at most."""
    batch_size: int = 32
    """Images per step, over all processes together."""
    learning_rate: float = 1e-4
    schedule: Schedule = "cosine"
    """``cosine`` and ``linear``: up to the learning rate during `warmup`, then down to 0."""
    warmup: float = 0.1
    """Share of all steps over which the learning rate grows."""
    optimiser: Optimiser = "adamw"
    """``sgd`` has a momentum of .9."""
    weight_decay: float = 0.01
    clip: float = 1.0
    """Largest norm of a gradient; 0: any."""
    patience: int = 5
    """Epochs without progress on dev after which training stops; the best one is kept."""
    select: Select = "acc"
    """What counts as progress on dev; without a mistake, EMC counts as 1."""
    augment: str = "weak"
    """How training images are changed (see :mod:`affectlab.models.augment`), or ``none``; embedded
    images cannot be changed any more."""
    precision: str = "auto"
    """``fp32``, ``bf16``, ``fp16``, or ``auto``: half precision on GPUs."""
    device: str = "auto"
    """``cpu``, ``cuda``, ``mps``, or ``auto``: the fastest that is there."""
    micro_batch: int | None = None
    """Images that a process takes at once, where a whole batch does not fit into memory."""
    workers: int = 4
    """Threads that read images."""
    checkpoints: str | Path | None = None
    """Folder for the state of training; a run that was interrupted goes on from there."""
    checkpoint_steps: int | None = None
    """Write the state after so many steps, and not only after epochs."""

    def __post_init__(self) -> None:
        """Check all settings.

        Raises
        ------
        InputError
            For the first that does not fit.
        """
        for name, kinds in (("select", Select), ("optimiser", Optimiser), ("schedule", Schedule)):
            check_choice(name, getattr(self, name), get_args(kinds))
        if self.augment != "none":
            from affectlab.models.augment import list_augmentations

            if self.augment not in list_augmentations():
                raise unknown_name("augmentation", self.augment, ("none", *list_augmentations()))
        for name in ("epochs", "batch_size", "patience", "workers"):
            _whole(name, getattr(self, name))
        for name in ("micro_batch", "checkpoint_steps"):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name))
        for name, low, high in (
            ("learning_rate", 0.0, math.inf),
            ("warmup", 0.0, 1.0),
            ("weight_decay", 0.0, math.inf),
            ("clip", 0.0, math.inf),
        ):
            value = getattr(self, name)
            inside = isinstance(value, int | float) and low <= value <= high
            if not inside or value == math.inf or (name == "learning_rate" and not value):
                end = "" if high == math.inf else f" to {high:g}"
                start = "above 0" if name == "learning_rate" else f"from {low:g} on"
                raise InputError(f"{name} = {value}: expected a number {start}{end}")

    @classmethod
    def with_settings(cls, defaults: VisionTraining, given: dict[str, Any]) -> VisionTraining:
        """Change some settings; an unknown one is an :class:`InputError`."""
        known = [field.name for field in fields(cls)]
        check_choices("setting", given, known)
        return replace(defaults, **given)

    def to_dict(self) -> dict[str, Any]:
        """Give what decides on the weights, as plain values."""
        return {name: value for name, value in asdict(self).items() if name not in _OF_THIS_RUN}

    def rate(self, step: int, per_epoch: int) -> float:
        """Give the learning rate of a step, counted from 0."""
        total = per_epoch * self.epochs
        rising = round(self.warmup * total)
        if self.schedule == "constant":
            return self.learning_rate
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        left = (total - step) / max(total - rising, 1)
        if self.schedule == "linear":
            return self.learning_rate * left
        return self.learning_rate * 0.5 * (1 - math.cos(math.pi * left))


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} = {value}: expected a whole number from 1 on")
