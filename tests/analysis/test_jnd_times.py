"""JND times: by hand, intervals that hold, and tables that do not fit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks._jnd_simulation import JND, held, rated, scored, world
from hypothesis import example, given, settings, strategies as st
from tests.analysis.jnd_tables import frames_of, scores_of

from affectlab.analysis import jnd_times
from affectlab.analysis.jnd import wording
from affectlab.analysis.jnd.time_intervals import order_interval, time_bound
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate
from affectlab.core.facts import Cause, Reason

NAMES = ("ann", "joy"), ("ann", "awe"), ("ben", "joy")
STEPS = {NAMES[0]: [20, 40, 50, 20], NAMES[1]: [20, 0, 10, 20], NAMES[2]: [20, -3, -1, 20]}
TIMES = {name: [0, 100, 200, 280, 400] for name in NAMES}


def test_by_hand() -> None:
    times = jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=20.0)
    rows = {(r["actor"], r["expression"], r["segment"]): r for r in times.segments.to_dicts()}
    assert rows["ann", "joy", "first"]["time_ms"] == 50
    assert rows["ann", "joy", "second"]["time_ms"] == 32  # 80 ms * 20 / 50
    assert rows["ann", "awe", "second"]["time_ms"] == 160
    assert rows["ann", "awe", "second"]["beyond"]
    assert not rows["ann", "joy", "first"]["beyond"]
    still = rows["ann", "awe", "first"]
    assert math.isnan(still["time_ms"])
    assert still["reason"] == Cause.NO_CHANGE
    whole = {(r["actor"], r["expression"]): r for r in times.to_frame().to_dicts()}
    assert whole["ann", "joy"]["time_ms"] == 32
    assert whole["ann", "joy"]["segment"] == "second"
    assert whole["ann", "awe"]["n_segments"] == 1
    none = whole["ben", "joy"]
    assert math.isnan(none["time_ms"])
    assert none["segment"] is None
    assert none["status"] != "ok"
    # Nothing changed, but with an error of 2 a change of 1 is possible: there is a shortest time.
    assert none["low_ms"] == pytest.approx(80 * 20 / (-1 + 1.959964 * 2))
    assert math.isinf(none["high_ms"])
    assert times.frame_ms == pytest.approx(1000 / 30)
    assert times.notes[-1] == wording.still_segments(3, 6)


def test_interval_of_a_segment_by_hand() -> None:
    """With 1 JND exact, the ends are those of the score turned into times."""
    times = jnd_times(scores_of(STEPS, se=5.0), frames_of(TIMES), jnd=20.0)
    row = times.segments.row(2, named=True)
    assert (row["expression"], row["segment"]) == ("joy", "first")
    assert row["low_ms"] == pytest.approx(100 * 20 / (40 + 1.959964 * 5))
    assert row["high_ms"] == pytest.approx(100 * 20 / (40 - 1.959964 * 5))


def test_the_score_of_one_jnd_is_found_from_the_same_scores() -> None:
    scores = scores_of({("ann", "joy"): [18, 40, 50, 21], ("ann", "awe"): [24, 30, 30, 20]})
    times = jnd_times(scores, frames_of(TIMES))
    assert times.jnd.value == 20.5
    assert times.sequences["time_ms"].to_list() == pytest.approx(
        [min(100 * 20.5 / 30, 80 * 20.5 / 30), 80 * 20.5 / 50]
    )
    assert times.jnd.reason == Reason(Cause.FEW_UNITS, 2, 5, "sequences")


def test_a_film_from_rest_to_the_peak() -> None:
    """Times that fall from peak to neutral mean the same."""
    back = {name: [400 - time for time in known] for name, known in TIMES.items()}
    forth = jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=20.0)
    turned = jnd_times(scores_of(STEPS), frames_of(back), jnd=20.0)
    for name in ("time_ms", "low_ms", "high_ms"):
        a, b = forth.sequences[name].to_numpy(), turned.sequences[name].to_numpy()
        np.testing.assert_allclose(a, b)


def test_frames_at_even_steps_count_too() -> None:
    steps = {"near_peak": "step_2", "middle": "step_3", "near_neutral": "step_4"}
    scores = scores_of(STEPS).with_columns(pl.col("role_a", "role_b").replace(steps))
    frames = frames_of(TIMES).with_columns(pl.col("role").replace(steps))
    found = jnd_times(scores, frames, jnd=20.0).sequences["time_ms"].to_list()
    assert found[1] == 32


def test_a_csv_file(tmp_path: Path) -> None:
    file = tmp_path / "frames.csv"
    frames_of(TIMES).write_csv(file)
    assert jnd_times(scores_of(STEPS), file, jnd=20.0).sequences["time_ms"][1] == 32
    file.write_text(file.read_text().replace(",200,", ",soon,", 1))
    with pytest.raises(InputError, match=r"frames.csv: row 3, time_ms: 'soon'; expected a number"):
        jnd_times(scores_of(STEPS), file, jnd=20.0)
    with pytest.raises(InputError, match="there is no such file"):
        jnd_times(scores_of(STEPS), tmp_path / "none.csv", jnd=20.0)


def test_a_sequence_without_a_time_is_left_out_and_named() -> None:
    late = pl.col("expression") == "awe"
    frames = frames_of(TIMES).with_columns(
        pl.when(late & (pl.col("role") == "middle"))
        .then(None)
        .otherwise("time_ms")
        .alias("time_ms")
    )
    times = jnd_times(scores_of(STEPS), frames, jnd=20.0)
    assert len(times) == 2
    assert wording.untimed(1, "ann", "awe") in times.notes


def test_scores_without_errors_have_times_and_no_intervals() -> None:
    times = jnd_times(scores_of(STEPS).drop("se"), frames_of(TIMES), jnd=20.0)
    assert times.sequences["time_ms"][1] == 32
    assert times.sequences["low_ms"].is_nan().all()
    assert wording.NO_ERRORS in times.notes


def test_typical_times() -> None:
    names = [("ann", f"e{k}") for k in range(9)]
    scores = scores_of({name: [20, 20, 20, 20] for name in names})
    frames = frames_of({name: [0, 1, 11 + k, 300, 400] for k, name in enumerate(names)})
    typical = jnd_times(scores, frames, jnd=20.0).typical()["ann"]
    # Times are 10, 11, …, 18; the second and the eighth bound the median of nine at 95 %.
    assert (typical.value, typical.low, typical.high) == (14, 11, 17)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.drop("time_ms"), "column 'time_ms' is missing"),
        (lambda f: f.with_columns(pl.lit(None, dtype=pl.Float64).alias("time_ms")), "no frame has"),
        (lambda f: f.with_columns(pl.lit(5.0).alias("time_ms")), "frames at 5 and 5 ms"),
        (lambda f: pl.concat([f, f]), "role 'peak' stands twice"),
        (lambda f: f.with_columns(pl.lit("frame_1").alias("role")), "no frame has a role"),
        (lambda f: f.with_columns(pl.col("actor") + "e"), "no sequence has both"),
        (lambda f: f.with_columns(pl.lit(0.0).alias("fps")), "fps 0; expected"),
        (lambda f: f.with_columns(pl.lit("").alias("expression")), "a frame has no expression"),
        (lambda f: f.with_columns(pl.lit(math.inf).alias("time_ms")), "row 1, time_ms: inf"),
        (
            lambda f: f.with_columns(
                pl.when(pl.col("role") == "middle")
                .then(500.0)
                .otherwise("time_ms")
                .alias("time_ms")
            ),
            "expected times that rise",
        ),
    ],
)
def test_hostile_frames(change, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=said):
        jnd_times(scores_of(STEPS), change(frames_of(TIMES)), jnd=20.0)


@pytest.mark.parametrize("jnd", [0.0, -1.0, math.nan, math.inf, Estimate(20.0, se=-1.0)])
def test_hostile_jnd(jnd: float | Estimate) -> None:
    with pytest.raises(InputError, match="1 JND"):
        jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=jnd)


def test_hostile_scores() -> None:
    scores = scores_of(STEPS)
    with pytest.raises(InputError, match="no pair compares near_peak with middle"):
        jnd_times(scores.filter(pl.col("role_a") == "peak"), frames_of(TIMES), jnd=20.0)
    turned = scores.rename({"role_a": "role_b", "role_b": "role_a"})
    both = pl.concat([scores, turned.select(scores.columns)])
    with pytest.raises(InputError, match="its first segment has two scores"):
        jnd_times(both, frames_of(TIMES), jnd=20.0)


@settings(max_examples=100, deadline=None)
@given(
    change=st.floats(-30, 90),
    se=st.floats(0.01, 10),
    duration=st.floats(1, 500),
    jnd_se=st.floats(0, 3),
    critical=st.floats(-3, 3),
)
# A rise so slow that the time to 1 JND is no number: it is endless, and no warning.
@example(change=0.0, se=1.0, duration=100.0, jnd_se=0.0, critical=5e-309)
@example(change=5e-309, se=1.0, duration=100.0, jnd_se=0.0, critical=0.0)
@example(change=0.0, se=2.0, duration=100.0, jnd_se=0.0, critical=2.2250738585072014e-308)
def test_a_bound_solves_its_equation(
    change: float, se: float, duration: float, jnd_se: float, critical: float
) -> None:
    one = [np.array([value]) for value in (change, se, duration)]
    found = float(time_bound(*one, 20.0, jnd_se, critical)[0])

    def excess(time: float) -> float:
        part = time / duration
        return part * change - 20 + critical * math.hypot(part * se, jnd_se)

    if math.isinf(found):
        # However long one waits, the excess does not rise above 0, or the time is no number.
        rise = change + critical * se
        assert rise <= 0 or math.isinf((20 + abs(critical) * jnd_se) / rise * duration)
        assert excess(1e9 * duration) <= 0
        return
    assert found >= 0
    assert excess(found) == pytest.approx(0, abs=1e-6 * (1 + found / duration * (abs(change) + se)))
    assert excess(0.99 * found) < 0 < excess(1.01 * found)


@pytest.mark.long
def test_intervals_hold_from_ratings() -> None:
    """In 200 studies with 12 people, 91 to 98 % of true times lie in their intervals."""
    found = []
    for run in range(200):
        rng = np.random.default_rng([5, run])
        known = world("scores alike", 3, rng, actors=1)
        ratings, frames = rated(known, 12, rng)
        jnd = Estimate(JND + rng.normal(0, 0.4), se=0.4)
        found.append(held(jnd_times(ratings, frames, jnd=jnd), known))
    segments, sequences = np.mean(found, axis=0)
    assert 0.91 <= segments <= 0.98
    assert 0.91 <= sequences <= 0.98


@pytest.mark.long
@pytest.mark.parametrize("kind", ["all equal", "whole frames"])
def test_intervals_hold_whatever_the_world(kind: str) -> None:
    found = []
    for run in range(200):
        rng = np.random.default_rng([6, run])
        known = world(kind, 12, rng)
        scores, frames = scored(known, rng)
        jnd = Estimate(JND + rng.normal(0, 0.4), se=0.4)
        found.append(held(jnd_times(scores, frames, jnd=jnd), known))
    segments, sequences = np.mean(found, axis=0)
    assert 0.93 <= segments <= 0.97
    assert 0.92 <= sequences <= 0.98


def test_a_planted_time_is_recovered() -> None:
    """Over 300 sequences with errors, the median of estimated times is that of the true ones."""
    rng = np.random.default_rng(1)
    known = world("scores alike", 300, rng)
    scores, frames = scored(known, rng)
    times = jnd_times(scores, frames, jnd=JND)
    truth = np.median(known.times.min(axis=1))
    assert times.sequences["time_ms"].median() == pytest.approx(truth, rel=0.04)


def test_order_statistics_by_hand() -> None:
    five = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    value, low, high = order_interval(five, 0.5, 0.95)
    assert value == 3
    assert math.isnan(low)
    assert math.isnan(high)
    assert order_interval(np.arange(1.0, 7.0), 0.5, 0.95) == (3.5, 1, 6)
    value, low, high = order_interval(np.arange(1.0, 101.0), 0.05, 0.95)
    assert (value, low, high) == (5.5, 1, 11)
