"""What a user says of a file of ratings, kept in a file: the options of reading, by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from affectlab.core.files.toml import check_settings, read_toml
from affectlab.ratings.options import Absent, Wide
from affectlab.ratings.scale import Scale

SUFFIX = ".mapping.toml"
"""What the name of a file that belongs to another ends in."""

MappingLike = str | Path | Mapping[str, Any]


class ReadMapping(BaseModel):
    """Options of :func:`affectlab.ratings.read_ratings` that say what stands where in a file."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    format: str | None = None
    wide: Wide | None = None
    columns: dict[str, str] | None = None
    attributes: list[str] | None = None
    unused: list[str] | None = None
    missing_codes: list[str] | None = None
    separator: str | None = None
    scale: str | dict[str, str] | None = None
    taxonomy: str | None = None
    rater: str | None = None
    absent: Absent | None = None
    encoding: str | None = None
    delimiter: str | None = None

    def options(self) -> dict[str, Any]:
        """Give what is said, by the names of the parameters."""
        return self.model_dump(exclude_none=True)


def beside(path: Path) -> Path:
    """Give the file in which a mapping is looked for that nobody named."""
    return path.with_name(path.name + SUFFIX)


def load_mapping(given: MappingLike) -> ReadMapping:
    """Read a mapping from a TOML file, or take a dict of the same keys.

    Raises
    ------
    InputError
        When a key is not known, or a value is not what it should be.
    """
    if isinstance(given, Mapping):
        return check_settings(ReadMapping, given, "mapping")
    return read_toml(given, ReadMapping)


def to_toml(options: Mapping[str, Any], comments: Mapping[str, str], head: str) -> str:
    """Write a mapping as TOML that people edit.

    Parameters
    ----------
    options
        What is said, by the names of the parameters.
    comments
        What is written above a key, by key.
    head
        The first lines.
    """
    lines = [f"# {line}" for line in head.splitlines()]
    flat = {name: value for name, value in options.items() if not isinstance(value, Mapping)}
    tables = {name: value for name, value in options.items() if isinstance(value, Mapping)}
    for name, value in flat.items():
        lines += ["", *(f"# {line}" for line in comments.get(name, "").splitlines())]
        lines.append(f"{name} = {_written(value)}")
    for name, table in tables.items():
        lines += ["", *(f"# {line}" for line in comments.get(name, "").splitlines()), f"[{name}]"]
        lines += [f"{_key(key)} = {_written(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def short_scale(scale: Scale) -> str | None:
    """Give a scale in the short form that is read back; None where it has none."""
    if any("," in name for name in scale.categories):
        return None
    if scale.kind == "interval" and scale.low is None:
        return "interval"
    return str(replace(scale, declared=True))


def _key(name: str) -> str:
    """Write a key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _written(name)


def _written(value: Any) -> str:
    """Write text, or a list of texts; TOML's basic strings are those of JSON."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(map(_written, value)) + "]"
