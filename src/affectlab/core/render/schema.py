"""JSON schemas of results, from what their tables declare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from affectlab.core.facts import Cause, Status, reason_type
from affectlab.core.tables import Table

_TEXTS = {"type": "array", "items": {"type": "string"}}


def schema_of(title: str, tables: Sequence[Table]) -> dict[str, Any]:
    """Give the JSON schema of a result with these tables, as :meth:`Result.to_dict` writes it.

    Any cell may be null: JSON has no ``nan``. A column that people are shown has a title, and
    ``unit`` and ``description`` where they are declared.
    """
    parts = {
        **{table.name: _table(table) for table in tables},
        "sentences": _TEXTS,
        "notes": _TEXTS,
        "settings": {"type": "object"},
        "provenance": {"type": "object"},
    }
    schema = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": schema, "title": title, **_record(parts)}


def _record(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _table(table: Table) -> dict[str, Any]:
    cells = {name: _cell(dtype) for name, dtype in table.frame.schema.items()}
    if table.frame.schema.get("reason") == reason_type():
        cells["reason"]["properties"]["cause"]["enum"] = [*map(str, Cause), None]
        if "status" in cells:
            cells["status"]["enum"] = [*map(str, Status)]
    for column in table.columns:
        about = {"title": column.head, "unit": column.unit, "description": column.help}
        for name in column.sources:
            cells[name] |= {key: text for key, text in about.items() if text}
    return {"description": table.caption, "type": "array", "items": _record(cells)}


def _cell(dtype: Any) -> dict[str, Any]:
    """Give the schema of what :func:`affectlab.core.render.plain.plain` makes of a cell."""
    import polars as pl

    if isinstance(dtype, pl.List | pl.Array):
        return {"type": ["array", "null"], "items": _cell(dtype.inner)}
    if isinstance(dtype, pl.Struct):
        fields = {field.name: _cell(field.dtype) for field in dtype.fields}
        return {**_record(fields), "type": ["object", "null"]}
    if dtype.is_float():
        return {"type": ["number", "null"]}
    if dtype.is_integer():
        return {"type": ["integer", "null"]}
    if dtype == pl.Boolean:
        return {"type": ["boolean", "null"]}
    return {"type": ["string", "null"]}
