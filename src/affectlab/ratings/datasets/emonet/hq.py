"""EmoNet-Face HQ: intensities of 40 emotions, by experts and by models, in one file."""

from __future__ import annotations

import ast
import json
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, check_columns_there, refuse_layout, shown
from affectlab.ratings.datasets.emonet.labels import IntensityRows, intensity_scale
from affectlab.ratings.files import Columns, Peek, first_rows, read_columns, read_frame
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy

__all__ = ["FORMAT"]

_NAME = "emonet-face-hq"
_NEEDED = ("image", "annotator", "human", "annotations")
_OF_HUB = ("path", "label")
_KINDS = {"true": "human", "1": "human", "false": "model", "0": "model"}
_UNIT_RATER = "Hume Face*"
"""Annotator whose published numbers run from 0 to 1; the authors multiply them by 7."""


def _sniff(peek: Peek) -> bool:
    if _is_of_hub(peek):
        labels = [cell for (cell,) in first_rows(peek, ("label",))]
        return bool(labels) and all(_per_annotator(cell) is not None for cell in labels)
    if not set(_NEEDED) <= set(peek.columns):
        return False
    if peek.is_table:
        cells = [str(cell) for (cell,) in first_rows(peek, ("annotations",))]
    else:
        position = peek.header.index("annotations")
        cells = [row[position] for row in peek.rows[1:] if len(row) == len(peek.header)]
    return bool(cells) and all(cell.lstrip().startswith("{") for cell in cells)


def _is_of_hub(peek: Peek) -> bool:
    """Whether the file has a row for each picture, with the answers of all who rated it."""
    found = set(peek.columns)
    return peek.is_table and set(_OF_HUB) <= found and not set(_NEEDED) & found


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    if _is_of_hub(peek):
        read = _one_row_each(peek, rejects)
    else:
        check_columns_there(peek, _NEEDED, ", ".join(_NEEDED))
        read = read_columns(peek, on_bad=options.on_bad)
    taxonomy = load_taxonomy("emonet_face")
    rows = IntensityRows(taxonomy, rejects)
    scaled = 0
    places = _Places(read)
    annotators = read.columns["annotator"].to_list()
    raters, unusable = _raters(read, rejects, places)
    for entry, cell in enumerate(read.columns["annotations"].to_list()):
        if entry in unusable:
            continue
        given = _mapping(cell)
        if given is None:
            rejects.reject(
                places[entry],
                "annotations not understood",
                f"annotations {shown(cell)} is no mapping of emotions to numbers; expected for "
                "example {'Anger': 3}",
            )
            continue
        in_units = _UNIT_RATER in (annotators[entry] or "")
        added = rows.add(entry, given, places[entry], factor=7.0 if in_units else 1.0)
        scaled += added if in_units else 0
    if not rows.value:
        raise InputError(f"{peek.path} holds no rating; expected emotions in column 'annotations'")
    steps = rows.rate_unnamed() if options.absent == "zero" else ()
    columns = {
        "stimulus": read.columns["image"].gather(rows.entry),
        "rater": read.columns["annotator"].gather(rows.entry),
        "label": pl.Series("label", rows.label, dtype=pl.Categorical),
        "value": pl.Series("value", rows.value),
        **{
            name: column.gather(rows.entry)
            for name, column in read.columns.items()
            if name not in _NEEDED
        },
    }
    step = f"ratings of '{_UNIT_RATER}', published from 0 to 1, multiplied by 7: {scaled:,}"
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: f"{read.locate(rows.entry[row])} ({rows.label[row]})",
        scale=intensity_scale(rows.value),
        taxonomy=taxonomy,
        raters=raters,
        set_aside=(*read.set_aside, *rejects.set_aside),
        history=(*((step,) if scaled else ()), *steps),
        unit="cell",
    )


def _one_row_each(peek: Peek, rejects: Rejects) -> Columns:
    """Turn one row per picture into one per picture and annotator, as in ``hq.csv``.

    The hub's copy holds people only.
    """
    frame = read_frame(peek)
    row: list[int] = []
    annotator: list[str] = []
    annotations: list[str] = []
    pictures = frame["path"]
    for number, cell in enumerate(frame["label"].to_list()):
        given = _per_annotator(cell)
        if given is None:
            rejects.reject(
                f"row {number + 1}",
                "label not understood",
                f"label {shown(cell)} is no list of annotators with their mapping; expected for "
                "example [{'human-1': {'Anger': 3}}]",
            )
            continue
        for name, mapping in given:
            row.append(number)
            annotator.append(name)
            annotations.append(json.dumps(mapping))
    if pictures.null_count():
        # Pictures that were stored without a name are told apart by where they stand.
        place = pl.Series([f"row {number + 1}" for number in range(len(pictures))])
        pictures = pictures.cast(pl.String).fill_null(place)
    columns = {
        "image": pictures.gather(row).alias("image"),
        "annotator": pl.Series("annotator", annotator, dtype=pl.String),
        "human": pl.Series("human", ["True"] * len(row), dtype=pl.String),
        "annotations": pl.Series("annotations", annotations, dtype=pl.String),
        **{
            name: column.gather(row)
            for name, column in zip(frame.columns, frame.get_columns(), strict=True)
            if name not in (*_OF_HUB, *_NEEDED) and not column.dtype.is_nested()
        },
    }
    return Columns(columns, lambda entry: f"{peek.path}, row {row[entry] + 1}")


def _per_annotator(cell: Any) -> list[tuple[str, dict[str, Any]]] | None:
    """Read the answers about one picture: a list of objects, each of annotators by name."""
    found = _literal(cell)
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        return None
    pairs = [pair for entry in found for pair in entry.items()]
    good = all(isinstance(name, str) and isinstance(given, dict) for name, given in pairs)
    return pairs if good else None


class _Places:
    """Line of each entry, looked up only when one is shown."""

    def __init__(self, read: Columns) -> None:
        self._read = read

    def __getitem__(self, entry: int) -> str:
        return self._read.locate(entry).rpartition(", ")[2]


def _mapping(cell: str | None) -> dict[str, Any] | None:
    """Read a mapping written as JSON or as a Python literal, which is how it is published."""
    found = _literal(cell)
    good = isinstance(found, dict) and all(isinstance(key, str) for key in found)
    return found if good else None


def _literal(cell: Any) -> Any:
    """Read JSON or a Python literal; None where it is neither."""
    if not isinstance(cell, str):
        return None
    try:
        return json.loads(cell)
    except RecursionError:
        return None
    except ValueError:
        try:
            return ast.literal_eval(cell.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None


def _raters(read: Columns, rejects: Rejects, places: _Places) -> tuple[pl.DataFrame, set[int]]:
    """Kind of each annotator, from the column that says which are people; entries without one."""
    kinds: dict[str, str] = {}
    unusable: set[int] = set()
    pairs = zip(read.columns["annotator"], read.columns["human"], strict=True)
    for entry, (name, human) in enumerate(pairs):
        kind = _KINDS.get(str(human).strip().casefold())
        if kind is None:
            unusable.add(entry)
            rejects.reject(
                places[entry],
                "human not true or false",
                f"human is {shown(human)}; expected True or False",
            )
        elif name is not None and kinds.setdefault(name, kind) != kind:
            unusable.add(entry)
            rejects.reject(
                places[entry],
                "annotator both human and not",
                f"annotator {shown(name)} is {kind} here and {kinds[name]} before; "
                "expected one kind each",
            )
    table = pl.DataFrame(
        {"rater": list(kinds), "rater_kind": list(kinds.values())},
        schema={"rater": pl.String, "rater_kind": pl.String},
    )
    return table, unusable


FORMAT = Format(
    name=_NAME,
    title="EmoNet-Face HQ (CSV: image, annotator, human, annotations; Parquet of the hub)",
    sniff=_sniff,
    read=_read,
    absent="zero",
)
