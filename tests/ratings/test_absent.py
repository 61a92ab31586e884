"""What it means that a rater of a stimulus left a label out: said by the format, or by the user."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import run_here
from tests.ratings.told import kinds

from affectlab import InputError, read_ratings
from affectlab.ratings import StepKind, list_formats, read_models
from affectlab.ratings.steps import step

LISTED = """stimulus,rater,label,value
a,r1,joy,3
a,r1,fear,2
a,r2,joy,4
b,r1,fear,1
b,r2,fear,2
"""


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    file = tmp_path / "listed.csv"
    file.write_text(LISTED, encoding="utf-8")
    return file


def test_missing_unless_it_is_said(listed: Path) -> None:
    plain = read_ratings(listed, scale="0-7")
    assert (plain.n_ratings, plain.history) == (5, ())
    zero = read_ratings(listed, scale="0-7", absent="zero")
    assert zero.n_ratings == 8
    assert zero.history == (step(StepKind.FILLED, n=3, value=0.0, by="asked", labels=()),)
    missing = read_ratings(listed, scale="0-7", absent="missing")
    assert missing.n_ratings == 5
    assert missing.history == (step(StepKind.LEFT_MISSING, published_zero=False),)


def test_models_are_read_alike(listed: Path) -> None:
    people = read_ratings(listed, scale="0-7")
    assert read_models(listed, people, absent="zero")[0].n_ratings == 8
    assert read_models(listed, people)[0].n_ratings == 5


def test_what_was_filled_cannot_be_taken_out_of_a_written_file(
    listed: Path, tmp_path: Path
) -> None:
    file = read_ratings(listed, scale="0-7", absent="zero").write(tmp_path / "filled.parquet")
    assert read_ratings(file).n_ratings == 8
    again = read_ratings(file, absent="zero")
    assert again.history[-1] == step(StepKind.NOTHING_ABSENT, by="asked")
    with pytest.raises(InputError, match="filled with 0 before the file was written"):
        read_ratings(file, absent="missing")


@pytest.mark.parametrize(
    ("text", "scale", "why"),
    [
        ("stimulus,rater,value\na,r1,3\n", "0-7", "there are no labels"),
        (LISTED, "1-7", "fill value 0 is off the scale"),
    ],
)
def test_zero_needs_labels_and_a_scale_that_has_it(
    tmp_path: Path, text: str, scale: str, why: str
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"x\.csv: {why}.*leave them missing"):
        read_ratings(file, scale=scale, absent="zero")


def test_a_word_that_is_none_of_them(listed: Path) -> None:
    with pytest.raises(InputError, match="unknown absent 'nought'"):
        read_ratings(listed, absent="nought")  # type: ignore[arg-type]


def test_every_format_declares_its_meaning() -> None:
    zero = {entry.name for entry in list_formats() if entry.absent == "zero"}
    assert zero == {"emonet-face-hq", "emonet-face-vlm"}
    assert all(entry.absent in ("zero", "missing") for entry in list_formats())


@pytest.mark.parametrize("verb", [("ratings", "describe"), ("reliability", "agreement")])
def test_the_option_of_every_verb_that_reads(verb: tuple[str, str], listed: Path) -> None:
    options = ("--scale", "0-7", "--json")
    found = [
        json.loads(run_here(*verb, listed, *options, *more).stdout)["result"]
        for more in ((), ("--absent", "zero"), ("--absent", "missing"))
    ]
    assert found[0] != found[1]
    if verb[1] == "describe":
        found = [one["summary"] for one in found]
        assert [one["n_ratings"] for one in found] == [5, 8, 5]
        (filled,) = found[1]["history"]
        assert (filled["kind"], filled["facts"]["n"]) == ("filled", 3)


def test_the_answers_of_a_vision_language_model(tmp_path: Path) -> None:
    file = tmp_path / "vlm.json"
    given = [
        {"key": ["p", "gpt", "a.png"], "value": {"High|Anger": 3, "High|Fear": 1}},
        {"key": ["p", "gpt", "b.png"], "value": {"High|Fear": 2}},
    ]
    file.write_text(json.dumps(given), encoding="utf-8")
    assert sorted(read_ratings(file).value.tolist()) == [0, 1, 2, 3]
    assert read_ratings(file, absent="missing").n_ratings == 3


def test_a_sheet_without_a_tick_is_a_sheet_of_zeros(tmp_path: Path) -> None:
    path = tmp_path / "ticks.csv"
    path.write_text("participant,stimulus,joy,fear\np1,a,1,\np1,b,,\np2,a,,\np2,b,,1\n")
    r = read_ratings(path, wide="labels", scale="binary", absent="zero")
    assert r.n_ratings == 8
    assert float(r.value.sum()) == 2
    assert sum(part.count for part in r.set_aside) == 0
    assert step(StepKind.CELLS_FILLED, n=6, value=0.0, by="asked") in r.history
    assert StepKind.NOTHING_ABSENT not in kinds(r)
    assert read_ratings(path, wide="labels", scale="binary").n_ratings == 2
