"""Tables in a terminal: whatever its width, no word is cut and no row loses its name."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
from hypothesis import given, settings, strategies as st
from rich import text as rich_text
from rich.console import Console

import affectlab
from affectlab.core import tables as declared
from affectlab.core.render.grid import Table
from affectlab.core.render.terminal import table_lines
from affectlab.core.tables import Count, Key, Text

WORDS = st.text("abcxyz0123456789−.", min_size=1, max_size=12)
CELLS = st.lists(WORDS, min_size=1, max_size=3)


def printed(table: Table, width: int) -> str:
    text = io.StringIO()
    Console(file=text, width=width, markup=False).print(table)
    return text.getvalue()


@settings(max_examples=50)
@given(
    n_numbers=st.integers(0, 12),
    drawn=st.lists(st.lists(CELLS, min_size=14, max_size=14), min_size=1, max_size=2),
    width=st.integers(60, 120),
    lines=st.booleans(),
)
def test_no_word_is_lost_at_any_width(
    n_numbers: int, drawn: list[list[list[str]]], width: int, *, lines: bool
) -> None:
    table = Table() if lines else Table(box=None)
    for place in range(2):
        table.add_column(f"name{place}")
    for place in range(n_numbers):
        table.add_column(f"number {place}", justify="right", no_wrap=place % 2 == 0)
    # Cells that may not wrap are numbers: one word.
    used = [
        [
            cell if column.no_wrap is False else cell[:1]
            for cell, column in zip(row, table.columns, strict=False)
        ]
        for row in drawn
    ]
    for row in used:
        table.add_row(*(rich_text.Text(" ".join(cell)) for cell in row))
    text = printed(table, width)
    wanted = Counter(word for row in used for cell in row for word in cell)
    assert not wanted - Counter(text.split())
    assert all(len(line.rstrip()) <= width for line in text.splitlines())


def test_blocks_repeat_what_names_a_row() -> None:
    table = Table(box=None)
    table.add_column("method")
    table.add_column("pairs")
    for header in ("SROCC", "range", "PLCC", "range", "difference", "interval"):
        table.add_column(header, justify="right", no_wrap=True)
    for pairs in ("intra", "inter"):
        table.add_row("ridge", pairs, *["0.925", "0.908 – 0.941"] * 3)
    narrow, wide = printed(table, 60), printed(table, 120)
    assert len(wide.splitlines()) == 3
    blocks = narrow.split("\n\n")
    assert len(blocks) == 2
    for block in blocks:
        header, *rows = block.splitlines()
        assert header.split()[:2] == ["Method", "Pairs"]
        assert [row.split()[:2] for row in rows if row.strip()] == [
            ["ridge", "intra"],
            ["ridge", "inter"],
        ]
    # A number and its interval stay beside each other.
    assert "Difference" in blocks[1].split("\n")[0]
    assert "Interval" in blocks[1].split("\n")[0]


def test_columns_to_spare_go_before_a_table_is_cut_into_blocks() -> None:
    frame = pl.DataFrame({"rater": ["a"], "n_answers": [1], "evidence": ["one answer to all"]})
    columns = (Key("rater"), Count("n_answers", spare=True), Text("evidence"))
    table = declared.Table("raters", "", frame, columns, notes=("Said once.",))
    wide, narrow = (printed(table_lines(table), width) for width in (60, 20))
    assert "Answers" in wide
    assert "Answers" not in narrow
    assert narrow.split()[:3] == ["Rater", "Evidence", "a"]
    # What is left may need blocks, below which the notes stand once.
    longer = replace(table, columns=(*columns, Count("n_answers", "numbers")))
    blocks = printed(table_lines(longer), 20)
    assert blocks.count("Rater") == 2
    assert blocks.count("Said once.") == 1


def test_every_table_of_the_package_is_one_of_these() -> None:
    folder = Path(affectlab.__file__).parent
    other = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if path.name != "grid.py"
        and re.search(r"rich\.table|from rich import .*table", path.read_text(encoding="utf-8"))
    ]
    assert not other
