"""``affectlab analyze words``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Done, run_here


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("analyze", "words", *arguments, code=code)


TEXTS = [
    ("so happy and glad today", "joy"),
    ("happy happy birthday", "joy"),
    ("I am so scared", "fear"),
    ("scared of the dark [red]x", "fear"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with one row per text, rater and label."""
    rows = ["stimulus,rater,label,value,text"]
    rows += [
        f"s{copy}_{k},r,{label},{int(label == own)},{text}"
        for copy in range(12)
        for k, (text, own) in enumerate(TEXTS)
        for label in ("joy", "fear", "awe")
    ]
    file = tmp_path_factory.mktemp("texts") / "texts.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_json_and_files(file: Path, tmp_path: Path) -> None:
    to, figures = tmp_path / "words.csv", tmp_path / "figures"
    options = ("--scale", "binary", "--out", to, "--figures", figures, "--json", "--min-z", "2")
    content = json.loads(run(file, *options).stdout)
    found = content["result"]
    assert content["schema"] == "affectlab/analyze-words/1"
    assert found["sentences"][0].endswith("48 texts; words with z ≥ 2.")
    first = {row["label"]: row["word"] for row in reversed(found["words"])}
    assert first == {"joy": "happy", "fear": "scared", "awe": ""}
    reasons = {row["label"]: row["reason"] for row in found["words"]}
    assert (reasons["awe"]["cause"], reasons["awe"]["of"]) == ("none", "text with the label")
    assert "happy" in to.read_text()
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg"}


def test_what_is_printed(file: Path) -> None:
    every = run(file, "--scale", "binary", "--min-z", "1").stdout
    assert "happy (" in every
    assert "undefined: no text with the label" in every
    one = " ".join(
        run(file, "--scale", "binary", "--label", "joy", "--criterion", "holm").stdout.split()
    )
    assert "Words that go with joy (24 texts), p ≤ 0.05 after Holm's correction" in one
    assert "< 0.001" in one
    assert "awe" not in one


def test_the_published_way(file: Path) -> None:
    options = ("--scale", "binary", "--paper-compat", "--label", "fear", "--min-z", "0")
    done = run(file, *options)
    assert "labels matched by substring" in done.stdout
    assert "scared" in done.stdout
    assert " i " not in done.stdout


def test_bad_options(file: Path, tmp_path: Path) -> None:
    wrong = run(file, "--scale", "binary", "--label", "joyy", code=2).stderr
    assert "unknown label 'joyy'; did you mean 'joy'?" in wrong
    bare = tmp_path / "bare.csv"
    bare.write_text("stimulus,rater,label,value\na,r,joy,1\n")
    assert "no attribute 'text'" in run(bare, "--scale", "binary", code=2).stderr


@pytest.mark.data
def test_grief_in_goemotions(shared_data: Path) -> None:
    file = shared_data / "goemotions" / "train.tsv"
    options = ("--label", "grief", "--criterion", "holm", "--json")
    words = json.loads(run(file, *options).stdout)["result"]["words"]
    assert {row["word"] for row in words[:3]} == {"died", "rip", "loss"}
