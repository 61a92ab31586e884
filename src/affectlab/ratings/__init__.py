"""What was answered: the table of ratings, its scale, reading, writing and checking."""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
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

if not TYPE_CHECKING:
    # Load what knows of published data sets when it is first used.
    __getattr__, __dir__ = lazily(__name__, [*__all__, "datasets"], {})
