"""Which frames a strip shows, and which of them is marked."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from tests.analysis.jnd_tables import frames_of, scores_of

from affectlab.analysis import jnd_times
from affectlab.analysis.jnd import jnd_strip, strip_choices
from affectlab.core.errors import InputError

STEPS = {
    ("ann", "joy"): [20, 40, 10, 20],  # 1 JND after 50 ms, from 100 ms on
    ("ann", "awe"): [20, 10, 80, 20],  # 25 ms, from 200 ms on
    ("ben", "joy"): [20, 25, 10, 20],  # 80 ms
    ("ben", "awe"): [20, 0, -1, 20],
}
TIMES = {name: [0, 100, 200, 300, 400] for name in STEPS}
TIMED = jnd_times(scores_of(STEPS), frames_of(TIMES), jnd=20.0)


def test_every_frame_of_a_film() -> None:
    numbers, since, change = jnd_strip(TIMED, "ann", "joy", np.arange(0, 401, 20))
    assert numbers.tolist() == [5, 6, 7, 8, 9, 10]
    assert since.tolist() == [0, 20, 40, 60, 80, 100]
    assert change == pytest.approx(since / 50)  # the fourth, at 60 ms, is the first from 1 JND on


def test_the_segment_that_counts() -> None:
    numbers, since, _ = jnd_strip(TIMED, "ann", "awe", np.arange(0, 401, 20))
    assert (numbers[0], since[0]) == (10, 0)  # begins at 200 ms, with the second segment


def test_a_display_shows_the_last_frame_until_then() -> None:
    """At 30 Hz ticks are at 0, 33.3, 66.7 ms …: of frames every 20 ms those at 0, 20, 60, 100."""
    numbers, since, _ = jnd_strip(TIMED, "ann", "joy", np.arange(0, 401, 20), rate_hz=30)
    assert since.tolist() == [0, 20, 60, 100, 120]
    assert numbers.tolist() == [5, 6, 8, 10, 11]
    # A display faster than the film shows no frame twice.
    fast = jnd_strip(TIMED, "ann", "joy", np.arange(0, 401, 20), rate_hz=480)
    assert fast[0].tolist() == [5, 6, 7, 8, 9, 10]


def test_a_film_from_rest_to_the_peak() -> None:
    back = frames_of({name: [400 - time for time in known] for name, known in TIMES.items()})
    timed = jnd_times(scores_of(STEPS), back, jnd=20.0)
    numbers, since, _ = jnd_strip(timed, "ann", "joy", np.arange(0, 401, 20))
    assert numbers.tolist() == [15, 14, 13, 12, 11, 10]
    assert since.tolist() == [0, 20, 40, 60, 80, 100]


def test_choices_are_of_different_people_and_not_too_soon() -> None:
    def names(n: int, step: float) -> list[tuple[str, str]]:
        return strip_choices(TIMED, n, step_ms=step).select("actor", "expression").rows()

    assert names(2, 10) == [("ann", "awe"), ("ben", "joy")]
    assert names(1, 20) == [("ann", "joy")]  # 25 ms is less than two steps of 20
    assert names(3, 20) == [("ann", "joy"), ("ben", "joy"), ("ann", "awe")]


def test_hostile_input() -> None:
    film = np.arange(0, 401, 20)
    for name, said in (("awe", "no JND time"), ("fear", "no JND time")):
        with pytest.raises(InputError, match=said):
            jnd_strip(TIMED, "ben", name, film)
    for wrong in ([], [math.nan] * 5, [0, 20, 40], np.arange(5000, 6000, 20)):
        with pytest.raises(InputError, match="the film has no frames from 100 ms on"):
            jnd_strip(TIMED, "ann", "joy", wrong)
    with pytest.raises(InputError, match="rate_hz = 0"):
        jnd_strip(TIMED, "ann", "joy", film, rate_hz=0)
    with pytest.raises(InputError, match="n = 0"):
        strip_choices(TIMED, 0)
    still = jnd_times(
        scores_of(STEPS).with_columns(pl.lit(-1.0).alias("value")), frames_of(TIMES), jnd=20.0
    )
    with pytest.raises(InputError, match="no sequence changes"):
        strip_choices(still)


@settings(max_examples=60, deadline=None)
@given(fps=st.floats(10, 240), rate=st.one_of(st.none(), st.floats(5, 240)), start=st.floats(0, 90))
def test_the_mark_is_the_first_at_one_jnd(fps: float, rate: float | None, start: float) -> None:
    film = np.arange(start % (1000 / fps), 600, 1000 / fps)
    numbers, since, change = jnd_strip(TIMED, "ann", "joy", film, rate_hz=rate)
    assert since[0] == 0
    assert (np.diff(since) > 0).all()
    np.testing.assert_allclose(film[numbers] - film[numbers[0]], since)
    reached = np.flatnonzero(change >= 1)
    assert reached.size
    assert reached[0] >= change.size - 3
