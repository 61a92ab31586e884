"""Which way round a transition was filmed, and which frames are its ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stimuli.frames.films import mouth, write_folder

from affectlab import InputError
from affectlab.stimuli.frames import (
    Candidates,
    FiveFrameSampling,
    UnusableError,
    View,
    differences as _differences,
    find_transitions,
    transition as _transition,
)
from affectlab.stimuli.frames.differences import DIFFERENCES, Looks
from affectlab.stimuli.frames.direction import Direction, peak_to_neutral, typical_ends
from affectlab.stimuli.frames.jnds import SequenceJnd

UP = [0, 0, 0.3, 0.7, 1]
DOWN = [0.8, 0.5, 0.2, 0, 0]


def looks(folder: Path, amounts: list[float]) -> Looks:
    write_folder(folder / "ann_joy", map(mouth, amounts))
    (one,) = find_transitions(folder).transitions
    return Looks(one, View(), DIFFERENCES["rmse"])


@pytest.mark.parametrize(
    ("direction", "amounts", "order"),
    [
        ("peak-neutral", [1, *DOWN], [0, 1, 2, 3, 4, 5]),
        ("neutral-peak", UP, [4, 3, 2, 1, 0]),
        ("neutral-peak-neutral", UP + DOWN, [4, 5, 6, 7, 8, 9]),
        ("find", UP + DOWN, [4, 5, 6, 7, 8, 9]),
        ("find", UP, [4, 3, 2, 1, 0]),
        ("find", [*UP, 0.7], [4, 3, 2, 1, 0]),
    ],
)
def test_order(
    direction: Direction, amounts: list[float], order: list[int], tmp_path: Path
) -> None:
    assert peak_to_neutral(looks(tmp_path, amounts), direction) == order


def test_a_face_that_stays(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"does not come back to rest.* frame 4, the apex"):
        peak_to_neutral(looks(tmp_path, UP), "neutral-peak-neutral")


def test_a_face_that_does_not_move(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match="all frames are alike"):
        peak_to_neutral(looks(tmp_path, [0.5] * 6), "find")


def test_unknown_direction(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'peak-neutral'"):
        peak_to_neutral(looks(tmp_path, UP), "peak-netural")  # type: ignore[arg-type]


class TestEnds:
    #: Frame 0 and the last frame are slips: the mouth is elsewhere than in the frames beside them.
    AMOUNTS = (0.4, 1, 1, 0.9, 0.7, 0.5, 0.3, 0.1, 0, 0, 0.6)

    def test_typical_frames(self, tmp_path: Path) -> None:
        seen = looks(tmp_path, list(self.AMOUNTS))
        order = list(range(len(self.AMOUNTS)))
        assert typical_ends(seen, order, 1) == order
        assert typical_ends(seen, order, 3) == list(range(1, 9))

    def test_too_short_for_so_many(self, tmp_path: Path) -> None:
        seen = looks(tmp_path, UP + DOWN)
        with pytest.raises(UnusableError, match="10 frames; expected at least 11, three between 4"):
            typical_ends(seen, list(range(10)), 4)

    def test_both_samplings_cut_there(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "ann_joy", map(mouth, self.AMOUNTS))
        (one,) = find_transitions(tmp_path).transitions
        five = FiveFrameSampling(ends=3, difference="rmse", jnds=4).choose(one, View())
        assert (five.filmed[0], five.filmed[-1]) == (1, 8)
        assert Candidates(20, ends=3, difference="rmse").choose(one, View()).filmed == tuple(
            range(1, 9)
        )


def test_direction_of_the_frames_that_are_taken(tmp_path: Path) -> None:
    write_folder(tmp_path / "ann_joy", [mouth(k / 10) for k in range(11)])
    (one,) = find_transitions(tmp_path).transitions
    steps = FiveFrameSampling(direction="neutral-peak", jnds=5, difference="rmse")
    ends = FiveFrameSampling(direction="neutral-peak", jnds=5, difference="rmse", along="ends")
    for sampling in (steps, ends):
        filmed = sampling.choose(one, View()).filmed
        assert filmed[0] == 10
        assert filmed[-1] == 0
        assert list(filmed) == sorted(filmed, reverse=True)


class TestEndsUnlessToldOtherwise:
    """FaceExpressions-70k, section 3.2: the peak from the first five, neutral from the last."""

    #: Thirteen frames; the mouth slips in the first and in the last one.
    SLIPS = (0.5, 1, 1, 1, 0.9, 0.7, 0.5, 0.3, 0.1, 0, 0, 0, 0.5)

    @pytest.mark.parametrize(
        "sampling", [FiveFrameSampling(difference="rmse", jnds=5), Candidates(40)]
    )
    @pytest.mark.parametrize(("without", "ends"), [(0, (1, 9)), (1, (0, 11))])
    def test_five_of_thirteen_frames(
        self,
        sampling: FiveFrameSampling | Candidates,
        without: int,
        ends: tuple[int, int],
        tmp_path: Path,
    ) -> None:
        """Of twelve frames there are no five at each end with three between."""
        write_folder(tmp_path / "ann_joy", map(mouth, self.SLIPS[: 13 - without]))
        (one,) = find_transitions(tmp_path).transitions
        filmed = sampling.choose(one, View()).filmed
        assert (filmed[0], filmed[-1]) == ends

    def test_what_was_judged_stays(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "ann_joy", map(mouth, self.SLIPS))
        (one,) = find_transitions(tmp_path).transitions
        known = {"ann_joy": SequenceJnd(13, 3, 3, 2)}
        filmed = FiveFrameSampling(staircases=known).choose(one, View()).filmed
        assert (filmed[0], filmed[-1]) == (0, 12)
        assert FiveFrameSampling(staircases=known).settings()["ends"] == 1


class TestMemory:
    """Frames at the ends are compared with one another, and may be large."""

    def test_small_copies_are_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_transition, "_MOST_KEPT", 64 * 48)
        seen = looks(tmp_path, [*DOWN, *UP])
        down = seen.among([4, 3, 2, 1, 0])
        assert down == pytest.approx(seen.among([0, 1, 2, 3, 4])[::-1, ::-1])
        assert down[0, 4] == pytest.approx(seen.from_frame(0)[4])

    def test_too_many_frames(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = looks(tmp_path, [*DOWN, *UP])
        monkeypatch.setattr(_differences, "_MOST_SMALL", 9 * 64 * 48)
        with pytest.raises(UnusableError, match="10 frames are too many to compare"):
            seen.steps()
        monkeypatch.setattr(_differences, "_MOST_SMALL", 10 * 64 * 48)
        assert len(seen.steps()) == 9

    def test_pictures_that_are_kept_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_folder(tmp_path / "ann_joy", map(mouth, [*DOWN, *UP]))
        (one,) = find_transitions(tmp_path).transitions
        own = Looks(one, View(), DIFFERENCES["rmse"].__call__)
        monkeypatch.setattr(_transition, "_MOST_KEPT", 3 * 64 * 48)
        assert own.among([2, 1, 0]).shape == (3, 3)
        said = "pictures of 64 x 48 pixels are too large to keep several"
        with pytest.raises(UnusableError, match=said):
            own.among([3, 2, 1, 0])
        with pytest.raises(UnusableError, match=said):
            list(one.images([3, 2, 1, 0], View()))
        assert len(list(one.images([0, 1, 2, 3], View()))) == 4
