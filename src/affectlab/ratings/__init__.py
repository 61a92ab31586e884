"""What was answered: the table of ratings, its scale, reading, writing and checking."""

from importlib import import_module
from types import ModuleType

from affectlab.ratings._formats import Format, list_formats
from affectlab.ratings._merge import merge
from affectlab.ratings._options import read_table
from affectlab.ratings._peek import Peek
from affectlab.ratings._read import read_ratings
from affectlab.ratings._read_models import read_models
from affectlab.ratings._reshape import matrix, pivot
from affectlab.ratings._scale import Scale
from affectlab.ratings._schema import (
    HUMAN_KINDS,
    MODEL_KINDS,
    OUTCOMES,
    RATER_KINDS,
    TRIAL_KINDS,
    SetAside,
)
from affectlab.ratings._summary import RatingsSummary
from affectlab.ratings._table import Ratings
from affectlab.ratings._write import check_ratings_path, write_ratings

__all__ = [
    "HUMAN_KINDS",
    "MODEL_KINDS",
    "OUTCOMES",
    "RATER_KINDS",
    "TRIAL_KINDS",
    "Format",
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


def __getattr__(name: str) -> ModuleType:
    """Load the readers of published data sets when they are first used."""
    if name == "datasets":
        return import_module("affectlab.ratings.datasets")
    raise AttributeError(f"module 'affectlab.ratings' has no attribute {name!r}")
