"""Whether the comparison with what was frozen finds what it is there to find, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.golden import __main__ as command, frozen
from tests.golden.case import CLOSED, ITERATED, Case
from tests.golden.frozen import Cases, Frozen, differences, told
from tests.golden.values import Place, values

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause
from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table, Text


def side(tolerance: float = CLOSED, **columns: Any) -> Cases:
    """Give one case: a table of two estimates, one of which is not defined."""
    given = {
        "value": [0.5, math.nan],
        "se": [0.1, math.nan],
        "low": [0.3, math.nan],
        "high": [0.7, math.nan],
        "n_items": [12, 12],
        "statistic": "alpha",
        "target": ["stimuli", "none"],
        "status": ["ok", "undefined"],
        "reason": [None, Cause.ONE_CATEGORY],
    }
    table = Estimates.build({"label": ["joy", "fear"]}, **(given | columns))
    found = values({"alpha": table, "notes": ["2 answers left out"]})
    return {"file.case": {place: Frozen.of(one, tolerance) for place, one in found.items()}}


def changed(tolerance: float = CLOSED, **columns: Any) -> list[str]:
    return [
        f"{one.kind} {one.place}"
        for one in differences(side(tolerance), side(tolerance, **columns))
    ]


def test_what_is_equal_has_no_differences() -> None:
    assert changed() == []


@pytest.mark.parametrize(
    ("tolerance", "value", "differs"),
    [
        (CLOSED, 0.5 + 1e-8, True),
        (CLOSED, 0.5 + 1e-10, False),
        (ITERATED, 0.5 + 1e-7, False),
        (ITERATED, 0.5 + 1e-5, True),
        (CLOSED, math.nan, True),
    ],
)
def test_a_number_may_be_off_by_its_tolerance(
    tolerance: float, value: float, differs: bool
) -> None:
    found = changed(tolerance, value=[value, math.nan])
    assert found == ["changed alpha / joy / value"] * differs


def test_a_tolerance_is_relative_down_to_what_rounding_leaves() -> None:
    def same(was: float, now: float) -> bool:
        return Frozen.of(was, CLOSED).allows(now)

    assert same(2e6, 2e6 + 1e-4)
    assert not same(0.004, 0.004 + 1e-10)
    assert same(0.0, 1e-13)
    assert not same(0.0, 1e-9)
    assert not same(0.5, math.inf)
    assert same(math.inf, math.inf)
    assert same(math.nan, math.nan)


def test_a_count_may_not_be_off() -> None:
    assert changed(n_items=[12, 13]) == ["changed alpha / fear / n_items"]
    assert not Frozen.of(10**10, CLOSED).allows(10.0**10 + 1)


@pytest.mark.parametrize(
    ("columns", "differs"),
    [
        ({"target": ["raters", "none"]}, ["changed alpha / joy / target"]),
        ({"low": [math.nan] * 2}, ["changed alpha / joy / low"]),
        ({"low": [0.3, 0.1]}, ["changed alpha / fear / low"]),
        ({"status": ["ok", "doubtful"]}, ["changed alpha / fear / status"]),
        # Sentences may be put in other words.
        ({"reason": [None, "all answers are in one category"]}, []),
    ],
)
def test_words_and_ends_are_frozen_and_sentences_are_not(
    columns: dict[str, Any], differs: list[str]
) -> None:
    assert changed(**columns) == differs


def test_a_row_or_column_that_is_gone_or_new_is_found() -> None:
    def places(*, gone: Callable[[Place], bool]) -> Cases:
        return {"file.case": {at: one for at, one in side()["file.case"].items() if not gone(at)}}

    less = places(gone=lambda place: place.row == "joy")
    found = differences(side(), less)
    assert {(one.kind, one.place.row) for one in found} == {("gone", "joy")}
    assert [one.kind for one in differences(less, side())] == ["new"] * len(found)
    found = differences(side(), places(gone=lambda place: place.column == "high"))
    assert [str(one.place) for one in found] == ["alpha / joy / high", "alpha / fear / high"]
    assert {one.kind for one in differences(side(), {})} == {"gone"}
    assert {one.kind for one in differences({}, side())} == {"new"}


def test_rows_are_named_by_what_they_are_about() -> None:
    frame = pl.DataFrame({"label": ["joy", "joy", "awe"], "rater": ["a", "b", "a"], "x": [1, 2, 3]})
    assert values(frame)[Place("", "joy | b", "x")] == 2
    assert values(frame)[Place("", "", "#rows")] == 3
    # In another order, and without one of them, the others are where they were.
    assert values(frame.reverse()) == values(frame)
    assert values(frame.head(2))[Place("", "joy | b", "x")] == 2
    # A table says itself what its rows are about, and a value that comes in between is no name.
    columns = (Key("rater"), Text("verdict"), Number("x"))
    verdicts = frame.head(2).select(verdict=pl.Series(["same", "worse"]), rater="rater", x="x")
    table = Table("t", "", verdicts, columns)
    assert values(Result((table,)))[Place("t", "b", "verdict")] == "worse"
    # Rows that nothing tells apart are counted.
    alike = values(pl.DataFrame({"label": ["joy", "joy"], "x": [1.0, 2.0]}))
    assert [alike[Place("", name, "x")] for name in ("joy", "joy #2")] == [1.0, 2.0]
    # A table of names alone has its rows, too.
    assert Place("", "awe", "#row") in values(pl.DataFrame({"label": ["joy", "awe"]}))


def test_long_tables_and_arrays_are_summed_up() -> None:
    numbers = np.arange(1000.0)
    exchanged = numbers.copy()
    exchanged[[3, 7]] = exchanged[[7, 3]]
    told, other = values({"x": numbers}), values({"x": exchanged})
    assert len(told) < 10
    assert told != other
    names = pl.DataFrame({"name": [f"s{k}" for k in range(1000)], "value": numbers})
    assert values(names) != values(names.with_columns(name=pl.col("name").reverse()))


def test_parts_that_are_no_result_are_taken_by_what_they_hold() -> None:
    @dataclass
    class Found:
        inside: Estimate
        share: float | None
        sentences: tuple[str, ...] = ("It is so.",)

    found = values({"one": Found(Estimate(0.5, target="raters"), None)})
    assert found[Place("one/inside", "", "target")] == "raters"
    assert found[Place("one", "", "share")] is None
    assert not any("sentences" in place.table for place in found)


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Two cases, the values of which a test sets, and a file of their own."""
    given: dict[str, Any] = {"a.one": 1.5, "b.two": [1, 2]}
    found = {name: (Case(lambda _, name=name: given[name], (), CLOSED), None) for name in given}
    monkeypatch.setattr(frozen, "cases", lambda: found)
    monkeypatch.setattr(command, "cases", lambda: found)
    for module in (frozen, command):
        monkeypatch.setattr(module, "FILE", tmp_path / "golden.parquet")
    return given


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["golden", *words])
    return command.main()


def test_the_command_freezes_and_says_what_changes(
    cases: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch) == 0
    assert "2 cases, 3 values: 3 new" in capsys.readouterr().out
    assert run(monkeypatch, "--check") == 0
    cases["a.one"], cases["b.two"] = 2.5, [1]
    assert run(monkeypatch, "--check") == 1
    said = capsys.readouterr().out
    assert "1.5 -> 2.5" in said
    assert "1 changed, 1 gone" in said
    # Only what was asked for is frozen; what has no case any more goes with it.
    assert run(monkeypatch, "b.*") == 0
    assert frozen.read()["b.two"].keys() == {Place("", "", "0")}
    assert frozen.read()["a.one"][Place("", "", "")].value == 1.5
    frozen.cases().pop("b.two")
    assert run(monkeypatch, "--check", "a.*") == 1
    with pytest.raises(SystemExit):
        run(monkeypatch, "c.*")


def test_a_case_that_fails_stays_as_it_was_and_hides_no_other(
    cases: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch) == 0
    cases["a.one"], cases["b.two"] = (lambda: 1 / 0), [1, 3]
    assert run(monkeypatch) == 1
    said = capsys.readouterr().out
    assert "ZeroDivisionError" in said
    assert "in the case a.one" in said
    assert "failed, and left as they were: a.one" in said
    assert frozen.read()["a.one"][Place("", "", "")].value == 1.5
    assert frozen.read()["b.two"][Place("", "", "1")].value == 3.0


def test_the_diff_shows_first_what_differs_most() -> None:
    was: Cases = {"c": {Place("t", f"r{k}", "x"): Frozen(1.0, CLOSED) for k in range(9)}}
    now: Cases = {"c": {Place("t", f"r{k}", "x"): Frozen(1.0 + k, CLOSED) for k in range(9)}}
    lines = told(differences(was, now), most=2).splitlines()
    assert lines == [
        "c: t",
        "  changed x (8 rows)",
        "    r8: 1 -> 9",
        "    r7: 1 -> 8",
        "    and 6 more",
    ]
