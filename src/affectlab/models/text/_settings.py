"""Settings of back ends: what there is, and what each may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.errors import InputError, unknown_name

__all__ = ["Kind", "check_settings", "check_training", "check_values", "check_written"]


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


def _is_own(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


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
_PART = Kind(
    "the name of a back end, or a classifier",
    lambda value: isinstance(value, str) or hasattr(value, "predict_proba"),
)
_OWN = Kind("settings by name, such as {cost = 0.5}", _is_own).or_none()

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
    "bilstm": {
        "preset": _choice("sane", "paper"),
        "hidden": _COUNT,
        "width": _COUNT,
        "dropout": _DROPOUT.or_none(),
        "min_texts": _COUNT,
        "max_words": _COUNT,
        "max_tokens": _COUNT,
        **_TRAINING,
        **_PULL,
    },
    "transformer": {"encoder": _PLACE, "max_tokens": _TOKENS, **_TRAINING, **_PULL},
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
    "blend": {
        "first": _PART,
        "second": _PART,
        "first_settings": _OWN,
        "second_settings": _OWN,
        "criterion": _choice("macro_f1", "loss"),
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
    affectlab.errors.InputError: back end 'linear': pairs = 'no': expected true or false
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
