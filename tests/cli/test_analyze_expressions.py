"""``affectlab analyze expressions``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import Done, run_here
from tests.cli.pairs_data import NAMES, study


def run(*arguments: object, code: int = 0) -> Done:
    return run_here("analyze", "expressions", *arguments, code=code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study")
    study(place)
    return place


def test_ratings_json_and_files(folder: Path, tmp_path: Path) -> None:
    done = run(
        folder / "ratings.csv",
        *("--scale", "0-100 interval", "--stimuli", folder / "pairs.csv", "--n-boot", "50"),
        *("--out", tmp_path / "tables", "--figures", tmp_path / "figures", "--json"),
    )
    content = json.loads(done.stdout)
    found = content["result"]
    assert content["schema"] == "affectlab/analyze-expressions/1"
    assert found["method"] == "mean over actors, adjusted for actors and roles"
    groups: dict[int, set[str]] = {}
    for row in found["clusters"]:
        groups.setdefault(row["cluster"], set()).add(row["expression"])
    assert sorted(map(sorted, groups.values())) == sorted([sorted(NAMES[::2]), sorted(NAMES[1::2])])
    assert len(found["differences"]) == 15
    assert [row["rank"] for row in found["priority"]] == [1, 2, 3, 4, 5, 6]
    assert {row["kind"] for row in found["asymmetry"]} == {"intra", "inter"}
    assert len(found["error_quartiles"]) == 3
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == {
        "asymmetry_points",
        "asymmetry_tests",
        "expression_clusters",
        "expression_differences",
        "expression_elbow",
        "expression_sides",
        "rendering_priority",
        "score_histograms",
        "score_summary",
    }
    sides = pl.read_csv(tmp_path / "tables" / "expression_sides.csv")
    assert dict(sides.select("expression", "mirror").rows())["Jaw Right"] == "Jaw Left"
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
    done = run(folder / "scores.csv", "--n-boot", "50", "--clusters", "2")
    for words in (
        "6 expressions, 4 actors: mean over actors, adjusted",
        "2 clusters (given).",
        "Rendering priority: the smaller the mean difference, the more care",
        "actors were resampled",
        "right – left",
        "2 right, 2 left, 2 symmetric expressions.",
        "Mean standard error",
        "(standard errors as given)",
    ):
        assert words in done.stdout
    again = run(folder / "scores.csv", "--n-boot", "50", "--clusters", "2", "--seed", "0")
    assert again.stdout == done.stdout
    plain = run(folder / "scores.csv", "--n-boot", "0", "--plain-means", "--clusters", "silhouette")
    assert "mean over actors (score)" in plain.stdout
    assert "none, as nothing was resampled" in plain.stdout


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
    given = run(folder / "scores.csv", "--n-boot", "0", "--sides", table, "--json")
    points = json.loads(given.stdout)["result"]["asymmetry"]
    assert points[0]["n_first"] == points[0]["n_second"] == 40
    table.write_text("right,left\nSmile,Grin\n")
    done = run(folder / "scores.csv", "--n-boot", "0", "--sides", table, code=2)
    assert "unknown expression 'Grin'" in done.stderr


def test_expressions_without_sides(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    scores = pl.read_csv(folder / "scores.csv").drop("se")
    names = {name: f"e{k}" for k, name in enumerate(NAMES)}
    scores.with_columns(pl.col("expression_a", "expression_b").replace(names)).write_csv(file)
    done = run(
        file, "--n-boot", "0", "--out", tmp_path / "tables", "--figures", tmp_path / "figures"
    )
    assert "no expression is named with the word left or right" in done.stdout
    assert "scores have no standard errors" in done.stderr
    assert not (tmp_path / "tables" / "asymmetry_tests.csv").exists()
    assert not (tmp_path / "figures" / "errors.png").exists()


def test_what_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    scores = folder / "scores.csv"
    assert (
        "--clusters: 'many' is not understood" in run(scores, "--clusters", "many", code=2).stderr
    )
    assert (
        "expected 1 to 6 clusters" in run(scores, "--clusters", "9", "--n-boot", "0", code=2).stderr
    )
    intra = tmp_path / "intra.csv"
    pl.read_csv(scores).filter(pl.col("kind") == "intra").write_csv(intra)
    assert "there are no pairs of two expressions" in run(intra, code=2).stderr
