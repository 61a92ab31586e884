"""``face-expressions transitions``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import Done, run_here
from tests.cli.pairs_data import NAMES, study


def run(*arguments: object, verb: str = "transitions", code: int = 0) -> Done:
    return run_here("face-expressions", *verb.split(), *arguments, code=code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study")
    study(place)
    return place


def test_ratings_json_and_files(folder: Path, tmp_path: Path) -> None:
    given = (folder / "ratings.csv", "--scale", "0-100 interval", "--stimuli", folder / "pairs.csv")
    to = ("--out", tmp_path / "tables", "--figures", tmp_path / "figures", "--json")
    content = json.loads(run(*given, *to).stdout)
    found = content["result"]
    assert content["schema"] == "affectlab/face-expressions-transitions/1"
    assert {row["expression"] for row in found["ranges"]} == set(NAMES)
    ranges = pl.read_csv(tmp_path / "tables" / "ranges.csv")
    assert ranges["median"].to_list() == pytest.approx([r["median"] for r in found["ranges"]])
    frames = ("--frames", folder / "frames.csv")
    curves = json.loads(run(*given, *frames, *to, verb="transitions --show curves").stdout)[
        "result"
    ]
    assert len(curves["transitions"]) == 4 * 6
    assert max(row["x"] for row in curves["points"]) == 80
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{name}.{suffix}"
        for name in (
            "transition_ranges",
            "transition_curves_by_actor",
            "transition_curves_by_expression",
        )
        for suffix in ("png", "svg")
    }


def test_scores_instead_of_ratings(folder: Path, tmp_path: Path) -> None:
    done = run(folder / "scores.csv")
    assert "6 expressions that all of 4 actors have." in done.stdout
    assert "Actors differ most in" in done.stdout
    assert "Half left after" in run(folder / "scores.csv", verb="transitions --show curves").stdout
    bare = tmp_path / "bare.csv"
    scores = pl.read_csv(folder / "scores.csv")
    scores.select("stimulus", "value", "se").write_csv(bare)
    joined = run(bare, "--stimuli", folder / "pairs.csv")
    assert joined.stdout == done.stdout
    parquet = tmp_path / "scores.parquet"
    scores.write_parquet(parquet)
    assert run(parquet).stdout == done.stdout


def test_how_ratings_become_scores(folder: Path) -> None:
    given = (folder / "ratings.csv", "--scale", "0-100 interval", "--stimuli", folder / "pairs.csv")
    model, mean = (
        json.loads(run(*given, "--json", *more).stdout)["result"]["ranges"]
        for more in ((), ("--score", "mean"))
    )
    assert [row["expression"] for row in model] == [row["expression"] for row in mean]
    assert [row["median"] for row in model] != [row["median"] for row in mean]


def test_expressions_that_some_actors_lack(folder: Path, tmp_path: Path) -> None:
    scores = pl.read_csv(folder / "scores.csv")
    lacking = (pl.col("actor") == "actor-01") & (pl.col("expression_a") == "Smile")
    file = tmp_path / "some.csv"
    scores.filter(~lacking).write_csv(file)
    said = " ".join(run(file).stdout.split())
    assert (
        "5 expressions that all of 4 actors have; 1 excluded because some lack it: Smile." in said
    )
    every = json.loads(run(file, "--no-shared", "--json").stdout)["result"]
    assert {row["expression"]: row["n_actors"] for row in every["ranges"]}["Smile"] == 3


def test_what_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(folder / "scores.csv", "--out", tmp_path / "file", code=2)
    assert "is a file; expected a folder" in done.stderr
    done = run(folder / "ratings.csv", "--scale", "0-100 interval", code=2)
    assert "column 'actor' is missing" in done.stderr
    assert "--stimuli pairs.csv" in " ".join(done.stderr.split())
    broken = tmp_path / "broken.csv"
    broken.write_text("stimulus,value,expression_a\nx,1,joy\n")
    assert "column 'actor' is missing" in run(broken, code=2).stderr
    assert "no such file" in run(tmp_path / "none.csv", code=2).stderr
    (tmp_path / "not.parquet").write_text("no table")
    assert "Traceback" not in run(tmp_path / "not.parquet", code=2).stderr
