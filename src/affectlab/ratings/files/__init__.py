"""Tables as they lie in files and in data frames."""

from affectlab.ratings.files.delimited import Columns, commas_step, read_delimited, with_points
from affectlab.ratings.files.frames import (
    as_frame,
    plain_column,
    series_of,
    typed_column,
    wrong_kind,
)
from affectlab.ratings.files.labelled import Labelled, read_labelled
from affectlab.ratings.files.ledger import Ledger, Locate, OnBad, Problem, row_number
from affectlab.ratings.files.parquet import (
    UNREADABLE,
    class_names,
    first_rows,
    read_frame,
    with_class_names,
)
from affectlab.ratings.files.peek import Peek
from affectlab.ratings.files.prolific import is_prolific, prolific_raters
from affectlab.ratings.files.source import read_columns
from affectlab.ratings.files.strict_json import BadJson, parse_json
from affectlab.ratings.files.workbook import SHEET

__all__ = [
    "SHEET",
    "UNREADABLE",
    "BadJson",
    "Columns",
    "Labelled",
    "Ledger",
    "Locate",
    "OnBad",
    "Peek",
    "Problem",
    "as_frame",
    "class_names",
    "commas_step",
    "first_rows",
    "is_prolific",
    "parse_json",
    "plain_column",
    "prolific_raters",
    "read_columns",
    "read_delimited",
    "read_frame",
    "read_labelled",
    "row_number",
    "series_of",
    "typed_column",
    "with_class_names",
    "with_points",
    "wrong_kind",
]
