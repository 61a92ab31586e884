"""What is finished is used again: after a kill, and where only later settings changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from affectlab.stimuli.curation import CurationPlan, Step, curate
from affectlab.taxonomy import load_taxonomy

_STEPS = ["repeated", "big_groups", "length", "length_balance", "group_balance", "sample"]


def plan(**given: object) -> CurationPlan:
    return CurationPlan.model_validate(
        {
            "steps": _STEPS,
            "big_groups": {"least": 5},
            "sample": {"size": 40},
            "texts": {"language": "none"},
            **given,
        }
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [
        {"id": f"c{k}", "body": "we saw it " + "again " * (k % 9), "subreddit": "abc"[k * k % 3]}
        for k in range(300)
    ]
    path = tmp_path / "c.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def stamps(out: Path) -> dict[str, int]:
    """When each stage was finished."""
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob("work/*/done.json")}


def test_nothing_is_done_twice(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = curate(source, out, plan=plan(), part_rows=70)
    before = stamps(out)
    again = curate(source, out, plan=plan(), part_rows=70)
    assert stamps(out) == before
    assert len(before) == len(_STEPS) + 1
    assert again.to_frame().equals(first.to_frame())
    assert again.ledger.equals(first.ledger)
    assert again.distributions.equals(first.distributions, null_equal=True)
    assert again.notes == ()
    anew = curate(source, out, plan=plan(), part_rows=70, resume=False)
    assert not set(stamps(out).values()) & set(before.values())
    assert anew.to_frame().equals(first.to_frame())


def test_a_changed_threshold_redoes_what_follows(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    curate(source, out, plan=plan(), part_rows=70)
    before = stamps(out)
    changed = plan(length_balance={"cap": 9})
    again = curate(source, out, plan=changed, part_rows=70)
    after = stamps(out)
    same = {name for name in before if before[name] == after[name]}
    assert same == {"features", "01-repeated", "02-big_groups", "03-length"}
    assert again.notes == (
        "length_balance and what follows is done again: cap is 9 and was median",
    )
    fresh = curate(source, tmp_path / "fresh", plan=changed)
    assert again.to_frame().equals(fresh.to_frame())


def test_other_steps_and_other_words(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    curate(source, out, plan=plan(), part_rows=70)
    fewer = curate(source, out, plan=plan(steps=["length", "sample"]), part_rows=70)
    assert {path.name for path in (out / "work").glob("0*")} == {"01-length", "02-sample"}
    fresh = curate(source, tmp_path / "fresh", plan=plan(steps=["length", "sample"]))
    assert fewer.to_frame().equals(fresh.to_frame())
    texts = {"language": "none", "tokenizer": "tweet"}
    again = curate(source, out, plan=plan(texts=texts), part_rows=70)
    assert again.notes[0].startswith(
        "features and what follows is done again: tokenizer is tweet and was words"
    )


def test_a_changed_input_is_read_again(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    curate(source, out, plan=plan(), part_rows=70)
    table = pl.read_csv(source).with_columns(pl.col("body") + " and again")
    table.write_csv(source)
    again = curate(source, out, plan=plan(), part_rows=70)
    assert again.to_frame()["text"].str.ends_with("and again").all()
    assert again.notes == ("features and what follows is done again: other input than before",)


_CHILD = """
import sys, time
from affectlab.stimuli.curation import CurationPlan, curate
source, out, plan = sys.argv[1:]
def progress(text, done, total):
    if text == "group_balance":
        print("there", flush=True)
        time.sleep(600)
curate(source, out, plan=CurationPlan.model_validate_json(plan), part_rows=70, progress=progress)
"""


@pytest.mark.long
def test_a_killed_run_goes_on(source: Path, tmp_path: Path) -> None:
    """The process is killed in the middle of the fifth step; the four before it are used again."""
    out = tmp_path / "out"
    told = (
        plan()
        .model_dump_json(exclude={"texts"})
        .replace('"steps"', '"texts":{"language":"none"},"steps"')
    )
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(source), str(out), told],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "there\n"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    before = stamps(out)
    assert set(before) == {
        "features",
        "01-repeated",
        "02-big_groups",
        "03-length",
        "04-length_balance",
    }
    assert (out / "work" / "05-group_balance" / "kept").is_dir()
    began = time.time_ns()
    done = curate(source, out, plan=plan(), part_rows=70)
    after = stamps(out)
    assert {name: after[name] for name in before} == before
    assert all(stamp >= began for name, stamp in after.items() if name not in before)
    fresh = curate(source, tmp_path / "fresh", plan=plan())
    assert done.to_frame().equals(fresh.to_frame())
    assert done.reasons().equals(fresh.reasons())


def labelled(label: str) -> Callable[[list[str]], list[list[str]]]:
    """Make functions that differ by what they give only."""
    return lambda texts: [[label]] * len(texts)


def cut(size: int) -> Callable[[str], list[str]]:
    """Make tokenizers that differ by what they give only."""
    return lambda text: ["x"] * size


class Predictor:
    """A function with a name."""

    def __init__(self, name: str, label: str) -> None:
        self.name = name
        self.label = label

    def __call__(self, texts: list[str]) -> list[list[str]]:
        return [[self.label]] * len(texts)


def test_functions_without_a_name_are_asked_again(source: Path, tmp_path: Path) -> None:
    out, ours = tmp_path / "out", plan(steps=["length", "emotion_balance"])
    for label, notes in [
        ("joy", ()),
        (
            "anger",
            ("predictions and what follows is done again: predict is a function without a name",),
        ),
    ]:
        done = curate(source, out, plan=ours, predict=labelled(label), part_rows=70)
        assert done.to_frame()["emotions"].explode().unique().to_list() == [label]
        assert done.notes == notes
    for size in (4, 5):
        texts = {"language": "none", "tokenizer": cut(size)}
        done = curate(source, out, plan=plan(steps=["length"], texts=texts), part_rows=70)
        assert done.to_frame()["tokens"].unique().to_list() == [size]
    assert done.notes == (
        "features and what follows is done again: tokenizer is a function without a name",
    )


def test_functions_with_a_name_are_not(source: Path, tmp_path: Path) -> None:
    out, ours = tmp_path / "out", plan(steps=["length", "emotion_balance"])
    for name, label, expected in [("1", "joy", "joy"), ("1", "fear", "joy"), ("2", "fear", "fear")]:
        done = curate(source, out, plan=ours, predict=Predictor(name, label), part_rows=70)
        assert done.to_frame()["emotions"].explode().unique().to_list() == [expected]
    assert done.notes == ("predictions and what follows is done again: predict is 2 and was 1",)


class Most(Step):
    """A step of a user, which says what it depends on only where it is told to."""

    name = "most"

    def __init__(self, most: int, told: bool) -> None:
        self.most = most
        self.told = told

    def settings(self) -> dict[str, object] | None:
        return {"most": self.most} if self.told else super().settings()

    def reason(self) -> pl.Expr:
        return pl.when(pl.col("tokens") > self.most).then(pl.lit("more"))


@pytest.mark.parametrize("told", [True, False])
def test_own_steps_of_other_settings(told: bool, source: Path, tmp_path: Path) -> None:
    for most in (5, 7):
        done = curate(source, tmp_path / "out", plan=plan(), steps=[Most(most, told), "sample"])
        assert done.to_frame()["tokens"].max() == most
    before = stamps(tmp_path / "out")
    curate(source, tmp_path / "out", plan=plan(), steps=[Most(7, told), "sample"])
    same = {name for name, stamp in stamps(tmp_path / "out").items() if before[name] == stamp}
    assert same == {"features", *(["01-most", "02-sample"] if told else [])}


def test_a_taxonomy_that_was_edited(tmp_path: Path) -> None:
    """Joy becomes negative in a file that keeps its name."""
    file, out = tmp_path / "t.toml", tmp_path / "out"
    load_taxonomy("ekman").save(file)
    texts = [f"We saw {k} of them there again." for k in range(9)]
    table = {"id": [f"c{k}" for k in range(9)], "body": texts, "subreddit": ["a"] * 9}
    pl.DataFrame({**table, "felt": ["joy"] * 9}).write_csv(tmp_path / "c.csv")
    shares = {"positive_least": 0.5, "negative_least": 0, "ambiguous_least": 0}
    own = {"taxonomy": str(file), "sentiment": shares, "steps": ["length", "sentiment"]}
    for columns, predict, stage in [
        ({"emotions": "felt"}, None, "features"),
        ({}, Predictor("p", "joy"), "predictions"),
    ]:
        load_taxonomy("ekman").save(file)
        ours = plan(**own, columns=columns)
        first = curate(tmp_path / "c.csv", out / stage, plan=ours, predict=predict)
        assert first.n_kept == 9
        before, joy, after = file.read_text().partition('name = "joy"')
        file.write_text(before + joy + after.replace('"positive"', '"negative"', 1))
        again = curate(tmp_path / "c.csv", out / stage, plan=ours, predict=predict)
        assert again.n_kept == 0
        assert again.notes == (
            f"{stage} and what follows is done again: other taxonomy than before",
        )
