"""What a difference metric is, and checks of what one gives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from affectlab._types import Floats, Image
from affectlab.errors import InputError

__all__ = [
    "DifferenceMetric",
    "Missing",
    "check_file",
    "check_metric",
    "checked_values",
    "direction_of",
]

_PARTS = "name, version, settings, higher_is_more_different and differences"


@runtime_checkable
class DifferenceMetric(Protocol):
    """Says how different the expressions in two pictures are."""

    @property
    def name(self) -> str:
        """What it is called, such as ``ssim`` or ``deep:faces L1``."""
        ...

    @property
    def version(self) -> str:
        """What decides on its numbers: a version, or the hash of its weights."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was chosen, fit for JSON."""
        ...

    @property
    def higher_is_more_different(self) -> bool:
        """Whether its numbers rise with the difference; those of a similarity fall."""
        ...

    def differences(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> Floats:
        """Compare each picture with the one at the same place; shape (n,).

        ``nan`` where it can say nothing, as about a picture in which it finds no face.
        """
        ...


@dataclass(frozen=True)
class Missing:
    """Stands where nothing can be said about a picture, or about a pair."""

    reason: str
    outcome: str = "rejected"
    """``empty`` where nothing is to be compared, such as no face; ``rejected`` where a picture is
    of no use."""


def check_file(given: Any, setting: str, metric: str) -> Path:
    """Check a setting that names a file.

    Raises
    ------
    InputError
        When it is no text.

    Examples
    --------
    >>> check_file(5, "trunk", "lpips")
    Traceback (most recent call last):
    affectlab.errors.InputError: metric 'lpips': trunk = 5: expected the path of a file
    """
    if not isinstance(given, str | os.PathLike) or isinstance(os.fspath(given), bytes):
        raise InputError(f"metric {metric!r}: {setting} = {given!r}: expected the path of a file")
    return Path(given)


def check_metric(found: Any, where: str) -> DifferenceMetric:
    """Check that something is a difference metric; `where` names it in errors.

    Raises
    ------
    InputError
        When an attribute is missing or is of another kind.

    Examples
    --------
    >>> check_metric(3, "mine")
    Traceback (most recent call last):
    affectlab.errors.InputError: mine has no name; expected a metric with name, version, settings,
    higher_is_more_different and differences
    """
    for name in ("name", "version", "settings", "higher_is_more_different", "differences"):
        if not hasattr(found, name):
            raise InputError(f"{where} has no {name}; expected a metric with {_PARTS}")
    if not isinstance(found.name, str) or not found.name:
        raise InputError(f"{where}: name {found.name!r}; expected a text")
    if not isinstance(found.version, str):
        raise InputError(f"{where}: version {found.version!r}; expected a text")
    if not isinstance(found.settings, Mapping):
        raise InputError(
            f"{where}: settings are of type {type(found.settings).__name__}; expected a mapping"
        )
    if not isinstance(found.higher_is_more_different, bool):
        raise InputError(
            f"{where}: higher_is_more_different is {found.higher_is_more_different!r}; expected "
            "True or False"
        )
    if not callable(found.differences):
        raise InputError(f"{where}: differences cannot be called; expected a method")
    known: DifferenceMetric = found
    return known


def checked_values(given: Any, n: int, name: str) -> Floats:
    """Check what a metric gave for `n` pairs.

    Raises
    ------
    InputError
        When it is of another shape, no numbers, or infinite.

    Examples
    --------
    >>> checked_values([1, 2.5], 2, "mine").tolist()
    [1.0, 2.5]
    """
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"metric {name!r} gave no numbers for {n} pairs; expected one number for each"
        ) from None
    if found.shape != (n,):
        raise InputError(
            f"metric {name!r} gave an array of shape {found.shape} for {n} pairs; expected ({n},)"
        )
    if np.isinf(found).any():
        raise InputError(f"metric {name!r} gave an infinite number; expected finite ones")
    return found


def direction_of(metric: DifferenceMetric) -> str:
    """Say which way the numbers of a metric go."""
    kind = "different" if metric.higher_is_more_different else "alike"
    return f"higher is more {kind}"
