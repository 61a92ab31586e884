"""``affectlab stimuli curate``: the example, the terminal, JSON, and what fails in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

EXAMPLE = Path(__file__).parents[2] / "examples" / "curate"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the example, which later runs in the same folder find finished."""
    folder = tmp_path_factory.mktemp("cli") / "out"
    run_here("stimuli", "curate", EXAMPLE / "plan.toml", "--out", folder, "--quiet")
    return folder


def test_terminal_shows_the_ledger(out: Path) -> None:
    done = run_here("stimuli", "curate", EXAMPLE / "plan.toml", "--out", out, width=130)
    for words in (
        "big_groups",
        "group with fewer than 30 comments",
        "cap 35, 4 of 10 above it",
        "60 of 432 comments are left",
        "7 comments await review",
    ):
        assert words in done.stdout, words
    assert "problems in reading: 6 × empty text" in done.stderr


def test_json(out: Path) -> None:
    done = run_here("stimuli", "curate", EXAMPLE / "plan.toml", "--out", out, "--json")
    told = json.loads(done.stdout)
    assert told["schema"] == "affectlab/stimuli-curate/1"
    result = told["result"]
    assert (result["n_read"], result["n_kept"], result["n_review"]) == (432, 60, 7)
    assert result["ledger"][2]["n"] == 12
    assert result["problems"] == {"empty_text": 6}
    assert result["seed"] == 1
    assert told["warnings"] == ["problems in reading: 6 × empty text"]


def test_stop_draw_and_other_seed(tmp_path: Path) -> None:
    plan, folder = EXAMPLE / "plan.toml", tmp_path / "out"
    options = ("--config", "until=length_balance", "--config", "draw=20")
    run_here("stimuli", "curate", plan, "--out", folder, *options)
    pilot = pl.read_csv(folder / "pilot.csv")
    assert pilot.columns == ["stimulus", "text", "group"]
    assert pilot.height == 20
    assert not (folder / "corpus").exists()
    done = run_here("stimuli", "curate", plan, "--out", folder, *options, "--seed", 5)
    assert pl.read_csv(folder / "pilot.csv")["stimulus"].to_list() != pilot["stimulus"].to_list()
    assert "seed is 5 and was 1" in done.stderr


def test_decisions_of_reviewers(out: Path, tmp_path: Path) -> None:
    waiting = pl.read_csv(out / "review" / "comments.csv")
    decided = waiting.select("id").with_columns(decision=pl.lit("keep"))
    decided.write_csv(tmp_path / "decided.csv")
    done = run_here(
        "stimuli",
        "curate",
        EXAMPLE / "plan.toml",
        "--out",
        tmp_path / "out",
        "--json",
        "--review",
        tmp_path / "decided.csv",
    )
    result = json.loads(done.stdout)["result"]
    identity = [row for row in result["ledger"] if row["step"] == "identity"]
    assert [row["n"] for row in identity] == [0, 0]
    assert identity[0]["found"] == "7 decisions of reviewers, 7 to keep"


def test_nothing_left_is_said_and_is_no_error(tmp_path: Path) -> None:
    done = run_here(
        "stimuli", "curate", EXAMPLE / "comments.csv", "--out", tmp_path / "out", "--quiet"
    )
    assert "0 of 432 comments are left" in done.stdout
    assert "nothing is left after big_groups" in done.stderr.replace("\n", " ")


def test_a_mistyped_column_is_named(tmp_path: Path) -> None:
    plan = (EXAMPLE / "plan.toml").read_text(encoding="utf-8")
    (tmp_path / "plan.toml").write_text(plan.replace('"predicted"', '"predict"'), encoding="utf-8")
    (tmp_path / "comments.csv").write_bytes((EXAMPLE / "comments.csv").read_bytes())
    done = run_here("stimuli", "curate", tmp_path / "plan.toml", "--out", tmp_path / "out")
    said = " ".join(done.stderr.split())
    assert "comments.csv: no column 'predict' for emotions; found: id, subreddit, body" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.jsonl"], "none.jsonl"),
        ([EXAMPLE / "plan.toml", "--plan", EXAMPLE / "plan.toml"], "expected one plan"),
        ([EXAMPLE / "plan.toml", "--config", "until=lenght"], "did you mean 'length'"),
        ([EXAMPLE / "comments.csv", "--strict"], "empty text"),
    ],
)
def test_one_sentence(arguments: list[object], sentence: str, tmp_path: Path) -> None:
    done = run_here("stimuli", "curate", *arguments, "--out", tmp_path / "out", code=2)
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
