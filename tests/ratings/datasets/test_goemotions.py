"""GoEmotions: raw parts and simplified splits, real and made up."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from tests.ratings.told import facts

from affectlab.core.errors import InputError
from affectlab.ratings import StepKind, read_ratings
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import find_format
from affectlab.taxonomy import load_taxonomy

LABELS = load_taxonomy("goemotions").labels
EXTRA = ("author", "subreddit", "link_id", "parent_id", "created_utc")


def write_raw(path: Path, answers, *, header=None, src=False) -> Path:
    """Write a raw part; an answer is (comment, rater, text, unclear, labels or cells)."""
    names = ("text", "id", *EXTRA, "rater_id", "example_very_unclear", *LABELS)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header or (*names, *(("src",) if src else ())))
        for comment, rater, text, unclear, chosen in answers:
            cells = (
                [int(label in chosen) for label in LABELS] if isinstance(chosen, set) else chosen
            )
            extra = ("someone", "nrl", "t3_x", "t1_y", "1548381039.0")
            row = [text, comment, *extra, rater, unclear, *cells]
            writer.writerow([*row, "part"] if src else row)
    return path


def test_raw_becomes_one_row_per_label(tmp_path):
    file = write_raw(
        tmp_path / "part.csv",
        [
            ("eew5j0j", "1", 'He said "no"\nand left', "False", {"sadness"}),
            ("eew5j0j", "37", 'He said "no"\nand left', "False", {"anger", "sadness"}),
            ("eemcysk", "37", "hm", "False", {"neutral"}),
        ],
        src=True,
    )
    r = read_ratings(file)
    assert r.label_names == LABELS
    assert r.stimulus_names == ("eew5j0j", "eemcysk")
    assert r.rater_names == ("1", "37")
    assert r.n_ratings == 3 * 28
    assert str(r.scale) == "binary, 0 or 1"
    ticked = r.where(pl.col("value") == 1).frame.select("stimulus", "rater", "label")
    assert ticked.rows() == [
        ("eew5j0j", "1", "sadness"),
        ("eew5j0j", "37", "anger"),
        ("eew5j0j", "37", "sadness"),
        ("eemcysk", "37", "neutral"),
    ]
    stimulus = r.stimuli.row(0, named=True)
    assert stimulus["text"] == 'He said "no"\nand left'
    assert (stimulus["subreddit"], stimulus["author"]) == ("nrl", "someone")
    assert stimulus["created_utc"] == 1548381039.0
    assert set(r.rater_kinds) == {"human"}
    assert "outcome" not in r.frame.columns


def test_unclear_answers_are_kept_and_not_counted_as_no(tmp_path):
    file = write_raw(
        tmp_path / "part.csv",
        [
            ("eew5j0j", "1", "a", "True", set()),
            ("eew5j0j", "2", "a", "False", {"joy"}),
            ("eemcysk", "1", "b", "True", {"love"}),
        ],
    )
    r = read_ratings(file)
    assert r.n_rows == 3 * 28
    assert r.n_ratings == 2 * 28
    unclear = r.frame.filter(r.frame["unclear"]).select("stimulus", "rater", "outcome").unique()
    assert sorted(unclear.rows()) == [("eemcysk", "1", "ok"), ("eew5j0j", "1", "refused")]
    joy = r.answers().matrix("joy")
    assert np.array_equal(joy, [[np.nan, 0.0], [1.0, np.nan]], equal_nan=True)
    assert r.set_aside == ()


def test_differing_texts_are_said(tmp_path):
    answers = [
        ("eew5j0j", "1", "a ", "False", {"joy"}),
        ("eew5j0j", "2", "a", "False", {"joy"}),
        ("eemcysk", "2", "b", "False", {"joy"}),
    ]
    r = read_ratings(write_raw(tmp_path / "part.csv", answers))
    assert r.stimuli["text"].to_list() == ["a ", "b"]
    assert facts(r, StepKind.ATTRIBUTE_VARIES) == {"unit": "stimulus", "name": "text", "n": 1}


@given(
    st.lists(
        st.tuples(st.booleans(), st.sets(st.sampled_from(LABELS), max_size=4)),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=30, deadline=None)
def test_raw_keeps_every_tick(tmp_path_factory, answers):
    rows = [
        (f"comment{i // 2}", str(i % 2), "text", str(unclear), chosen)
        for i, (unclear, chosen) in enumerate(answers)
    ]
    r = read_ratings(write_raw(tmp_path_factory.mktemp("raw") / "part.csv", rows))
    found = r.where(pl.col("value") == 1).to_frame() if any(x[4] for x in rows) else None
    ticks = set() if found is None else set(found.select("stimulus", "rater", "label").rows())
    assert ticks == {(row[0], row[1], label) for row in rows for label in row[4]}
    assert r.n_rows == len(rows) * 28
    assert r.n_ratings == 28 * sum(row[3] == "False" or bool(row[4]) for row in rows)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("2", "line 3 (column 'amusement'): '2' is not understood; expected 0 or 1"),
        ("x", "line 3 (column 'amusement'): 'x' is not understood; expected 0 or 1"),
        ("", "line 3 (column 'amusement'): '' is not understood; expected 0 or 1"),
        ("0.5", "line 3 (column 'amusement'): '0.5' is not understood; expected 0 or 1"),
    ],
)
def test_cells_that_are_no_answer(tmp_path, cell, said):
    good, bad = ["0"] * 28, ["0", cell, *["0"] * 26]
    file = write_raw(
        tmp_path / "part.csv",
        [("aaaaaaa", "1", "a", "False", good), ("bbbbbbb", "1", "b", "False", bad)],
    )
    with pytest.raises(InputError) as error:
        read_ratings(file)
    assert str(error.value) == f"{file}, {said}"
    r = read_ratings(file, on_bad="set_aside")
    assert r.n_ratings == 2 * 28 - 1
    (aside,) = r.set_aside
    assert (aside.reason, aside.count) == ("label not 0 or 1", 1)
    assert aside.places == ("line 3 (column 'amusement')",)


def test_unclear_flag_and_names_are_checked(tmp_path):
    rows = [
        ("aaaaaaa", "1", "a", "False", {"joy"}),
        ("bbbbbbb", "", "b", "False", {"joy"}),
        ("ccccccc", "2", "c", "maybe", {"joy"}),
    ]
    file = write_raw(tmp_path / "part.csv", rows)
    with pytest.raises(InputError, match=r"line 4 \(column 'example_very_unclear'\): 'maybe'"):
        read_ratings(file)
    with pytest.raises(InputError, match="line 3: rater_id is empty; expected a name"):
        read_ratings(write_raw(tmp_path / "p2.csv", rows[:2]))
    r = read_ratings(file, on_bad="set_aside")
    assert {part.reason: part.count for part in r.set_aside} == {
        "example_very_unclear is not 0 or 1": 1,
        "rater_id is empty": 1,
    }
    assert r.stimulus_names == ("aaaaaaa", "ccccccc")


def test_missing_label_column_and_cut_file(tmp_path):
    names = ("id", "rater_id", "example_very_unclear", *LABELS[:-1])
    file = tmp_path / "part.csv"
    file.write_text(",".join(names) + "\n" + ",".join("a1F" + "0" * 27) + "\n")
    with pytest.raises(InputError, match="line 1: column 'neutral' is missing; expected id"):
        read_ratings(file)
    whole = write_raw(tmp_path / "whole.csv", [("a", "1", "t", "False", {"joy"})] * 1)
    cut = tmp_path / "cut.csv"
    cut.write_text(whole.read_text()[:-30])
    with pytest.raises(InputError, match=r"cut\.csv, line 2: \d+ fields, expected 37"):
        read_ratings(cut)


def test_format_fixes_its_layout(tmp_path):
    file = write_raw(tmp_path / "part.csv", [("a", "1", "t", "False", {"joy"})])
    with pytest.raises(InputError, match=r"wide cannot be given with format 'goemotions-raw'"):
        read_ratings(file, format="goemotions-raw", wide="labels")


def test_word_table_is_no_ratings(shared_data):
    with pytest.raises(InputError):
        read_ratings(shared_data / "goemotions" / "emotion_words_table.csv")


# -- simplified splits ---------------------------------------------------------------------------


def write_simplified(path: Path, rows) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="")
    return path


def test_simplified_keeps_texts_literally(tmp_path):
    rows = [
        ('"Quoted from the first word', "0,27", "eebbqej"),
        ('He said ""no""', "14", "ed00q6i"),
        ("line\u2028separator, comma", "3", "eezlygj"),
    ]
    r = read_ratings(write_simplified(tmp_path / "train.tsv", rows))
    assert r.stimuli["text"].to_list() == [row[0] for row in rows]
    assert r.stimulus_names == ("eebbqej", "ed00q6i", "eezlygj")
    assert r.rater_names == ("consensus",)
    assert r.raters["aggregated"].to_list() == [True]
    assert any("already aggregated (rater 'consensus'): agreement" in w for w in r.warnings)
    assert not any("human rater" in warning for warning in r.warnings)
    assert r.n_ratings == 3 * 28
    chosen = r.where(pl.col("value") == 1).frame.select("stimulus", "label").rows()
    assert chosen == [
        ("eebbqej", "admiration"),
        ("eebbqej", "neutral"),
        ("ed00q6i", "fear"),
        ("eezlygj", "annoyance"),
    ]


texts = st.text(
    st.characters(exclude_characters="\t\n\r\x00", exclude_categories=["Cs"]), max_size=30
).filter(lambda text: not text.startswith("\ufeff"))


@given(st.lists(st.tuples(texts, st.sets(st.integers(0, 27), min_size=1)), min_size=1, max_size=9))
@settings(max_examples=40, deadline=None)
def test_simplified_round_trip(tmp_path_factory, rows):
    lines = [
        (text, ",".join(map(str, sorted(numbers))), f"e{i:06d}")
        for i, (text, numbers) in enumerate(rows)
    ]
    r = read_ratings(write_simplified(tmp_path_factory.mktemp("s") / "dev.tsv", lines))
    assert r.stimuli["text"].to_list() == [text for text, _ in rows]
    chosen = r.frame.filter(r.frame["value"] == 1)
    assert set(zip(chosen["stimulus"], chosen["label"], strict=True)) == {
        (f"e{i:06d}", LABELS[n]) for i, (_, numbers) in enumerate(rows) for n in numbers
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("text\t28\teebbqej", "line 2: labels '28' are not understood; expected numbers from 0 to"),
        ("text\tjoy\teebbqej", "line 2: labels 'joy' are not understood"),
        ("text\t\teebbqej", "line 2: labels '' are not understood"),
        ("text\t3", "line 2: 2 fields; expected text, label numbers"),
        ("a\tb\t3\teebbqej", "line 2: 4 fields; expected text, label numbers"),
    ],
)
def test_simplified_bad_lines(tmp_path, line, said):
    file = tmp_path / "train.tsv"
    file.write_text(f"fine\t3\teaaaaaa\n{line}\n")
    with pytest.raises(InputError) as error:
        read_ratings(file, format="goemotions-simplified")
    assert str(error.value).startswith(f"{file}, {said}")
    r = read_ratings(file, format="goemotions-simplified", on_bad="set_aside")
    assert r.n_stimuli == 1
    assert [part.count for part in r.set_aside] == [1]


def test_other_tables_are_not_taken(tmp_path):
    file = tmp_path / "other.tsv"
    file.write_text("stimulus\trater\tvalue\na\tb\t3\n")
    assert find_format(Peek.open(file)).name == "table"


# -- the published files -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raw(shared_data):
    return read_ratings(shared_data / "goemotions" / "raw_partial.csv")


def test_published_raw_counts(raw):
    pairs = raw.frame.select("stimulus", "rater", "unclear").unique()
    assert pairs.height == 14_895
    assert raw.n_raters == 80
    assert raw.n_stimuli == 13_446
    assert (pairs["stimulus"].value_counts()["count"] >= 3).sum() == 58
    assert round(100 * pairs["unclear"].mean(), 2) == 1.51
    assert raw.n_ratings == (14_895 - 225) * 28
    assert raw.set_aside == ()
    assert facts(raw, StepKind.ATTRIBUTE_VARIES) == {"unit": "stimulus", "name": "text", "n": 3}


def test_published_raw_agreement_rule(raw):
    chosen = raw.answers().where(pl.col("value") == 1).frame
    votes = chosen.group_by("stimulus", "label").len()
    assert votes.filter(votes["len"] >= 2)["stimulus"].n_unique() == 488


@pytest.mark.parametrize(("name", "rows"), [("train.tsv", 43_410), ("dev.tsv", 5_426)])
def test_published_splits(shared_data, name, rows):
    file = shared_data / "goemotions" / name
    r = read_ratings(file)
    assert r.n_stimuli == rows
    assert r.n_ratings == rows * 28
    lines = [line.split("\t") for line in file.read_text("utf-8").split("\n") if line]
    assert r.stimuli["text"].to_list() == [line[0] for line in lines]
    assert r.value.sum() == sum(line[1].count(",") + 1 for line in lines)
