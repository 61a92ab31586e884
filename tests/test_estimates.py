"""Estimates: one number with its uncertainty, and tables of them."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
from affectlab.core.render.intervals import interval_notes
from rich.console import Console
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.core.estimates import (
    ESTIMATE_COLUMNS,
    NO_VARIATION,
    Estimate,
    Estimates,
)


@pytest.fixture
def table() -> Estimates:
    return Estimates.build(
        {"label": ["joy", "fear"], "rater": ["a", "b"]},
        value=[0.5, math.nan],
        low=[0.4, math.nan],
        high=[0.6, math.nan],
        method="alpha",
        n_items=[10, 0],
        status=["ok", "undefined: one category"],
    )


def test_columns_come_after_the_keys(table: Estimates) -> None:
    assert table.to_frame().columns == ["label", "rater", *ESTIMATE_COLUMNS]


def test_lookup_gives_back_every_field(table: Estimates) -> None:
    found = table["joy", "a"]
    assert found == Estimate(0.5, math.nan, 0.4, 0.6, "alpha", "none", 10) or (
        found.value == 0.5 and found.low == 0.4 and found.n_items == 10 and math.isnan(found.se)
    )
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
    assert "undefined: one category" in repr(undefined)
    assert Estimates.collect({"label": ["fear"]}, [undefined])["fear"].status == undefined.status


def test_shown_in_terminal_and_notebook(table: Estimates) -> None:
    out = io.StringIO()
    Console(file=out, width=120).print(table)
    text = out.getvalue()
    assert "0.500" in text
    assert "0.400 to 0.600" in text
    assert "undefined: one category" in text
    assert "<table" in table._repr_html_()


def test_certainty_is_withheld_row_by_row() -> None:
    table = Estimates.build(
        {"label": ["joy", "fear", "awe", "anger", "pride"]},
        value=[1.0, 0.4, 1.0, 3.0, 0.7],
        se=[0.0, 0.1, 0.0, 1e-3, math.nan],
        low=[1.0, 0.2, 0.8, 3.0, 0.7],
        high=[1.0, 0.6, 1.0, 3.0, 0.7],
        method=["a", "b", "c", "d", "e"],
    )
    withheld = ["joy", "pride"]
    for (label,), estimate in table:
        assert math.isnan(estimate.low) is math.isnan(estimate.high) is (label in withheld)
        assert (NO_VARIATION in estimate.method) is (label in withheld)
    # Wilson's interval has a width where the error of the share is 0; a median may have an error
    # and hardly ever move.
    assert math.isnan(table["awe"].se)
    assert table["awe"].low == 0.8
    assert (table["anger"].se, table["anger"].low, table["anger"].high) == (1e-3, 3, 3)
    assert table["fear"] == Estimate(0.4, 0.1, 0.2, 0.6, "b")


def test_printed_table_says_what_intervals_are_about_and_why_there_is_none() -> None:
    table = Estimates.build(
        {"label": ["joy", "fear"]},
        value=[1.0, 0.4],
        se=[0.0, 0.1],
        low=[1.0, 0.2],
        high=[1.0, 0.6],
        method="alpha",
        target="stimuli",
    )
    out = io.StringIO()
    Console(file=out, width=80).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    text = " ".join(lines)
    assert "intervals are about other items, the same raters" in text
    assert "joy: no interval: no variation to estimate an error from" in text
    assert max(map(len, lines)) <= 80


def test_notes_name_the_rows_where_intervals_are_about_different_things() -> None:
    table = Estimates.build(
        {"label": ["joy", "fear"]},
        value=[0.5, 0.4],
        se=[0.1, 0.1],
        low=[0.3, 0.2],
        high=[0.7, 0.6],
        target=["none", "stimuli"],
        method="ICC",
    )
    assert interval_notes(table.frame, table.keys) == [
        "intervals of joy: from a formula, nothing resampled",
        "intervals of fear are about other items, the same raters",
    ]


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
