"""Five frames: known answers, agreement with a plain search, and what no input may break."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab import InputError
from affectlab.analysis import FrameStaircase, simulate_observer, transition_jnd
from affectlab.stimuli import FIVE_FRAMES
from affectlab.stimuli.frames import UnusableError, five_frames
from affectlab.stimuli.frames.five_frames import FiveFrames

STEPS = st.lists(st.integers(0, 6), min_size=4, max_size=14).filter(
    lambda steps: sum(map(bool, steps)) >= 4
)
"""Steps between frames in five or more positions."""
JND = st.one_of(st.integers(0, 40), st.just(math.inf))


def plain(x: list[int], near_peak: float, near_neutral: float) -> tuple[int, ...]:
    """The rule again, word for word, with exact numbers and every choice looked at."""
    last = len(x) - 1
    from_peak = [i for i in range(len(x)) if x[i] > x[0]]
    from_neutral = [i for i in range(len(x)) if x[i] < x[-1]]
    p = min(from_peak, key=lambda i: (abs(near_peak - (x[i] - x[0])), i))
    q = min(from_neutral, key=lambda i: (abs(near_neutral - (x[-1] - x[i])), -i))
    if near_peak > x[-1] - x[0]:
        p = last
    if near_neutral > x[-1] - x[0]:
        q = 0
    between = [i for i in range(len(x)) if x[p] < x[i] < x[q]]
    if between:
        middle = min(between, key=lambda i: (abs(2 * x[i] - x[p] - x[q]), i))
        return (0, p, middle, q, last)
    wanted = [x[0] + (x[-1] - x[0]) * k / 4 for k in (1, 2, 3)]
    best = min(
        (
            three
            for three in combinations(range(1, last), 3)
            if len({x[i] for i in (0, *three, last)}) == 5
        ),
        key=lambda three: (sum(abs(x[i] - t) for i, t in zip(three, wanted, strict=True)), three),
    )
    return (0, *best, last)


class TestKnownAnswers:
    def test_equal_steps(self) -> None:
        assert five_frames(31, 5, 8) == FiveFrames((0, 5, 13, 22, 30))

    def test_held_ends_take_no_frame(self) -> None:
        x = [0, 0, 0, 0, 2, 4, 6, 8, 10, 10, 10]
        assert five_frames(x, 2, 2).frames == (0, 4, 5, 7, 10)

    def test_a_jump_at_the_end(self) -> None:
        found = five_frames([0, 9, 10, 11, 12, 13], 1, 1)
        assert found.frames == (0, 1, 2, 4, 5)
        assert found.note == "within: the first other frame from the peak is more than 1 JND away"
        assert found.roles == ("peak", "step_2", "middle", "near_neutral", "neutral")

    def test_a_jump_at_both_ends(self) -> None:
        found = five_frames([0, 9, 10, 11, 20], 1, 1)
        assert found.frames == (0, 1, 2, 3, 4)
        assert found.roles == ("peak", "step_2", "middle", "step_4", "neutral")
        assert "from the peak and from neutral is more than 1 JND away" in found.note

    def test_crossed(self) -> None:
        found = five_frames(17, 12, 9)
        assert found.frames == (0, 4, 8, 12, 16)
        assert found.note.startswith("crossed: 1 JND is frame 12 from the peak and frame 7 from")
        assert found.roles == ("peak", "step_2", "step_3", "step_4", "neutral")

    def test_less_than_one_jnd_in_all(self) -> None:
        found = five_frames(9, math.inf, math.inf)
        assert found.frames == (0, 2, 4, 6, 8)
        assert "beyond all frames from the peak and beyond all frames from neutral" in found.note

    def test_no_frame_between_is_crossed_too(self) -> None:
        assert five_frames(9, 4, 3).note.startswith("crossed")
        assert five_frames(9, 3, 3) == FiveFrames((0, 3, 4, 5, 8), "", FIVE_FRAMES)

    def test_no_other_position_between_is_crossed_too(self) -> None:
        """Frames 1 to 3 are the same picture: the middle would be the frame near the peak."""
        found = five_frames([0, 4, 4, 4, 9, 12, 13], 4, 4)
        assert found.note.startswith("crossed: 1 JND is frame 1 from the peak and frame 4 from")
        assert found.frames == (0, 1, 4, 5, 6)

    def test_even_steps_are_never_the_ends_again(self) -> None:
        found = five_frames([0, 1, 2, 3, 100, 100, 100], math.inf, math.inf)
        assert found.frames == (0, 1, 2, 3, 6)

    def test_left_out_where_crossed(self) -> None:
        with pytest.raises(UnusableError, match=r"crossed: 1 JND is frame 6 .* nothing between"):
            five_frames(9, 6, 6, crossed="leave-out")

    def test_the_shortest(self) -> None:
        assert five_frames(5, 1, 1) == FiveFrames((0, 1, 2, 3, 4))


class TestRefused:
    @pytest.mark.parametrize("n", [0, 1, 4])
    def test_too_short(self, n: int) -> None:
        with pytest.raises(UnusableError, match=f"too short: {n} frames; expected at least 5"):
            five_frames(n, 1, 1)

    def test_nothing_moves(self) -> None:
        with pytest.raises(UnusableError, match="all frames are alike"):
            five_frames([3, 3, 3, 3, 3], 1, 1)

    @pytest.mark.parametrize(
        ("positions", "n"),
        [([0, 0, 0, 5, 10, 10, 10], 3), ([0, 1, 1, 1, 1, 2, 3, 3], 4), ([0, 0, 0, 0, 1], 2)],
    )
    @pytest.mark.parametrize("jnd", [1, 20])
    def test_frames_that_look_the_same(self, positions: list[float], n: int, jnd: float) -> None:
        """Five frames, of which two are the same picture, would be no five frames."""
        said = f"only {n} of {len(positions)} frames differ; expected at least 5"
        with pytest.raises(UnusableError, match=said):
            five_frames(positions, jnd, jnd)

    @pytest.mark.parametrize(
        ("positions", "jnd"),
        [([0, 1, 2, 1, 4], 1), ([0, 1, math.nan, 3, 4], 1), (9, -1), (9, math.nan), ([[0, 1]], 1)],
    )
    def test_bad_numbers(self, positions: list[float], jnd: float) -> None:
        with pytest.raises(InputError, match="expected"):
            five_frames(positions, jnd, 1)

    def test_unknown_rule(self) -> None:
        with pytest.raises(InputError, match="did you mean 'even'"):
            five_frames(9, 1, 1, crossed="evn")  # type: ignore[arg-type]


class TestProperties:
    @given(steps=STEPS, near_peak=JND, near_neutral=JND)
    def test_as_the_plain_search(
        self, steps: list[int], near_peak: float, near_neutral: float
    ) -> None:
        x = np.cumsum([0, *steps])
        found = five_frames(x, near_peak, near_neutral).frames
        assert found == plain(x.tolist(), near_peak, near_neutral)

    @given(steps=STEPS, near_peak=JND, near_neutral=JND)
    def test_always_five_in_order(
        self, steps: list[int], near_peak: float, near_neutral: float
    ) -> None:
        found = five_frames(np.cumsum([0, *steps]), near_peak, near_neutral)
        assert len({int(sum(steps[:frame])) for frame in found.frames}) == 5
        assert list(found.frames) == sorted(found.frames)
        assert (found.frames[0], found.frames[-1]) == (0, len(steps))

    @given(
        n=st.integers(5, 60),
        near_peak=st.floats(0.1, 70),
        near_neutral=st.floats(0.1, 70),
        unit=st.sampled_from([0.25, 2.0, 8.0]),
    )
    def test_the_unit_does_not_matter(
        self, n: int, near_peak: float, near_neutral: float, unit: float
    ) -> None:
        one = five_frames(n, near_peak, near_neutral).frames
        assert five_frames(unit * np.arange(n), unit * near_peak, unit * near_neutral).frames == one

    @given(steps=STEPS, near_peak=JND, near_neutral=JND)
    def test_backwards(self, steps: list[int], near_peak: float, near_neutral: float) -> None:
        """Peak and neutral are treated alike; only ties in the middle go to the peak."""
        there = five_frames(np.cumsum([0, *steps]), near_peak, near_neutral)
        back = five_frames(np.cumsum([0, *steps[::-1]]), near_neutral, near_peak)
        assert there.note.split(":")[0] == back.note.split(":")[0]
        if not there.note.startswith("crossed"):
            last = len(steps)
            assert there.frames[1] == last - back.frames[3]
            assert there.frames[3] == last - back.frames[1]


@pytest.mark.parametrize("seed", range(6))
def test_as_the_staircases_say(seed: int) -> None:
    """The frames are those that the analysis of two staircases names."""
    near = {"peak": math.log10(6 + seed), "neutral": math.log10(14 - seed)}
    runs = {
        end: run.simulate(simulate_observer(near[end], guess_rate=0.1, seed=seed))
        for end, run in FrameStaircase.runs(60, trials=40).items()
    }
    both = transition_jnd(runs.values())
    distances = {end: run.result().distance for end, run in runs.items()}
    assert five_frames(60, distances["peak"], distances["neutral"]).frames == both.frames
