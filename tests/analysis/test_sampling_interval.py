"""The sampling interval: by hand, and an interval that holds for the shortest of many times."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from benchmarks._jnd_simulation import JND, again, scored, world
from hypothesis import given, settings, strategies as st
from tests.analysis.jnd_tables import frames_of, scores_of

from affectlab.analysis import jnd_times, sampling_interval
from affectlab.analysis.jnd import common_rate
from affectlab.analysis.jnd.time_intervals import critical_value, fastest_bounds, fastest_corrected
from affectlab.analysis.jnd.wording import NO_FRAME_RATE, Doubt, doubt_text
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate
from affectlab.core.facts import Cause, Reason
from affectlab.simulate import draw_transitions

STEPS = {
    ("ann", "joy"): [20, 40, 50, 20],
    ("ann", "awe"): [20, 10, 0, 20],
    ("ben", "joy"): [20, 25, 40, 20],
}
TIMES = {name: [0, 100, 200, 280, 400] for name in STEPS}


def test_by_hand() -> None:
    found = sampling_interval(jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=20.0))
    assert found.overall.value == 32  # ann, joy: 80 ms * 20 / 50
    assert found.rate_hz == pytest.approx(1000 / 32)
    assert found.actors["ann"].value == 32
    assert found.actors["ben"].value == 40
    assert [row["expression"] for row in found.frame.to_dicts()] == ["joy", "joy", "joy"]
    assert found.safe_ms == found.overall.low < 32 < found.overall.high
    assert found.frame["n_sequences"].to_list() == [3, 2, 1]
    assert found.doubts == (Doubt.BETWEEN_FRAMES, Doubt.LONG_SEGMENT)
    assert {doubt_text(one, 1000 / 30, 2.5) for one in found.doubts} <= set(found.notes)


def test_what_speaks_against_the_straight_line() -> None:
    steps = {("ann", "joy"): [20, 30, 30, 20]}
    slow = {("ann", "joy"): [0, 100, 200, 300, 400]}
    sound = sampling_interval(jnd_times(scores_of(steps), frames_of(slow), jnd=20.0))
    assert sound.doubts == sound.notes == ()
    coarse = frames_of(slow).with_columns(pl.lit(10.0).alias("fps"))
    below = sampling_interval(jnd_times(scores_of(steps), coarse, jnd=20.0))
    assert below.doubts == (Doubt.BETWEEN_FRAMES,)
    unknown = sampling_interval(jnd_times(scores_of(steps), coarse.drop("fps"), jnd=20.0))
    assert unknown.doubts == ()
    assert unknown.notes == (NO_FRAME_RATE,)
    beyond = sampling_interval(jnd_times(scores_of(steps), frames_of(slow), jnd=40.0))
    assert beyond.doubts == (Doubt.BEYOND_SEGMENT,)


def test_the_interval_misses_what_faces_do_between_frames() -> None:
    """Filmed 30 times a second even scores without noise give too long a time, which is doubted."""
    film = draw_transitions(1, ("surprise",), fps=30.0, seed=0).transitions[0]
    looks = film.differences(0)
    start = int(np.argmax(np.diff(looks)))
    shown = [0, start, start + 1, start + 2, film.n_frames - 1]
    change = [float(film.differences(a)[b]) for a, b in itertools.pairwise(shown)]
    name = ("ann", "surprise")
    times = frames_of({name: film.times_ms[shown].tolist()})
    found = sampling_interval(jnd_times(scores_of({name: change}, se=1.0), times, jnd=20.0))
    truth = film.fastest(20.0, step_ms=0.25)
    assert found.overall.value > truth
    assert found.doubts


def test_one_segment_has_its_own_interval() -> None:
    """With a single segment, and with one far ahead, the ends are Fieller's."""
    alone = {("ann", "joy"): [20, 40, 0, 20]}
    scores = scores_of(alone).filter(pl.col("role_b") != "near_neutral")
    one = Estimate(20.0, se=0.5)
    times = jnd_times(scores, frames_of({("ann", "joy"): [0, 100, 200, 280, 400]}), jnd=one)
    row = times.segments.row(0, named=True)
    found = sampling_interval(times).overall
    assert found.low == pytest.approx(row["low_ms"], rel=1e-6)
    # The first step takes a tenth of a tail, so that this end is a little farther out.
    assert row["high_ms"] < found.high < 1.02 * row["high_ms"]


def test_no_change_at_all() -> None:
    steps = {name: [20, -1, 0, 20] for name in STEPS}
    found = sampling_interval(jnd_times(scores_of(steps), frames_of(TIMES), jnd=20.0))
    assert not found.overall.ok
    assert math.isnan(found.overall.value)
    assert 0 < found.overall.low < math.inf == found.overall.high
    assert found.overall.reason == Reason(Cause.NOTHING_CHANGES)


def test_without_errors_there_is_no_interval() -> None:
    scores = scores_of(STEPS).drop("se")
    found = sampling_interval(jnd_times(scores, frames_of(TIMES), jnd=20.0))
    assert found.overall.value == 32
    assert math.isnan(found.overall.low)
    assert math.isnan(found.corrected)


@pytest.mark.parametrize("change", [{"share": 0.0}, {"share": 1.5}, {"confidence": 1.0}])
def test_options_out_of_range(change: dict[str, float]) -> None:
    times = jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=20.0)
    with pytest.raises(InputError, match=r"expected a (number|share) between 0 and 1"):
        sampling_interval(times, **change)


def test_common_rates() -> None:
    assert [common_rate(rate) for rate in (1, 24, 24.1, 91, 999, 1001)] == [
        24,
        24,
        25,
        100,
        1000,
        None,
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "n", "bootstrap_fails"),
    [
        ("scores alike", 16, False),
        ("whole frames", 12, False),
        ("one outlier", 12, False),
        ("two groups", 20, True),
        ("all equal", 8, True),
    ],
)
def test_the_interval_holds(kind: str, n: int, bootstrap_fails: bool) -> None:
    """In 200 studies the shortest true time lies in its interval, whatever the times are.

    Where many are equally fast, a bootstrap around the estimates does not.
    """
    held, again_held, plain, corrected = [], [], [], []
    widths = []
    for run in range(200):
        rng = np.random.default_rng([7, run])
        known = world(kind, n, rng, actors=1)
        scores, frames = scored(known, rng)
        times = jnd_times(scores, frames, jnd=Estimate(JND + rng.normal(0, 0.35), se=0.35))
        change, se, duration = (
            times.segments[name].to_numpy() for name in ("change", "change_se", "duration_ms")
        )
        truth = known.times.min()
        low, high = fastest_bounds(change, se, duration, times.jnd.value, 0.35, 0.95)
        held.append(low <= truth <= high)
        widths.append(high / low)
        if bootstrap_fails:
            low, high = again(times, rng, 200)
            again_held.append(low <= truth <= high)
            plain.append(float(times.sequences["time_ms"].min()) / truth - 1)  # type: ignore[arg-type]
            one = fastest_corrected(change, se, duration, times.jnd.value, 0.35)
            corrected.append(one / truth - 1)
    assert np.mean(held) >= 0.92
    # An interval of all times would hold, too.
    assert 1.05 < np.median(widths) < 1.6
    if bootstrap_fails:
        assert np.mean(again_held) < 0.75
        assert np.mean(plain) < -0.03
        assert abs(np.mean(corrected)) < abs(np.mean(plain)) / 2


def test_critical_values_beside_drawn_ones() -> None:
    """The value that a maximum of correlated normal numbers passes, beside two million draws."""
    rng = np.random.default_rng(0)
    slower, shared = np.array([0.0, 0.3, 1.0, 2.5]), np.array([0.2, 0.5, 0.5, 0.8])
    common = rng.standard_normal((500_000, 1))
    own = rng.standard_normal((500_000, 4))
    largest = (shared * common + np.sqrt(1 - shared**2) * own - slower).max(axis=1)
    for tail in (0.025, 0.1, 0.5):
        assert critical_value(slower, shared, tail) == pytest.approx(
            float(np.quantile(largest, 1 - tail)), abs=0.015
        )


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(1, 90), st.floats(0.1, 6), st.floats(10, 400)), min_size=1, max_size=8
    ),
    jnd_se=st.sampled_from([0.0, 0.3, 1.5]),
)
def test_ends_and_estimates_are_in_order(
    rows: list[tuple[float, float, float]], jnd_se: float
) -> None:
    change, se, duration = np.array(rows).T
    times = duration * 20 / change
    low, high = fastest_bounds(change, se, duration, 20.0, jnd_se, 0.95)
    corrected = fastest_corrected(change, se, duration, 20.0, jnd_se)
    slack = 1 + 1e-5
    assert low <= times.min() <= corrected * slack
    assert corrected <= high * slack
    # More confidence is a wider interval, and a slow segment more changes nothing.
    wider = fastest_bounds(change, se, duration, 20.0, jnd_se, 0.99)
    assert wider[0] <= low
    assert high <= wider[1] * slack
    with_slow = [np.append(one, extra) for one, extra in zip(
        (change, se, duration), (0.01, 0.001, 1e5), strict=True
    )]  # fmt: skip
    assert fastest_bounds(*with_slow, 20.0, jnd_se, 0.95)[0] == low


@settings(max_examples=40, deadline=None)
@given(factor=st.floats(0.01, 100), seed=st.integers(0, 99))
def test_units_do_not_matter(factor: float, seed: int) -> None:
    """Seconds or milliseconds, points or shares: the same interval."""
    rng = np.random.default_rng(seed)
    change, se, duration = rng.uniform(5, 60, 6), rng.uniform(1, 4, 6), rng.uniform(30, 300, 6)
    low, high = fastest_bounds(change, se, duration, 20.0, 0.4, 0.95)
    in_time = fastest_bounds(change, se, factor * duration, 20.0, 0.4, 0.95)
    np.testing.assert_allclose(in_time, (factor * low, factor * high), rtol=1e-4)
    in_score = fastest_bounds(
        factor * change, factor * se, duration, 20.0 * factor, 0.4 * factor, 0.95
    )
    np.testing.assert_allclose(in_score, (low, high), rtol=1e-4)


def test_a_share_keeps_the_slower_ones() -> None:
    names = [("ann", f"e{k:03}") for k in range(100)]
    scores = scores_of({name: [20, 20, 1, 20] for name in names})
    frames = frames_of({name: [0, 1, 11 + k, 5000, 6000] for k, name in enumerate(names)})
    row = sampling_interval(jnd_times(scores, frames, jnd=20.0)).frame.row(0, named=True)
    # Times are 10, 11, …, 109: five of a hundred lie below 14.5.
    assert row["share_ms"] == pytest.approx(14.5)
    assert (row["share_low_ms"], row["share_high_ms"]) == pytest.approx((10, 20))
