"""The built-in expressions, read from the table beside this module."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from affectlab.core.errors import InputError, unknown_name
from affectlab.simulate.faces.parameters import FaceParameters

__all__ = ["EXPRESSIONS", "expression_parameters"]

EXPRESSIONS: tuple[str, ...] = (
    "amusement",
    "contentment",
    "awe",
    "excitement",
    "fear",
    "sadness",
    "disgust",
    "anger",
    "joy",
    "surprise",
    "neutral",
)
"""Built-in expressions: Mikels' eight in ring order, Ekman's joy and surprise, neutral."""


def expression_parameters(
    expression: str | FaceParameters, intensity: float = 1.0
) -> FaceParameters:
    """Give the parameters of an expression at an intensity.

    Parameters
    ----------
    expression
        A built-in name (see :data:`EXPRESSIONS`) or the parameters of a peak of your own.
    intensity
        0 (the face at rest) to 1 (the peak); the parameters between are linear.

    Raises
    ------
    InputError
        When the name is not known or the intensity is out of range.

    Examples
    --------
    >>> expression_parameters("sadness", 0.5).brow_inner
    0.5
    """
    if not math.isfinite(intensity) or not 0.0 <= intensity <= 1.0:
        raise InputError(f"intensity {intensity!r}: expected a number from 0 to 1")
    if isinstance(expression, FaceParameters):
        peak = expression
    else:
        peaks = _peaks()
        if expression not in peaks:
            raise unknown_name("expression", expression, EXPRESSIONS)
        peak = peaks[expression]
    return peak.scaled(intensity)


@cache
def _peaks() -> MappingProxyType[str, FaceParameters]:
    source = files("affectlab.simulate.faces").joinpath("expressions.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: FaceParameters.from_mapping(values, where=f"expressions.toml: {name}")
            for name, values in table.items()
        }
    )
