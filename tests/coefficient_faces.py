"""Public functions of the coefficients that are built in, wherever their modules stand."""

from __future__ import annotations

from typing import Any

from affectlab.core.registry import modules_of
from affectlab.reliability import agreement
from affectlab.reliability.agreement import Coefficient

FACES: dict[str, Any] = {
    face.coefficient.name: face
    for module in modules_of(agreement.__name__)
    for face in vars(module).values()
    if isinstance(getattr(face, "coefficient", None), Coefficient)
}
"""The functions that ``@coefficient`` was put on, by name."""
