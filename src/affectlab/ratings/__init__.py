"""What was answered: the table of ratings, its scale, reading, writing and checking."""

from importlib import import_module
from types import ModuleType

from affectlab.ratings.formats import Format, Layout, file_format, list_formats
from affectlab.ratings.options import read_table
from affectlab.ratings.reading import read_models, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import GuessedScalesWarning
from affectlab.ratings.schema import HUMAN_KINDS, MODEL_KINDS
from affectlab.ratings.storage import check_ratings_path, write_ratings
from affectlab.ratings.table import Ratings

__all__ = [
    "HUMAN_KINDS",
    "MODEL_KINDS",
    "Format",
    "GuessedScalesWarning",
    "Layout",
    "Ratings",
    "Scale",
    "check_ratings_path",
    "file_format",
    "list_formats",
    "read_models",
    "read_ratings",
    "read_table",
    "write_ratings",
]


def __getattr__(name: str) -> ModuleType:
    """Load what knows of published data sets when it is first used."""
    if name == "datasets":
        return import_module("affectlab.ratings.datasets")
    raise AttributeError(f"module 'affectlab.ratings' has no attribute {name!r}")
