"""Estimates: one number with its uncertainty, and tables of them."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.core.estimates import (
    ESTIMATE_COLUMNS,
    Estimate,
    Estimates,
)
from affectlab.core.facts import Cause, IntervalFact, Reason, Status
from affectlab.core.render.notes import interval_notes


@pytest.fixture
def table() -> Estimates:
    return Estimates.build(
        {"label": ["joy", "fear"], "rater": ["a", "b"]},
        value=[0.5, math.nan],
        low=[0.4, math.nan],
        high=[0.6, math.nan],
        statistic="alpha",
        interval=IntervalFact("jackknife", ("stimuli",)),
        n_items=[10, 0],
        reason=[None, Cause.ONE_CATEGORY],
    )


def test_columns_come_after_the_keys(table: Estimates) -> None:
    assert table.to_frame().columns == ["label", "rater", *ESTIMATE_COLUMNS]


def test_lookup_gives_back_every_field(table: Estimates) -> None:
    found = table["joy", "a"]
    assert (found.value, found.low, found.high, found.n_items) == (0.5, 0.4, 0.6, 10)
    assert math.isnan(found.se)
    assert (found.statistic, found.options) == ("alpha", ())
    assert found.interval == IntervalFact("jackknife", ("stimuli",))
    assert found.ok
    assert found.reason is None
    assert float(found) == 0.5
    assert [key for key, _ in table] == [("joy", "a"), ("fear", "b")]


def test_unknown_key_names_the_closest(table: Estimates) -> None:
    with pytest.raises(InputError, match="did you mean 'joy, a'"):
        _ = table["joi", "a"]
    with pytest.raises(InputError, match=r"expected a key \(label, rater\)"):
        _ = table["joy"]


def test_undefined_says_why(table: Estimates) -> None:
    undefined = table["fear", "b"]
    assert not undefined.ok
    assert undefined.reason == Reason(Cause.ONE_CATEGORY)
    assert undefined.interval is None
    assert Estimates.collect({"label": ["fear"]}, [undefined])["fear"].reason == undefined.reason


def test_shown_in_terminal_and_notebook(table: Estimates) -> None:
    out = io.StringIO()
    Console(file=out, width=120).print(table)
    text = out.getvalue()
    assert "0.500" in text
    assert "0.400 to 0.600" in text
    assert str(Reason(Cause.ONE_CATEGORY)) in text
    assert "<table" in table._repr_html_()


def test_certainty_is_withheld_row_by_row() -> None:
    table = Estimates.build(
        {"label": ["joy", "fear", "awe", "anger", "pride"]},
        value=[1.0, 0.4, 1.0, 3.0, 0.7],
        se=[0.0, 0.1, 0.0, 1e-3, math.nan],
        low=[1.0, 0.2, 0.8, 3.0, 0.7],
        high=[1.0, 0.6, 1.0, 3.0, 0.7],
        statistic=["a", "b", "c", "d", "e"],
    )
    withheld = ["joy", "pride"]
    for (label,), estimate in table:
        assert math.isnan(estimate.low) is math.isnan(estimate.high) is (label in withheld)
        assert (estimate.reason == Reason(Cause.NO_VARIATION)) is (label in withheld)
    # Wilson's interval has a width where the error of the share is 0; a median may have an error
    # and hardly ever move.
    assert math.isnan(table["awe"].se)
    assert table["awe"].low == 0.8
    assert (table["anger"].se, table["anger"].low, table["anger"].high) == (1e-3, 3, 3)
    assert table["fear"] == Estimate(0.4, "b", se=0.1, low=0.2, high=0.6)


def test_notes_of_a_printed_table_fit_its_width() -> None:
    table = Estimates.build(
        {"label": ["joy", "fear"]},
        value=[1.0, 0.4],
        se=[0.0, 0.1],
        low=[1.0, 0.2],
        high=[1.0, 0.6],
        statistic="alpha",
        target="stimuli",
    )
    out = io.StringIO()
    Console(file=out, width=80).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    text = " ".join(lines)
    for note in interval_notes(table.frame, table.keys):
        assert note in text
    assert max(map(len, lines)) <= 80


def test_files_hold_kinds_and_frames_all_that_is_known() -> None:
    interval = IntervalFact("percentile", ("stimuli",), replicates=200, undefined=3)
    table = Estimates.build(
        {"label": ["joy", "fear", "awe"]},
        value=[0.5, math.nan, math.nan],
        low=[0.3, math.nan, math.nan],
        high=[0.7, math.nan, math.nan],
        interval=[interval, None, None],
        reason=[None, Reason(Cause.FEWER, least=2, of="raters"), "the sensor was off"],
    )
    assert table.to_frame()["interval"].to_list() == ["percentile", None, None]
    assert table.to_frame()["reason"].to_list() == [None, Cause.FEWER, "the sensor was off"]
    assert table["joy"].interval == interval
    assert table["fear"].reason == Reason(Cause.FEWER, least=2, of="raters")
    assert table["awe"].reason == Reason.of_text("the sensor was off")


def test_a_status_that_is_given_stays() -> None:
    table = Estimates.build({"of": ["a", "b"]}, value=[1.0, 2.0], status=["ok", "doubtful"])
    assert repr(table["b"]).startswith("Estimate(doubtful, ")
    assert [table["a"].ok, table["b"].ok] == [True, False]
    assert table["b"].status is Status.DOUBTFUL


def test_coverage_is_put_to_intervals_alone() -> None:
    table = Estimates.build(
        {"of": ["a", "b"]},
        value=[1.0, 2.0],
        low=[0.5, math.nan],
        high=[1.5, math.nan],
        interval=IntervalFact("jackknife", ("stimuli",)),
    )
    weak = table.with_coverage([(0.8, "five raters"), (0.8, "five raters")])
    assert (weak["a"].interval.coverage, weak["a"].interval.design) == (0.8, "five raters")
    assert weak["b"].interval is None


def test_heading_of_a_table_says_what_holds_of_all_its_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = ["stimulus,rater,label,value"]
    lines += [
        f"s{unit},{rater},{label},{int(rng.integers(0, 3)) + unit % 5}"
        for unit in range(12)
        for label in ("joy", "fear", "anger")
        for rater in "abc"
        if (unit, label, rater) != (3, "fear", "b")
    ]
    (tmp_path / "r.csv").write_text("\n".join(lines), encoding="utf-8")
    text = run_here(
        "reliability", "agreement", tmp_path / "r.csv", "--scale", "0-7", "--n-boot", "20", "--more"
    ).stdout
    said = text.partition("Intraclass correlation")[2]
    assert "F interval" not in said
    assert "intervals are about other items and other raters" in said
