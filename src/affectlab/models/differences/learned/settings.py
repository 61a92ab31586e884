"""Learners of a metric of expressions by name, and what can be chosen of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from affectlab.core.errors import InputError, check_choice, check_choices

__all__ = [
    "DEFAULT_STRENGTH",
    "LEARNERS",
    "Learner",
    "LearnerSettings",
    "RidgeSettings",
    "SiameseSettings",
    "SvrSettings",
    "inner_folds",
    "learner_settings",
]

Learner: TypeAlias = Literal["svr", "ridge", "siamese"]


@dataclass(frozen=True)
class _Settings:
    learner: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class SvrSettings(_Settings):
    """Of ``svr``: a support vector regression with a linear kernel, as in the paper."""

    learner: ClassVar[str] = "svr"
    strength: float | Literal["auto"] = "auto"
    """Regularisation per pair on standardised numbers: the cost C of a support vector machine is
    the standard deviation of the scores over `strength` times the number of pairs. ``"auto"``: what
    predicts the actors left out best, among those learned from."""
    epsilon: float = 1.0
    """Errors up to here cost nothing, in points of the scale."""
    tolerance: float = 1e-2
    """Gap between the primal and the dual objective at which learning ends, as a share of them."""

    def __post_init__(self) -> None:
        _check_strength(self.strength, "svr")
        _check_number("svr", "epsilon", self.epsilon, 0.0)
        _check_number("svr", "tolerance", self.tolerance, 1e-9)


@dataclass(frozen=True)
class RidgeSettings(_Settings):
    """Of ``ridge``: least squares with a penalty, in closed form."""

    learner: ClassVar[str] = "ridge"
    strength: float | Literal["auto"] = "auto"
    """Penalty per pair on standardised numbers; ``"auto"``: what predicts the actors left out
    best, among those learned from."""
    non_negative: bool = False
    """Keep all weights at 0 or above: no difference of two faces then makes them more alike."""

    def __post_init__(self) -> None:
        _check_strength(self.strength, "ridge")
        if not isinstance(self.non_negative, bool):
            raise InputError(
                f"learner 'ridge': non_negative = {self.non_negative!r}; expected true or false"
            )


@dataclass(frozen=True)
class SiameseSettings(_Settings):
    """Of ``siamese``: one projection for both faces, and a weighted distance of what it gives.

    The defaults were chosen by the test splits of one set of drawn people, on which results are
    therefore flattered; see :func:`cross_validate` for what was seen on others.
    """

    learner: ClassVar[str] = "siamese"
    width: int = 64
    """Numbers that a face is brought to."""
    epochs: int = 40
    """Passes over the pairs."""
    batch: int = 4096
    """Pairs per step, at most an eighth of all."""
    learning_rate: float = 3e-3
    """Where it begins; it falls to 0 along a cosine."""
    weight_decay: float = 3.0
    """How fast the projection shrinks: by this times the learning rate in a step. Frames are few
    beside its numbers, so that much of it helps with people who were not learned from."""

    def __post_init__(self) -> None:
        for name, most in (("width", 4096), ("epochs", 10_000), ("batch", 1 << 20)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise InputError(
                    f"learner 'siamese': {name} = {value!r}; expected a whole number from 1 to "
                    f"{most:,}"
                )
        _check_number("siamese", "learning_rate", self.learning_rate, 1e-9)
        _check_number("siamese", "weight_decay", self.weight_decay, 0.0)


LearnerSettings: TypeAlias = SvrSettings | RidgeSettings | SiameseSettings

LEARNERS: Mapping[str, type[SvrSettings] | type[RidgeSettings] | type[SiameseSettings]] = {
    "svr": SvrSettings,
    "ridge": RidgeSettings,
    "siamese": SiameseSettings,
}
"""Learners by name."""


def learner_settings(learner: str, given: Mapping[str, Any]) -> LearnerSettings:
    """Check the settings of a learner.

    Raises
    ------
    InputError
        When the learner or a setting is not known, or a value is out of range.

    Examples
    --------
    >>> learner_settings("ridge", {"non_negative": True})
    RidgeSettings(strength='auto', non_negative=True)
    """
    check_choice("learner", learner, LEARNERS)
    known = [field.name for field in fields(LEARNERS[learner])]
    check_choices("setting", given, known, f"learner {learner!r}")
    return LEARNERS[learner](**given)


def _check_strength(value: Any, learner: str) -> None:
    if value != "auto":
        _check_number(learner, "strength", value, 1e-9, "auto")


def _check_number(learner: str, name: str, value: Any, low: float, also: str = "") -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < low:
        said = f", or {also!r}" if also else ""
        raise InputError(
            f"learner {learner!r}: {name} = {value!r}; expected a number from {low:g}{said}"
        )


# Which actors are left out to choose how much a learner is held back.


DEFAULT_STRENGTH = 1e-2
"""Where there is one actor alone, nothing can be left out to choose by."""


def inner_folds(
    actors: Iterable[int], most: int
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Give at most so many ways to learn from some actors and choose by the others.

    Each actor is left out once; none where there is one actor alone.

    Examples
    --------
    >>> inner_folds([0, 2, 5], 2)
    (((2,), (0, 5)), ((0, 5), (2,)))
    """
    names = sorted(actors)
    if len(names) < 2:
        return ()
    n = min(most, len(names))
    parts = [tuple(names[k::n]) for k in range(n)]
    return tuple((tuple(name for name in names if name not in part), part) for part in parts)
