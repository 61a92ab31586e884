"""The table of a leaderboard: rows, columns, and where each number stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab._words import plural
from affectlab.evaluation._leaderboard_ranks import against_people, possible_ranks
from affectlab.evaluation._result_file import DataSet, Metric, ResultFile

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["Board", "Entry", "Leaderboard", "Standing"]


@dataclass(frozen=True)
class Entry:
    """One row: a result file and its name."""

    result: ResultFile
    file: str
    """Name of the file within the folder."""

    @property
    def is_human(self) -> bool:
        """Whether the row is about people."""
        return self.result.kind == "human"


@dataclass(frozen=True)
class Standing:
    """One number of one row, and where it stands."""

    metric: Metric | None
    """None when the file does not have it."""
    rank: tuple[int, int] | None = None
    """The best and the worst rank among models that the intervals allow; people are not ranked."""
    against: str = ""
    """Where it stands against people; see :func:`against_people`."""

    @property
    def value(self) -> float:
        """The number, ``nan`` where there is none."""
        known = self.metric is not None and self.metric.value is not None
        return float(self.metric.value) if known else float("nan")  # type: ignore[union-attr, arg-type]

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the interval, ``nan`` where there is none."""
        if self.metric is None or self.metric.low is None or self.metric.high is None:
            return float("nan"), float("nan")
        return self.metric.low, self.metric.high

    @property
    def rank_text(self) -> str:
        """The rank as people write it: ``2`` or ``2–4``."""
        if self.rank is None:
            return ""
        best, worst = self.rank
        return str(best) if best == worst else f"{best}–{worst}"


@dataclass(frozen=True, eq=False)
class Board:
    """All rows on one data set, sorted."""

    data: DataSet
    entries: tuple[Entry, ...]
    """The best first, people among models."""
    metrics: tuple[str, ...]
    """Names of the columns."""
    sort: str
    """The metric by which the rows are sorted."""
    label: str | None = None
    """The label that the numbers are about; None when about all."""

    @cached_property
    def columns(self) -> dict[str, tuple[Standing, ...]]:
        """Metric to one standing per entry."""
        return {name: self._column(name) for name in self.metrics}

    def higher_is_better(self, metric: str) -> bool:
        """Say which end of a metric is the better one."""
        return next(
            found.higher_is_better
            for entry in self.entries
            if (found := entry.result.metric(metric, self.label)) is not None
        )

    def people(self, metric: str) -> dict[str, float]:
        """Give the values of people by role, ``ceiling`` among them; single people by name."""
        found = {}
        for entry in self.entries:
            metric_of = entry.result.metric(metric, self.label)
            if entry.is_human and metric_of is not None and metric_of.value is not None:
                found[entry.result.role or entry.result.name] = metric_of.value
        return found

    def human_range(self, metric: str) -> tuple[float, float] | None:
        """Give the lowest and the highest person, or None without people."""
        values = [value for who, value in self.people(metric).items() if who != "ceiling"]
        return (min(values), max(values)) if values else None

    def _column(self, name: str) -> tuple[Standing, ...]:
        higher = self.higher_is_better(name)
        plain = [Standing(entry.result.metric(name, self.label)) for entry in self.entries]
        value = np.array([cell.value for cell in plain])
        low, high = np.array([cell.interval for cell in plain]).T
        machines = np.flatnonzero([not entry.is_human for entry in self.entries])
        best, worst = possible_ranks(
            value[machines], low[machines], high[machines], higher_is_better=higher
        )
        ranks = {
            int(k): (int(first), int(last))
            for k, first, last in zip(machines, best, worst, strict=True)
            if first
        }
        people = [part for who, part in self.people(name).items() if who != "ceiling"]
        return tuple(
            Standing(
                cell.metric,
                ranks.get(k),
                ""
                if self.entries[k].is_human
                else against_people(
                    value[k], low[k], high[k], np.array(people), higher_is_better=higher
                ),
            )
            for k, cell in enumerate(plain)
        )


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """One board per data set.

    Made by :func:`leaderboard`.
    """

    boards: tuple[Board, ...]
    warnings: tuple[str, ...]
    """What a reader should know before comparing rows, in sentences."""
    folder: str = ""

    def to_frame(self) -> pl.DataFrame:
        """Give one row per data set, entry and metric.

        Returns
        -------
        ``data``, ``name``, ``kind``, ``role``, ``version``, ``prompt``, ``metric``, ``label``,
        ``value``, ``low``, ``high``, ``rank_best``, ``rank_worst``, ``against_people``,
        ``n_items``, ``coverage``, ``status``, ``file``.
        """
        schema = {
            **dict.fromkeys(
                ("data", "name", "kind", "role", "version", "prompt", "metric", "label"), pl.String
            ),
            **dict.fromkeys(("value", "low", "high"), pl.Float64),
            **dict.fromkeys(("rank_best", "rank_worst"), pl.Int64),
            "against_people": pl.String,
            "n_items": pl.Int64,
            "coverage": pl.Float64,
            "status": pl.String,
            "file": pl.String,
        }
        rows = [row for board in self.boards for row in _rows(board)]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain data (for JSON)."""
        frame = self.to_frame()
        return {
            "boards": [
                {
                    "data": board.data.model_dump(mode="json"),
                    "sort": board.sort,
                    "metrics": list(board.metrics),
                    "people": {name: board.people(name) for name in board.metrics},
                }
                for board in self.boards
            ],
            "rows": frame.to_dicts(),
        }

    def __repr__(self) -> str:
        rows = sum(len(board.entries) for board in self.boards)
        return f"Leaderboard({plural(rows, 'row')} on {plural(len(self.boards), 'data set')})"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from affectlab.evaluation._leaderboard_show import rich_leaderboard

        yield from rich_leaderboard(self, options.max_width)


def _rows(board: Board) -> list[tuple[Any, ...]]:
    rows = []
    for name, column in board.columns.items():
        for entry, cell in zip(board.entries, column, strict=True):
            result, metric = entry.result, cell.metric
            part = result.coverage
            best, worst = cell.rank or (None, None)
            rows.append(
                (
                    board.data.name,
                    result.name,
                    result.kind,
                    result.role,
                    result.version,
                    result.prompt,
                    name,
                    board.label,
                    None if metric is None else metric.value,
                    None if metric is None else metric.low,
                    None if metric is None else metric.high,
                    best,
                    worst,
                    cell.against or None,
                    None if metric is None else metric.n_items,
                    None
                    if part is None or not part.n_stimuli
                    else part.n_answered / part.n_stimuli,
                    "not in the file" if metric is None else metric.status,
                    entry.file,
                )
            )
    return rows
