"""From any file or data frame to a table of ratings."""

from affectlab.ratings.reading.formats import Format, list_formats, offer_formats
from affectlab.ratings.reading.models import read_models
from affectlab.ratings.reading.read import read_ratings

__all__ = [
    "Format",
    "list_formats",
    "offer_formats",
    "read_models",
    "read_ratings",
]
