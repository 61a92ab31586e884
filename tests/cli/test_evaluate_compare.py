"""``affectlab evaluate compare``, run as a user runs it."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from affectlab.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "classifier"
FILES = ("people.csv", "--models", "gentle.csv", "--models", "harsh.csv", "--taxonomy", "mikels")


@dataclass
class Done:
    stdout: str
    stderr: str


class Run:
    """Runs ``affectlab evaluate compare`` in this process, in the folder of the examples."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str | Path, code: int = 0) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", "compare", *map(str, arguments)])
        done = Done(*self.capsys.readouterr())
        assert (ended.value.code or 0) == code, done.stderr
        return done


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("COLUMNS", "100")
    return Run(capsys)


def test_two_models(run: Run, tmp_path: Path) -> None:
    to = tmp_path / "d.csv"
    content = json.loads(run(*FILES, "--n-boot", "50", "--out", to, "--json").stdout)
    assert content["schema"] == "affectlab/evaluate-compare/1"
    rows = {row["metric"]: row for row in content["result"]["differences"]}
    assert rows["emc"]["better"] == "gentle"
    assert rows["accuracy"]["better"] == ""
    assert content["result"]["sentences"][0].startswith("gentle is better than harsh on ACC2")
    assert pl.read_csv(to).height == len(rows)
    text = run(*FILES, "--n-boot", "50").stdout
    assert "Metric    gentle  harsh  Difference" in text
    assert max(map(len, text.splitlines())) <= 100


def test_names_and_a_margin(run: Run) -> None:
    named = (*FILES, "--a", "harsh", "--b", "gentle")
    rows = json.loads(run(*named, "--n-boot", "50", "--json").stdout)["result"]["differences"]
    assert (rows[0]["model_a"], rows[0]["model_b"]) == ("harsh", "gentle")
    content = json.loads(run(*FILES, "--margin", "0.5", "--n-boot", "50", "--json").stdout)
    equal = {row["metric"]: row["equivalent"] for row in content["result"]["differences"]}
    assert equal["accuracy"] is True
    assert "Equivalent" in run(*FILES, "--margin", "0.5", "--n-boot", "50").stdout


def test_all_pairs(run: Run) -> None:
    options = ("face_scores.jsonl", "--truth", "attribute:expression")
    options += ("--label-map", "emonet_face--ferd", "--n-boot", "0")
    scores = ("--scores", "value,mean_subtracted,value")
    rows = json.loads(run(*options, *scores, "--json").stdout)["result"]["verdicts"]
    assert len(rows) == 1
    assert "32 stimuli" in rows[0]["verdict"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["gentl", "harsh"], "did you mean 'gentle'"),
        (["gentle", "gentle"], "with itself"),
        (["gentle", "anna"], "'anna' is a person"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, names: list[str], words: str) -> None:
    done = run(*FILES, "--a", names[0], "--b", names[1], "--quiet", code=2)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


class Closed(io.StringIO):
    """A standard output whose reader has left, as in ``… | head``."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("verb", ["compare", "classification", "soft-labels"])
def test_files_are_written_before_anything_is_printed(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setattr(sys, "stdout", Closed())
    to = tmp_path / f"{verb}.csv"
    with pytest.raises((BrokenPipeError, SystemExit)):
        main(["evaluate", verb, *FILES, "--n-boot", "20", "--out", str(to)])
    assert to.stat().st_size > 0
