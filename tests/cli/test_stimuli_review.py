"""``affectlab stimuli review``: a study to answer, and decisions from the answers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.cli.command import run_here

ANSWERS = """stimulus,rater,label,value
p0,x,fine,1
p0,x,artefacts,0
p0,y,fine,1
p0,y,artefacts,0
p1,x,fine,0
p1,x,artefacts,1
p1,y,fine,1
p1,y,artefacts,0
p2,x,fine,1
p2,x,artefacts,0
"""


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    folder = tmp_path / "faces"
    folder.mkdir()
    for k in range(3):
        Image.new("RGB", (8, 8)).save(folder / f"p{k}.png")
    table = folder / "manifest.csv"
    table.write_text(
        "stimulus,file,label\n" + "".join(f"p{k},p{k}.png,Awe\n" for k in range(3)),
        encoding="utf-8",
    )
    (tmp_path / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    return table


def test_a_study_that_can_be_opened(faces: Path, tmp_path: Path) -> None:
    out = tmp_path / "review"
    said = run_here("stimuli", "review", faces, "--out", out, "--raters", 3).stdout
    assert "3 pictures to review, 3 answers for each" in said
    work = json.loads(run_here("study", "check", out / "review.toml", "--json").stdout)
    assert work["result"]["answers"] == 9
    assert work["warnings"] == ["there is no contact; participants cannot ask anyone"]
    again = run_here("stimuli", "review", faces, "--out", out, code=2)
    assert "is there already; expected a new folder" in again.stderr.replace("\n", " ")


def test_simulated_reviewers_answer_it(faces: Path, tmp_path: Path) -> None:
    out = tmp_path / "review"
    run_here("stimuli", "review", faces, "--out", out)
    run_here("study", "simulate", out / "review.toml", "--people", 2, "--careless", 0)
    run_here("study", "export", out / "review.toml", "--out", out / "answers")
    done = run_here(
        "stimuli", "review", faces, "--out", out, "--answers", out / "answers", "--json"
    )
    found = json.loads(done.stdout)["result"]
    assert found["n_items"] == 3
    assert found["n_kept"] + found["n_left_out"] == 3
    assert found["undecided"] == []


def test_decisions(faces: Path, tmp_path: Path) -> None:
    given = ("stimuli", "review", faces, "--out", tmp_path, "--answers", tmp_path / "answers.csv")
    said = run_here(*given).stdout
    assert "1 kept, 1 left out, 1 undecided, of 3" in said
    assert "p1" in said.partition("Left out")[2].partition("Undecided")[0]
    assert "1 of 2 answers" in said.partition("Undecided")[2]
    decided = pl.read_csv(tmp_path / "decisions.csv")
    assert decided["keep"].to_list() == [True, False, None]
    accepted = pl.read_csv(faces.parent / "accepted.csv")
    assert accepted.rows() == [("p0", "p0.png", "Awe")]
    for rule, raters, kept in (("2", 2, 2), ("majority", 1, 2), ("any", 1, 2)):
        done = run_here(*given, "--rule", rule, "--raters", raters, "--json")
        assert json.loads(done.stdout)["result"]["n_kept"] == kept


def test_a_second_review_asks_about_the_rest(faces: Path, tmp_path: Path) -> None:
    first = ("stimuli", "review", faces, "--out", tmp_path / "one")
    run_here(*first, "--answers", tmp_path / "answers.csv")
    decided = tmp_path / "one" / "decisions.csv"
    second = ("stimuli", "review", faces, "--out", tmp_path / "two", "--decided", decided)
    said = run_here(*second).stdout
    # What was settled is not asked again; p2 had one answer of two.
    assert "1 picture to review" in said
    assert pl.read_csv(tmp_path / "two" / "review.csv")["stimulus"].to_list() == ["p2"]
    assert f"--decided {decided}" in said.replace("\n", "")
    answers = tmp_path / "more.csv"
    answers.write_text("stimulus,rater,label,value\np2,x,fine,1\np2,z,fine,1\n")
    run_here(*second, "--answers", answers)
    found = pl.read_csv(tmp_path / "two" / "decisions.csv")
    assert found.select("stimulus", "keep", "n_raters").rows() == [
        ("p0", True, 2),
        ("p1", False, 2),
        ("p2", True, 2),
    ]
    assert pl.read_csv(faces.parent / "accepted.csv")["stimulus"].to_list() == ["p0", "p2"]
    bad = run_here(*second[:-1], faces, code=2)
    assert "no column 'keep'; expected the decisions of a review" in bad.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--kind", "films"], "unknown kind of review 'films'"),
        (["--kind", "comments"], "no column 'text'; found: stimulus, file, label"),
        (["--answers", "answers.csv", "--rule", "some"], "rule 'some': expected 'any', 'majority'"),
        (["--answers", "none.csv"], "none.csv"),
        (["--answers", "."], "there is no ratings.parquet"),
    ],
)
def test_bad_options(
    faces: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("stimuli", "review", faces, "--out", tmp_path / "review", *more, code=2)
    assert said in done.stderr.replace("\n", " ")
    assert not (tmp_path / "review" / "decisions.csv").exists()
