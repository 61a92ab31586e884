"""What staircases found, as a study exports it."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from affectlab import InputError
from affectlab.stimuli.frames import read_jnds
from affectlab.stimuli.frames.jnds import SequenceJnd

BEYOND = "beyond"
WITHIN = "within"


def table(folder: Path, *runs: tuple[object, ...], name: str = "staircases.csv") -> Path:
    """Write runs over one sequence: anchor, distance, status, valid."""
    rows = [
        {
            "stimulus": "ann_joy",
            "anchor": anchor,
            "n_frames": 41,
            "distance": distance,
            "status": status,
            "valid": valid,
        }
        for anchor, distance, status, valid in runs
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    path = folder / name
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)
    return path


def near_peak(folder: Path, *runs: tuple[float | None, str]) -> float | None:
    path = table(folder, *(("peak", distance, status, True) for distance, status in runs))
    return read_jnds(path)["ann_joy"].near_peak


@pytest.mark.parametrize("name", ["staircases.csv", "staircases.parquet"])
def test_both_ends(name: str, tmp_path: Path) -> None:
    path = table(tmp_path, ("peak", 8.5, "ok", True), ("neutral", 12.0, "ok", True), name=name)
    assert read_jnds(path) == {"ann_joy": SequenceJnd(41, 8.5, 12.0, n_runs=2)}


class TestSeveralRuns:
    def test_the_median_on_a_logarithmic_scale(self, tmp_path: Path) -> None:
        assert near_peak(tmp_path, (4.0, "ok"), (9.0, "ok")) == pytest.approx(6)
        assert near_peak(tmp_path, (4.0, "ok"), (9.0, "ok"), (30.0, "ok")) == 9

    def test_runs_that_found_no_frame_count(self, tmp_path: Path) -> None:
        assert near_peak(tmp_path, (4.0, "ok"), (9.0, "ok"), (None, BEYOND)) == 9
        assert near_peak(tmp_path, (4.0, "ok"), (9.0, "ok"), (None, WITHIN)) == 4
        assert near_peak(tmp_path, (None, BEYOND), (9.0, "ok"), (None, BEYOND)) == math.inf
        assert near_peak(tmp_path, (None, WITHIN)) == 0

    def test_where_one_of_the_middle_two_found_none(self, tmp_path: Path) -> None:
        assert near_peak(tmp_path, (9.0, "ok"), (None, BEYOND)) == 9
        assert near_peak(tmp_path, (None, WITHIN), (9.0, "ok")) == 9
        assert near_peak(tmp_path, (None, WITHIN), (None, BEYOND)) is None

    def test_what_does_not_count(self, tmp_path: Path) -> None:
        path = table(
            tmp_path,
            ("peak", 8.0, "ok", True),
            ("peak", 2.0, "ok", False),
            ("peak", 3.0, "unfinished", True),
            ("peak", None, "undefined", True),
        )
        assert read_jnds(path)["ann_joy"] == SequenceJnd(41, 8.0, None, n_runs=1, n_left=3)


class TestRefused:
    @pytest.mark.parametrize(
        ("run", "said"),
        [
            (("top", 8.0, "ok", True), "row 1: anchor 'top'; expected peak"),
            (("peak", None, "ok", True), "row 1, distance: None; expected frames above 0"),
            (("peak", -3.0, "ok", True), "distance: '-3.0'"),
            (("peak", math.inf, "ok", True), "distance: 'inf'"),
            (("peak", 8.0, "ok", "perhaps"), "valid: 'perhaps'; expected true or false"),
        ],
    )
    def test_a_bad_value(self, run: tuple[object, ...], said: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=said):
            read_jnds(table(tmp_path, run))

    def test_other_frames(self, tmp_path: Path) -> None:
        path = tmp_path / "s.csv"
        path.write_text(
            "stimulus,anchor,n_frames,distance,status\na,peak,41,8,ok\na,neutral,90,9,ok\n",
            encoding="utf-8",
        )
        with pytest.raises(InputError, match="row 2: 'a' has 90 frames, in rows before it 41"):
            read_jnds(path)

    @pytest.mark.parametrize("n", ["x", "1", "4.5", ""])
    def test_no_number_of_frames(self, n: str, tmp_path: Path) -> None:
        path = tmp_path / "s.csv"
        path.write_text(f"stimulus,anchor,n_frames,distance,status\na,peak,{n},8,ok\n", "utf-8")
        with pytest.raises(InputError, match=r"n_frames: .*; expected a whole number from 2 on"):
            read_jnds(path)

    def test_another_table(self, tmp_path: Path) -> None:
        path = tmp_path / "s.csv"
        path.write_text("stimulus,rater,value\na,b,1\n", encoding="utf-8")
        with pytest.raises(InputError, match="column 'anchor' is missing; expected stimulus"):
            read_jnds(path)
        path.write_text("stimulus,anchor,n_frames,distance,status\n", encoding="utf-8")
        with pytest.raises(InputError, match="there is no run"):
            read_jnds(path)
        with pytest.raises(InputError, match="there is no such file"):
            read_jnds(tmp_path / "none.csv")
