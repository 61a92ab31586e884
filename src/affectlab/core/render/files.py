"""Results as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from affectlab.core.csv import write_data_csv
from affectlab.core.errors import InputError
from affectlab.core.tables import Table

__all__ = ["write_result"]


def write_result(folder: Path, tables: Sequence[Table], content: dict[str, Any]) -> Path:
    """Write every table as CSV and Parquet, and all else as ``result.json``.

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
    content["tables"] = {
        table.name: {
            "caption": table.caption,
            "columns": [
                {"key": column.key, "head": column.head, "kind": column.kind, "unit": column.unit}
                for column in table.columns
            ],
        }
        for table in tables
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    (folder / "result.json").write_text(text + "\n", encoding="utf-8")
    return folder
