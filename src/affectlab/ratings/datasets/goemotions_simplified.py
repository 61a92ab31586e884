"""GoEmotions as its authors prepared it for training: text, label numbers, comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import (
    Rejects,
    check_columns_there,
    lines_of,
    refuse_layout,
    shown,
)
from affectlab.ratings.files import Peek, first_rows, read_frame
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy

__all__ = ["CONSENSUS", "FORMAT"]

CONSENSUS = "consensus"
"""Name of the one rater: what at least two of the people who read a comment agreed on."""

_NAME = "goemotions-simplified"
_LABELS = re.compile(r"(?:\d|1\d|2[0-7])(?:,(?:\d|1\d|2[0-7]))*")
_PARQUET = ("text", "labels", "id")
_COMMENT = re.compile(r"[a-z0-9]{7}")
_EXPECTED = "expected text, label numbers such as '3,10', and a comment id, separated by tabs"


def _sniff(peek: Peek) -> bool:
    if peek.is_table:
        if set(peek.columns) != set(_PARQUET):
            return False
        found = [_fields(*row) for row in first_rows(peek, _PARQUET)]
    elif peek.is_binary:
        return False
    else:
        lines = [line.removesuffix("\r") for line in peek.text.split("\n")]
        if len(lines) > 1:
            # The last line may be cut.
            lines = lines[:-1]
        found = [line.split("\t") for line in lines[:50] if line]
    return bool(found) and all(
        len(fields) == 3 and _LABELS.fullmatch(fields[1]) and _COMMENT.fullmatch(fields[2])
        for fields in found
    )


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    labels = load_taxonomy("goemotions").labels
    rejects = Rejects(peek.path, options.on_bad)
    known: dict[str, NDArray[np.float64] | None] = {}
    places, texts, comments, rows = [], [], [], []
    for place, fields in _of_table(peek) if peek.is_table else _of_lines(peek):
        if len(fields) != 3:
            count = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
            rejects.reject(place, "not 3 fields", f"{count}; {_EXPECTED}")
            continue
        text, numbers, comment = fields
        if numbers not in known:
            known[numbers] = _ticked(numbers, len(labels))
        ticked = known[numbers]
        if ticked is None:
            rejects.reject(
                place,
                "label number not understood",
                f"labels {shown(numbers)} are not understood; expected numbers from 0 to "
                f"{len(labels) - 1}, separated by commas",
            )
            continue
        places.append(place)
        texts.append(text)
        comments.append(comment)
        rows.append(ticked)
    if not rows:
        raise InputError(f"{peek.path}: no line can be used; {_EXPECTED}")
    per_row = len(labels)
    stimulus = pl.Series("stimulus", comments, dtype=pl.String)
    columns = {
        "stimulus": stimulus.cast(pl.Categorical).gather(np.repeat(np.arange(len(rows)), per_row)),
        "rater": pl.Series("rater", [CONSENSUS]).new_from_index(0, len(rows) * per_row),
        "label": pl.Series("label", labels * len(rows), dtype=pl.Enum(labels)),
        "value": pl.Series("value", np.concatenate(rows)),
    }
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: f"{peek.path}, {places[row // per_row]}",
        scale="binary",
        taxonomy="goemotions",
        raters=pl.DataFrame({"rater": [CONSENSUS], "rater_kind": ["human"], "aggregated": [True]}),
        stimuli=pl.DataFrame([stimulus, pl.Series("text", texts, dtype=pl.String)]).unique(
            "stimulus", keep="first", maintain_order=True
        ),
        set_aside=rejects.set_aside,
        history=("aggregated by the authors: a label is 1 when at least two raters chose it",),
    )


def _of_lines(peek: Peek) -> Iterator[tuple[str, list[str]]]:
    """Place and fields of each line."""
    # Quotation marks in the texts are part of the texts, so this is not read as CSV.
    for number, line in lines_of(peek):
        yield f"line {number}", line.split("\t")


def _of_table(peek: Peek) -> Iterator[tuple[str, list[str]]]:
    """Place and fields of each row of the hub's copy, which holds label numbers as lists."""
    check_columns_there(peek, _PARQUET, ", ".join(_PARQUET))
    rows = read_frame(peek).select(_PARQUET).iter_rows()
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", _fields(*row)


def _fields(text: Any, numbers: Any, comment: Any) -> list[str]:
    """The fields of a row of the hub's copy, as they stand in a line."""
    listed = ",".join(map(str, numbers)) if isinstance(numbers, list) else str(numbers)
    return [str(text or ""), listed, str(comment or "")]


def _ticked(numbers: str, n_labels: int) -> NDArray[np.float64] | None:
    """Zeros and ones of one label set; None when it is not understood."""
    if not _LABELS.fullmatch(numbers):
        return None
    ticked = np.zeros(n_labels)
    ticked[[int(number) for number in numbers.split(",")]] = 1.0
    return ticked


FORMAT = Format(
    name=_NAME,
    title="GoEmotions, the labels agreed on (TSV or Parquet: text, label numbers, comment)",
    sniff=_sniff,
    read=_read,
)
