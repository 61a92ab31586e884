"""``affectlab stimuli review``: a study to answer, and decisions from the answers."""

from __future__ import annotations

import json
import shlex
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


@pytest.mark.long
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
    accepted = pl.read_csv(tmp_path / "accepted.csv")
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
    assert pl.read_csv(tmp_path / "two" / "accepted.csv")["stimulus"].to_list() == ["p0", "p2"]
    assert not (faces.parent / "accepted.csv").exists()
    bad = run_here(*second[:-1], faces, code=2)
    assert "column 'keep' is missing; expected stimulus and keep" in bad.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--kind", "films"], "unknown kind of review 'films'"),
        (["--kind", "comments"], "column 'text' is missing; expected stimulus and text"),
        (["--answers", "answers.csv", "--rule", "some"], "rule 'some': expected 'any', 'majority'"),
        (["--answers", "none.csv"], "none.csv"),
        (["--rule", "some"], "rule 'some': expected 'any', 'majority'"),
        (["--rule", "3"], "rule 3: 2 raters cannot object so often; expected 1 to 2"),
        (["--answers", "answers.csv", "--rule", "3"], "rule 3: 2 raters cannot object so often"),
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


def commands(said: str) -> list[list[str]]:
    """Commands that were printed, as a shell reads them, a line each."""
    lines = [line.partition("affectlab ")[2] for line in said.splitlines() if "affectlab " in line]
    return [shlex.split(line) for line in lines]


def test_printed_commands_do_what_the_review_was_told(tmp_path: Path) -> None:
    """In a narrow terminal, of a folder whose name has a space, with another rule."""
    folder = tmp_path / "my faces"
    folder.mkdir()
    for k in range(3):
        Image.new("RGB", (8, 8)).save(folder / f"p{k}.png")
    items = pl.DataFrame({"stimulus": ["p0", "p1", "p2"], "file": ["p0.png", "p1.png", "p2.png"]})
    items.write_csv(folder / "manifest.csv")
    given = ("stimuli", "review", folder / "manifest.csv", "--out", tmp_path / "my review")
    said = run_here(*given, "--raters", 3, "--rule", "majority", width=40).stdout
    serve, export, decide = commands(said)
    assert serve == ["study", "serve", str(tmp_path / "my review" / "review.toml")]
    assert decide[decide.index("--raters") :][:4] == ["--raters", "3", "--rule", "majority"]
    run_here("study", "simulate", serve[2], "--people", 2, "--careless", 0)
    run_here(*export)
    answered = json.loads(run_here(*decide, "--json").stdout)["result"]
    # Two answers of three that agree are a majority; any other number is none.
    assert answered["n_items"] == 3
    votes = pl.read_csv(tmp_path / "my review" / "decisions.csv")
    assert votes["n_raters"].to_list() == [2, 2, 2]


def with_digests(table: Path, *digests: str) -> None:
    pl.read_csv(table).with_columns(sha256=pl.Series(digests)).write_csv(table)


def test_a_picture_that_was_made_again_is_reviewed_again(faces: Path, tmp_path: Path) -> None:
    with_digests(faces, "d0", "d1", "d2")
    first = ("stimuli", "review", faces, "--out", tmp_path / "one")
    run_here(*first)
    assert pl.read_csv(tmp_path / "one" / "review.csv")["sha256"].to_list() == ["d0", "d1", "d2"]
    run_here(*first, "--answers", tmp_path / "answers.csv")
    decided = tmp_path / "one" / "decisions.csv"
    assert pl.read_csv(decided)["sha256"].to_list() == ["d0", "d1", "d2"]
    with_digests(faces, "other", "d1", "d2")
    second = ("stimuli", "review", faces, "--out", tmp_path / "two", "--decided", decided)
    assert "2 pictures to review" in run_here(*second).stdout
    assert pl.read_csv(tmp_path / "two" / "review.csv")["stimulus"].to_list() == ["p0", "p2"]
    # Answers to the first review are about a picture that is no more.
    run_here(*first, "--answers", tmp_path / "answers.csv")
    found = pl.read_csv(tmp_path / "one" / "decisions.csv")
    assert found.select("keep", "reason", "n_raters").row(0) == (
        None,
        "made again since it was reviewed",
        0,
    )
    assert found["keep"].to_list()[1:] == [False, None]
    assert pl.read_csv(tmp_path / "one" / "accepted.csv").height == 0


def test_an_export_says_which_picture_was_answered_about(faces: Path, tmp_path: Path) -> None:
    with_digests(faces, "d0", "d1", "d2")
    out = tmp_path / "review"
    run_here("stimuli", "review", faces, "--out", out)
    run_here("study", "simulate", out / "review.toml", "--people", 2, "--careless", 0)
    run_here("study", "export", out / "review.toml", "--out", tmp_path / "answers")
    with_digests(faces, "d0", "other", "d2")
    given = ("stimuli", "review", faces, "--out", tmp_path / "new")
    run_here(*given, "--answers", tmp_path / "answers")
    found = pl.read_csv(tmp_path / "new" / "decisions.csv")
    assert found["n_raters"].to_list() == [2, 0, 2]
    assert found["keep"][1] is None


def test_nothing_is_written_over_what_is_read(faces: Path, tmp_path: Path) -> None:
    out = tmp_path / "one"
    answers = ("--answers", tmp_path / "answers.csv")
    run_here("stimuli", "review", faces, "--out", out, *answers)
    before = {file: file.read_bytes() for file in out.iterdir()}
    for items, more in (
        (out / "accepted.csv", ()),
        (faces, ("--decided", out / "decisions.csv")),
        (faces, ("--decided", out / ".." / "one" / "decisions.csv")),
    ):
        said = run_here("stimuli", "review", items, "--out", out, *more, *answers, code=2).stderr
        assert "would be written over itself; give another folder" in said.replace("\n", " ")
    assert {file: file.read_bytes() for file in out.iterdir()} == before


def test_nothing_is_left_to_review(faces: Path, tmp_path: Path) -> None:
    decided = tmp_path / "decided.csv"
    names = pl.Series("stimulus", ["p0", "p1", "p2"])
    rest = {"reason": "", "n_raters": 2, "votes": "", "notes": ""}
    table = pl.DataFrame([names, pl.Series("keep", ["TRUE", "False", "true"])])
    table.with_columns(**{name: pl.lit(value) for name, value in rest.items()}).write_csv(decided)
    given = ("stimuli", "review", faces, "--out", tmp_path / "two", "--decided", decided)
    assert "all 3 items are settled, nothing is left to review" in run_here(*given).stdout
    found = json.loads(run_here(*given, "--json").stdout)["result"]
    assert found == {"n_items": 0, "n_settled": 3}
    assert not (tmp_path / "two").exists()


def test_decisions_of_any_kind_of_file(faces: Path, tmp_path: Path) -> None:
    run_here(
        *("stimuli", "review", faces, "--out", tmp_path / "one"),
        *("--answers", tmp_path / "answers.csv"),
    )
    table = pl.read_csv(tmp_path / "one" / "decisions.csv")
    assert table["keep"].dtype == pl.Boolean
    table.write_parquet(tmp_path / "decided.parquet")
    given = ("stimuli", "review", faces, "--decided", tmp_path / "decided.parquet", "--out")
    assert "1 picture to review" in run_here(*given, tmp_path / "two").stdout
    for column, value, said in (
        ("keep", "yes", "row 1: keep 'yes': expected true, false or nothing"),
        ("n_raters", "two", "row 1: n_raters 'two': expected a whole number"),
        ("stimulus", "", "row 1: stimulus is empty"),
    ):
        table.with_columns(pl.lit(value).alias(column)).write_parquet(tmp_path / "decided.parquet")
        done = run_here(*given, tmp_path / "three", code=2)
        assert said in done.stderr.replace("\n", " ")
    pl.concat([table, table]).write_parquet(tmp_path / "decided.parquet")
    done = run_here(*given, tmp_path / "three", code=2)
    assert "'p0' stands twice" in done.stderr.replace("\n", " ")
