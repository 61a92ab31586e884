"""The layout of MultiFace, drawn small."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stimuli.frames.films import mouth

from affectlab import InputError
from affectlab.stimuli.frames import FiveFrameSampling, find_transitions, write_frames

ANN, BOB = "m--20180227--0000--6795937--GHS", "m--20171024--0000--002757580--GHS"
PEAKS = ("E009_Smile_Mouth_Open", "E057_Cheeks_Puffed")
NUMBERS = [102, 105, 108, 111, 117, 120, 123]
"""Frame 114 is missing."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two actors, two cameras, and what there is beside the pictures."""
    root = tmp_path / "multiface"
    for actor in (ANN, BOB):
        for expression in (*PEAKS, "SEN_and_you_think", "EXP_ROM07_Facial_Expressions"):
            for camera in ("400002", "400015"):
                place = root / actor / "images" / expression / camera
                place.mkdir(parents=True)
                for k, number in enumerate(NUMBERS):
                    mouth(1 - k / 6).save(place / f"{number:06d}.png")
        for other in ("tracked_mesh", "unwrapped_uv_1024", "audio"):
            (root / actor / other / PEAKS[0]).mkdir(parents=True)
        (root / actor / "KRT").write_text("400002\n", encoding="utf-8")
    return root


def test_actors_and_peak_expressions(root: Path) -> None:
    found = find_transitions(root, cameras=["400015"])
    assert [(one.name, one.actor, one.expression) for one in found.transitions] == [
        (f"{actor}_{expression}", actor, expression)
        for actor in ("002757580", "6795937")
        for expression in PEAKS
    ]
    assert found.left_out == ()


def test_one_actor(root: Path) -> None:
    found = find_transitions(root / ANN, cameras=["400015"])
    assert {one.actor for one in found.transitions} == {"6795937"}


def test_other_segments_by_name(root: Path) -> None:
    found = find_transitions(root / ANN, cameras=["400015"], expressions=["EXP_*"])
    assert [one.expression for one in found.transitions] == ["EXP_ROM07_Facial_Expressions"]


def test_times_follow_the_clock_of_the_camera(root: Path) -> None:
    """Numbers rise by three a frame; one that is missing leaves its gap."""
    one = find_transitions(root / ANN, cameras=["400015"]).transitions[0]
    assert one.frames.fps == 30
    expected = [k * 100 / 3 for k in (0, 1, 2, 3, 5, 6, 7)]
    assert one.frames.times_ms == pytest.approx(expected)


def test_the_first_camera_that_there_is(root: Path) -> None:
    place = root / ANN / "images" / PEAKS[0] / "400002"
    place.rename(place.with_name("400099"))
    found = find_transitions(root / ANN, cameras=["400002", "400015"])
    used = [one.frames.copyable(0) for one in found.transitions]
    assert [file.parent.name for file in used if file] == ["400015", "400002"]


def test_no_such_camera_leaves_out(root: Path, tmp_path: Path) -> None:
    for file in (root / ANN / "images" / PEAKS[0] / "400002").iterdir():
        file.unlink()
    made = write_frames(
        find_transitions(root, cameras=["400002"]), tmp_path / "out", FiveFrameSampling()
    )
    assert made.n_transitions == 3
    assert [(one.name, one.reason) for one in made.left_out] == [
        (f"6795937_{PEAKS[0]}", "no frames of camera 400002")
    ]
    assert "no frames of camera 400002" in (tmp_path / "out/left_out.csv").read_text("utf-8")


def test_several_cameras_have_to_be_chosen_from(root: Path) -> None:
    with pytest.raises(InputError, match=r"filmed by 2 cameras; name .* of: 400002, 400015"):
        find_transitions(root)


def test_the_only_camera_needs_no_name(root: Path) -> None:
    for place in (root / ANN / "images").iterdir():
        for file in (place / "400002").iterdir():
            file.unlink()
        (place / "400002").rmdir()
    assert len(find_transitions(root / ANN)) == 2


def test_cameras_are_for_multiface(tmp_path: Path) -> None:
    (tmp_path / "ann_joy").mkdir()
    mouth(1).save(tmp_path / "ann_joy/0.png")
    with pytest.raises(InputError, match="not in the layout of MultiFace"):
        find_transitions(tmp_path, cameras=["400002"])


def test_an_empty_actor(tmp_path: Path) -> None:
    (tmp_path / ANN / "images").mkdir(parents=True)
    with pytest.raises(InputError, match=r"expected images/EXPRESSION/CAMERA/FRAME\.png"):
        find_transitions(tmp_path / ANN)
