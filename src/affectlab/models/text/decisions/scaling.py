"""Calibration: from what a model says to probabilities that come true as often as they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats

__all__ = ["Scaling", "ScalingKind", "fit_scaling", "logit", "sigmoid"]

ScalingKind: TypeAlias = Literal["none", "temperature", "isotonic"]

_EDGE = 1e-9
_REACH = 7.0
"""Largest logarithm of a temperature."""


def sigmoid(logits: Floats) -> Floats:
    """Turn logits into probabilities without overflow."""
    half: Floats = 0.5 * (1 + np.tanh(0.5 * logits))
    return half


def logit(probabilities: Floats) -> Floats:
    """Turn probabilities into logits; 0 and 1 become large finite ones."""
    inside = np.clip(probabilities, _EDGE, 1 - _EDGE)
    return np.log(inside) - np.log1p(-inside)


@dataclass(frozen=True)
class Scaling:
    """A rising map from logits to probabilities.

    Raises
    ------
    InputError
        When the kind is not known, the temperature is not above 0, or the steps of a label do not
        rise within 0 to 1.
    """

    kind: ScalingKind = "none"
    temperature: float = 1.0
    """What logits are divided by: above 1 where the model was too sure."""
    knots: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    """For isotonic: logits and their probabilities, of each label."""

    def __post_init__(self) -> None:
        check_choice("calibration", self.kind, get_args(ScalingKind))
        if not 0 < self.temperature < np.inf:
            raise InputError(f"temperature = {self.temperature}: expected a finite number above 0")
        if (self.kind == "isotonic") != bool(self.knots):
            raise InputError("knots: expected those of each label for isotonic, and none otherwise")
        for place, (x, p) in enumerate(self.knots, 1):
            rises = np.isfinite(x).all() and (np.diff(x) > 0).all() and (np.diff(p) >= 0).all()
            if len(x) != len(p) or not x or not rises or not 0 <= p[0] <= p[-1] <= 1:
                raise InputError(
                    f"knots of label {place}: expected rising finite logits, and as many "
                    "probabilities that do not fall"
                )

    def apply(self, logits: ArrayLike) -> Floats:
        """Give probabilities, the shape of `logits`, (n, labels)."""
        given = np.asarray(logits, dtype=np.float64)
        if self.kind != "isotonic":
            return sigmoid(given / self.temperature)
        if given.shape[1] != len(self.knots):
            raise InputError(
                f"logits: {given.shape[1]} columns; expected one for each of {len(self.knots)} "
                "labels"
            )
        columns = [
            np.interp(column, x, p) for column, (x, p) in zip(given.T, self.knots, strict=True)
        ]
        return np.stack(columns, axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {
            "kind": self.kind,
            "temperature": self.temperature,
            "knots": [[list(x), list(p)] for x, p in self.knots],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Scaling:
        """Read what :meth:`to_dict` gives.

        Raises
        ------
        InputError
            When a part is missing or is of another kind.
        """
        try:
            knots = tuple((tuple(map(float, x)), tuple(map(float, p))) for x, p in given["knots"])
            return cls(given["kind"], float(given["temperature"]), knots)
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"a calibration cannot be read ({error!r}); expected what to_dict gives"
            ) from None


def fit_scaling(logits: ArrayLike, truth: ArrayLike, kind: ScalingKind = "temperature") -> Scaling:
    """Fit a calibration to texts that were kept aside.

    Parameters
    ----------
    logits
        Shape (n, labels).
    truth
        0/1, or shares of raters, the same shape.
    kind
        ``"temperature"``: one number for all labels, with the least log loss. ``"isotonic"``: for
        each label the rising step function with the least squared error (pool adjacent violators),
        linear between its steps; it needs many texts per label. ``"none"``.

    Raises
    ------
    InputError
        When the shapes differ, or the kind is not known.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks. Zadrozny and Elkan (2002),
    Transforming classifier scores into accurate multiclass probability estimates.

    Examples
    --------
    >>> scaling = fit_scaling([[4.0], [4.0], [-4.0], [-4.0]], [[1], [0], [0], [0]])
    >>> scaling.temperature > 1
    True
    """
    check_choice("calibration", kind, get_args(ScalingKind))
    given = np.asarray(logits, dtype=np.float64)
    true = np.asarray(truth, dtype=np.float64)
    if given.ndim != 2 or given.shape != true.shape or not given.size:
        raise InputError(
            f"logits and truth: shapes {given.shape} and {true.shape}; expected the same, one row "
            "per text and one column per label"
        )
    if kind == "none":
        return Scaling()
    if kind == "temperature":
        return Scaling("temperature", _temperature(given, true))
    return Scaling(
        "isotonic", knots=tuple(_steps(*pair) for pair in zip(given.T, true.T, strict=True))
    )


def _temperature(logits: Floats, truth: Floats) -> float:
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        z = logits * np.exp(-log_temperature)
        return float((np.logaddexp(0.0, z) - truth * z).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-_REACH, _REACH), method="bounded").x))


def _steps(logits: Floats, truth: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both ends of every step, and its height."""
    from scipy.optimize import isotonic_regression

    x, place, count = np.unique(logits, return_inverse=True, return_counts=True)
    mean = np.bincount(place, truth) / count
    height = isotonic_regression(mean, weights=count).x
    inner = np.flatnonzero(np.diff(height) > 0)
    ends = np.unique(np.concatenate([[0], inner, inner + 1, [len(x) - 1]]))
    inside = np.clip(height[ends], 0.0, 1.0)
    return tuple(x[ends].tolist()), tuple(inside.tolist())
