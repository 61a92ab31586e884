"""Asking machines: models are raters, and what they answer are ratings.

Text models are in :mod:`affectlab.models.text`; their back end ``linear`` needs the core install
only. Whatever needs torch says so, and comes with the extra ``models``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.models import text
    from affectlab.models.text import TextClassifier

__all__ = ["TextClassifier", "text"]

_NAMES = {"TextClassifier": "affectlab.models.text"}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used."""
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    if name == "text":
        return import_module("affectlab.models.text")
    raise AttributeError(f"module 'affectlab.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
