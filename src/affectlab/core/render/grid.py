"""Tables for a terminal, laid out so that no word or number of them is cut."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import rich.table
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column
from rich.text import Text

from affectlab.core.words import sentence_case

_LONGEST_WORD = 30
"""Cells; a longer word, such as a path, may be broken to make room for the other columns."""
_ENDLESS = 10_000
_WITH_THE_COLUMN_BEFORE = ("interval", "range")
"""Headers of what says how certain the number before it is: it stays in the same block."""


class Table(rich.table.Table):
    """A table of rich's that is laid out in blocks where it is wider than the terminal.

    Rich crops what has no room: numbers lose their digits and two rows can look alike. Here a
    column is at least as wide as its longest word, or its longest cell where it may not wrap. Where
    the columns do not fit beside each other, they follow below each other in blocks, and the
    columns that name a row (those before the first column of numbers) stand in each of them. The
    columns that are `spare` by their places are left out first.
    """

    spare: Collection[int] = ()

    def add_column(self, header: RenderableType = "", *args: Any, **kwargs: Any) -> None:
        """Add a column; its head is in sentence case, unless it is a :class:`rich.text.Text`."""
        head = sentence_case(header) if isinstance(header, str) else header
        super().add_column(head, *args, **kwargs)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table, in as many blocks as the width asks for."""
        blocks = list(self._blocks(console, options.max_width))
        for number, (columns, widths) in enumerate(blocks, 1):
            if number > 1:
                yield Text()
            block = copy(self)
            if number > 1:
                block.title = None
            block.caption = None
            block.columns = [
                replace(column, _index=place, width=width, no_wrap=column.no_wrap, overflow="fold")
                for place, (column, width) in enumerate(zip(columns, widths, strict=True))
            ]
            yield from rich.table.Table.__rich_console__(block, console, options)
        if self.caption:
            # Notes take the width of the terminal, not that of the last block.
            yield Text.assemble(self.caption)

    def _blocks(self, console: Console, room: int) -> Iterator[tuple[list[Column], list[int]]]:
        """Give the columns of each block with their widths."""
        _, right, _, left = self.padding
        room += 0 if self.pad_edge else left + right
        # A line between columns, and one more at the edges.
        beside = left + right + (self.box is not None)
        room -= self.box is not None
        sizes = [self._sizes(column, console, room - beside) for column in self.columns]

        def cost(places: list[int]) -> int:
            return sum(sizes[place][0] + beside for place in places)

        keys = self._keys()
        left_out = self.spare if cost([*range(len(self.columns))]) > room else ()
        while len(keys) > 1 and cost(keys) > room // 2:
            keys = keys[:-1]
        block = list(keys)
        for group in self._groups(len(keys)):
            together = [place for place in group if place not in left_out]
            if together and block != keys and cost([*block, *together]) > room:
                yield self._laid_out(block, sizes, room, beside)
                block = list(keys)
            block += together
        yield self._laid_out(block, sizes, room, beside)

    def _keys(self) -> list[int]:
        """Columns that name a row: those before the first column of numbers, or the first."""
        numbers = [place for place, column in enumerate(self.columns) if column.justify == "right"]
        return list(range(max(1, min(numbers, default=1)))) if self.columns else []

    def _groups(self, first: int) -> list[list[int]]:
        """Columns from the `first` on, a number together with its interval."""
        groups: list[list[int]] = []
        for place in range(first, len(self.columns)):
            if groups and str(self.columns[place].header).lower() in _WITH_THE_COLUMN_BEFORE:
                groups[-1].append(place)
            else:
                groups.append([place])
        return groups

    def _sizes(self, column: Column, console: Console, most: int) -> tuple[int, int]:
        """Width in which no word is broken, and width in which no line is."""
        texts = [column.header, *column.cells] if self.show_header else list(column.cells)
        endless = console.options.update(width=_ENDLESS)
        measures = [Measurement.get(console, endless, text) for text in texts]
        full = max((measure.maximum for measure in measures), default=0)
        if column.no_wrap:
            least = full
        else:
            least = min(max((measure.minimum for measure in measures), default=0), _LONGEST_WORD)
        return max(1, min(least, most)), max(1, min(full, most))

    def _laid_out(
        self, places: list[int], sizes: list[tuple[int, int]], room: int, beside: int
    ) -> tuple[list[Column], list[int]]:
        """Give each column its full width, and take from the widest what is not there."""
        least = [sizes[place][0] for place in places]
        widths = [sizes[place][1] for place in places]
        excess = sum(widths) + beside * len(widths) - room
        while excess > 0:
            spare = [width - low for width, low in zip(widths, least, strict=True)]
            if not any(spare):
                # Names that are longer than the terminal is wide: they are folded.
                least = [1] * len(least)
                if all(width == 1 for width in widths):
                    break
                continue
            widest = max(
                (place for place, free in enumerate(spare) if free), key=lambda k: widths[k]
            )
            widths[widest] -= 1
            excess -= 1
        return [self.columns[place] for place in places], widths
