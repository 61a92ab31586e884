"""From raw answers to a labelled corpus: a plain reference, the published rule, splits."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.cli import main
from affectlab.core.errors import InputError
from affectlab.models.text import read_labelled_texts
from affectlab.ratings import Ratings, read_ratings
from affectlab.stimuli import labelled_corpus

LABELS = ("joy", "awe", "fear")
TICKS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from(LABELS), st.booleans()),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:3],
)


def table(rows: list[tuple[int, int, str, bool]], texts: dict[int, str] | None = None) -> Ratings:
    frame = pl.DataFrame(
        [(f"s{s}", f"r{r}", label, int(ticked)) for s, r, label, ticked in rows],
        schema=["stimulus", "rater", "label", "value"],
        orient="row",
    )
    stimuli = texts and {"stimulus": [f"s{k}" for k in texts], "text": list(texts.values())}
    return Ratings(frame, scale="binary", stimuli=stimuli)


@given(TICKS, st.integers(1, 3))
def test_against_a_plain_count(rows: list[tuple[int, int, str, bool]], agree: int) -> None:
    votes: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for s, r, label, ticked in rows:
        votes[f"s{s}"][label] |= {r} if ticked else set()
    wanted = {
        s: {label for label, who in found.items() if len(who) >= agree}
        for s, found in votes.items()
    }
    if not any(wanted.values()):
        with pytest.raises(InputError, match=f"no label was chosen by {agree} raters"):
            labelled_corpus(table(rows), agree=agree, keep_together=None)
        return
    made = labelled_corpus(table(rows), agree=agree, keep_together=None)
    found = {
        s: set(labels.split("|")) for s, labels in made.examples.select("stimulus", "labels").rows()
    }
    assert found == {s: labels for s, labels in wanted.items() if labels}
    assert set(made.low_agreement["stimulus"]) == {s for s, labels in wanted.items() if not labels}
    counts = made.labels_per_example
    assert counts["before"].sum() == counts["after"].sum() == len(wanted)
    assert counts.select((pl.col("labels") * pl.col("after")).sum()).item() == sum(
        map(len, wanted.values())
    )


def ticked(n: int, texts: dict[int, str] | None = None) -> Ratings:
    return table([(k, r, "joy", True) for k in range(n) for r in (1, 2)], texts)


def test_exact_sizes_and_seed() -> None:
    first = labelled_corpus(ticked(203), keep_together=None, seed=1)
    assert first.statistics["splits"] == {"train": 163, "dev": 20, "test": 20}
    rows = ticked(203)
    again = labelled_corpus(rows.where(pl.lit(True)), keep_together=None, seed=1)
    assert again.examples.equals(first.examples)
    assert not labelled_corpus(rows, keep_together=None, seed=2).examples.equals(first.examples)


def test_same_texts_stay_together() -> None:
    texts = {
        k: ("So  glad!" if k % 2 else "so glad!") if k < 30 else f"text {k}" for k in range(300)
    }
    examples = labelled_corpus(ticked(300, texts)).examples
    assert examples.filter(pl.col("text").str.to_lowercase() != "").height == 300
    twins = examples.filter(pl.col("text").str.starts_with("text ").not_())
    assert twins.height == 30
    assert twins["split"].n_unique() == 1
    sizes = dict(examples.group_by("split").len().iter_rows())
    for name, size in (("train", 240), ("dev", 30), ("test", 30)):
        assert abs(sizes[name] - size) <= 30


def test_the_order_of_rows_means_nothing() -> None:
    rows = [(k, r, "joy", True) for k in range(50) for r in (1, 2)]
    one, other = (labelled_corpus(table(r), keep_together=None) for r in (rows, rows[::-1]))
    assert one.examples.equals(other.examples)


def test_one_rater_twice_is_one_rater() -> None:
    frame = {
        "stimulus": ["a", "a", "b", "b"],
        "rater": ["r1", "r1", "r1", "r2"],
        "label": ["joy"] * 4,
        "value": [1] * 4,
        "trial": ["1", "2", "1", "1"],
    }
    made = labelled_corpus(Ratings(frame, scale="binary"), keep_together=None)
    assert made.examples["stimulus"].to_list() == ["b"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"agree": 0}, "agree = 0: expected at least 1 rater"),
        ({"splits": {"train": 0.0}}, "expected names with weights above 0"),
        ({"splits": {}}, "expected names with weights above 0"),
        ({"keep_together": "words"}, "no attribute 'words'"),
    ],
)
def test_bad_input(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        labelled_corpus(ticked(9), **options)


def test_other_scales_are_refused() -> None:
    frame = {"stimulus": ["a"], "rater": ["r"], "label": ["joy"], "value": [3]}
    with pytest.raises(InputError, match="the answers are ordinal: expected binary"):
        labelled_corpus(Ratings(frame, scale="0-7"))
    del frame["label"]
    with pytest.raises(InputError, match="the ratings have no labels: expected a column"):
        labelled_corpus(Ratings({**frame, "value": [1]}, scale="binary"))


@pytest.mark.data
def test_raw_goemotions(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rule of two raters keeps 488 of the comments whose raw answers are here."""
    raw = shared_data / "goemotions" / "raw_partial.csv"
    made = labelled_corpus(read_ratings(raw))
    assert made.statistics["agreed_by"]["2"]["n"] == 488
    with pytest.raises(SystemExit) as left:
        main(["stimuli", "corpus", str(raw), "--out", str(tmp_path / "corpus"), "--json"])
    assert not left.value.code
    found = json.loads(capsys.readouterr().out)["result"]
    assert (found["n_examples"], found["n_kept"], found["n_low_agreement"]) == (13446, 488, 12958)
    train = read_labelled_texts(tmp_path / "corpus" / "train.csv", taxonomy="goemotions")
    assert len(train.texts) == found["splits"]["train"]
    assert set(train.targets.sum(axis=1).tolist()) == {1.0, 2.0}


def test_bad_splits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.csv"
    file.write_text("stimulus,rater,label,value\na,r,joy,1\na,s,joy,1\n", encoding="utf-8")
    for splits in ("train", "train=0", "=3", "train=80,dev=x", "../x=1"):
        with pytest.raises(SystemExit) as left:
            main(["stimuli", "corpus", str(file), "--scale", "binary", "--splits", splits])
        assert left.value.code == 2
        assert "is not a name and a weight above 0" in capsys.readouterr().err
