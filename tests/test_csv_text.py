"""CSV files: data as it is, sheets without formulas, and nothing that commands a terminal."""

from __future__ import annotations

import csv

import polars as pl
from hypothesis import given, strategies as st

from affectlab.core.files.csv import cell_of_sheet, text_of_sheet, write_data_csv, write_sheet_csv

HOSTILE = ["=1+1", "+a", "-b", "@c", "\td", "\re", "\x1b[31mred", "plain", "a=b", ""]


def read(path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_sheets_hold_no_formula(tmp_path) -> None:
    path = tmp_path / "sheet.csv"
    frame = pl.DataFrame({"name": HOSTILE, "=head": [-1.5] * len(HOSTILE)})
    write_sheet_csv(frame.with_columns(kind=pl.col("name").cast(pl.Categorical)), path)
    header, *rows = read(path)
    assert header == ["name", "'=head", "kind"]
    names = [row[0] for row in rows]
    assert names[:4] == ["'=1+1", "'+a", "'-b", "'@c"]
    assert names[4:6] == ["'\td", "'\re"]
    assert names[6:] == ["[31mred", "plain", "a=b", ""]
    assert [row[2] for row in rows] == names
    # Numbers stay numbers.
    assert {row[1] for row in rows} == {"-1.5"}


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]))
        | st.text(st.sampled_from("'=+-@\t\ra"), max_size=4),
        min_size=1,
    )
)
def test_what_a_sheet_holds_is_read_back(tmp_path_factory, names) -> None:
    path = tmp_path_factory.mktemp("csv") / "sheet.csv"
    write_sheet_csv(pl.DataFrame({"n": range(len(names)), "name": names}), path)
    cells = [row[1] for row in read(path)[1:]]
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}]
    assert [cell_of_sheet(cell) for cell in cells] == names
    assert (
        pl.Series("c", cells).to_frame().select(text_of_sheet(pl.col("c")))["c"].to_list() == names
    )


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])), min_size=1))
def test_data_is_what_it_was(tmp_path_factory, names) -> None:
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    frame = pl.DataFrame({"n": range(len(names)), "name": names})
    write_data_csv(frame, path)
    assert [row[1] for row in read(path)[1:]] == names


def test_control_characters_are_dropped(tmp_path) -> None:
    path = tmp_path / "data.csv"
    write_data_csv(pl.DataFrame({"name": ["\x1b]0;x\x07a", "=b", "two\nlines"]}), path)
    assert [row[0] for row in read(path)[1:]] == ["]0;xa", "=b", "two\nlines"]
