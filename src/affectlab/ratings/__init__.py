"""What was answered: the table of ratings, its scale, reading, writing and checking."""

from importlib import import_module
from types import ModuleType

from affectlab.ratings.files import Peek
from affectlab.ratings.merge import merge
from affectlab.ratings.options import read_table
from affectlab.ratings.reading import (
    Format,
    list_formats,
    offer_formats,
    read_models,
    read_ratings,
)
from affectlab.ratings.reshape import matrix, pivot
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import GuessedScalesWarning
from affectlab.ratings.schema import (
    HUMAN_KINDS,
    MODEL_KINDS,
    OUTCOMES,
    RATER_KINDS,
    TRIAL_KINDS,
    SetAside,
)
from affectlab.ratings.storage import check_ratings_path, write_ratings
from affectlab.ratings.summary import RatingsSummary
from affectlab.ratings.table import Ratings

__all__ = [
    "HUMAN_KINDS",
    "MODEL_KINDS",
    "OUTCOMES",
    "RATER_KINDS",
    "TRIAL_KINDS",
    "Format",
    "GuessedScalesWarning",
    "Peek",
    "Ratings",
    "RatingsSummary",
    "Scale",
    "SetAside",
    "check_ratings_path",
    "list_formats",
    "matrix",
    "merge",
    "pivot",
    "read_models",
    "read_ratings",
    "read_table",
    "write_ratings",
]

# Readers of published data sets build on reading, which knows none of them; both meet here.
offer_formats("affectlab.ratings.datasets:FORMATS")


def __getattr__(name: str) -> ModuleType:
    """Load the readers of published data sets when they are first used."""
    if name == "datasets":
        return import_module("affectlab.ratings.datasets")
    raise AttributeError(f"module 'affectlab.ratings' has no attribute {name!r}")
