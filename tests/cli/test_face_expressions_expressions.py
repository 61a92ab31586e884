"""``face-expressions expressions``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import Done, run_here
from tests.cli.pairs_data import NAMES, study


def run(*arguments: object, verb: str = "expressions", code: int = 0) -> Done:
    return run_here("face-expressions", *verb.split(), *arguments, code=code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study")
    study(place)
    return place


def test_ratings_json_and_files(folder: Path, tmp_path: Path) -> None:
    given = (folder / "ratings.csv", "--scale", "0-100 interval", "--stimuli", folder / "pairs.csv")
    to = ("--figures", tmp_path / "figures", "--json")
    content = json.loads(run(*given, *to, "--n-boot", 50, "--out", tmp_path / "tables").stdout)
    found = content["result"]
    assert content["schema"] == "affectlab/face-expressions-expressions/1"
    assert "mean over actors, adjusted for actors and roles" in found["sentences"][0]
    groups = {frozenset(row["labels"].split(", ")) for row in found["clusters"]}
    assert groups == {frozenset(NAMES[::2]), frozenset(NAMES[1::2])}
    assert len(found["pairs"]) == 15
    assert [row["rank"] for row in found["priority"]] == [1, 2, 3, 4, 5, 6]
    assert {row["of"] for row in found["effects"]} == {"actor", "role"}
    names = {path.stem for path in (tmp_path / "tables").iterdir()}
    assert {"pairs", "clusters", "priority", "elbow", "expressions", "effects"} <= names
    tests = json.loads(run(*given, *to, verb="expressions --show asymmetry").stdout)["result"]
    assert {row["kind"] for row in tests["tests"]} == {"intra", "inter"}
    assert {row["expression"]: row["mirror"] for row in tests["sides"]}["Jaw Right"] == "Jaw Left"
    run(*given, *to, verb="expressions --show histograms")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{name}.{suffix}"
        for name in (
            "asymmetry_inter",
            "asymmetry_intra",
            "errors",
            "expression_differences",
            "expression_elbow",
            "rendering_priority",
            "scores",
            "scores_by_actor",
            "scores_by_error",
        )
        for suffix in ("png", "svg")
    }


def test_what_is_printed(folder: Path) -> None:
    scores = folder / "scores.csv"
    done = run(scores, "--n-boot", "50", "--k", "2")
    for words in (
        "6 expressions, 4 actors: mean over actors, adjusted",
        "2 clusters (given)",
        "Expressions, the hardest to tell apart first.",
    ):
        assert words in done.stdout
    assert run(scores, "--n-boot", "50", "--k", "2", "--seed", "0").stdout == done.stdout
    plain = run(scores, "--n-boot", "0", "--no-adjust", "--k", "silhouette")
    assert "mean over actors (score)" in plain.stdout
    assert "resampled" not in plain.stdout
    # So wide that no name is broken.
    tests = run_here(
        "face-expressions", "expressions", "--show", "asymmetry", scores, width=100
    ).stdout
    assert "right – left" in tests
    assert "Expressions: 2 right, 2 left and 2 symmetric." in tests
    spread = " ".join(run(scores, verb="expressions --show histograms").stdout.split())
    assert "Mean standard error" in spread
    assert "(standard errors as given)" in spread


def test_unscreened_ratings_are_told(folder: Path, tmp_path: Path) -> None:
    given = ("--scale", "0-100 interval", "--stimuli", folder / "pairs.csv", "--n-boot", "0")
    ratings = pl.read_csv(folder / "ratings.csv")
    assert "golden and repeated" not in run(folder / "ratings.csv", *given).stderr
    again = ratings.head(7).with_columns(trial_kind=pl.lit("repeat"))
    file = tmp_path / "ratings.csv"
    pl.concat([ratings.with_columns(trial_kind=pl.lit("main")), again]).write_csv(file)
    said = " ".join(run(file, *given).stderr.split())
    assert "7 golden and repeated trials are there to judge sessions by" in said
    assert "affectlab reliability screen" in said


def test_sides_from_a_table(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "sides.csv"
    table.write_text("right,left\nSmile,Frown\n")
    given = run(
        folder / "scores.csv", "--sides", table, "--json", verb="expressions --show asymmetry"
    )
    points = json.loads(given.stdout)["result"]["tests"]
    assert points[0]["n_first"] == points[0]["n_second"] == 40
    table.write_text("right,left\nSmile,Grin\n")
    done = run(folder / "scores.csv", "--sides", table, verb="expressions --show asymmetry", code=2)
    assert "unknown expression 'Grin'" in done.stderr


def test_expressions_without_sides_or_errors(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    scores = pl.read_csv(folder / "scores.csv").drop("se")
    names = {name: f"e{k}" for k, name in enumerate(NAMES)}
    scores.with_columns(pl.col("expression_a", "expression_b").replace(names)).write_csv(file)
    done = run(file, verb="expressions --show asymmetry", code=2)
    assert "none is named with the word right or left" in " ".join(done.stderr.split())
    figures = tmp_path / "figures"
    done = run(file, "--figures", figures, verb="expressions --show histograms")
    assert "scores have no standard errors" in done.stdout
    assert not (figures / "errors.png").exists()


def test_what_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    scores = folder / "scores.csv"
    assert "--k" in run(scores, "--k", "many", code=2).stderr
    assert "expected 1 to 6 clusters" in run(scores, "--k", "9", "--n-boot", "0", code=2).stderr
    intra = tmp_path / "intra.csv"
    pl.read_csv(scores).filter(pl.col("kind") == "intra").write_csv(intra)
    assert "there are no pairs of two expressions" in run(intra, code=2).stderr
