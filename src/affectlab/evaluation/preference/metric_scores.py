"""Scores of metrics for items, as a long table: one row per item and metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.types import Floats
from affectlab.core.words import joined
from affectlab.evaluation.differences import labels_as_metrics
from affectlab.ratings import Ratings, answers_of, require_order

_NEEDED = ("item", "metric", "score")
_SYSTEM = "system"


@dataclass(frozen=True, eq=False)
class MetricScores:
    """What every metric says of every item."""

    items: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Floats
    """Shape (items, metrics), ``nan`` where a metric says nothing of an item."""
    columns: dict[str, tuple[str, ...]]
    """Other columns that say one thing per item, such as ``emotion`` and ``source``."""

    def by_item(self) -> dict[str, dict[str, str]]:
        """Give the other columns by name and item."""
        return {
            name: dict(zip(self.items, texts, strict=True)) for name, texts in self.columns.items()
        }


def metric_scores(
    scores: str | Path | pl.DataFrame | Mapping[str, Any], *, system: str | None = None
) -> MetricScores:
    """Read a long table of scores: ``item``, ``metric``, ``score``.

    Parameters
    ----------
    scores
        A CSV or Parquet file, such as ``affectlab evaluate text --out`` writes; a data frame; or
        columns by name. Empty scores and ``nan`` say that a metric has nothing to say of an item.
    system
        Where there is a column ``system``, too, only rows of this system are taken: a table may
        hold the scores of both texts of an item.

    Returns
    -------
    MetricScores, items and metrics in the order in which they come first.

    Raises
    ------
    InputError
        When a column is missing, a score is no number or infinite, or an item has two scores of
        one metric.

    Examples
    --------
    >>> read = metric_scores({"item": ["a", "b"], "metric": ["clip"] * 2, "score": [0.7, 0.8]})
    >>> read.metrics, read.values.tolist()
    (('clip',), [[0.7], [0.8]])
    """
    name, frame = _frame(scores)
    require_columns(frame, _NEEDED, f"{name}: ")
    if system is not None and _SYSTEM in frame.columns:
        there = frame[_SYSTEM].cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
        if system not in there:
            raise InputError(
                f"{name}: no score is of the system {system!r}; expected it in column 'system', "
                f"which names {joined(map(repr, there[:6])) if there else 'nobody'}"
            )
        frame = frame.filter(frame[_SYSTEM].cast(pl.String) == system)
    if not frame.height:
        raise InputError(f"{name}: there is no score; expected at least one row")
    items, at_item = _codes(name, frame, "item")
    metrics, at_metric = _codes(name, frame, "metric")
    score = _numbers(name, frame["score"])
    cell = at_item * len(metrics) + at_metric
    present, count = np.unique(cell, return_counts=True)
    if (count > 1).any():
        twice = int(present[np.argmax(count > 1)])
        raise InputError(
            f"{name}: item {items[twice // len(metrics)]!r} has {int(count.max())} scores of "
            f"{metrics[twice % len(metrics)]!r}; expected one for each item and metric"
        )
    values = np.full((len(items), len(metrics)), np.nan)
    values[at_item, at_metric] = score
    return MetricScores(items, metrics, values, _item_columns(frame))


def scores_of_ratings(models: Ratings) -> MetricScores:
    """Take each rater, or label, as a metric, and stimuli as items."""
    require_order(models, "the area under the curve")
    answers = answers_of(labels_as_metrics(models) if models.has_labels else models)
    return MetricScores(answers.units, answers.raters, answers.grid()[:, 0].T, {})


def _frame(source: Any) -> tuple[str, pl.DataFrame]:
    if isinstance(source, pl.DataFrame):
        return "scores", source
    if isinstance(source, Mapping):
        try:
            return "scores", pl.DataFrame(dict(source))
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            said = " ".join(str(error).split())[:120]
            raise InputError(f"scores: the columns make no table ({said})") from None
    path = Path(source)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a table of scores (CSV or Parquet)")
    try:
        if path.suffix.casefold() == ".parquet":
            return str(path), pl.read_parquet(path)
        # Names such as 007 stay as they are written.
        return str(path), pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())[:120]
        raise InputError(f"{path} cannot be read ({said}); expected CSV or Parquet") from None


def _codes(name: str, frame: pl.DataFrame, column: str) -> tuple[tuple[str, ...], np.ndarray]:
    texts = frame[column].cast(pl.String).to_list()
    place: dict[str, int] = {}
    codes = np.empty(len(texts), dtype=np.int64)
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            raise InputError(f"{name}, row {row + 1}: column {column!r} is empty; expected a name")
        codes[row] = place.setdefault(text, len(place))
    return tuple(place), codes


def _numbers(name: str, column: pl.Series) -> Floats:
    if column.dtype == pl.String:
        texts = column.str.strip_chars()
        empty = texts.is_null() | texts.str.to_lowercase().is_in(["", "nan", "na", "null"])
        read = texts.cast(pl.Float64, strict=False)
        wrong = read.is_null() & ~empty
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise InputError(f"{name}, row {row + 1}: score {column[row]!r} is no number")
        column = read
    elif not column.dtype.is_numeric() and column.null_count() < column.len():
        raise InputError(f"{name}: scores are {column.dtype}; expected numbers")
    values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise InputError(f"{name}, row {row + 1}: the score is infinite; expected a finite number")
    return values


def _item_columns(frame: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Columns that hold one text for each item; what differs between metrics is about metrics."""
    texts = frame.select(
        pl.col("item").cast(pl.String),
        *(
            pl.col(name).cast(pl.String).fill_null("")
            for name, kind in frame.schema.items()
            if name not in (*_NEEDED, _SYSTEM) and not kind.is_nested()
        ),
    )
    of_item = texts.group_by("item", maintain_order=True)
    first, n = of_item.agg(pl.all().first()), of_item.agg(pl.all().n_unique())
    names = [name for name in first.columns if name != "item" and (n[name] == 1).all()]
    return {name: tuple(first[name].to_list()) for name in names}
