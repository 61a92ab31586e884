"""The whole way: films, candidates, staircases, five frames, pairs, and the study of pairs."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here
from tests.stimuli.frames.films import mouth, write_folder

from affectlab.analysis import FrameStaircase, simulate_observer
from affectlab.stimuli import FIVE_FRAMES, pair_design, read_sequences
from affectlab.stimuli.frames import (
    Candidates,
    FiveFrameSampling,
    find_transitions,
    read_jnds,
    write_frames,
)

NAMES = ("ann_joy", "ann_fear", "bob_joy", "bob_fear")
FILMED, JUDGED = 91, 46
JND = {"peak": (6, 7, 9, 11), "neutral": (12, 10, 8, 7)}
"""Frames of the candidates in which people see 1 JND, by sequence."""

SEE = """
[study]
name = "see"
title = "Can you see a difference?"
[protocol]
name = "staircase"
[stimuli]
table = "candidates/candidates.csv"
[sessions]
trials = 100
raters = 1
"""
COMPARE = """
[study]
name = "compare"
title = "How different are these faces?"
[protocol]
name = "difference"
[stimuli]
table = "five/pairs.csv"
[sessions]
trials = 10
raters = 2
"""


def held(n: int) -> list[float]:
    """Held at the peak, then fast, then held at rest."""
    return [1 / (1 + math.exp(14 * (k / (n - 1) - 0.5))) for k in range(n)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        write_folder(tmp_path / "films" / name, [mouth(amount) for amount in held(FILMED)])
    found = find_transitions(tmp_path / "films", fps=30)
    write_frames(found, tmp_path / "candidates", Candidates(JUDGED, ends=1))
    return tmp_path


def run_staircases(table: Path, out: Path) -> None:
    """Run two staircases over each sequence of a study, and write what a study exports."""
    frames = pl.read_csv(table)
    rows = []
    for place, name in enumerate(NAMES):
        n = frames.filter(stimulus=name).height
        for end, run in FrameStaircase.runs(n, trials=50).items():
            person = simulate_observer(math.log10(JND[end][place]), guess_rate=0.1, seed=place)
            found = run.simulate(person).result().to_dict()
            rows.append({"stimulus": name, "n_frames": n, **found, "valid": True})
    pl.DataFrame(rows, infer_schema_length=None).drop("frames").write_csv(out)


def test_from_films_to_pairs(folder: Path) -> None:
    staircases = folder / "staircases.csv"
    run_staircases(folder / "candidates/candidates.csv", staircases)
    sampling = FiveFrameSampling(staircases=read_jnds(staircases))
    found = find_transitions(folder / "candidates/candidates.csv")
    made = write_frames(found, folder / "five", sampling)
    assert made.left_out == ()
    assert made.notes == {}
    for place, name in enumerate(NAMES):
        frames = dict(made.frames.filter(stimulus=name).select("role", "frame").iter_rows())
        assert list(frames) == list(FIVE_FRAMES)
        assert frames["near_peak"] == pytest.approx(JND["peak"][place], rel=0.25, abs=1)
        near_neutral = JUDGED - 1 - frames["near_neutral"]
        assert near_neutral == pytest.approx(JND["neutral"][place], rel=0.25, abs=1)
        assert frames["middle"] == (frames["near_peak"] + frames["near_neutral"]) // 2
    # Each frame is the one filmed at that time.
    for row in made.frames.iter_rows(named=True):
        assert row["source_frame"] == 2 * row["frame"]
        assert row["time_ms"] == pytest.approx(1000 * row["source_frame"] / 30, abs=0.01)
        filmed = folder / "films" / row["stimulus"] / row["source"]
        assert (folder / "five" / row["file"]).read_bytes() == filmed.read_bytes()
    design = pair_design(read_sequences(made.table), copies=2, per_batch=30)
    assert design.report().n_intra == 40
    assert design.report().n_inter == 18


def test_both_studies_take_it(folder: Path) -> None:
    pytest.importorskip("sqlalchemy")
    (folder / "see.toml").write_text(SEE, encoding="utf-8")
    said = run_here("study", "check", folder / "see.toml").stdout
    assert "stimuli          4" in said
    run_staircases(folder / "candidates/candidates.csv", folder / "staircases.csv")
    sampling = FiveFrameSampling(staircases=read_jnds(folder / "staircases.csv"))
    found = find_transitions(folder / "candidates/candidates.csv")
    made = write_frames(found, folder / "five", sampling)
    run_here("stimuli", "pairs", made.table, "--out", folder / "five/pairs.csv", "--copies", 2)
    (folder / "compare.toml").write_text(COMPARE, encoding="utf-8")
    said = run_here("study", "check", folder / "compare.toml").stdout
    assert "stimuli          58" in said


def test_a_study_of_the_films_themselves(folder: Path) -> None:
    """Staircases may be run on a folder of films; their frames then have those numbers."""
    pytest.importorskip("sqlalchemy")
    from affectlab.study import load_study
    from affectlab.study.design.sequences import sequences_of

    (folder / "see.toml").write_text(
        SEE.replace('table = "candidates/candidates.csv"', 'folder = "films"'), encoding="utf-8"
    )
    shown = {one.name: one.files for one in sequences_of(load_study(folder / "see.toml"))}
    found = find_transitions(folder / "films").transitions
    assert {one.name for one in found} == set(shown)
    for one in found:
        assert [one.frames.copyable(k) for k in range(FILMED)] == list(shown[one.name])
