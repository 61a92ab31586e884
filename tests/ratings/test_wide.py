"""Files with one column per rater or per label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.ratings.told import facts, guessing, holds

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, read_ratings
from affectlab.ratings.steps import step

Read = Callable[..., Ratings]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(content: str, name: str = "r.csv", **options: object) -> Ratings:
        (tmp_path / name).write_text(content)
        return read_ratings(tmp_path / name, **options)  # type: ignore[arg-type]

    return write_and_read


def test_labels_beside_a_text_are_not_taken_as_texts(read: Read) -> None:
    content = "stimulus,text,rater,joy,fear\na,hello,ann,1,0\na,hello,ben,0,1\n"
    with guessing(StepKind.NUMBERS_ARE_LABELS, columns=("joy", "fear")):
        assert read(content, scale="binary").label_names == ("joy", "fear")
    words = content.replace("1,0", "yes!,no!").replace("0,1", "no!,yes!")
    with pytest.raises(InputError, match="no column for the value"):
        read(words, scale="binary")
    assert read(content, scale="binary", wide="labels").n_labels == 2


def rows(r: Ratings) -> list[tuple[object, ...]]:
    return r.to_frame().rows()


@pytest.mark.parametrize("wide", ["raters", "auto"])
@pytest.mark.parametrize("first", ["image", "x", ""])
def test_a_column_per_rater(read: Read, wide: str, first: str) -> None:
    r = read(f"{first},anna,bob\na,1,2\nb,,3\n", wide=wide)
    assert rows(r) == [("a", "anna", 1.0), ("a", "bob", 2.0), ("b", "bob", 3.0)]
    assert [(part.reason, part.count, part.places) for part in r.set_aside] == [
        ("no answer", 1, ("line 3, column 'anna'",))
    ]
    assert not any("set aside" in text for text in r.warnings)


@pytest.mark.parametrize("wide", ["labels", "auto"])
def test_a_column_per_label(read: Read, wide: str) -> None:
    r = read("image,rater,joy,anger\na,x,1,2\nb,x,,3\n", wide=wide)
    assert rows(r) == [("a", "x", "joy", 1.0), ("a", "x", "anger", 2.0), ("b", "x", "anger", 3.0)]
    assert r.label_names == ("joy", "anger")


def test_columns_that_describe(read: Read) -> None:
    text = "image,rater,joy,anger,age,text,year\na,x,1,2,30,hi,2001\nb,x,,3,30,ho,2002\n"
    r = read(text, wide="labels", attributes=["age", "text", "year"])
    assert r.label_names == ("joy", "anger")
    assert r.stimuli.to_dicts() == [
        {"stimulus": "a", "text": "hi", "year": 2001},
        {"stimulus": "b", "text": "ho", "year": 2002},
    ]
    assert r.raters["age"].to_list() == [30]
    assert facts(r, StepKind.RATED_COLUMNS)["columns"] == ("joy", "anger")
    told = read(text.replace("year", "calm"), wide="labels")
    assert told.label_names == ("joy", "anger", "calm")
    assert told.history == (
        step(StepKind.ATTRIBUTE_COLUMNS, columns=["age", "text"], across="label"),
        step(StepKind.RATED_COLUMNS, columns=["joy", "anger", "calm"], across="label"),
    )


def test_words_beside_numbers_are_attributes_and_that_is_said(read: Read) -> None:
    text = "image,rater,joy,sub\na,x,1,hi\nb,x,2,ho\n"
    r = read(text, wide="labels")
    assert r.stimuli["sub"].to_list() == ["hi", "ho"]
    assert r.history == (
        step(StepKind.ATTRIBUTE_COLUMNS, columns=["sub"], across="label"),
        step(StepKind.RATED_COLUMNS, columns=["joy"], across="label"),
    )
    with pytest.raises(InputError, match=r"line 2, column 'sub': value 'hi' is not understood"):
        read(text, wide="labels", attributes=[])


def test_words_in_all_columns_are_nominal_ratings(read: Read) -> None:
    r = read("image,anna,bob\na,joy,anger\nb,,joy\n", wide="raters")
    assert r.scale.categories == ("joy", "anger")
    r = read(
        "image,anna,bob,note\na,joy,anger,q\nb,,joy,z\n", wide="raters", scale="nominal:joy,anger"
    )
    assert r.rater_names == ("anna", "bob")
    assert r.stimuli["note"].to_list() == ["q", "z"]


REFUSED = {
    "typo": (
        "image,anna,bob\na,1,3o\nb,2,3\n",
        {"wide": "raters"},
        r"r\.csv, line 2, column 'bob': value '3o' is not understood; expected a number$",
    ),
    "off scale": (
        "image,anna,bob\na,1,3\nb,2,9\n",
        {"wide": "raters", "scale": "0-7"},
        r"line 3, column 'bob': value 9 is off the scale",
    ),
    "stimulus twice": (
        "image,anna\na,1\na,2\n",
        {"wide": "raters"},
        r"line 3, column 'anna': a second answer for stimulus 'a', rater 'anna'",
    ),
    "unknown label": (
        "image,rater,joy,angre\na,x,1,3\n",
        {"wide": "labels", "taxonomy": "ekman"},
        r"line 2, column 'angre': .*did you mean 'anger'",
    ),
    "no rater": (
        "image,joy,anger\na,1,3\n",
        {"wide": "labels"},
        r"one column per label needs a column for the rater; found: image, joy, anger; name it "
        r"\(columns=\{'rater': 'NAME'\}\)$",
    ),
    "rater in rows": (
        "image,rater,joy\na,x,1\n",
        {"wide": "raters"},
        r"there is a column 'rater'; did you mean .*\(wide='labels' or 'stimuli'\)\?$",
    ),
    "value named": (
        "image,rater,joy\na,x,1\n",
        {"wide": "labels", "columns": {"value": "joy"}},
        r"a wide table has no value column",
    ),
    "two roles": (
        "image,rater,joy\na,x,1\n",
        {"wide": "labels", "columns": {"stimulus": "image", "rater": "image"}},
        r"column 'image' is given two roles",
    ),
    "unknown role": (
        "image,rater,joy\na,x,1\n",
        {"wide": "labels", "columns": {"stimulos": "image"}},
        r"unknown role 'stimulos'; did you mean 'stimulus'",
    ),
    "unknown column": (
        "image,rater,joy\na,x,1\n",
        {"wide": "labels", "columns": {"rater": "rates"}},
        r"unknown column 'rates'; did you mean 'rater'",
    ),
    "unknown attribute": (
        "image,rater,joy,year\na,x,1,2001\n",
        {"wide": "labels", "attributes": ["yaer"]},
        r"unknown column 'yaer'; did you mean 'year'",
    ),
    "attribute with a role": (
        "image,rater,joy\na,x,1\n",
        {"wide": "labels", "columns": {"rater": "rater"}, "attributes": ["rater"]},
        r"column 'rater' is the rater, so it is no attribute",
    ),
    "name of a role": (
        "image,rater,joy,label\na,x,1,kk\n",
        {"wide": "labels"},
        r"attribute column 'label' has the name of a role",
    ),
    "not wide": (
        "stimulus,rater,label,value\na,x,joy,1\n",
        {"wide": "labels"},
        r"columns 'label' and 'value' say that each row is one answer, so leave out wide;",
    ),
    "nothing left": ("image\na\n", {"wide": "raters"}, r"no column is left that could be a rater"),
    "texts differ": (
        "image,rater,joy,text\na,x,1,hi\na,y,1,ho\n",
        {"wide": "labels"},
        r"column 'text' differs within a stimulus",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(read: Read, case: str) -> None:
    content, options, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        read(content, **options)


def test_sessions_and_other_formats(read: Read) -> None:
    r = read("image,rater,session,joy\na,x,1,1\na,x,2,3\n", wide="labels")
    assert r.frame["session"].to_list() == ["1", "2"]
    lines = '{"image":"a","anna":1,"bob":2}\n{"image":"b","anna":1}\n'
    r = read(lines, "r.jsonl", wide="raters")
    assert r.matrix().tolist() == [[1, 1], [2, pytest.approx(np.nan, nan_ok=True)]]
    assert r.set_aside[0].places == ("line 2, column 'bob'",)


def test_auto_says_how_it_read(read: Read) -> None:
    labels = read("id,rater,joy\na,x,1\n", wide="auto").history[0]
    assert holds(labels, StepKind.WIDE_KIND, across="label", why="rater", column="rater")
    raters = read("id,anna,bob\na,1,2\n", wide="auto").history[0]
    assert holds(raters, StepKind.WIDE_KIND, across="rater", why="no rater")


@settings(deadline=None, max_examples=40)
@given(
    cells=st.lists(
        st.lists(st.sampled_from(["", "0", "3", "7", "NA"]), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    )
)
def test_cells_are_kept_or_counted(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]
) -> None:
    file = tmp_path_factory.mktemp("wide") / "r.csv"
    lines = [",".join([f"s{row}", *values]) for row, values in enumerate(cells)]
    file.write_text("stimulus,a,b,c\n" + "\n".join(lines) + "\n")
    given_values = sum(cell.isdigit() for row in cells for cell in row)
    if not given_values:
        with pytest.raises(InputError, match="no cell can be used"):
            read_ratings(file, wide="raters", scale="0-7")
        return
    r = read_ratings(file, wide="raters", scale="0-7")
    assert r.n_ratings == given_values
    assert r.n_ratings + sum(part.count for part in r.set_aside if part.unit == "cell") == 3 * len(
        cells
    )
    assert np.nansum(r.value) == sum(int(c) for row in cells for c in row if c.isdigit())


@pytest.mark.parametrize(
    ("row", "is_sum"),
    [
        ("Suma,8,12,11", True),
        ("Ø,2.67,4,3.7", True),
        ("Średnia:,2.7,4.0,3.7", True),
        ("zusammen,8,12,11", True),  # A word of no list: the numbers can be nothing else.
        ("im Schnitt,2.67,4,3.67", True),
        ("Suma,8,12,12", False),
        ("clip4,8,12,11", False),
        ("d,3,4,4", False),
        ("Max,4,6,5", True),
        ("d,4,6,5", False),
    ],
)
def test_rows_that_sum_up_are_set_aside(tmp_path: Path, row: str, *, is_sum: bool) -> None:
    file = tmp_path / "r.csv"
    file.write_text(f"image,R1,R2,R3\na,3,2,4\nb,4,6,5\nc,1,4,2\n{row}\n")
    with guessing(StepKind.SHAPE):
        r = read_ratings(file)
    assert r.n_stimuli == (3 if is_sum else 4)
    assert any("sums up the rows above" in str(part) for part in r.set_aside) == is_sum


@pytest.mark.parametrize("role", ["rater", "stimulus", "session"])
def test_a_column_that_is_named_and_not_there_is_refused(tmp_path: Path, role: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text("image,rater,time,joy,anger\na,x,T1,3,4\na,x,T2,2,6\nb,y,T1,1,1\n")
    with pytest.raises(InputError, match="unknown column 'nobody'"):
        read_ratings(file, columns={role: "nobody"})


def test_what_is_no_count_of_votes_is_refused_and_an_empty_cell_is_none(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("clip,happy,sad\na,3,2\nb,1,x\n")
    with pytest.raises(InputError, match=r"line 3, column 'sad': 'x' is no count of votes"):
        read_ratings(file, wide="votes")
    file.write_text("clip,happy,sad\na,3,\nb,1,2\n")
    assert read_ratings(file, wide="votes").n_ratings == 6


def test_names_that_cross_times_alone_hold_no_answers(tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text("subject,a_rt,b_rt,a_onset,b_onset\nx,1,2,3,4\ny,2,3,4,5\n")
    with pytest.raises(InputError, match="no column is left"):
        read_ratings(file, wide="stimuli,labels")
