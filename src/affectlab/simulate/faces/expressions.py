"""The built-in expressions, read from the table beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from affectlab.core.errors import check_choice, check_number
from affectlab.simulate.faces.parameters import FaceParameters

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
    check_number("intensity", intensity, 0, 1)
    if isinstance(expression, FaceParameters):
        peak = expression
    else:
        peaks = peaks_of("expressions.toml")
        check_choice("expression", expression, EXPRESSIONS)
        peak = peaks[expression]
    return peak.scaled(intensity)


@cache
def peaks_of(name: str) -> Mapping[str, FaceParameters]:
    """Read the peaks that a table beside this module holds, by expression."""
    source = files("affectlab.simulate.faces").joinpath(name)
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            expression: FaceParameters.from_mapping(values, where=f"{name}: {expression}")
            for expression, values in table.items()
        }
    )
