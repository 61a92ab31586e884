"""The leaderboard for a terminal: as many columns as fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from affectlab._words import number, percent, plural, shown
from affectlab.evaluation._leaderboard_table import Board, Entry, Leaderboard, Standing

if TYPE_CHECKING:
    from rich.text import Text

    from affectlab._terminal import Table

__all__ = ["rich_leaderboard"]

_NAME_LIMIT = 28
_PROMPT_LIMIT = 20
_HUGE = 1e9
_GAP = 2
"""Characters between columns."""


@dataclass(frozen=True)
class _Column:
    head: str
    cells: list[str]
    numeric: bool = False
    is_metric: bool = False

    @property
    def lines(self) -> str:
        """The head, one word per line."""
        return self.head.replace(" ", "\n")

    @property
    def width(self) -> int:
        """Characters of the widest cell."""
        return max(len(text) for text in (*self.cells, *self.lines.split("\n")))


def rich_leaderboard(found: Leaderboard, width: int) -> Iterator[Text | Table]:
    """Show a table per data set: rank, name, the metric sorted by with its interval, and others."""
    from rich.text import Text

    for k, board in enumerate(found.boards):
        data = board.data
        people = (
            ("simulated person", "simulated people") if data.simulated else ("person", "people")
        )
        about = f", label {board.label}" if board.label else ""
        if k:
            yield Text()
        yield Text(
            f"{shown(data.name)}: {plural(data.n_stimuli, 'stimulus', 'stimuli')}, "
            f"{plural(data.n_raters, *people)}{shown(about)}; by {shown(board.sort)}",
            style="bold",
        )
        columns, hidden = _fitting(board, width)
        yield _table(board, columns)
        if hidden:
            yield Text(f"{plural(hidden, 'more metric')} in the page and the CSV file.")


def _fitting(board: Board, width: int) -> tuple[list[_Column], int]:
    """Choose the columns that fit, and count the metrics that do not."""
    kept, optional = _columns(board)
    room = width - sum(column.width + _GAP for column in kept) + _GAP
    hidden = 0
    for column in optional:
        if column.width + _GAP <= room:
            kept.append(column)
            room -= column.width + _GAP
        else:
            hidden += column.is_metric
    return kept, hidden


def _columns(board: Board) -> tuple[list[_Column], list[_Column]]:
    """Give the columns that must be there and, the most telling first, those that may."""
    entries, cells = board.entries, board.columns[board.sort]
    digits = {name: _digits(column) for name, column in board.columns.items()}
    low_high = [_interval(cell, digits[board.sort]) for cell in cells]
    needed = [
        _Column("rank", [cell.rank_text for cell in cells], numeric=True),
        _Column("name", [shown(_who(entry), _NAME_LIMIT) for entry in entries]),
        _metric(board, board.sort, digits),
        _Column("interval", low_high, numeric=True),
    ]
    optional = [
        _Column(
            "people", ["" if e.is_human else c.against for e, c in zip(entries, cells, strict=True)]
        ),
        _Column("prompt", [shown(entry.result.prompt or "", _PROMPT_LIMIT) for entry in entries]),
        *(_metric(board, name, digits) for name in board.metrics if name != board.sort),
        _Column("answered", [_answered(entry) for entry in entries], numeric=True),
    ]
    return needed, [column for column in optional if column.is_metric or any(column.cells)]


def _table(board: Board, columns: list[_Column]) -> Table:
    from rich.text import Text

    from affectlab._terminal import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in columns:
        justify = "right" if column.numeric else "left"
        table.add_column(Text(column.lines), justify=justify, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    for k, entry in enumerate(board.entries):
        style = "cyan" if entry.is_human else ""
        table.add_row(*(Text(column.cells[k]) for column in columns), style=style)
    return table


def _metric(board: Board, name: str, digits: dict[str, int]) -> _Column:
    cells = [_written(cell.value, digits[name]) for cell in board.columns[name]]
    return _Column(shown(name, _NAME_LIMIT), cells, numeric=True, is_metric=True)


def _who(entry: Entry) -> str:
    """Name a row: the model with its version."""
    result = entry.result
    version = f" {result.version}" if result.version and result.version not in result.name else ""
    return f"{result.name}{version}"


def _answered(entry: Entry) -> str:
    part = entry.result.coverage
    return percent(part.n_answered / part.n_stimuli) if part and part.n_stimuli else ""


def _digits(cells: tuple[Standing, ...]) -> int:
    """Choose digits after the point: three for shares and points, fewer for large numbers."""
    largest = max((abs(cell.value) for cell in cells if cell.value == cell.value), default=0.0)
    return 3 if largest < 10 else 1 if largest < 1000 else 0


def _interval(cell: Standing, digits: int) -> str:
    low, high = cell.interval
    return "" if low != low else f"{_written(low, digits)} – {_written(high, digits)}"


def _written(value: float, digits: int) -> str:
    if abs(value) >= _HUGE:
        return f"{value:.3g}".replace("-", "−")
    return number(value, digits)
