"""Every table that a test of the command line prints is laid out at 80 columns as well."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator

import pytest
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


@pytest.fixture(autouse=True)
def tables_fit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where a word or a number of a printed table is cut or broken at 80 columns."""
    printed: list[Table] = []
    real = Console.print

    def watch(console: Console, *parts: RenderableType, **options: object) -> None:
        printed.extend(table for part in parts for table in _tables(part))
        real(console, *parts, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Console, "print", watch)
    yield
    for table in printed:
        text = io.StringIO()
        real(Console(file=text, width=80, markup=False, emoji=False), table)
        lost = _words(table) - Counter(text.getvalue().split())
        assert not lost, f"cut or broken at 80 columns: {dict(lost)}\n{text.getvalue()}"


def _tables(part: object) -> Iterator[Table]:
    if isinstance(part, Table):
        yield part
    elif isinstance(part, Group):
        for inner in part.renderables:
            yield from _tables(inner)
    elif hasattr(part, "__rich__"):
        yield from _tables(part.__rich__())


def _words(table: Table) -> Counter[str]:
    """Words of a table that must stay whole; longer ones are paths or addresses."""
    spare = getattr(table, "spare", ())
    columns = [column for place, column in enumerate(table.columns) if place not in spare]
    texts = [cell for column in columns for cell in column.cells]
    if table.show_header:
        texts += [column.header for column in columns]
    texts = [text.renderable if isinstance(text, Padding) else text for text in texts]
    read = (text.plain if isinstance(text, Text) else str(text) for text in texts)
    return Counter(word for text in read for word in text.split() if len(word) <= 30)
