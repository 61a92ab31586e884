"""The description stored with a table of ratings, checked before anything is built of it."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from affectlab.errors import InputError
from affectlab.ratings._json import BadJson, parse_json
from affectlab.ratings._scale import Scale, ScaleKind
from affectlab.ratings._schema import SetAside, Unit

__all__ = ["DTYPES", "METADATA_KEY", "SCHEMA", "Meta", "parse_meta"]

SCHEMA = "affectlab/ratings/1"
METADATA_KEY = "affectlab"
DTYPES = {"Float64": pl.Float64, "Int64": pl.Int64, "Boolean": pl.Boolean, "String": pl.String}

TypeName = Literal["Float64", "Int64", "Boolean", "String"]
Cell = bool | int | float | str | None


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _ScaleMeta(_Part):
    kind: ScaleKind
    low: float | None = None
    high: float | None = None
    step: float | None = None
    categories: list[str] = []
    declared: bool = True

    def build(self) -> Scale:
        return Scale(
            self.kind, self.low, self.high, self.step, tuple(self.categories), self.declared
        )


class _ColumnMeta(_Part):
    type: TypeName
    values: list[Cell]

    def build(self, name: str) -> pl.Series:
        values: list[Any] = self.values
        dtype = DTYPES[self.type]
        if dtype == pl.Float64:
            # JSON has no infinity, so it is written as text.
            values = [None if value is None else float(value) for value in values]
        return pl.Series(name, values, dtype=dtype, strict=True)


class _SetAsideMeta(_Part):
    reason: str
    count: int
    places: list[str]
    unit: Unit

    def build(self) -> SetAside:
        return SetAside(self.reason, self.count, tuple(self.places), self.unit)


class Meta(_Part):
    """What stands beside the rows of a stored table."""

    scale: _ScaleMeta
    taxonomy: str | None
    labels: list[str] | None
    types: dict[str, str]
    raters: dict[str, _ColumnMeta]
    stimuli: dict[str, _ColumnMeta]
    set_aside: list[_SetAsideMeta]
    source: str
    history: list[str]

    @model_validator(mode="after")
    def _has_names(self) -> Meta:
        for key, table in (("rater", self.raters), ("stimulus", self.stimuli)):
            column = table.get(key)
            if column is None or column.type != "String" or None in column.values:
                raise ValueError(f"the {key} table has no column of names '{key}'")
            if len({len(other.values) for other in table.values()}) > 1:
                raise ValueError(f"the columns of the {key} table differ in length")
        return self

    def table(self, key: str) -> pl.DataFrame:
        """Give the table of raters or of stimuli."""
        columns = self.raters if key == "rater" else self.stimuli
        return pl.DataFrame([column.build(name) for name, column in columns.items()])


def parse_meta(text: str, *, where: str) -> Meta:
    """Read a stored description.

    Raises
    ------
    InputError
        When it is not JSON, of another schema, or holds something else than a description does;
        the sentence names the key.
    """
    try:
        content = parse_json(text)
    except BadJson as error:
        raise InputError(f"{where}: {error}") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        found = content.get("schema") if isinstance(content, dict) else type(content).__name__
        raise InputError(f"{where}: schema is {found!r}; expected {SCHEMA!r}")
    try:
        return Meta.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{where}: not a description of ratings: {f'{key}: ' if key else ''}"
            f"{message[:1].lower()}{message[1:]}"
        ) from None
