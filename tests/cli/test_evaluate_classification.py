"""``affectlab evaluate classification``, run as a user runs it, and the guide that shows it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from affectlab.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "classifier"
GUIDE = ROOT / "docs" / "howto" / "evaluate-a-classifier.md"
FERD = ("--truth", "attribute:expression", "--label-map", "emonet_face--ferd")


@dataclass
class Done:
    stdout: str
    stderr: str


class Run:
    """Runs ``affectlab`` in this process, in the folder of the examples."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str | Path, code: int = 0) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        done = Done(*self.capsys.readouterr())
        assert (ended.value.code or 0) == code, done.stderr
        return done

    def result(self, *arguments: str | Path) -> dict[str, Any]:
        done = self("evaluate", "classification", *arguments, "--json")
        content = json.loads(done.stdout)
        assert content["schema"] == "affectlab/evaluate-classification/1"
        return content["result"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("COLUMNS", "100")
    return Run(capsys)


def two_files(*more: str | Path) -> tuple[str | Path, ...]:
    models = ("--models", "gentle.csv", "--models", "harsh.csv")
    return ("people.csv", *models, "--taxonomy", "mikels", "--n-boot", "50", *more)


def test_a_mapping_says_what_the_columns_of_a_file_are(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(Path("people.csv").read_text().replace("image,annotator,answer", "a,b,c", 1))
    says = tmp_path / "says.toml"
    says.write_text('[columns]\nstimulus = "a"\nrater = "b"\nvalue = "c"\n')
    _, *options = two_files("--n-boot", "0")
    expected = run.result("people.csv", *options)
    assert run.result(own, "--mapping", says, *options)["metrics"] == expected["metrics"]


def metrics(found: dict[str, Any], metric: str) -> dict[str, float]:
    return {row["rater"]: row["value"] for row in found["metrics"] if row["metric"] == metric}


def test_two_files(run: Run, tmp_path: Path) -> None:
    to, figures = tmp_path / "out", tmp_path / "figures"
    found = run.result(*two_files("--out", to, "--figures", figures))
    assert found["settings"]["costs"]["kind"] == "ring, lam 4"
    assert metrics(found, "accuracy")["harsh"] > metrics(found, "accuracy")["gentle"]
    emc = metrics(found, "emc")
    assert emc["harsh"] < emc["guessing"] < emc["gentle"]
    assert {row["rater"] for row in found["coverage"]} == {
        *("gentle", "harsh", "anna", "ben", "cleo", "dan")
    }
    assert {row["role"] for row in found["soft_labels"]} >= {"model", "people"}
    assert pl.read_csv(to / "metrics.csv").height == len(found["metrics"])
    answers = pl.read_csv(to / "answers.csv")
    assert answers.columns == ["stimulus", "truth", "gentle", "harsh"]
    assert {path.stem for path in figures.glob("*.png")} == {
        *("classification_accuracy", "classification_ecc", "classification_emc"),
        *("confusion_gentle", "confusion_harsh", "confusion_people"),
    }


def test_what_is_printed(run: Run) -> None:
    done = run("evaluate", "classification", *two_files())
    lines = done.stdout.splitlines()
    assert lines[0].startswith("gentle is right on 57.1")
    assert "Truth: people (plurality of 4); 70 stimuli, 8 classes; costs of mistakes" in done.stdout
    assert max(map(len, lines)) <= 100
    for words in ("people    ", "always contentment", "what is taken for what", "Precision"):
        assert words in done.stdout
    assert "worse than those of guessing" in " ".join(done.stdout.split())
    assert "note: 2 stimuli with several highest classes" in done.stdout
    assert "The categories" not in done.stderr


def test_truth_costs_and_gaps(run: Run, tmp_path: Path) -> None:
    half = tmp_path / "half.csv"
    half.write_text("".join((EXAMPLES / "harsh.csv").read_text().splitlines(True)[:37]))
    options = ("people.csv", "--models", half, "--models", "gentle.csv", "--taxonomy", "mikels")
    options += ("--n-boot", "0")
    common = run.result(*options)
    own = run.result(*options, "--missing", "own")
    wrong = run.result(*options, "--missing", "wrong", "--costs", "people")
    sizes = [
        {row["rater"]: row["n_items"] for row in found["metrics"] if row["role"] == "model"}
        for found in (common, own, wrong)
    ]
    assert sizes[0]["half"] == sizes[0]["gentle"] == sizes[1]["half"] < sizes[1]["gentle"]
    assert sizes[2]["half"] == sizes[2]["gentle"] == 70
    assert wrong["settings"]["costs"]["kind"] == "human confusions"
    assert "(no answer)" in run("evaluate", "classification", *options, "--missing", "wrong").stdout
    anna = run.result(*two_files("--truth", "rater:anna"))
    assert anna["settings"]["truth"] == "rater 'anna'"
    assert "anna" not in metrics(anna, "accuracy")
    file = run.result(*two_files("--truth", EXAMPLES / "harsh.csv", "--rule", "majority"))
    assert metrics(file, "accuracy")["harsh"] == 1.0


def test_scores_become_eight_classes_in_one_command(run: Run) -> None:
    found = run.result("face_scores.jsonl", *FERD, "--scores", "value,mean_subtracted")
    assert found["settings"]["n_stimuli"] == 32
    assert len(found["settings"]["classes"]) == 8
    assert found["settings"]["costs"]["kind"] == "groups, 3 levels"
    accuracy = metrics(found, "accuracy")
    assert accuracy["face_scores (value)"] < accuracy["face_scores (mean_subtracted)"]
    assert "soft_labels" not in found


@pytest.mark.data
def test_published_scores(run: Run, shared_data: Path) -> None:
    file = shared_data / "emonet_face" / "ferd.jsonl"
    done = run("evaluate", "classification", file, *FERD)
    assert "152 stimuli, 8 classes" in done.stdout
    assert "No rater is human" not in done.stderr
    found = run.result(file, *FERD, "--n-boot", "0")
    pairs = pl.DataFrame(found["confusion"]).filter(rater="ferd")
    assert pairs.group_by("true").agg(pl.col("count").sum())["count"].to_list() == [19] * 8


@pytest.mark.data
def test_sets_of_classes(run: Run, shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "goemotions" / "raw_partial.csv"
    rare = tmp_path / "rare.toml"
    rare.write_text("agree = 1\nmin_people = 2\n", encoding="utf-8")
    options = (file, "--multilabel", "--config", rare, "--n-boot", "0")
    found = run.result(*options)
    assert metrics(found, "exact_match")["people"] > 0
    # A whole number counts people.
    assert "people (chosen by at least 1 of 2 to 4)" in found["sentences"][0]
    text = run("evaluate", "classification", *options).stdout
    assert "rows" in text
    assert "costs of mistakes" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--truth", "attribute:expression"], ["attribute", "'expression'"]),
        (["--truth", "rater:ana"], ["'anna'"]),
        (["--truth", "none.csv"], ["--truth none.csv", "no such file"]),
        (["--costs", "rings"], ["'ring'"]),
        (["--costs", "none.csv"], ["none.csv", "no such file"]),
        (["--label-map", "none.toml"], ["none.toml", "no such file"]),
        (["--label-map", "emonet--ferd"], ["'emonet_face--ferd'"]),
        (["--classes", "ekman"], ["taxonomy ekman: unknown label", "name a mapping"]),
        (["--scores", "raw"], ["unknown column of scores 'raw'"]),
        (["--out", "no-such-folder/x.csv"], ["cannot be written", "no-such-folder"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_sentence(run: Run, options: list[str], words: list[str]) -> None:
    done = run("evaluate", "classification", *two_files(*options), "--quiet", code=2)
    assert done.stderr.startswith("affectlab: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('agree = "most"', ["--config agree=VALUE: 'most'"]),
        ("min_people = 5", ["no stimulus has a true class", "fewer than 5 people"]),
        ("min-people = 5", ["key 'min-people' is not known"]),
    ],
)
def test_rare_options_stand_in_a_file(
    run: Run, tmp_path: Path, line: str, words: list[str]
) -> None:
    file = tmp_path / "options.toml"
    file.write_text(f"multilabel = {str('agree' in line).lower()}\n{line}\n", encoding="utf-8")
    done = run("evaluate", "classification", *two_files("--config", file), "--quiet", code=2)
    for word in words:
        assert word in done.stderr


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("line", commands(), ids=range(len(commands())))
def test_commands_of_the_guide_run(run: Run, line: str) -> None:
    done = run(*shlex.split(line)[1:], "--seed", "0")
    # Tables that the guide shows are those that come out.
    shown = re.findall(r"```text\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    printed = {" ".join(row.split()) for row in done.stdout.splitlines()}
    if "evaluate compare" in line:
        assert {" ".join(row.split()) for row in shown[1].splitlines()[:6]} <= printed
    elif "people.csv" in line:
        assert {" ".join(row.split()) for row in shown[0].splitlines()} <= printed


def test_code_of_the_guide_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + "\nprint(found.sentences[0])"],
        check=False,
        capture_output=True,
        text=True,
        cwd=EXAMPLES,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gentle is right on")


def test_mapping_of_the_guide_is_the_example() -> None:
    import tomllib

    blocks = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (shown,) = [block for block in map(tomllib.loads, blocks) if "classes" in block]
    real = tomllib.loads((EXAMPLES / "moods.toml").read_text(encoding="utf-8"))
    for name, sources in shown["classes"].items():
        assert sources["labels"] == real["classes"][name]["labels"]
    assert shown["target"] == real["target"]
    assert shown["neutral"]["below"] == real["neutral"]["below"]
