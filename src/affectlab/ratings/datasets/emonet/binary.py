"""EmoNet-Face Binary: yes/no answers of experts to one emotion of one face."""

from __future__ import annotations

from affectlab.ratings.datasets.common import check_columns_there, refuse_layout
from affectlab.ratings.files import Peek, first_rows, read_columns
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy

__all__ = ["FORMAT"]

_NAME = "emonet-face-binary"
_ROLES = {"path": "stimulus", "annotator": "rater", "value": "value", "emotion": "label"}
_ANSWERS = ("True", "False")


def _sniff(peek: Peek) -> bool:
    if set(peek.columns) != set(_ROLES) or len(peek.columns) != len(_ROLES):
        return False
    taxonomy = load_taxonomy("emonet_face")
    if peek.is_table:
        rows = [tuple(map(str, row)) for row in first_rows(peek, ("value", "emotion"))]
    else:
        value, emotion = peek.header.index("value"), peek.header.index("emotion")
        rows = [(row[value], row[emotion]) for row in peek.rows[1:] if len(row) == len(_ROLES)]
    # One answer in the first rows may be wrong and still deserve this format's error.
    fits = sum(value in _ANSWERS and emotion in taxonomy for value, emotion in rows)
    return bool(rows) and fits >= max(1, len(rows) - 1)


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    check_columns_there(peek, tuple(_ROLES), ", ".join(_ROLES))
    read = read_columns(peek, names=tuple(_ROLES), on_bad=options.on_bad)
    return assemble(
        {_ROLES.get(name, name): column for name, column in read.columns.items()},
        options,
        source=str(peek.path),
        locate=read.locate,
        scale="binary",
        taxonomy="emonet_face",
        set_aside=read.set_aside,
    )


FORMAT = Format(
    name=_NAME,
    title="EmoNet-Face Binary (CSV or Parquet: path, annotator, value, emotion)",
    sniff=_sniff,
    read=_read,
)
