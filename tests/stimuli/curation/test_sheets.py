"""Tables that people open hold no formula, and are read back as what they were."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.stimuli.curation import CurationPlan, curate
from affectlab.stimuli.curation.steps.build import read_decisions

STEPS = ("deleted", "identity")
ROWS = [
    ("=1+1", '=HYPERLINK("http://x") I am a gay woman', "@group"),
    ("-abc", "'=x, she is a gay woman", "=HYPERLINK(a)"),
    ("c", "+1, and I am a deaf man", "aww"),
    ("d", "=such a fine morning", "aww"),
]


@pytest.fixture
def comments(tmp_path: Path) -> Path:
    names = ["id", "body", "subreddit"]
    pl.DataFrame(ROWS, schema=names, orient="row").write_csv(tmp_path / "comments.csv")
    # A broken line, so that there is a problem to tell.
    with (tmp_path / "comments.csv").open("a", encoding="utf-8") as file:
        file.write("e\n")
    return tmp_path / "comments.csv"


def cells(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [cell for row in csv.reader(file) for cell in row]


def test_no_sheet_holds_a_formula(comments: Path, tmp_path: Path) -> None:
    done = curate(comments, tmp_path / "out", plan=CurationPlan(steps=STEPS))
    assert done.n_review == 3
    sheets = ["groups", "problems", "distributions", "ledger", "review/comments"]
    told = {name: cells(tmp_path / "out" / f"{name}.csv") for name in sheets}
    assert "'@group" in told["groups"]
    assert "'=1+1" in told["review/comments"]
    assert "''=x, she is a gay woman" in told["review/comments"]
    assert not [cell for found in told.values() for cell in found if cell[:1] in tuple("=+-@")]
    # What programs read stays as it is.
    assert done.to_frame().select("id", "text").rows() == [ROWS[3][:2]]
    assert ROWS[3][1] in cells(tmp_path / "out" / "stimuli.csv")
    assert "@group" in done.groups["group"].to_list()


def test_decisions_on_the_sheet_are_those_on_the_comments(comments: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    curate(comments, out, plan=CurationPlan(steps=STEPS))
    sheet = pl.read_csv(out / "review" / "comments.csv").with_columns(decision=pl.lit("keep"))
    sheet.write_csv(tmp_path / "decided.csv")
    assert read_decisions(tmp_path / "decided.csv")["id"].to_list() == ["-abc", "=1+1", "c"]
    for review in (
        tmp_path / "decided.csv",
        sheet,
        sheet.with_columns(id=pl.Series(["=1+1", "-abc", "c"])),
    ):
        done = curate(comments, out, plan=CurationPlan(steps=STEPS), review=review)
        assert (done.n_review, done.n_kept) == (0, 4)


def test_reviewers_see_the_comments_as_they_are(comments: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('steps = ["deleted", "identity"]\n', "utf-8")
    run_here("stimuli", "curate", comments, "--plan", plan, "--out", tmp_path / "out")
    asked = pl.read_csv(tmp_path / "out" / "review" / "review.csv", infer_schema=False)
    assert asked["stimulus"].to_list() == ["=1+1", "-abc", "c"]
    assert asked["text"].to_list() == [text for _, text, _ in ROWS[:3]]
