"""Files as spreadsheet programs write them, and JSON with a key twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, read_ratings
from affectlab.ratings.steps import step

Read = Callable[..., Ratings]
EXCEL = "Stimulus;Rater;Rating\n007;01;3,5\n007;02;4,0\n008;01;2\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(content: str | bytes, name: str = "r.csv", **options: object) -> Ratings:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return read_ratings(tmp_path / name, **options)  # type: ignore[arg-type]

    return write_and_read


def test_decimal_commas_beside_semicolons(read: Read) -> None:
    r = read(EXCEL, scale="0-7 interval")
    assert r.value.tolist() == [3.5, 4, 2]
    assert r.stimulus_names == ("007", "008")
    assert r.history == (step(StepKind.DECIMAL_COMMAS, columns=["value"]),)
    assert read(EXCEL.replace(",", ".")).history == ()
    negative = read("stimulus;rater;value;rt_ms\na;x;-0,5;1200,25\nb;x;NA;900\nc;x;1,5;800\n")
    assert negative.value.tolist() == [-0.5, 1.5]
    assert negative.frame["rt_ms"].to_list() == [1200.25, 800.0]
    with pytest.raises(InputError, match=r"line 2: value 3\.5 is off the scale"):
        read(EXCEL, scale="0-7")


def test_decimal_commas_in_wide_files_leave_names_alone(read: Read) -> None:
    r = read("image;anna;bob\n1,5;3,5;4\n2,5;1,5;2\n", wide="raters")
    assert r.stimulus_names == ("1,5", "2,5")
    assert r.matrix().tolist() == [[3.5, 1.5], [4, 2]]
    assert r.history[-1] == step(StepKind.DECIMAL_COMMAS, columns=["anna"])


def test_commas_in_names_of_categories_stay(read: Read) -> None:
    with pytest.raises(InputError, match="value '1,5' is not understood"):
        read("stimulus;rater;value\na;x;1,5\nb;x;no\n", scale="nominal:yes,no")


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "\ufeffsep=;", "sep=;;"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_first_line_that_says_the_delimiter(read: Read, first: str, end: str) -> None:
    text = (f"{first}\n" + EXCEL).replace("\n", end)
    r = read(text)
    assert r.value.tolist() == [3.5, 4, 2]
    assert r.rater_names == ("01", "02")
    with pytest.raises(InputError, match=r"line 5: value 'x' is not understood"):
        read(text.replace("01;2", "01;x"))


def test_the_said_delimiter_need_not_be_the_usual(read: Read) -> None:
    text = "sep=#\nstimulus#rater#value\na;b#x,y#1\n"
    assert read(text).stimulus_names == ("a;b",)
    wide = read("sep=,\nimage,anna,note\na,1,\nb,2,hi\n", wide="raters")
    assert wide.rater_names == ("anna",)
    with pytest.raises(InputError, match="line 4: 2 fields, expected 3"):
        read("sep=,\nimage,anna,note\na,1,\nb,2\n", wide="raters")
    assert read("sep=;\nstimulus;rater;value\na;x;1\n".encode("utf-16")).n_ratings == 1


LINE = '{"stimulus":"a","rater":"x","value":1}\n'


@pytest.mark.parametrize(
    "line",
    [
        '{"stimulus":"b","rater":"x","value":1,"value":7}',
        '{"stimulus":"b","rater":"x","value":1,"value" : 7}',
        '{"stimulus":"b","stimulus":"c","rater":"x"}',
        '{"stimulus":"b","rater":"x","value":1,"value":null}',
        '{"stimulus":"b","rater":"x","value":null,"value":1}',
    ],
)
def test_a_key_that_stands_twice(read: Read, line: str) -> None:
    with pytest.raises(InputError, match=r"r\.jsonl, line 3: key '(value|stimulus)' stands twice"):
        read(LINE + "\n" + line + "\n", "r.jsonl")
    with pytest.raises(InputError, match=r"r\.json: key '(value|stimulus)' stands twice in one"):
        read(f"[{LINE},{line}]", "r.json")


def test_colons_and_nulls_are_no_keys(read: Read) -> None:
    rows = [
        {"stimulus": 'a":', "rater": '"x": null', "value": 1},
        {"stimulus": "b", "rater": "x", "value": None},
        {"stimulus": "c", "rater": "x", "value": 2, "note": '{"value":1}'},
        {"rater": "x", "stimulus": "d", "value": 3},
    ]
    for dump in (json.dumps, lambda row: json.dumps(row, separators=(" , ", " : "))):
        r = read("".join(dump(row) + "\n" for row in rows), "r.jsonl")
        assert r.value.tolist() == [1, 2, 3]
        assert r.stimulus_names == ('a":', "c", "d")


def test_row_names_of_r(read: Read) -> None:
    """As ``write.csv`` and ``write.table`` of R write data frames; by hand from their help."""
    csv = '"","stimulus","rater","value"\n"1","a","x",1\n"2","b","x",NA\n"3","c","x",2\n'
    r = read(csv)
    assert r.stimulus_names == ("a", "c")
    assert r.value.tolist() == [1, 2]
    table = csv.replace('"",', "")
    again = read(table)
    assert again.value.tolist() == [1, 2]
    assert again.stimulus_names == ("a", "c")
    tabs = table.replace(",", "\t")
    assert read(tabs, "r.tsv").value.tolist() == [1, 2]
    named = read('"","ann","bo"\n"a.png",1,2\n"b.png",2,3\n', wide="raters")
    assert named.stimulus_names == ("a.png", "b.png")
    # What no numbers of rows stand before is a row with a field too many.
    with pytest.raises(InputError, match="line 2: 4 fields, expected 3"):
        read("stimulus,rater,value\na,x,1,5\nb,x,2,5\n")


PROLIFIC = (
    "Submission id,Participant id,Status,Started at,Completion code,Age,Sex,Country of birth\n"
    "s1,p1,RETURNED,2026-11-27T09:00:00Z,,CONSENT_REVOKED,,\n"
    "s2,p2,APPROVED,2026-11-27T09:00:00Z,C0DE,40,Male,DATA_EXPIRED\n"
    "s3,p1,APPROVED,2026-11-27T10:00:00Z,C0DE,31,Female,Kenya\n"
)


def test_participants_of_prolific_are_raters(read: Read, tmp_path: Path) -> None:
    """As Prolific's help describes its demographic export; by hand."""
    (tmp_path / "prolific.csv").write_text(PROLIFIC)
    answers = "stimulus,rater,value\na,p1,1\na,p2,2\n"
    for raters in (tmp_path / "prolific.csv", pl.read_csv(tmp_path / "prolific.csv")):
        r = read(answers, raters=raters)
        assert r.raters.select("rater", "age", "sex", "country_of_birth").rows() == [
            ("p1", 31, "Female", "Kenya"),
            ("p2", 40, "Male", None),
        ]
        assert "C0DE" not in str(r.raters.rows())
