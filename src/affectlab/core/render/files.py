"""Results as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table, write_data_csv
from affectlab.core.render.plain import plain
from affectlab.core.tables import Column, Figure, Table

_FILE = "result.json"


def write_result(
    folder: Path, tables: Sequence[Table], figures: Sequence[Figure], about: dict[str, Any]
) -> Path:
    """Write every table as CSV and Parquet, and all else as ``result.json``.

    Parameters
    ----------
    folder
        Where to; it is made where it does not exist.
    tables, figures
        Of the result.
    about
        Its other fields.

    Raises
    ------
    InputError
        When the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from None
    for table in tables:
        write_data_csv(table.frame, folder / f"{table.name}.csv")
        table.frame.write_parquet(folder / f"{table.name}.parquet")
    content = {
        "tables": [
            {key: part for key, part in vars(table).items() if key != "frame"} for table in tables
        ],
        **about,
        "figures": [vars(figure) for figure in figures],
    }
    text = json.dumps(plain(content), ensure_ascii=False, allow_nan=False, indent=1)
    (folder / _FILE).write_text(text + "\n", encoding="utf-8")
    return folder


def read_parts(folder: Path) -> dict[str, Any]:
    """Read what :func:`write_result` has written, as the fields of a result.

    Raises
    ------
    InputError
        When the folder holds no result, or a table of it is missing.
    """
    file = folder / _FILE
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {
            **content,
            "tables": tuple(_table(folder, **table) for table in content["tables"]),
            "figures": tuple(Figure(**figure) for figure in content["figures"]),
            "sentences": tuple(content["sentences"]),
            "notes": tuple(content["notes"]),
        }
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file; expected a folder of a result") from None
    except (OSError, KeyError, TypeError, ValueError) as problem:
        raise InputError(f"{file}: not a result that was written ({problem})") from None


def _table(folder: Path, *, name: str, columns: list[Any], notes: list[str], **more: Any) -> Table:
    frame = read_table(folder / f"{name}.parquet", "a result")
    declared = tuple(Column(**column) for column in columns)
    return Table(name, frame=frame, columns=declared, notes=tuple(notes), **more)
