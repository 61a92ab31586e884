"""affectlab: rate, check, model and judge emotion data.

Everyone who answers is a rater (a person, a classifier, a vision-language model), every answer is
a row of one table, and one set of statistics judges them all.

>>> import affectlab as al
>>> al.load_taxonomy("mikels").labels[:3]
('amusement', 'contentment', 'awe')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab._version import __version__
from affectlab.core.errors import AffectlabError, InputError

if TYPE_CHECKING:
    from affectlab import (
        analysis,
        core,
        evaluation,
        models,
        protocols,
        ratings,
        recipes,
        reliability,
        report,
        simulate,
        stimuli,
        study,
        taxonomy,
    )
    from affectlab.protocols import load_protocol
    from affectlab.ratings import Ratings, read_ratings
    from affectlab.report import write_report
    from affectlab.taxonomy import load_taxonomy

_ROOMS = (
    "analysis",
    "core",
    "evaluation",
    "models",
    "protocols",
    "ratings",
    "recipes",
    "reliability",
    "report",
    "simulate",
    "stimuli",
    "study",
    "taxonomy",
)
_NAMES = {
    "Ratings": "ratings",
    "load_protocol": "protocols",
    "load_taxonomy": "taxonomy",
    "read_ratings": "ratings",
    "write_report": "report",
}

__all__ = [
    "AffectlabError",
    "InputError",
    "Ratings",
    "__version__",
    "analysis",
    "core",
    "evaluation",
    "load_protocol",
    "load_taxonomy",
    "models",
    "protocols",
    "ratings",
    "read_ratings",
    "recipes",
    "reliability",
    "report",
    "simulate",
    "stimuli",
    "study",
    "taxonomy",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Load a room, or a name of one, when it is first used."""
    if name in _ROOMS:
        return import_module(f"affectlab.{name}")
    if name in _NAMES:
        return getattr(import_module(f"affectlab.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'affectlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
