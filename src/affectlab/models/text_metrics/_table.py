"""Tables of candidates, references and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from affectlab._csv import text_of_sheet
from affectlab._words import shown
from affectlab.errors import InputError, unknown_name
from affectlab.models.images._within import image_within
from affectlab.models.text_metrics._item import TextItem
from affectlab.stimuli._tables import read_table

__all__ = ["TextTable", "image_of", "read_text_items"]

_IMAGES = ("image", "file", "path")
_ITEMS = ("item", "stimulus", "id")


@dataclass(frozen=True, eq=False)
class TextTable:
    """Items, and the table they are from."""

    items: tuple[TextItem, ...]
    frame: pl.DataFrame
    """One row per item."""
    set_aside: tuple[str, ...] = ()
    """What was left out, a sentence each."""

    def column(self, name: str, what: str) -> list[str | None]:
        """Give a column as text.

        Raises
        ------
        InputError
            When there is none of that name.
        """
        if name not in self.frame.columns:
            raise unknown_name("column", name, self.frame.columns, what)
        return self.frame[name].cast(pl.String).to_list()

    def keep(self, rows: Sequence[int], why: Sequence[str]) -> TextTable:
        """Keep these rows; say why the others go."""
        return TextTable(
            tuple(self.items[row] for row in rows),
            self.frame[list(rows)],
            (*self.set_aside, *why),
        )


def read_text_items(
    path: str | Path,
    *,
    candidate: str = "candidate",
    references: Sequence[str] | None = None,
    image: str | None = None,
    item: str | None = None,
    images: str | Path | None = None,
) -> TextTable:
    """Read candidates with their references and images from a table.

    Parameters
    ----------
    path
        CSV, Parquet or JSON Lines. Columns ``emotion`` and ``caption`` are read where they are.
    candidate
        Column of the texts that are scored.
    references
        Columns of references; in Parquet and JSON Lines one may hold lists. None: all columns whose
        names begin with ``reference``. Empty cells are no reference.
    image
        Column of image files; None: ``image``, ``file`` or ``path``, where there is one.
    item
        Column of names, each once; None: ``item``, ``stimulus`` or ``id`` where its names differ,
        else rows are numbered from 1.
    images
        Folder of the images; None: that of the table.

    Raises
    ------
    InputError
        When the table cannot be read, a column is missing, a name stands twice, or an image lies
        outside the folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "texts.csv"
    ...     _ = file.write_text("item,candidate,reference\\na,They won.,A win!\\n")
    ...     read_text_items(file).items[0].references
    ('A win!',)
    """
    place = Path(path)
    frame = _read(place)
    said = shown(place)
    _need(frame, [candidate, *(references or ()), *((image,) if image else ())], said)
    of_references = references or [name for name in frame.columns if name.startswith("reference")]
    of_image = image or next((name for name in _IMAGES if name in frame.columns), None)
    names = _names(frame, item, said)
    folder = place.parent if images is None else Path(images)
    found = [
        TextItem(
            candidate=_text(row[candidate]),
            references=tuple(text for name in of_references for text in _several(row[name])),
            image=None
            if of_image is None
            else image_of(row[of_image], folder, f"{said}, row {number}"),
            item=name,
            emotion=_text(row.get("emotion")),
            caption=_text(row.get("caption")),
            where=f"{said}, row {number}",
        )
        for number, (name, row) in enumerate(
            zip(names, frame.iter_rows(named=True), strict=True), start=1
        )
    ]
    if not found:
        raise InputError(f"{said} has no row; expected a text in each")
    return TextTable(tuple(found), frame)


def image_of(name: Any, folder: Path | None, where: str) -> Path | None:
    """Give the image that a table names, within a folder if there is one; None where it has none.

    Raises
    ------
    InputError
        When it lies outside the folder.
    """
    said = _text(name).strip()
    if not said or folder is None:
        return Path(said) if said else None
    return image_within(folder, said, where)


def _read(place: Path) -> pl.DataFrame:
    if place.suffix.lower() not in (".jsonl", ".ndjson"):
        frame = read_table(place, "texts")
        # Tables that affectlab writes for sheets have a mark before what a sheet would compute.
        return frame.with_columns(text_of_sheet(pl.col(pl.String)))
    try:
        return pl.read_ndjson(place, infer_schema_length=None)
    except FileNotFoundError:
        raise InputError(f"{shown(place)}: there is no such file") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        first = " ".join(str(error).split())[:120]
        raise InputError(f"{shown(place)}: not a table of texts ({first})") from None


def _need(frame: pl.DataFrame, columns: Sequence[str], said: str) -> None:
    for name in columns:
        if name not in frame.columns:
            raise unknown_name("column", name, frame.columns, said)


def _names(frame: pl.DataFrame, item: str | None, said: str) -> list[str]:
    if item is None:
        for name in _ITEMS:
            if name in frame.columns:
                column = frame[name].cast(pl.String)
                if column.null_count() == 0 and column.is_unique().all():
                    return column.to_list()
        return [str(number) for number in range(1, frame.height + 1)]
    _need(frame, [item], said)
    names = frame[item].cast(pl.String).to_list()
    first: dict[str | None, int] = {}
    for row, name in enumerate(names, start=1):
        if name is None or name == "":
            raise InputError(f"{said}, row {row}: column {item!r} is empty; expected a name")
        if first.setdefault(name, row) != row:
            raise InputError(
                f"{said}, row {row}: {shown(name, 60)!r} stands in row {first[name]} already; "
                f"expected each name once in column {item!r}"
            )
    return names


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _several(value: Any) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return [str(one) for one in given if one is not None and str(one).strip()]
