"""All that the golden cases make: its numbers, and what holds for every result."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure as Canvas
from tests.golden.frozen import cases, compute, differences, now, read, told

import affectlab as al
from affectlab.core.errors import InputError
from affectlab.core.render.figure import figures_of
from affectlab.core.render.plain import plain
from affectlab.core.result import Result, read_result
from affectlab.core.tables import Count, Key, Number, Table
from affectlab.core.words import shown

jsonschema = pytest.importorskip("jsonschema")

FROZEN = read()


@pytest.fixture(scope="module", params=cases())
def made(request: pytest.FixtureRequest) -> tuple[str, Any]:
    """Give what a case makes, once for all tests of it."""
    return request.param, compute(request.param)


@pytest.mark.long
def test_numbers_are_those_that_were_frozen(made: tuple[str, Any]) -> None:
    name, value = made
    found = differences({name: FROZEN.get(name, {})}, {name: now(name, value)})
    if found:
        pytest.fail(
            f"{told(found)}\n`make golden` freezes anew what is meant to change", pytrace=False
        )


def test_every_frozen_case_is_there() -> None:
    assert FROZEN.keys() <= cases().keys()


@pytest.mark.long
def test_every_result_is_shown_described_drawn_written_and_read(
    made: tuple[str, Any], tmp_path: Path
) -> None:
    for number, result in enumerate(results_in(made[1])):
        assert result.finding == (result.sentences or (result.finding,))[0]
        assert result._repr_html_().startswith(f"<div><p>{escape(shown(result.finding))}</p>")
        jsonschema.validate(result.to_dict(), result.schema())
        json.dumps(result.to_dict(), allow_nan=False)
        assert_drawn(result)
        assert_same(read_result(result.write(tmp_path / f"result {number}")), result)


def results_in(value: Any) -> Iterator[Result]:
    """Every result in what a case returns."""
    if isinstance(value, Result):
        yield value
    if isinstance(value, Mapping):
        for part in value.values():
            yield from results_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from results_in(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from results_in(getattr(value, field.name))


def assert_drawn(result: Result) -> None:
    """Every figure is drawn on the axes that are given; a result of words alone has none."""
    figures = result.figures or figures_of(result.tables)
    for figure in figures:
        ax = Canvas().add_subplot()
        assert result.plot(figure.name, ax=ax) is ax
        assert ax.get_title() == figure.title
        panels = ax.figure.axes
        assert any(one.has_data() for one in panels) or not result.table(figure.of).frame.height
    if not figures:
        kinds = {column.kind for table in result.tables for column in table.columns}
        assert kinds <= {"name", "text", "yes_no"}


def assert_same(read: Result, result: Result) -> None:
    assert read.tables == tuple(result.tables)
    for name in ("sentences", "notes"):
        assert getattr(read, name) == tuple(getattr(result, name))
    for name in ("settings", "provenance", "figures"):
        assert plain(getattr(read, name)) == plain(getattr(result, name))
    assert read.provenance["version"] == al.__version__


def test_results_are_equal_that_hold_the_same() -> None:
    one, other, third = (
        al.core.estimates.Estimates.build({"label": ["joy", "awe"]}, value=[0.5, value])
        for value in (math.nan, math.nan, 0.4)
    )
    assert one == other
    assert one != third
    assert one.tables[0] != replace(other.tables[0], caption="Another.")


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"result\.json: there is no such file; expected a folder"):
        read_result(tmp_path)
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(InputError, match="not a result"):
        read_result(tmp_path)
    made = al.core.estimates.Estimates.build({"label": ["joy"]}, value=[0.5])
    folder = made.write(tmp_path)
    (folder / "estimates.parquet").unlink()
    with pytest.raises(InputError, match=r"estimates\.parquet: there is no such file"):
        read_result(folder)


def test_a_schema_names_and_explains_columns() -> None:
    made = al.core.estimates.Estimates.build({"label": ["joy"]}, value=[float("nan")])
    made = made.with_columns({"lists": pl.Series([["a"]]), "at": pl.Series([{"x": 1.5}])})
    cells = made.schema()["properties"]["estimates"]["items"]["properties"]
    assert cells["n_items"] == {"type": ["integer", "null"], "title": "items"}
    assert cells["lists"]["items"] == {"type": ["string", "null"]}
    assert cells["at"]["properties"] == {"x": {"type": ["number", "null"]}}
    jsonschema.validate(made.to_dict(), made.schema())
    wrong = made.to_dict()
    wrong["estimates"][0]["n_items"] = "many"
    with pytest.raises(jsonschema.ValidationError, match="'many' is not of type"):
        jsonschema.validate(wrong, made.schema())


@pytest.mark.parametrize("rows", [0, 1, 3, 300])
def test_a_table_of_any_length_is_drawn(rows: int) -> None:
    value = [float(k) for k in range(rows)]
    made = al.core.estimates.Estimates.build(
        {"label": [f"label {k}" for k in range(rows)]}, value=value, low=value, high=value
    )
    ax = made.plot()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == min(rows, 40)
    heights = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in pairwise(heights))
    if rows == 300:
        assert names[0] == "label 299"
        assert names[-1] == "label 0"
        assert "20 lowest and 20 highest of 300" in ax.get_xlabel()


def test_counts_are_drawn_where_nothing_else_is() -> None:
    frame = pl.DataFrame({"rater": ["a", "b"], "n_items": [3, 4], "ratio": [0.5, 0.25]})
    both = (Key("rater"), Count("n_items", "stimuli"), Number("ratio", "ratio"))
    for columns, drawn in ((both, "ratio"), (both[:2], "stimuli")):
        made = Result((Table("raters", "Raters.", frame, columns),))
        assert made.plot().get_xlabel() == drawn
