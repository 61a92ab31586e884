"""affectlab: rate, check, model and judge emotion data.

Everyone who answers is a rater (a person, a classifier, a vision-language model), every answer is
a row of one table, and one set of statistics judges them all.

>>> import affectlab as al
>>> al.load_taxonomy("mikels").labels[:3]
('amusement', 'contentment', 'awe')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab._version import __version__
from affectlab.core.errors import AffectlabError, InputError
from affectlab.core.interface.lazy import lazily

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

if not TYPE_CHECKING:
    # Load a room, or a name of one, when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
