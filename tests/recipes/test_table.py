"""The table of a reproduction in a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from affectlab.recipes import Finding
from affectlab.recipes.published_figures import PublishedFigure, PublishedFigures
from affectlab.recipes.reproduction import Comparison, Reproduction, shown_figure

pytestmark = pytest.mark.long


def figure(name: str, value: float, where: str = "Table 1", **more: object) -> PublishedFigure:
    return PublishedFigure.model_validate(
        {"key": name, "name": name, "where": where, "value": value, **more}
    )


def printed(*rows: Comparison, width: int = 80) -> str:
    paper = PublishedFigures(
        paper="p", title="A title", citation="Somebody, 2020", figure=tuple(r.figure for r in rows)
    )
    out = io.StringIO()
    Console(file=out, width=width, markup=False, emoji=False).print(Reproduction(paper, rows))
    return out.getvalue()


FOUND = Finding(0.521, 0.48, 0.56)


def test_one_reason_is_said_once_and_takes_no_column() -> None:
    rows = [
        Comparison(figure(f"accuracy {k}", 0.5, tolerance=0.005), FOUND, own_data=False)
        for k in range(3)
    ]
    said = printed(*rows)
    assert said.count("simulated data") == 1
    assert "No row has a verdict: simulated data." in said
    assert "verdict" not in said.split("accuracy 0")[0]
    assert len([line for line in said.splitlines() if "0.521" in line]) == 3


def test_verdicts_stand_in_a_column_and_reasons_below() -> None:
    rows = (
        Comparison(figure("near", 0.52, tolerance=0.005), FOUND, own_data=True),
        Comparison(figure("far", 0.9, tolerance=0.005), FOUND, own_data=True),
        Comparison(figure("doubted", 0.5), FOUND, own_data=True, doubt="a long reason"),
        Comparison(figure("doubted too", 0.5), FOUND, own_data=True, doubt="another one"),
        Comparison(figure("bounded", 0.5), Finding(low=0.4, high=0.6), own_data=True),
    )
    said = printed(*rows)
    line = {name: next(one for one in said.splitlines() if name in one) for name in ("near", "far")}
    assert line["near"].rstrip().endswith("reproduced")
    assert line["far"].rstrip().endswith("differs")
    assert "no verdict [1]" in said
    assert "[1] No verdict: a long reason." in said
    assert "[2] No verdict: another one." in said
    assert re.search(r"bounded +0\.5 +inside bounds *\n +ours: 0\.4 to 0\.6", said)


def test_few_intervals_take_no_column() -> None:
    plain = [
        Comparison(figure(f"plain {k}", 0.5, tolerance=0.005), Finding(0.5), own_data=True)
        for k in range(9)
    ]
    some = Comparison(figure("some", 0.5, tolerance=0.005), FOUND, own_data=True)
    bounded = Comparison(figure("bounded", 0.5), Finding(low=0.4, high=0.6), own_data=True)
    few = printed(*plain, some, bounded)
    assert "interval" not in few
    lines = [line.strip() for line in few.splitlines()]
    assert lines[lines.index("ours: 0.480 to 0.560") - 1].startswith("some")
    assert "ours: 0.4 to 0.6" in lines


def test_many_intervals_take_a_column_where_no_verdict_needs_the_room() -> None:
    rows = [
        Comparison(figure(f"{name} {k}", 0.5, tolerance=0.005), finding, own_data=False)
        for name, finding in (("plain", Finding(0.5)), ("some", FOUND))
        for k in range(2)
    ]
    many = printed(*rows)
    assert re.search(r"some 0 +0\.50 +0\.521 +0\.480 to 0\.560", many)
    assert "ours: " not in many
    judged = printed(*(replace(row, own_data=True) for row in rows))
    assert "interval" not in judged
    assert judged.count("ours: 0.480 to 0.560") == 2


def test_figures_without_a_value_are_counted_by_reason() -> None:
    why = Finding(why="needs weights")
    rows = (
        Comparison(figure("here", 0.5), Finding(0.5), own_data=True),
        Comparison(figure("absent", 0.1, "Table 2"), why, own_data=True),
        Comparison(figure("absent, too", 0.2, "Table 3"), why, own_data=True),
        Comparison(figure("left out", 0.3, "Table 3"), Finding(), own_data=True),
    )
    said = printed(*rows)
    assert "absent" not in said
    assert "3 of 4 published figures have no value of ours" in said
    assert "- 2 of Table 2 and Table 3: needs weights" in said
    assert "- 1 of Table 3: not part of this run" in said
    # Nothing at all was found.
    assert "2 of 2 published figures" in printed(*rows[1:3])


@pytest.mark.parametrize("field", ["inconsistent", "contradicts", "note"])
def test_a_mark_is_explained_where_it_stands(field: str) -> None:
    row = Comparison(figure("odd", 0.5, **{field: "why"}), Finding(0.5), own_data=True)
    said = printed(row)
    marked = field != "note"
    assert ("0.5†" in said) is marked
    assert ("† The printed figure contradicts others" in said) is marked


def test_rows_of_one_place_stand_together() -> None:
    rows = [
        Comparison(figure(name, 1, where, unit="count"), Finding(1.0), own_data=True)
        for name, where in (("a1", "section 1"), ("b1", "Table 2"), ("a2", "section 1"))
    ]
    said = [line.split()[0] for line in printed(*rows).splitlines() if line.startswith(" ")]
    assert said == ["a1", "a2", "b1"]
    assert printed(*rows).count("Section 1") == 1


@pytest.mark.parametrize("width", [80, 120])
def test_names_are_indented_when_they_wrap(width: int) -> None:
    name = "a long name of a figure that takes more than a line " * 3
    row = Comparison(figure(name.strip(), 0.5, tolerance=0.005), FOUND, own_data=True)
    said = printed(row, width=width).splitlines()
    start = next(k for k, line in enumerate(said) if "Table 1" in line)
    end = next(k for k in range(start + 1, len(said)) if not said[k].strip())
    assert end - start > 2
    assert all(line.startswith("  ") for line in said[start + 1 : end])
    assert max(map(len, said)) <= width


@given(
    st.integers(-99_999, 99_999),
    st.integers(0, 4),
    st.sampled_from(["", "share"]),
)
def test_published_values_are_shown_as_they_were_printed(n: int, digits: int, unit: str) -> None:
    scale = 10**digits * (100 if unit else 1)
    one = figure("x", n / scale, unit=unit, tolerance=0.5 / scale)
    told = shown_figure(one.value, one, ours=False)
    bare = told.replace("\u00a0%", "").replace("−", "-").replace(",", "")
    assert float(bare) == pytest.approx(n / 10**digits, abs=1e-9)
    assert len(bare.partition(".")[2]) == digits
    # Ours is never shown with fewer digits than the printed one.
    ours = shown_figure(one.value, one).replace("\u00a0%", "")
    assert len(ours.partition(".")[2]) >= digits
