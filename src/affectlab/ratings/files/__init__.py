"""Tables as they lie in files and in data frames."""

from affectlab.ratings.files.delimited import (
    Columns as Columns,
    commas_step as commas_step,
    has_no_names as has_no_names,
    read_delimited as read_delimited,
    rows_below as rows_below,
    with_points as with_points,
)
from affectlab.ratings.files.frames import (
    NoTableError as NoTableError,
    as_frame as as_frame,
    plain_column as plain_column,
    series_of as series_of,
    typed_column as typed_column,
    wrong_kind as wrong_kind,
)
from affectlab.ratings.files.labelled import (
    Labelled as Labelled,
    read_labelled as read_labelled,
    value_names as value_names,
)
from affectlab.ratings.files.ledger import (
    Ledger as Ledger,
    Locate as Locate,
    OnBad as OnBad,
    Place as Place,
    PlacedError as PlacedError,
    Problem as Problem,
    row_number as row_number,
)
from affectlab.ratings.files.parquet import (
    UNREADABLE as UNREADABLE,
    class_names as class_names,
    first_rows as first_rows,
    read_frame as read_frame,
    with_class_names as with_class_names,
)
from affectlab.ratings.files.peek import Peek as Peek, as_path as as_path
from affectlab.ratings.files.prolific import (
    is_prolific as is_prolific,
    prolific_raters as prolific_raters,
)
from affectlab.ratings.files.source import (
    read_columns as read_columns,
    spread_cells as spread_cells,
)
from affectlab.ratings.files.strict_json import (
    BadJson as BadJson,
    is_numeric as is_numeric,
    json_sequence as json_sequence,
    parse_json as parse_json,
)
from affectlab.ratings.files.workbook import SHEET as SHEET
