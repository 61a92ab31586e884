"""``affectlab evaluate difference``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.command import Done, run_here

from affectlab.core.words import file_part


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("evaluate", "difference", *arguments, code=code)


def result(*arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return found


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Differences that five people gave to 60 pairs of six actors, and a column per metric."""
    rng = np.random.default_rng(0)
    people, metrics = ["stimulus,rater,value,actor,kind"], ["stimulus,L1 of FaRL,SSIM"]
    for pair in range(60):
        truth = rng.uniform(0, 100)
        kind = "intra" if pair % 3 == 0 else "inter"
        for rater in range(5):
            value = int(np.clip(truth + rng.normal(0, 10), 0, 100))
            people.append(f"p{pair},w{rater},{value},{pair % 6},{kind}")
        far, like = 20 + truth / 3 + rng.normal(0, 3), 1 - truth / 150 + rng.normal(0, 0.3)
        metrics.append(f"p{pair},{far:.3f},{like:.3f}")
    files = tmp_path / "people.csv", tmp_path / "metrics.csv"
    for file, rows in zip(files, (people, metrics), strict=True):
        file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return files


SCALE = ("--scale", "0-100 interval", "--n-boot", "100")


@pytest.mark.long
def test_metrics_groups_and_ceiling(files: tuple[Path, Path], tmp_path: Path) -> None:
    people, metrics = files
    to, folder = tmp_path / "merit.csv", tmp_path / "figures"
    options = (
        "--by",
        "kind,actor",
        "--ceiling",
        "--n-splits",
        "5",
        "--out",
        to,
        "--figures",
        folder,
    )
    content = result(people, "--models", metrics, *SCALE, *options)
    assert content["schema"] == "affectlab/evaluate-difference/1"
    found, about = content["result"], content["result"]["settings"]
    assert about["n_stimuli"] == 60
    assert set(about["raters"]) == {"L1 of FaRL", "SSIM"}
    assert about["groups"] == ["all", "kind=inter", "kind=intra", *(f"actor={k}" for k in range(6))]
    rows = {(r["rater"], r["group"], r["metric"]): r for r in found["metrics"]}
    assert rows["L1 of FaRL", "all", "srocc"]["value"] > 0.9
    assert rows["SSIM", "all", "srocc"]["value"] < 0
    assert rows["SSIM", "all", "srocc"]["low"] < rows["SSIM", "all", "srocc"]["high"]
    better = {r["better"] for r in found["comparisons"] if r["metric"] == "srocc"}
    assert "L1 of FaRL" in better
    assert found["ceiling"][0]["ceiling"] > found["ceiling"][0]["value"] > 0.8
    assert {curve["rater"] for curve in found["curves"]} == {"L1 of FaRL", "SSIM"}
    assert len(to.read_text(encoding="utf-8").splitlines()) == 1 + len(found["metrics"])
    names = {path.stem for path in folder.glob("*.png")}
    of = [f"scatter_{file_part(name)}_by" for name in ("SSIM", "L1 of FaRL")]
    assert {"scatter", "srocc", f"{of[0]}_kind", f"{of[1]}_actor"} <= names


def test_text_fits_and_says_who_ranks_better(files: tuple[Path, Path]) -> None:
    people, metrics = files
    text = run(people, "--models", metrics, *SCALE, "--by", "kind", "--ceiling").stdout
    assert max(map(len, text.splitlines())) <= 100
    assert "L1 of FaRL ranks better than SSIM" in text
    assert "two halves of the people agree" in text
    assert "PLCC fit" in text
    clustered = run(people, "--models", metrics, *SCALE, "--cluster", "actor")
    assert "6 clusters (actor) are few" in clustered.stdout


def test_the_same_seed_gives_the_same_result(files: tuple[Path, Path]) -> None:
    people, metrics = files
    once, again, other = (
        result(people, "--models", metrics, *SCALE, "--seed", seed)["result"]["metrics"]
        for seed in "001"
    )
    assert once == again
    assert once != other


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--by", "actr"], ["'actr'", "'actor'"]),
        (["--cluster", "place"], ["'place'"]),
        (["--label", "joy"], ["no labels"]),
    ],
)
def test_bad_options_are_one_sentence(
    files: tuple[Path, Path], options: list[str], words: list[str]
) -> None:
    people, metrics = files
    done = run(people, "--models", metrics, *SCALE, *options, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("affectlab: ")
    for word in words:
        assert word in done.stderr


def test_people_alone_have_nothing_to_be_compared_with(files: tuple[Path, Path]) -> None:
    done = run(files[0], *SCALE, code=2)
    assert "no rater is a model" in done.stderr
