"""``affectlab analyze labels``, run as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here

from affectlab.ratings import Ratings


def run(*arguments: str | Path, verb: str = "labels", code: int = 0) -> Done:
    return run_here("analyze", *verb.split(), *arguments, code=code)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three people and a model; joy goes with love, and anger with disgust."""
    rng = np.random.default_rng(0)
    causes = rng.integers(0, 6, (80, 2))
    labels = ("joy", "love", "anger", "disgust", "neutral")
    rows = []
    for rater in ("anna", "ben", "cleo", "net"):
        answers = np.column_stack(
            [causes[:, [0, 0, 1, 1]] + rng.integers(-1, 2, (80, 4)), rng.integers(0, 8, (80, 1))]
        )
        for j, own in enumerate(np.clip(answers, 0, 7)):
            rows += [(f"s{j}", rater, *pair) for pair in zip(labels, own.tolist(), strict=True)]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    raters = {"rater": ["anna", "ben", "cleo", "net"], "rater_kind": [*["human"] * 3, "model"]}
    ratings = Ratings(frame, scale="0-7", taxonomy="goemotions", raters=raters)
    return ratings.write(tmp_path_factory.mktemp("answers") / "ratings.parquet")


def test_json_and_files(file: Path, tmp_path: Path) -> None:
    to, figures = tmp_path / "pairs.csv", tmp_path / "figures"
    options = ("--n-boot", "50", "--out", to, "--figures", figures, "--json")
    content = json.loads(run(file, *options).stdout)
    found = content["result"]
    assert content["schema"] == "affectlab/analyze-labels/1"
    assert len(found["correlations"]) == 6
    assert "Excluded: neutral." in found["sentences"]
    assert found["panel"] == "3 people; 1 model not used here"
    assert len(to.read_text().splitlines()) == 1 + 6
    drawn = {"label_correlations.png", "label_correlations.svg"}
    assert {path.name for path in figures.iterdir()} == drawn
    tree = json.loads(
        run(
            file,
            *options[:2],
            "--figures",
            tmp_path / "tree",
            "--json",
            verb="labels --show clusters",
        ).stdout
    )["result"]
    groups: dict[int, set[str]] = {}
    for row in tree["labels"]:
        groups.setdefault(row["cluster"], set()).add(row["label"])
        assert row["stability"] > 0.95
    assert sorted(map(sorted, groups.values())) == [["anger", "disgust"], ["joy", "love"]]
    assert {path.name for path in (tmp_path / "tree").iterdir()} == drawn


def test_what_is_printed(file: Path) -> None:
    done = run(file, "--n-boot", "0", "--method", "spearman", "--no-exclude-neutral")
    assert "Spearman correlations of 5 labels" in done.stdout
    assert "1 model not used here" in done.stderr
    tree = run(
        file, "--n-boot", "0", "--k", "2", "--method", "spearman", verb="labels --show clusters"
    )
    assert "2 clusters (given; silhouette" in tree.stdout
    assert "Stability:" not in tree.stdout


def test_pairs_without_stimuli_in_common_are_said(tmp_path: Path) -> None:
    rows = [
        f"s{k},r,{label},{k % 2}" for k in range(8) for label in ("joy", "awe", "fear")[k % 3 :]
    ]
    file = tmp_path / "some.csv"
    file.write_text("stimulus,rater,label,value\n" + "\n".join(rows[:9]) + "\n")
    assert "undefined: fewer than three stimuli in common" in run(file, "--n-boot", "0").stdout
    assert "undefined: " in run(file, "--n-boot", "0", verb="labels --show clusters").stdout


def test_bad_options(file: Path) -> None:
    assert "--k" in run(file, "--k", "many", verb="labels --show clusters", code=2).stderr
    wrong = run(file, "--k", "9", "--n-boot", "0", verb="labels --show clusters", code=2)
    assert "expected 1 to 4 clusters" in wrong.stderr
