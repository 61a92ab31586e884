"""Tables of frames as a source: candidates are read again, and bad tables are named."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stimuli.frames.films import mouth, transition, write_folder

from affectlab import InputError
from affectlab.stimuli.frames import Candidates, FiveFrameSampling, find_transitions, write_frames
from affectlab.stimuli.frames.jnds import SequenceJnd


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    write_folder(tmp_path / "in/ann_joy", [mouth(k / 40) for k in range(41)])
    found = find_transitions(tmp_path / "in", fps=50)
    made = write_frames(found, tmp_path / "c", Candidates(21, direction="neutral-peak", ends=1))
    return made.table


def test_what_a_staircase_study_reads(candidates: Path) -> None:
    table = pl.read_csv(candidates)
    assert table.columns == [
        *("stimulus", "actor", "expression", "frame", "file"),
        *("source", "source_frame", "time_ms", "fps"),
    ]
    assert table["frame"].to_list() == list(range(21))
    assert table["file"][20] == "pictures/ann/joy/020.png"
    assert table["source_frame"].to_list() == list(range(40, -1, -2))


def test_five_of_the_candidates(candidates: Path, tmp_path: Path) -> None:
    """Frames that were judged are told from where they were filmed, and when."""
    known = {"ann_joy": SequenceJnd(21, 4.2, 6.1, 2)}
    made = write_frames(
        find_transitions(candidates), tmp_path / "five", FiveFrameSampling(staircases=known)
    )
    assert made.frames["frame"].to_list() == [0, 4, 9, 14, 20]
    assert made.frames["source_frame"].to_list() == [40, 32, 22, 12, 0]
    assert made.frames["time_ms"].to_list() == [800, 640, 440, 240, 0]
    assert set(made.frames["source"]) == {"40.png", "32.png", "22.png", "12.png", "0.png"}
    peak = tmp_path / "five" / made.frames["file"][0]
    assert peak.read_bytes() == (tmp_path / "in/ann_joy/40.png").read_bytes()


def test_order_of_rows_where_there_is_no_number(tmp_path: Path) -> None:
    transition(tmp_path / "f", 6)
    rows = "".join(f"ann_joy,f/{k}.png\n" for k in (5, 3, 1, 0, 2, 4))
    (tmp_path / "t.csv").write_text(f"stimulus,file\n{rows}", encoding="utf-8")
    (one,) = find_transitions(tmp_path / "t.csv").transitions
    assert [one.frames.origin(k)[0] for k in range(6)] == [f"{k}.png" for k in (5, 3, 1, 0, 2, 4)]
    assert (one.actor, one.expression) == ("ann", "joy")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stimulus,frame\na_b,1\n", "expected the columns file and stimulus"),
        ("file,actor\nx.png,a\n", "expected the columns file and stimulus"),
        ("stimulus,file\n", "no frames"),
        ("stimulus,file\na_b,\n", "row 1, file: nothing; expected a name"),
        ("stimulus,file,frame\na_b,f/0.png,x\na_b,f/1.png,1\n", "row 1, frame: 'x'; expected a n"),
        ("stimulus,file,frame\na_b,f/0.png,1\na_b,f/1.png,\n", "row 2, frame: ''; expected a n"),
        ("stimulus,file,frame\na_b,f/0.png,1\na_b,f/1.png,1\n", "row 2: frame 1 is there twice"),
        ("stimulus,file,fps\na_b,f/0.png,fast\n", "row 1, fps: 'fast'; expected a number"),
        ("stimulus,file\njoy,f/0.png\n", "'joy' does not say actor and expression"),
    ],
)
def test_bad_tables(text: str, said: str, tmp_path: Path) -> None:
    transition(tmp_path / "f", 5)
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        find_transitions(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("file", "said"),
    [("f/9.png", "file 'f/9.png' is not in"), ("f/0.png", "a file stands for two frames")],
)
def test_bad_files_leave_out(file: str, said: str, tmp_path: Path) -> None:
    transition(tmp_path / "f", 5)
    text = f"stimulus,file\na_b,f/0.png\na_b,{file}\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    (left,) = find_transitions(tmp_path / "t.csv").left_out
    assert said in left.reason


@pytest.mark.parametrize("form", ["../{}", "{folder}/{}", "f/../../{}", "link/{}"])
def test_nothing_outside_the_folder_is_read(form: str, tmp_path: Path) -> None:
    """A table comes from somebody else: it does not say which files of mine are shown."""
    transition(tmp_path, 6)
    (tmp_path / "t/f").mkdir(parents=True)
    (tmp_path / "t/link").symlink_to(tmp_path, target_is_directory=True)
    rows = "".join(f"a_b,{form.format(f'{k}.png', folder=tmp_path)}\n" for k in range(6))
    (tmp_path / "t/t.csv").write_text(f"stimulus,file\n{rows}", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.csv, row 1: file '.*0\.png' lies outside .*t$"):
        find_transitions(tmp_path / "t/t.csv")
