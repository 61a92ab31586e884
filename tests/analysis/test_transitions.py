"""Peak-to-neutral ranges and transition curves, on small tables and against plain versions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from tests.analysis.pair_tables import designed, inter_pair, intra_pair, table_of

from affectlab.analysis import transition_curves, transition_ranges
from affectlab.analysis.transitions.wording import curve_axes, ranges_text
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause

ROLES = ("peak", "near_peak", "middle", "near_neutral", "neutral")


def ends(values: dict[tuple[str, str], float], se: float = 2.0) -> pl.DataFrame:
    """Peak beside neutral, for (actor, expression)."""
    return table_of(
        [intra_pair(*key, "peak", "neutral", value, se=se) for key, value in values.items()]
    )


def curve(actor: str, expression: str, values: list[float], *, turned: bool = False) -> list[dict]:
    """All but the last of the five frames beside the neutral one."""
    rows = []
    for role, value in zip(ROLES[:-1], values, strict=True):
        sides = ("neutral", role) if turned else (role, "neutral")
        rows.append(intra_pair(actor, expression, *sides, value, se=2.0))
    return rows


def test_ranges_by_hand() -> None:
    table = ends(
        {
            ("a", "joy"): 60,
            ("b", "joy"): 80,
            ("c", "joy"): 71,
            ("a", "awe"): 30,
            ("b", "awe"): 34,
            ("c", "awe"): 38,
            ("a", "fear"): 99,
        }
    )
    found = transition_ranges(table)
    assert found.frame["expression"].to_list() == ["joy", "awe"]
    row = found.frame.row(0, named=True)
    assert (row["median"], row["low"], row["high"], row["range"]) == (71, 60, 80, 20)
    assert (row["actor_low"], row["actor_high"], row["n_actors"]) == ("a", "b", 3)
    sd = np.std([60, 80, 71], ddof=1)
    assert row["sd"] == pytest.approx(sd)
    assert row["sd_beyond_error"] == pytest.approx(math.sqrt(sd**2 - 4))
    assert found.left_out == ("fear",)
    assert found.sentences[0] == ranges_text(2, 3, ["fear"], shared=True)
    every = transition_ranges(table, shared=False)
    assert every.frame["expression"].to_list() == ["fear", "joy", "awe"]
    assert every.frame["n_actors"].to_list() == [1, 3, 3]
    assert math.isnan(every.frame["sd"][0])
    assert every.sentences[0] == ranges_text(3, 3, [], shared=False)


def test_error_alone_leaves_no_spread_of_actors() -> None:
    found = transition_ranges(ends({("a", "joy"): 60, ("b", "joy"): 61}, se=5.0))
    assert found.frame["sd_beyond_error"][0] == 0
    without = ends({("a", "joy"): 60, ("b", "joy"): 61}).drop("se")
    assert math.isnan(transition_ranges(without).frame["sd_beyond_error"][0])


def test_counted_frames_and_turned_pairs() -> None:
    table = table_of(
        [
            intra_pair("a", "joy", "frame_3", "frame_1", 50.0),
            intra_pair("a", "joy", "frame_1", "frame_2", 20.0),
        ]
    )
    assert transition_ranges(table).points["value"].to_list() == [50.0]


def test_ranges_that_cannot_be() -> None:
    with pytest.raises(InputError, match="no pair shows the peak of an expression beside"):
        transition_ranges(table_of([intra_pair("a", "joy", "peak", "middle", 20.0)]))
    with pytest.raises(InputError, match="no pair shows the peak"):
        transition_ranges(table_of([inter_pair("a", "joy", "awe", 20.0)]))
    with pytest.raises(InputError, match="the 2 actors share no expression"):
        transition_ranges(ends({("a", "joy"): 60, ("b", "awe"): 80}))


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "z"]), st.floats(0, 100)),
        min_size=1,
        max_size=20,
        unique_by=lambda row: row[:2],
    )
)
def test_ranges_equal_a_plain_version(rows: list[tuple[str, str, float]]) -> None:
    table = ends({row[:2]: row[2] for row in rows})
    found = transition_ranges(table, shared=False)
    plain: dict[str, list[float]] = {}
    for _, expression, value in rows:
        plain.setdefault(expression, []).append(value)
    assert found.frame.height == len(plain)
    for row in found.frame.iter_rows(named=True):
        values = plain[row["expression"]]
        assert row["median"] == pytest.approx(float(np.median(values)))
        assert (row["low"], row["high"]) == (min(values), max(values))
        assert row["n_actors"] == len(values)
    medians = found.frame["median"].to_list()
    assert medians == sorted(medians, reverse=True)


def test_curves_by_hand() -> None:
    table = table_of(
        curve("a", "joy", [80, 72, 20, 8]) + curve("b", "joy", [40, 44, 30, 10], turned=True)
    )
    found = transition_curves(table)
    x, y, se = found.curve("a", "joy")
    np.testing.assert_array_equal(x, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(y, [1, 0.9, 0.25, 0.1, 0])
    np.testing.assert_allclose(se[0], 0)
    np.testing.assert_allclose(se[1], math.sqrt(2**2 + (0.9 * 2) ** 2) / 80)
    assert found.points.filter(actor="a")["rated"].to_list() == [True] * 4 + [False]
    row = found.frame.filter(actor="a").row(0, named=True)
    # From .9 at place 2 to .25 at place 3, a half is (.9 - .5) / .65 of the way.
    assert row["half"] == pytest.approx(2 + 0.4 / 0.65)
    assert (row["peak"], row["rises"], row["status"]) == (80, 0, "ok")
    assert found.frame.filter(actor="b")["rises"].to_list() == [1]
    decimal_points = transition_curves(table, normalise=False)
    np.testing.assert_array_equal(decimal_points.curve("b", "joy")[1], [40, 44, 30, 10, 0])
    assert (
        decimal_points.figures[0].options["y_name"]
        == curve_axes("score", timed=False, shares=False)[1]
    )
    with pytest.raises(InputError, match="actor 'c' has no transition of expression 'joy'"):
        found.curve("c", "joy")


def test_a_half_is_the_same_on_a_finer_curve() -> None:
    found = transition_curves(table_of(curve("a", "joy", [80, 72, 20, 8])))
    x, y, _ = found.curve("a", "joy")
    at = np.linspace(1, 5, 400_001)
    plain = at[np.argmax(np.interp(at, x, y) <= 0.5)]
    assert found.frame["half"][0] == pytest.approx(plain, abs=1e-4)


def times(rows: dict[str, list[float | None]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"actor": "a", "expression": name, "role": role, "time_ms": time}
            for name, own in rows.items()
            for role, time in zip(ROLES, own, strict=True)
        ],
        schema_overrides={"time_ms": pl.Float64},
    )


def test_curves_over_time() -> None:
    names = ("joy", "back", "gap", "mixed")
    table = table_of([row for name in names for row in curve("a", name, [80, 72, 20, 8])])
    frames = times(
        {
            "joy": [100, 110, 130, 170, 200],
            # Filmed from neutral to peak.
            "back": [500, 490, 470, 430, 400],
            "gap": [0, 10, None, 30, 40],
            "mixed": [0, 20, 10, 30, 40],
        }
    )
    found = transition_curves(table, frames=frames)
    for name in ("joy", "back"):
        np.testing.assert_array_equal(found.curve("a", name)[0], [0, 10, 30, 70, 100])
    assert dict(found.frame.select("expression", "reason").rows()) == {
        "back": None,
        "gap": Cause.FRAME_WITHOUT_TIME,
        "joy": None,
        "mixed": Cause.DISORDERED_TIMES,
    }
    assert np.isnan(found.curve("a", "mixed")[0]).all()
    assert found.defined["expression"].unique().sort().to_list() == ["back", "joy"]
    assert found.figures[0].options["x_name"] == curve_axes("score", timed=True, shares=True)[0]
    assert found.frame.filter(expression="joy")["half"][0] == pytest.approx(10 + 20 * 0.4 / 0.65)


def test_frames_from_a_file(tmp_path: Path) -> None:
    table = table_of(curve("a", "joy", [80, 72, 20, 8]))
    file = tmp_path / "frames.csv"
    times({"joy": [0, 10, 20, 30, 40]}).write_csv(file)
    assert transition_curves(table, frames=file).frame["status"].to_list() == ["ok"]
    file.write_text("actor,expression,role,time_ms\na,joy,peak,soon\n")
    with pytest.raises(InputError, match=r"frames\.csv: row 1, time_ms: 'soon'; expected a number"):
        transition_curves(table, frames=file)
    file.write_text("actor,expression,role\na,joy,peak\n")
    with pytest.raises(InputError, match="column 'time_ms' is missing"):
        transition_curves(table, frames=file)
    file.write_text("actor,expression,role,time_ms\na,joy,peak,1\na,joy,peak,2\n")
    with pytest.raises(InputError, match="role 'peak' stands twice"):
        transition_curves(table, frames=file)


def test_curves_without_a_peak_are_undefined() -> None:
    table = table_of(
        [
            *curve("a", "flat", [0, 0, 0, 0]),
            *curve("a", "below", [-1, 3, 0, 0]),
            *curve("a", "no peak", [80, 72, 20, 8])[1:],
        ]
    )
    found = transition_curves(table)
    reasons = dict(found.frame.select("expression", "reason").rows())
    assert reasons["flat"] == reasons["below"] == Cause.PEAK_LIKE_NEUTRAL
    assert reasons["no peak"] == Cause.NONE
    assert found.points["share"].is_nan().all()
    with pytest.raises(InputError, match="no pair shows a frame beside the neutral one"):
        transition_curves(table_of([intra_pair("a", "joy", "peak", "middle", 3.0)]))


def test_the_design_of_the_paper() -> None:
    truth = designed(n_actors=4, n_expressions=9, common=5, per_actor={1: 7, 2: 8})
    curves = transition_curves(truth.table)
    assert len(curves) == 7 + 8 + 9 + 9
    shares = curves.points.group_by("place", maintain_order=True).agg(pl.col("share").mean())
    np.testing.assert_allclose(shares.sort("place")["share"], [1, 0.9, 0.6, 0.3, 0], atol=1e-9)
    ranges = transition_ranges(truth.table)
    assert ranges.frame.height + len(ranges.left_out) == 9
    for actor, effect in truth.actors.items():
        own = ranges.points.filter(actor=actor)["value"]
        np.testing.assert_allclose(own, 80 * (1 + effect / 100))
