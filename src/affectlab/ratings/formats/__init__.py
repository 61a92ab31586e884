"""Kinds of files with ratings, one module a family; a module here is known by that alone."""

from affectlab.ratings.formats.format import (
    Contents,
    Format,
    Layout,
    Sure,
    file_format,
    find_format,
    list_formats,
    load_format,
)
from affectlab.ratings.formats.records import Rejects, Unusable

__all__ = [
    "Contents",
    "Format",
    "Layout",
    "Rejects",
    "Sure",
    "Unusable",
    "file_format",
    "find_format",
    "list_formats",
    "load_format",
]
