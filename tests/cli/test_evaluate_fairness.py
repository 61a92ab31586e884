"""``affectlab evaluate fairness``, run as a user runs it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("evaluate", "fairness", *arguments, code=code)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """People, a model that rates women higher, and tables of who they are."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("fairness")
    n, people = 60, 8
    truth = rng.integers(1, 6, n).astype(float)
    woman = np.arange(n) % 2 == 1
    names = [f"face{k:02d}" for k in range(n)]
    answers = [
        pl.DataFrame(
            {
                "stimulus": names,
                "rater": [f"p{k}"] * n,
                "value": np.clip(truth + rng.integers(-1, 2, n), 0, 7),
            }
        )
        for k in range(people)
    ]
    said = truth + woman + rng.normal(0, 0.3, n)
    tables = {
        "people": pl.concat(answers),
        "net": pl.DataFrame({"stimulus": names, "value": np.clip(said, 0, 7)}),
        "stimuli": pl.DataFrame(
            {"stimulus": names, "gender": ["woman" if own else "man" for own in woman]}
        ),
        "raters": pl.DataFrame(
            {"rater": [f"p{k}" for k in range(people)], "age": [20 + 5 * k for k in range(people)]}
        ),
    }
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.write_csv(paths[name])
    return paths


def reading(files: dict[str, Path], *more: str | Path) -> list[str | Path]:
    return [
        *(files["people"], "--scale", "0-7", "--models", files["net"]),
        *("--models-scale", "0-7 interval", "--stimuli", files["stimuli"]),
        *("--raters", files["raters"], *more),
    ]


def test_a_planted_gap_is_printed_drawn_and_written(files: dict[str, Path], tmp_path: Path) -> None:
    to, figures = tmp_path / "gaps.csv", tmp_path / "figures"
    options = ("--by", "stimulus.gender", "--metric", "bias", "--n-boot", "100", "--out", to)
    done = run(*reading(files, *options, "--figures", figures))
    words = " ".join(done.stdout.split())
    assert "Mean signed difference by stimulus.gender, 0 is best" in words
    assert "higher for woman than for man" in words
    assert "shown" in words
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert pl.read_csv(to)["part"].to_list() == ["group", "group", "gap"]
    assert (figures / "fairness.png").stat().st_size > 0
    assert "higher for woman" in (figures / "fairness.svg").read_text(encoding="utf-8")


def test_json(files: dict[str, Path]) -> None:
    options = ("--by", "stimulus.gender", "--n-boot", "50", "--config", "people=true", "--json")
    content: dict[str, Any] = json.loads(run(*reading(files, *options)).stdout)
    assert content["schema"] == "affectlab/evaluate-fairness/1"
    found = content["result"]
    assert [row["rater"] for row in found["gaps"]] == ["net", "people"]
    assert {"value", "low", "high", "p", "p_corrected", "flagged"} <= set(found["gaps"][0])
    assert found["settings"]["n_tests"] == 2
    assert len(found["sentences"]) == 2


def test_groups_of_people(files: dict[str, Path], tmp_path: Path) -> None:
    options = ("--by", "rater.age", "--metric", "mean", "--n-boot", "20")
    bad = run(*reading(files, *options), code=2)
    assert "give edges" in bad.stderr
    assert bad.stderr.count("\n") == 1
    config = tmp_path / "options.toml"
    config.write_text("min_items = 4\n", encoding="utf-8")
    text = run(*reading(files, *options, "--edges", "age=40", "--config", config)).stdout
    assert "under 40" in text
    small = run(*reading(files, *options, "--edges", "age=30"))
    assert "not tested" in small.stdout
    assert "fewer than 5 people: under 30 (2)" in " ".join(small.stdout.split())


def test_models_alone_beside_a_truth(files: dict[str, Path], tmp_path: Path) -> None:
    n = 40
    said = tmp_path / "said.csv"
    pl.DataFrame(
        {
            "stimulus": [f"s{k}" for k in range(n)],
            "rater": ["net"] * n,
            "rater_kind": ["model"] * n,
            "value": ["joy" if k % 4 else "fear" for k in range(n)],
            "skin": ["dark" if k % 2 else "light" for k in range(n)],
            "expression": ["joy"] * n,
        }
    ).write_csv(said)
    options = ("--by", "skin", "--metric", "accuracy", "--truth", "attribute:expression")
    found = json.loads(run(said, *options, "--n-boot", "20", "--json").stdout)["result"]
    assert {row["group"]: row["value"] for row in found["groups"]} == {
        "dark": 1.0,
        "light": 0.5,
    }
    bad = run(said, *options[:4], "--truth", "nowhere.csv", code=2).stderr
    assert "--truth nowhere.csv: no such file" in bad
    bad = run(said, *options, "--costs", "ringg", code=2).stderr
    assert "'ringg'" in bad


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--by", "stimulus.gendr"], "did you mean 'stimulus.gender'"),
        (["--by", "stimulus.gender", "--metric", "mea"], "unknown metric 'mea'"),
        (["--by", "rater.age", "--edges", "age:30"], "--edges: 'age:30' is not understood"),
        (["--by", "rater.age", "--edges", "age=x"], "expected a number"),
    ],
)
def test_bad_options_are_one_sentence(
    files: dict[str, Path], options: list[str], words: str
) -> None:
    done = run(*reading(files, *options), code=2)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "howto" / "fairness.md"


def test_outputs_of_the_guide_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    monkeypatch.chdir(ROOT / "examples" / "fairness")
    printed = ""
    for line in re.findall(r"^affectlab evaluate fairness (.*)$", text, re.MULTILINE):
        words = shlex.split(line)
        words = [str(tmp_path) if word == "figures" else word for word in words]
        done = run(*words)
        printed += done.stdout
    rows = {" ".join(row.split()) for row in printed.splitlines()}
    for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert {" ".join(row.split()) for row in block.splitlines()} <= rows
    assert "p = 0.005 after Holm's correction" in printed
    assert "A group has 4 clusters (stimulus.actor)" in " ".join(done.stdout.split())
    assert {path.name for path in tmp_path.glob("*.svg")} == {"fairness.svg", "fairness_gaps.svg"}
