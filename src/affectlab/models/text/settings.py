"""Settings of back ends: what there is, and what each may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, unknown_name

__all__ = [
    "Kind",
    "Optimiser",
    "Schedule",
    "Training",
    "Watch",
    "check_settings",
    "check_training",
    "check_values",
    "check_written",
]


@dataclass(frozen=True)
class Kind:
    """What a setting may be."""

    said: str
    """What is expected, in words."""
    fits: Callable[[Any], bool]
    names: tuple[str, ...] = ()
    """All values, where they are names."""

    def or_none(self) -> Kind:
        """Give the same, or None."""
        return Kind(self.said, lambda value: value is None or self.fits(value), self.names)

    def check(self, name: str, value: Any) -> None:
        """Refuse a value that does not fit.

        Raises
        ------
        InputError
            Naming the setting, the value and what was expected.
        """
        if not self.fits(value):
            if self.names and isinstance(value, str):
                raise unknown_name(name, value, self.names)
            said = repr(value) if isinstance(value, str) else str(value)
            raise InputError(f"{name} = {said[:60]}: expected {self.said}")


def _whole(low: int) -> Kind:
    return Kind(
        f"a whole number from {low} on", lambda value: _is_whole(value) and int(value) >= low
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _number(said: str, low: float, high: float = math.inf, *, above: bool = False) -> Kind:
    def fits(value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            return False
        try:
            found = float(value)
        except OverflowError:
            return False
        return math.isfinite(found) and (found > low if above else found >= low) and found <= high

    return Kind(said, fits)


def _choice(*names: str) -> Kind:
    return Kind(
        f"one of: {', '.join(names)}",
        lambda value: isinstance(value, str) and value in names,
        names,
    )


def _is_lengths(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) == 2
        and all(map(_is_whole, value))
        and 1 <= value[0] <= value[1]
    )


def _is_penalty(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("none", "sentiment", "correlation")
    try:
        return bool(np.asarray(value, dtype=np.float64).ndim == 2)
    except (TypeError, ValueError):
        return False


_ABOVE_0 = _number("a number above 0 and finite", 0, above=True)
_FROM_0 = _number("0 or more and finite", 0)
_SHARE = _number("a number from 0 to 1", 0, 1)
_DROPOUT = _number("0 or more, and less than 1", 0, math.nextafter(1, 0))
_COUNT = _whole(1)
_PLACE = Kind("a name or a path", lambda value: isinstance(value, str | Path) and str(value) != "")
_TOKENS = Kind(
    "a whole number from 3 on: two tokens mark the ends of a text", _whole(3).fits
).or_none()
_YES_NO = Kind("true or false", lambda value: isinstance(value, bool))
_PENALTY = Kind(
    "none, sentiment, correlation, or a matrix with one row and column per label",
    _is_penalty,
    ("none", "sentiment", "correlation"),
)
_PULL: dict[str, Kind] = {"label_penalty": _PENALTY, "penalty_weight": _FROM_0}
_TRAINING: dict[str, Kind] = {
    "epochs": _COUNT,
    "batch_size": _COUNT,
    "learning_rate": _ABOVE_0,
    "schedule": _choice("linear", "decay", "constant"),
    "warmup": _SHARE,
    "decay": _SHARE,
    "optimiser": _choice("adamw", "sgd", "adagrad"),
    "weight_decay": _FROM_0,
    "clip": _FROM_0,
    "patience": _COUNT,
    "watch": _choice("average_precision", "loss"),
    "precision": _choice("auto", "fp32", "bf16", "fp16"),
    "device": Kind("auto, cpu, cuda or mps", lambda value: isinstance(value, str) and value != ""),
    "micro_batch": _COUNT.or_none(),
    "checkpoints": _PLACE.or_none(),
    "checkpoint_steps": _COUNT.or_none(),
}
_KNOWN: dict[str, dict[str, Kind]] = {
    "linear": {
        "cost": _ABOVE_0,
        "pairs": _YES_NO,
        "pieces": Kind(
            "the shortest and the longest length in letters, such as [3, 5]", _is_lengths
        ).or_none(),
        "min_texts": _COUNT,
        "min_texts_piece": _COUNT,
        "tolerance": _ABOVE_0,
        "max_epochs": _COUNT,
        **_PULL,
    },
    "transformer": {
        "encoder": _PLACE,
        "max_tokens": _TOKENS,
        "lora": _COUNT.or_none(),
        **_TRAINING,
        **_PULL,
    },
    "embedding": {
        "encoder": _PLACE,
        "layers": _choice("last", "all"),
        "head": _choice("linear", "mlp"),
        "hidden": _COUNT,
        "dropout": _DROPOUT,
        "max_tokens": _TOKENS,
        "cache": _PLACE.or_none(),
        **_TRAINING,
        **_PULL,
    },
}
_KNOWN |= {"choice": _KNOWN["transformer"], "choice-embedding": _KNOWN["embedding"]}
"""Settings of each back end alone, beside :data:`_SHARED`."""

_SHARED: dict[str, Kind] = {
    "taxonomy": Kind("a taxonomy, its name or its file", lambda value: value is not None),
    "level": Kind("the name of a level", lambda value: isinstance(value, str)).or_none(),
    "levels": Kind(
        'a list of levels, such as ["ekman"]',
        lambda value: (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and all(isinstance(name, str) for name in value)
        ),
    ).or_none(),
    "group_scores": Kind("a rule by name", lambda value: isinstance(value, str)),
    "name": Kind("a text", lambda value: isinstance(value, str)),
    "seed": _whole(0),
}
"""Settings of all back ends."""


def check_settings(backend: str, settings: Mapping[str, Any], *, shared: bool = True) -> None:
    """Refuse settings that a back end does not know, or values that they cannot have.

    A back end of another package checks its own; here only those that all share are looked at.

    Parameters
    ----------
    shared
        Whether settings that all back ends share may be among them.

    Raises
    ------
    InputError
        For the first that does not fit.

    Examples
    --------
    >>> check_settings("linear", {"pairs": "no"})
    Traceback (most recent call last):
    affectlab.InputError: back end 'linear': pairs = 'no': expected true or false
    """
    own = _KNOWN.get(backend)
    known = {**(own or {}), **(_SHARED if shared else {})}
    for name, value in settings.items():
        if name in known:
            try:
                known[name].check(name, value)
            except InputError as error:
                raise InputError(f"back end {backend!r}: {error}") from None
        elif own is not None:
            taken = [*own, *(["levels", "group_scores"] if shared else [])]
            close = get_close_matches(name, taken, n=1)
            hint = f"did you mean {close[0]!r}? Known are: " if close else "expected one of: "
            raise InputError(
                f"back end {backend!r}: unknown setting {name!r}; {hint}{', '.join(taken)}"
            )


def check_values(settings: Mapping[str, Any], backend: str = "") -> None:
    """Check what a constructor was given, for itself or all back ends; as `check_settings`."""
    known = {**_KNOWN.get(backend, {}), **_SHARED}
    for name, value in settings.items():
        known[name].check(name, value)


def check_training(settings: Mapping[str, Any]) -> None:
    """Check settings of a training run; raises as :func:`check_settings`."""
    for name, value in settings.items():
        _TRAINING[name].check(name, value)


def check_written(given: Mapping[str, Any], written: Mapping[str, Any]) -> None:
    """Refuse settings of a stored model beside those that saving writes.

    Others, such as a folder for vectors, would let whoever made the file decide what is read and
    written here.

    Raises
    ------
    InputError
        Naming the first.
    """
    for name, value in given.items():
        if name not in written:
            raise InputError(f"setting {name!r} is none that save writes")
        if isinstance(value, Mapping) and isinstance(written[name], Mapping):
            check_written(value, written[name])


# How a network is trained: the settings, checked.


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
