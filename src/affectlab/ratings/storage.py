"""Writing a table of ratings so that reading gives the same table again."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from affectlab.core.errors import InputError
from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.files import BadJson, parse_json
from affectlab.ratings.scale import Scale, ScaleKind
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import AsideKind, SetAside, Unit
from affectlab.ratings.steps import Step

# The description stored with a table of ratings, checked before anything is built of it.


SCHEMA = "affectlab/ratings/1"
METADATA_KEY = "affectlab"
INSIDE = ("rater_kind", "scale")
"""Columns of a CSV or JSON Lines file that say what its answers mean."""
_INFERRED = " (inferred)"
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
    kind: AsideKind

    def build(self) -> SetAside:
        return SetAside(self.reason, self.count, tuple(self.places), self.unit, self.kind)


class _StepMeta(_Part):
    kind: str
    facts: dict[str, Cell | list[str] | list[float]]
    guessed: bool

    @model_validator(mode="after")
    def _is_step(self) -> _StepMeta:
        try:
            self.build()
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    def build(self) -> Step:
        return Step.parse(vars(self))


class Meta(_Part):
    """What stands beside the rows of a stored table."""

    scale: _ScaleMeta | None = None
    scales: dict[str, _ScaleMeta] = {}
    """By label, where labels are on different scales; else `scale` holds."""
    taxonomy: str | None
    labels: list[str] | None
    types: dict[str, str]
    raters: dict[str, _ColumnMeta]
    stimuli: dict[str, _ColumnMeta]
    set_aside: list[_SetAsideMeta]
    source: str
    history: list[_StepMeta]

    @model_validator(mode="after")
    def _has_scales(self) -> Meta:
        if (self.scale is None) == (not self.scales):
            raise ValueError("expected either 'scale' or 'scales' by label")
        missing = set(self.labels or ()) - set(self.scales)
        if self.scales and (self.labels is None or missing):
            raise ValueError(f"scales: no scale of label {next(iter(missing), 'rating')!r}")
        return self

    @model_validator(mode="after")
    def _has_names(self) -> Meta:
        for key, table in (("rater", self.raters), ("stimulus", self.stimuli)):
            column = table.get(key)
            if column is None or column.type != "String" or None in column.values:
                raise ValueError(f"the {key} table has no column of names '{key}'")
            if len({len(other.values) for other in table.values()}) > 1:
                raise ValueError(f"the columns of the {key} table differ in length")
        return self

    def scale_of(self) -> DeclaredScales:
        """Give the scale, or the scale of each label."""
        if self.scale is not None:
            return DeclaredScales(self.scale.build())
        by_label = {name: scale.build() for name, scale in self.scales.items()}
        return DeclaredScales(None, by_label)

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
        message = str(problem.get("ctx", {}).get("error", problem["msg"]))
        raise InputError(
            f"{where}: not a description of ratings: {f'{key}: ' if key else ''}"
            f"{message[:1].lower()}{message[1:]}"
        ) from None


_SUFFIXES = (".csv", ".parquet", ".jsonl")
_FILE = re.compile(r"[/\\][^/\\]*\.[A-Za-z]\w*$")
"""The end of a path that leads to a file, as against a slash in the words of a source."""


def sidecar(path: Path) -> Path:
    """Give the file that holds scale, raters and stimuli of a CSV or JSON Lines file."""
    return path.with_name(path.name + ".meta.json")


def write_ratings(ratings: RatingsBase, path: str | Path) -> Path:
    """Write a table of ratings.

    Parameters
    ----------
    ratings
        The table.
    path
        File name; the suffix ``.csv``, ``.parquet`` or ``.jsonl`` says the format. Scale, taxonomy,
        raters and stimuli are stored inside a Parquet file. The others have the kind of the rater
        and the scale in columns, so that the file alone says what answers mean; taxonomy,
        attributes and history are stored beside it in a file of the same name with ``.meta.json``
        added. Of the source only the file name is stored, never its folder. Values of a scale with
        categories are written by name.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    InputError
        When the suffix is not known, or the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import Ratings, read_ratings
    >>> r = Ratings({"stimulus": ["007"], "rater": ["NA"], "value": [3]}, scale="0-7")
    >>> file = write_ratings(r, Path(tempfile.mkdtemp()) / "ratings.csv")
    >>> read_ratings(file).equals(r)
    True
    """
    path = check_ratings_path(path)
    suffix = path.suffix.lower()
    frame = named_frame(ratings)
    meta = json.dumps(_meta(ratings, frame), ensure_ascii=False)
    try:
        if suffix == ".parquet":
            with _complete(path) as part:
                frame.write_parquet(part, metadata={METADATA_KEY: meta})
            return path
        plain = explained(_whole_numbers(frame), ratings)
        with _complete(sidecar(path)) as beside, _complete(path) as part:
            if suffix == ".csv":
                plain.write_csv(part)
            else:
                _with_infinity(plain).write_ndjson(part)
            beside.write_text(meta + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


@contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """Give a file that takes the place of another when it is complete; until then nothing changes.

    What is no plain file (``/dev/stdout``, a pipe) is written to directly.
    """
    path = path.resolve()
    there = path.exists()
    if there and (not path.is_file() or not os.access(path, os.W_OK)):
        yield path
        return
    with TemporaryDirectory(dir=path.parent, prefix=".new-") as folder:
        part = Path(folder) / "part"
        yield part
        if there:
            shutil.copymode(path, part)
        part.replace(path)


def check_ratings_path(path: str | Path) -> Path:
    """Say, before hours of work, whether ratings could be written to a file.

    Raises
    ------
    InputError
        When the suffix is not known, the folder does not exist, or the path is a folder.

    Examples
    --------
    >>> check_ratings_path("ratings.parquet").name
    'ratings.parquet'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path}: suffix {suffix!r}; expected one of {', '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    return path


def named_frame(ratings: RatingsBase) -> pl.DataFrame:
    """Give all rows with plain text names, and categories by name where every value is one."""
    frame = ratings.to_frame()
    value, code = ratings.value, ratings.label_code
    present = ~np.isnan(value)
    by_scale: dict[Scale, list[int]] = {}
    for place, scale in enumerate(ratings.scales.values()):
        if scale.categories:
            by_scale.setdefault(scale, []).append(place)
    if not by_scale:
        return frame
    names = frame["value"].cast(pl.String).to_numpy().astype(object)
    for scale, labels in by_scale.items():
        rows = present & np.isin(code, labels)
        if not scale.contains(value[rows]).all():
            return frame
        position = np.rint(value[rows] - (scale.low or 0.0)).astype(np.intp)
        names[rows] = np.array(scale.categories, dtype=object)[position]
    return frame.with_columns(value=pl.Series(names.tolist(), dtype=pl.String))


def explained(frame: pl.DataFrame, ratings: RatingsBase) -> pl.DataFrame:
    """Add what answers mean: the kind of the rater, and the scale of the label."""
    if set(INSIDE) & set(frame.columns):
        # An attribute of answers that has one of these names stays what it is.
        return frame
    kinds = pl.Series(ratings.rater_kinds, dtype=pl.String).gather(ratings.rater_code)
    scales = pl.Series(map(_written, ratings.scales.values()), dtype=pl.String)
    kind, scale = INSIDE
    return frame.with_columns(
        kinds.alias(kind), scales.gather(ratings.label_code.astype(np.int64)).alias(scale)
    )


def _written(scale: Scale) -> str:
    """Write a scale in words where these are read back, else as JSON."""
    text = str(scale)
    try:
        same = parse_scale(text) == scale
    except InputError:
        same = False
    return text if same else json.dumps(scale.to_dict(), ensure_ascii=False)


def parse_scale(text: str) -> Scale:
    """Read a scale that stands in a column of what was written.

    Raises
    ------
    InputError
        When it is none.

    Examples
    --------
    >>> str(parse_scale("ordinal 0 to 7, step 1 (inferred)"))
    'ordinal 0 to 7, step 1 (inferred)'
    """
    if text.startswith("{"):
        try:
            return _ScaleMeta.model_validate(parse_json(text)).build()
        except (BadJson, ValidationError):
            raise InputError(f"scale {text!r} is not understood") from None
    words = text.removesuffix(_INFERRED)
    return replace(Scale.parse(words), declared=words == text)


def _with_infinity(frame: pl.DataFrame) -> pl.DataFrame:
    """Write infinite attributes as text, since JSON has no infinity."""
    endless = [
        name
        for name, dtype in frame.schema.items()
        if dtype == pl.Float64 and frame[name].is_infinite().any()
    ]
    return frame.with_columns(pl.col(endless).cast(pl.String))


def _whole_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Write 3 instead of 3.0 where every value is a whole number."""
    value = frame["value"]
    if value.dtype == pl.Float64 and bool((value.is_null() | (value == value.round())).all()):
        biggest = value.abs().max()
        if biggest is None or float(str(biggest)) < 2**53:
            return frame.with_columns(pl.col("value").cast(pl.Int64))
    return frame


def _meta(ratings: RatingsBase, frame: pl.DataFrame) -> dict[str, Any]:
    scales = {name: scale.to_dict() for name, scale in ratings.scales.items()}
    first = next(iter(scales.values()))
    shared = all(scale == first for scale in scales.values())
    return {
        "schema": SCHEMA,
        **({"scale": first} if shared else {"scales": scales}),
        "taxonomy": None if ratings.taxonomy is None else ratings.taxonomy.to_toml(),
        "labels": list(ratings.label_names) if ratings.has_labels else None,
        "columns": frame.columns,
        "types": {name: str(dtype) for name, dtype in frame.schema.items()},
        "raters": _columns(ratings.raters),
        "stimuli": _columns(ratings.stimuli),
        "source": plain_source(ratings),
        "history": [one.to_dict() for one in ratings.history],
        "set_aside": [part.to_dict() for part in ratings.set_aside],
    }


def plain_source(ratings: RatingsBase) -> str:
    """Say where the answers come from, without the folders of one computer."""
    return "; ".join(map(_without_folder, ratings.source.split("; ")))


def _without_folder(source: str) -> str:
    """Give the name of a file, since where it lay on one computer is nobody else's business."""
    rooted = PurePosixPath(source).is_absolute() or PureWindowsPath(source).is_absolute()
    return PureWindowsPath(source).name if rooted or _FILE.search(source) else source


def _columns(table: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {
        name: {"type": str(table.schema[name]), "values": [_plain(v) for v in table[name]]}
        for name in table.columns
    }


def _plain(value: Any) -> Any:
    """Give a value that JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
