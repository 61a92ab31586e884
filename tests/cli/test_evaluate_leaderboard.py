"""``affectlab evaluate leaderboard``, run as a user runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.command import Done, run_here

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "leaderboard"


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("evaluate", "leaderboard", *arguments, code=code)


def result(*arguments: str | Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return content


def test_table_in_the_terminal() -> None:
    done = run(EXAMPLES)
    lines = done.stdout.splitlines()
    assert "7 simulated people" in lines[0]
    assert "gazer 2.0 is first of 7 models" in " ".join(done.stdout.split())
    assert max(map(len, lines)) <= 100
    assert " 2–4   starling-vl 1" in done.stdout
    assert "best person" in done.stdout
    assert "answered only part" in done.stdout


def test_page_and_csv(tmp_path: Path) -> None:
    page, table = tmp_path / "board.html", tmp_path / "board.csv"
    done = run(EXAMPLES, "--out", page, "--table", table, "--title", "Ours & theirs")
    assert str(page) in done.stdout
    assert "Ours &amp; theirs" in page.read_text(encoding="utf-8")
    frame = pl.read_csv(table)
    assert frame.height == 33
    assert set(frame["metric"]) == {"quadratic kappa", "top label", "absolute error"}


def test_json() -> None:
    content = result(EXAMPLES, "--sort", "absolute error")
    assert content["schema"] == "affectlab/evaluate-leaderboard/1"
    (board,) = content["result"]["settings"]["boards"]
    assert board["sort"] == "absolute error"
    rows = [row for row in content["result"]["leaderboard"] if row["metric"] == "absolute error"]
    assert rows[0]["name"] == "ceiling"
    assert rows[1]["rank_best"] == 1
    assert content["result"]["notes"]


def test_one_label() -> None:
    names = {row["name"] for row in result(EXAMPLES, "--label", "joy")["result"]["leaderboard"]}
    assert "gazer" in names
    assert "best person" not in names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sort", "kapa"], ["unknown metric 'kapa'"]),
        (["--label", "joi"], ["unknown label 'joi'", "'joy'"]),
        (["--out", "board.pdf"], ["board.pdf", "ends in .html"]),
    ],
)
def test_bad_options(arguments: list[str], words: list[str]) -> None:
    done = run(EXAMPLES, *arguments, code=2)
    assert done.stderr.startswith("affectlab: ")
    for word in words:
        assert word in done.stderr


def test_broken_files(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES, tmp_path / "results")
    text = (folder / "dice.json").read_text(encoding="utf-8")
    (folder / "dice.json").write_text(text.replace('"value": ', '"value": "x", "was": ', 1))
    done = run(folder, code=2)
    assert done.stderr.count("\n") == 1
    assert "dice.json: key 'metrics.0.was' is not known" in done.stderr
    assert "left out: " in run(folder, "--set-aside").stdout
    assert "does not exist" in run(tmp_path / "none", code=2).stderr
