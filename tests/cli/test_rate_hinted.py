"""``affectlab rate hinted``: what it says, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.evaluation import control_checks
from affectlab.ratings import read_ratings

PLAN = """
labels = ["Awe", "Fear", "Shame"]
target = 6
initial = 6
decoys = 0.5
per_round = 6
floor = 0.2
patience = 2
batch = 4
"""
# Sees awe everywhere, follows hints at fear, and never those at shame.
ANNOTATOR = """
def mine(images, hints):
    return [{"Awe": 3} | ({hint: 2} if hint in ("Fear", "Pain", "Pride") else {}) for hint in hints]
mine.name, mine.version = "mine", "1"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "added_mine.py").write_text(ANNOTATOR)
    place = tmp_path / "added_mine-1.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: added-mine\nVersion: 1\n")
    (place / "entry_points.txt").write_text(
        "[affectlab.image_annotators]\nmine = added_mine:mine\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def rate(folder: Path, *more: object, code: int = 0) -> str:
    done = run_here(
        *("rate", "hinted", folder / "plan.toml", "--out", folder / "big"),
        *("--annotator", "mine", "--set", "size=32", *more),
        code=code,
    )
    return done.stdout if code == 0 else done.stderr


def test_a_whole_loop(folder: Path) -> None:
    said = run_here(
        *("rate", "hinted", folder / "plan.toml", "--out", folder / "big"),
        *("--annotator", "mine", "--set", "size=32"),
    )
    assert "2 of 3 labels covered after" in said.stdout
    assert "1 label given up" in said.stdout.replace("\n", " ")
    assert "hints followed:" in said.stdout
    assert "warning: given up, since hints were rarely followed: Shame" in said.stderr
    table = pl.read_csv(folder / "big" / "coverage.csv")
    last = table.filter(pl.col("round") == table["round"].max())
    assert dict(last.select("label", "status").iter_rows()) == {
        "Awe": "met",
        "Fear": "met",
        "Shame": "given up",
    }
    ratings = read_ratings(folder / "big" / "ratings.parquet")
    assert ratings.raters["control"].to_list() == [None, "decoy_hint"]
    hints = control_checks(ratings, n_boot=0).hints.to_frame()
    assert hints["run"].unique().to_list() == ["mine (decoy hints)"]
    manifest = pl.read_csv(folder / "big" / "pictures" / "manifest.csv")
    assert set(manifest["width"]) == {32}


def test_again_and_further(folder: Path) -> None:
    first = json.loads(rate(folder, "--rounds", 1, "--json"))
    assert first["schema"] == "affectlab/rate-hinted/1"
    assert first["result"]["n_rounds"] == 1
    assert first["result"]["stopped"] == "all 1 round of the plan are over"
    ledger = folder / "big" / "ledger.jsonl"
    before = ledger.read_bytes()
    again = json.loads(rate(folder, "--rounds", 1, "--json"))
    assert again["result"] == first["result"]
    assert ledger.read_bytes() == before
    more = json.loads(rate(folder, "--rounds", 2, "--json"))
    assert more["result"]["n_rounds"] == 2
    assert ledger.read_bytes().startswith(before)


def test_the_budget_of_the_command_line(folder: Path) -> None:
    told = json.loads(rate(folder, "--budget", 9, "--json"))
    assert told["result"]["n_made"] == 9


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "openai/x"), "expected either --model or --annotator"),
        (("--generator", "drawnn"), "unknown image generator 'drawnn'"),
        (("--set", "colour=1"), "unknown setting 'colour'"),
        (("--budget", "2"), "initial = 6 is above the budget of 2"),
    ],
)
def test_what_is_refused(more: tuple[str, ...], said: str, folder: Path) -> None:
    refused = rate(folder, *more, code=2)
    assert said in refused.replace("\n", " ")
    assert "Traceback" not in refused


def test_files_that_are_not_there(folder: Path) -> None:
    (folder / "plan.toml").write_text('images = "faces"\n')
    assert "there is no such file or folder" in rate(folder, code=2)
    (folder / "plan.toml").unlink()
    assert "no such file" in rate(folder, code=2)
