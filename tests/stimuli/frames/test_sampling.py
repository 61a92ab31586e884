"""Which frames are taken: by a difference, by staircases, or as candidates for them."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.stimuli.frames.films import mouth, transition, write_folder

from affectlab import InputError
from affectlab.stimuli.frames import (
    Candidates,
    FiveFrameSampling,
    Transition,
    UnusableError,
    View,
    find_transitions,
)
from affectlab.stimuli.frames.differences import DIFFERENCES
from affectlab.stimuli.frames.jnds import SequenceJnd
from affectlab.stimuli.frames.sampling import evenly

HELD = [1.0] * 6 + [0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1] + [0.0] * 6


@pytest.fixture
def held(tmp_path: Path) -> Transition:
    """Held at both ends, moving in between."""
    write_folder(tmp_path / "ann_joy", [mouth(amount, (128, 96)) for amount in HELD])
    return find_transitions(tmp_path).transitions[0]


class TestByDifference:
    @pytest.mark.parametrize("difference", ["ssim", "rmse"])
    @pytest.mark.parametrize("along", ["steps", "ends"])
    def test_held_frames_are_passed_over(
        self, difference: str, along: Any, held: Transition
    ) -> None:
        chosen = FiveFrameSampling(ends=1, difference=difference, along=along).choose(held, View())
        assert chosen.places[0] == 0
        assert chosen.places[-1] == len(HELD) - 1
        assert 6 <= chosen.places[1] < chosen.places[2] < chosen.places[3] <= 12
        assert chosen.note == ""

    def test_steps_are_even(self, held: Transition) -> None:
        """With n JNDs in all, the second and the fourth frame are the nth part from their ends."""
        difference = DIFFERENCES["rmse"]
        images = list(held.images(range(len(HELD)), View()))
        along = np.concatenate([[0], np.cumsum(list(map(difference, images, images[1:])))])
        chosen = FiveFrameSampling(difference="rmse", jnds=5.5).choose(held, View()).places
        jnd = along[-1] / 5.5
        step = np.diff(along).max()
        assert abs(along[chosen[1]] - jnd) <= step / 2
        assert abs(along[-1] - along[chosen[3]] - jnd) <= step / 2
        assert abs(along[chosen[2]] - along[-1] / 2) <= step

    @pytest.mark.parametrize("along", ["steps", "ends"])
    def test_a_film_that_runs_backwards(self, along: Any, tmp_path: Path) -> None:
        amounts = [1, 1, 0.95, 0.9, 0.7, 0.4, 0.3, 0.25, 0.2, 0.1, 0.05, 0, 0]
        write_folder(tmp_path / "ann_down", map(mouth, amounts))
        write_folder(tmp_path / "ann_up", map(mouth, reversed(amounts)))
        down, up = find_transitions(tmp_path).transitions
        there = FiveFrameSampling(difference="rmse", along=along).choose(down, View())
        back = FiveFrameSampling(difference="rmse", along=along, direction="neutral-peak")
        assert [12 - frame for frame in back.choose(up, View()).filmed] == list(there.filmed)
        assert there.note == ""

    def test_in_the_unit_of_the_difference(self, held: Transition) -> None:
        images = list(held.images(range(len(HELD)), View()))
        away = [DIFFERENCES["rmse"](images[0], image) for image in images]
        sampling = FiveFrameSampling(difference="rmse", along="ends", jnd=away[7])
        assert sampling.choose(held, View()).places[1] == 7

    def test_more_than_there_is(self, held: Transition) -> None:
        for along in ("steps", "ends"):
            sampling = FiveFrameSampling(difference="rmse", along=along, jnd=9.0)  # type: ignore[arg-type]
            assert sampling.choose(held, View()).note.startswith("crossed: 1 JND is beyond all")

    def test_noise_adds_up_along_steps_and_not_from_the_ends(self, tmp_path: Path) -> None:
        from PIL import Image

        rng = np.random.default_rng(0)
        faces = []
        for amount in [1.0] * 30 + [0.8, 0.6, 0.4, 0.2] + [0.0] * 4:
            face = np.asarray(mouth(amount, (128, 96)), dtype=float)
            noisy = np.clip(face + rng.normal(0, 4, face.shape), 0, 255).astype(np.uint8)
            faces.append(Image.fromarray(noisy))
        write_folder(tmp_path / "ann_joy", faces)
        (one,) = find_transitions(tmp_path).transitions
        steps = FiveFrameSampling(difference="rmse").choose(one, View()).places
        ends = FiveFrameSampling(difference="rmse", along="ends", jnds=3).choose(one, View())
        assert steps[1] < 29
        assert ends.places[1] >= 30

    def test_only_what_is_cut_out_is_compared(self, tmp_path: Path) -> None:
        faces = []
        for k in range(12):
            face = mouth(max(0.0, 1 - k / 4), (128, 96))
            # Something moves beside the face, later than the mouth.
            face.paste((0, 0, 0), (0, 0, 10 * k, 8))
            faces.append(face)
        write_folder(tmp_path / "ann_joy", faces)
        (one,) = find_transitions(tmp_path).transitions
        sampling = FiveFrameSampling(difference="rmse", jnds=4)
        assert sampling.choose(one, View(crop=(44, 57, 40, 20))).places[3] == 3
        assert sampling.choose(one, View()).places[3] > 4


class TestByStaircases:
    def test_frames_that_people_told_apart(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 31)
        (one,) = find_transitions(tmp_path).transitions
        known = {"ann_joy": SequenceJnd(31, 6.4, 11.7, 2)}
        chosen = FiveFrameSampling(staircases=known).choose(one, View())
        assert chosen.filmed == (0, 6, 12, 18, 30)
        filmed_up = FiveFrameSampling(staircases=known, direction="neutral-peak")
        assert filmed_up.choose(one, View()).filmed == (30, 24, 18, 12, 0)

    def test_pictures_need_not_be_compared(self, tmp_path: Path) -> None:
        """A broken frame between those that are taken does no harm."""
        files = transition(tmp_path / "ann_joy", 31)
        files[9].write_bytes(b"")
        (one,) = find_transitions(tmp_path).transitions
        known = {"ann_joy": SequenceJnd(31, 6.4, 11.7, 2)}
        assert FiveFrameSampling(staircases=known).choose(one, View()).places[1] == 6

    @pytest.mark.parametrize(
        ("found", "said"),
        [
            ({}, "no staircase was run on it"),
            ({"ann_joy": SequenceJnd(9, 3, None, 1)}, "no staircase from neutral found 1 JND"),
            ({"ann_joy": SequenceJnd(9, None, 3, 1)}, "no staircase from the peak found 1 JND"),
        ],
    )
    def test_left_out(self, found: dict[str, SequenceJnd], said: str, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 9)
        (one,) = find_transitions(tmp_path).transitions
        with pytest.raises(UnusableError, match=said):
            FiveFrameSampling(staircases=found).choose(one, View())

    def test_other_frames_than_were_judged(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 12)
        (one,) = find_transitions(tmp_path).transitions
        known = {"ann_joy": SequenceJnd(41, 3, 3, 2)}
        with pytest.raises(InputError, match=r"has 12 frames .* run on 41; .*candidates\.csv"):
            FiveFrameSampling(staircases=known).choose(one, View())


class TestCandidates:
    def test_all_where_there_are_few(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 9)
        (one,) = find_transitions(tmp_path).transitions
        assert Candidates(20).choose(one, View()).filmed == tuple(range(9))

    def test_from_peak_to_neutral(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "ann_joy", [mouth(k / 20) for k in range(21)])
        (one,) = find_transitions(tmp_path, fps=30).transitions
        chosen = Candidates(6, direction="neutral-peak", ends=1).choose(one, View())
        assert chosen.filmed == (20, 16, 12, 8, 4, 0)

    @given(
        gaps=st.lists(st.integers(1, 50), min_size=4, max_size=40),
        count=st.integers(5, 30),
    )
    def test_even_times(self, gaps: list[int], count: int) -> None:
        times = np.cumsum([0, *gaps]).tolist()
        found = evenly(times, count)
        assert len(found) == min(count, len(times))
        assert all(before < after for before, after in pairwise(found))
        assert (found[0], found[-1]) == (0, len(times) - 1)

    @given(n=st.integers(5, 200), count=st.integers(5, 60))
    def test_a_steady_rate_gives_steady_steps(self, n: int, count: int) -> None:
        steps = np.diff(evenly(list(range(n)), count))
        assert steps.max() - steps.min() <= 1

    def test_too_short(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 4)
        write_folder(tmp_path / "bob_joy", [mouth(a) for a in (0, 0.5, 1, 0.5, 0, 0)])
        ann, bob = find_transitions(tmp_path).transitions
        with pytest.raises(UnusableError, match="too short: 4 frames; expected at least 5"):
            Candidates(9).choose(ann, View())
        with pytest.raises(UnusableError, match="too short: 4 frames from peak to neutral"):
            Candidates(9, direction="neutral-peak-neutral").choose(bob, View())


@pytest.mark.parametrize(
    "settings",
    [
        {"jnds": 0.5},
        {"jnds": math.inf},
        {"jnds": math.nan},
        {"jnd": 0.0},
        {"jnd": math.inf},
        {"ends": 0},
        {"along": "side"},
        {"crossed": "odd"},
        {"staircases": {}, "ends": 3},
    ],
)
def test_bad_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"expected|did you mean"):
        FiveFrameSampling(**settings)


@pytest.mark.parametrize(("count", "ends"), [(4, 1), (9, 0)])
def test_bad_candidates(count: int, ends: int) -> None:
    with pytest.raises(InputError, match="expected at least"):
        Candidates(count, ends=ends)
