"""``affectlab stimuli frames``: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.cli.command import run_here
from tests.stimuli.frames.films import mouth, transition, write_folder


@pytest.fixture
def films(tmp_path: Path) -> Path:
    for actor in ("ann", "bob"):
        for expression in ("joy", "fear"):
            transition(tmp_path / "films" / f"{actor}_{expression}", 25)
    return tmp_path / "films"


def test_five_frames(films: Path, tmp_path: Path) -> None:
    done = run_here("stimuli", "frames", films, "--out", tmp_path / "five", "--config", "fps=25")
    assert "ann              2      10" in done.stdout
    assert "20 frames of 4 transitions written to" in done.stdout.replace("\n", " ")
    assert "sheets/ann.png" in done.stdout.replace("\n", "")
    assert done.stderr == ""
    table = pl.read_csv(tmp_path / "five/frames.csv")
    assert table.height == 20
    run_here("stimuli", "pairs", tmp_path / "five/frames.csv", "--out", tmp_path / "five/pairs.csv")
    again = run_here("stimuli", "frames", films, "--out", tmp_path / "five", "--config", "fps=25")
    assert "4 transitions of an earlier run kept" in again.stdout


def test_candidates_and_back(films: Path, tmp_path: Path) -> None:
    out = tmp_path / "candidates"
    done = run_here(
        *(
            "stimuli",
            "frames",
            films,
            "--out",
            out,
            "--candidates",
            13,
            "--size",
            32,
            "--config",
            "ends=1",
        )
    )
    assert "52 frames of 4 transitions" in done.stdout
    with Image.open(out / "pictures/ann/joy/012.png") as image:
        assert image.size == (32, 24)
    rows = ["stimulus,anchor,n_frames,distance,status,valid"]
    rows += [
        f"{actor}_{expression},{end},13,{distance},ok,true"
        for actor in ("ann", "bob")
        for expression in ("joy", "fear")
        for end, distance in (("peak", 2.6), ("neutral", 4.2))
    ]
    rows.append("bob_joy,neutral,13,1.0,ok,false")
    (tmp_path / "staircases.csv").write_text("\n".join(rows), encoding="utf-8")
    done = run_here(
        *("stimuli", "frames", out / "candidates.csv", "--out", tmp_path / "five"),
        *("--staircases", tmp_path / "staircases.csv"),
    )
    assert "1 staircases were not finished or are not valid" in done.stderr.replace("\n", " ")
    table = pl.read_csv(tmp_path / "five/frames.csv")
    assert table.filter(stimulus="ann_joy")["frame"].to_list() == [0, 3, 5, 8, 12]
    assert table.filter(stimulus="ann_joy")["source_frame"].to_list() == [0, 6, 10, 16, 24]


def test_notes_and_what_is_left_out(films: Path, tmp_path: Path) -> None:
    transition(films / "cleo_joy", 4)
    out = tmp_path / "five"
    done = run_here("stimuli", "frames", films, "--out", out, "--config", "jnd=90")
    said = " ".join(done.stderr.split())
    assert "note: ann_fear: crossed: 1 JND is beyond all frames from the peak" in said
    assert "warning: cleo_joy is left out: too short: 4 frames; expected at least 5" in said
    done = run_here(
        *("stimuli", "frames", films, "--out", tmp_path / "x", "--config", "jnd=90"),
        *("--config", "crossed=leave-out"),
        code=2,
    )
    assert "none of 5 transitions can be used; the first, " in " ".join(done.stderr.split())
    done = run_here(
        "stimuli", "frames", films, "--out", tmp_path / "y", "--config", "strict=true", code=2
    )
    assert "cleo_joy: too short" in done.stderr


def test_json(films: Path, tmp_path: Path) -> None:
    out = tmp_path / "five"
    found = json.loads(run_here("stimuli", "frames", films, "--out", out, "--json").stdout)
    assert found["schema"] == "affectlab/stimuli-frames/1"
    assert found["result"]["n_transitions"] == 4
    assert found["result"]["table"] == str(out / "frames.csv")
    assert found["result"]["left_out"] == []


def test_source_options(tmp_path: Path) -> None:
    write_folder(tmp_path / "films/joy-ann", [mouth(k / 20) for k in range(21)])
    out = tmp_path / "five"
    run_here(
        *("stimuli", "frames", tmp_path / "films", "--out", out, "--difference", "rmse"),
        *("--direction", "neutral-peak", "--config", "names={expression}-{actor}"),
        *("--crop", "16,24,32,20", "--config", "along=ends", "--jnds", 4, "--config", "ends=3"),
    )
    table = pl.read_csv(out / "frames.csv")
    assert table["actor"].unique().to_list() == ["ann"]
    assert table["source_frame"][0] > 17
    assert table["source_frame"][4] < 3
    with Image.open(out / table["file"][0]) as image:
        assert image.size == (32, 20)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--crop", "1,2,3"], "--crop 1,2,3: expected four whole numbers"),
        (["--crop", "1,2,3,x"], "expected four whole numbers"),
        (["--crop", "1,2,0,4"], "expected left, top, width and height"),
        (["--difference", "sim"], "did you mean 'ssim'"),
        (["--direction", "up"], 'Invalid value "up" for --direction'),
        (["--config", "along=x"], "'steps' or 'ends'"),
        (["--layout", "folder"], 'Did you mean "folders"?'),
        (["--candidates", "9", "--config", "jnd=1"], "leave out --staircases and jnd"),
        (["--staircases", "no.csv"], "no.csv: there is no such file"),
        (["--staircases", "no.csv", "--config", "jnd=1"], "--staircases say what 1 JND is"),
        (["--expressions", "awe"], "no expression fits awe; there are: fear, joy"),
        (["--config", "cameras=400015"], "is not in the layout of MultiFace"),
        (["--layout", "table"], "not a table of frames"),
    ],
)
def test_one_sentence(options: list[str], said: str, films: Path, tmp_path: Path) -> None:
    done = run_here("stimuli", "frames", films, "--out", tmp_path / "five", *options, code=2)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "five").exists()


def test_not_into_the_films(films: Path) -> None:
    done = run_here("stimuli", "frames", films, "--out", films / "five", code=2)
    assert "expected a folder beside it" in " ".join(done.stderr.split())
