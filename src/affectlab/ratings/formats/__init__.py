"""Kinds of files with ratings, one module a family; a module here is known by that alone."""

from affectlab.ratings.formats.format import (
    Contents as Contents,
    Format as Format,
    Layout as Layout,
    Sure as Sure,
    file_format as file_format,
    find_format as find_format,
    list_formats as list_formats,
    load_format as load_format,
)
from affectlab.ratings.formats.records import Rejects as Rejects, Unusable as Unusable
from affectlab.ratings.formats.stored import is_stored as is_stored
