"""What a delay costs: shares and means by hand, and intervals that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks._jnd_simulation import JND, scored, world
from hypothesis import given, settings, strategies as st
from tests.analysis.jnd_tables import frames_of, scores_of

from affectlab.analysis import jnd_times, latency_budget
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate

STEPS = {
    ("ann", "joy"): [20, 40, 10, 20],  # 1 JND of 20 after 50 ms
    ("ann", "awe"): [20, 20, 10, 20],  # 100 ms
    ("ben", "joy"): [20, 80, 10, 20],  # 25 ms
    ("ben", "awe"): [20, 0, -1, 20],  # never
}
TIMES = {name: [0, 100, 200, 300, 400] for name in STEPS}


def budget(ms: float | list[float], **change: object):  # type: ignore[no-untyped-def]
    times = jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=20.0)
    return latency_budget(times, ms, **change)  # type: ignore[arg-type]


def test_by_hand() -> None:
    found = budget([40, 60])
    row = found.at(40)
    assert (row["below"], row["n_sequences"]) == (0.75, 4)
    assert row["jnds"] == pytest.approx((40 / 50 + 40 / 100 + 40 / 25 + 0) / 4)
    assert row["jnds_most"] == pytest.approx(1.6)
    assert found.at(60)["below"] == 0.5
    assert (found.at(40, "ann")["below"], found.at(40, "ben")["below"]) == (1, 0.5)
    assert found.frame["group"].to_list() == ["all", "ann", "ben"] * 2


def test_jnds_are_fewer_where_one_is_larger() -> None:
    """Sequences of the same speed: the interval is that of 1 JND, turned over."""
    names = [(f"actor {k}", "joy") for k in range(4)]
    frames = frames_of({name: [0, 100, 200, 300, 400] for name in names})
    scores = scores_of({name: [20, 40, 10, 20] for name in names})
    times = jnd_times(scores, frames, jnd=Estimate(20.0, se=2.0))
    row = latency_budget(times, 40, n_boot=4000, seed=1).at(40)
    assert row["jnds"] == pytest.approx(0.8)
    assert row["jnds_low"] == pytest.approx(0.8 * 20 / (20 + 1.96 * 2), rel=0.02)
    assert row["jnds_high"] == pytest.approx(0.8 * 20 / (20 - 1.96 * 2), rel=0.02)


def test_by_expression() -> None:
    found = budget(60, by="expression")
    assert (found.at(60, "joy")["below"], found.at(60, "awe")["below"]) == (0, 1)


def test_exactly_one_jnd_is_not_below() -> None:
    assert budget(50).at(50, "ann")["below"] == 0.5


def test_no_delay_is_no_change() -> None:
    row = budget(0).at(0)
    assert (row["below"], row["jnds"]) == (1, 0)
    # Jeffreys' interval of 4 of 4: the 2.5 % quantile of a Beta(4.5, 0.5) distribution.
    assert row["low"] == pytest.approx(0.5552, abs=1e-3)
    assert row["high"] == 1


@pytest.mark.parametrize(
    ("ms", "said"),
    [(-1, "latency_ms -1"), (math.nan, "latency_ms nan"), (math.inf, "inf"), ([], "one delay")],
)
def test_hostile_delays(ms: float, said: str) -> None:
    with pytest.raises(InputError, match=said):
        budget(ms)


def test_hostile_options() -> None:
    with pytest.raises(InputError, match="unknown grouping 'rater'"):
        budget(20, by="rater")
    with pytest.raises(InputError, match="there is no row for 30 ms"):
        budget(20).at(30)
    with pytest.raises(InputError, match="n_boot = 0"):
        budget(20, n_boot=0)


@settings(max_examples=40, deadline=None)
@given(delays=st.lists(st.floats(0, 300), min_size=2, max_size=6, unique=True))
def test_later_is_worse(delays: list[float]) -> None:
    frame = budget(delays, n_boot=50).frame
    for group in ("all", "ann", "ben"):
        own = frame.filter(frame["group"] == group).sort("latency_ms")
        assert (own["below"].diff().drop_nulls() <= 0).all()
        assert (own["jnds"].diff().drop_nulls() >= 0).all()
        assert (own["low"] <= own["below"]).all()
        assert (own["below"] <= own["high"]).all()


@pytest.mark.long
def test_intervals_hold() -> None:
    """Share and mean of 200 studies of 60 sequences, beside those of very many."""
    many = world("scores alike", 100_000, np.random.default_rng(0)).times.min(axis=1)
    share, mean = (many > 60).mean(), (60 / many).mean()
    held = []
    for run in range(200):
        rng = np.random.default_rng([8, run])
        scores, frames = scored(world("scores alike", 60, rng), rng)
        times = jnd_times(scores, frames, jnd=Estimate(JND + rng.normal(0, 0.4), se=0.4))
        row = latency_budget(times, 60, n_boot=200, seed=run).at(60)
        held.append(
            (row["low"] <= share <= row["high"], row["jnds_low"] <= mean <= row["jnds_high"])
        )
    share_held, mean_held = np.mean(held, axis=0)
    assert 0.91 <= share_held <= 0.99
    assert 0.90 <= mean_held <= 0.98
