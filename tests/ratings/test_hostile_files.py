"""Each file that cannot be used gives one sentence, and each that can says what was set aside."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st
from tests.ratings.told import guessing, kinds

from affectlab.core.errors import InputError
from affectlab.ratings import GuessedColumnsWarning, Ratings, StepKind, read_ratings
from affectlab.ratings.files import Peek, read_columns

H = "stimulus,rater,value\n"
Read = Callable[..., Ratings]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file and read it back."""

    def write_and_read(content: str | bytes, name: str = "r.csv", **options: object) -> Ratings:
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_ratings(file, **options)  # type: ignore[arg-type]

    return write_and_read


def parquet(columns: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


REFUSED = {
    "missing column": (
        "stimulus,person,value\na,x,1\n",
        {},
        r"r\.csv: no column for the rater; .* \(columns=\{'rater': 'NAME'\}\), or one for all rows "
        r"\(rater='NAME'\); found: ",
    ),
    "one column": ("hello world\nx\n", {}, r"r\.csv: there is only one column, 'hello world'"),
    "one column by the delimiter that is given": (
        "hello world\nx\n",
        {"delimiter": ";"},
        r"there is only one column, 'hello world'; expected at least stimulus, rater, value, "
        r"divided by the delimiter ';' as given \(delimiter=';'\)$",
    ),
    "wide not said": (
        "image,anna,bob\na,1,2\n",
        {},
        r"no column for the rater",
    ),
    "unknown column": (
        H + "a,x,1\n",
        {"columns": {"stimulus": "stimuls"}},
        r"r\.csv: unknown column 'stimuls'; did you mean 'stimulus'\?",
    ),
    "unknown role": (
        H + "a,x,1\n",
        {"columns": {"stimlus": "stimulus"}},
        r"r\.csv: unknown role 'stimlus'; did you mean 'stimulus'\?",
    ),
    "clash of names": (
        "image,rater,value,stimulus\na,x,1,k\n",
        {"columns": {"stimulus": "image"}},
        r"column 'stimulus' would stand beside 'image' as 'stimulus'",
    ),
    "unknown label": (
        "stimulus,rater,emotion,value\na,x,joy,1\nb,x,angre,1\n",
        {"taxonomy": "ekman"},
        r"r\.csv, line 3: .*unknown label 'angre'; did you mean 'anger'\?",
    ),
    "off scale": (
        H + "a,x,1\nb,x,9\nc,x,8\n",
        {"scale": "0-7"},
        r"r\.csv, line 3: value 9 is off the scale; expected ordinal 0 to 7, step 1 "
        r"\(and 1 more such row\)$",
    ),
    "between levels": (H + "a,x,1.5\n", {"scale": "0-7"}, r"line 2: value 1\.5 is off the scale"),
    "minus one": (
        H + "a,x,1\nb,x,-1\n",
        {"scale": "0-7"},
        r"line 3: value -1 is off the scale.*missing answer.*\(on_bad='set_aside'\)$",
    ),
    "second answer": (
        H + "a,x,1\nb,x,2\na,x,1\n",
        {},
        r"r\.csv, line 4: a second answer for stimulus 'a', rater 'x'; expected one",
    ),
    "cyrillic": (
        (H + 'a,x,1\n\n"b\nc",x,1\nмир,x,1\n').encode("cp1251"),
        {},
        r"r\.csv, line 6: byte 0xec is not UTF-8; .*\(encoding='latin-1'\)$",
    ),
    "polish header": (
        "stimuł,rater,value\na,x,1\n".encode("cp1250"),
        {},
        r"r\.csv, line 1: byte 0xb3 is not UTF-8",
    ),
    "no utf-16": (H + "a,x,1\n", {"encoding": "utf-16"}, r"r\.csv is not UTF-16 text"),
    "unknown encoding": (H, {"encoding": "utf-99"}, "encoding 'utf-99' is not known"),
    "no text encoding": (H, {"encoding": "base64"}, "encoding 'base64' is not known"),
    "delimiter": (H, {"delimiter": "ab"}, "delimiter 'ab' cannot be used; expected one character"),
    "quoted lines": (H + '"a\nb\nc",x,1\n\nd,x,foo\ne,x,2\n', {}, r"line 6: value 'foo'"),
    "crlf": (
        (H + "a,x,1\nb,x,9\n").replace("\n", "\r\n"),
        {"scale": "0-7"},
        r"line 3: value 9 is off",
    ),
    "lone cr": (
        (H + "a,x,1\nb,x,9\n").replace("\n", "\r"),
        {"scale": "0-7"},
        r"line 3: value 9 is off",
    ),
    "blank lines": (H + "\na,x,1\n\n\nb,x,9\n\n", {"scale": "0-7"}, r"line 6: value 9 is off"),
    "open quote": (H + 'a,x,1\n"b,x,2\nc,x,3\n', {}, r"line 3: the quotes do not match up"),
    "text after quote": (H + 'a,x,1\n"b"c,x,2\n', {}, r"line 3: the quotes do not match up"),
    "text after empty quote": (H + 'a,x,1\n""c,x,2\n', {}, r"line 3: the quotes do not match up"),
    "open quote in header": ('stimulus,"rater,value\na,x,1\n', {}, r"line 1: the quotes do not"),
    "empty": ("", {}, r"r\.csv is empty; expected a file of ratings"),
    "white space": (" \n\n \t\n", {}, r"r\.csv is empty"),
    "only a mark": (b"\xef\xbb\xbf", {}, r"r\.csv is empty"),
    "header only": (H, {}, r"r\.csv has a header but no rows; expected at least one answer"),
    "decimal comma": (H + 'a,x,"3,5"\n', {}, r"value '3,5'.*a decimal comma\?"),
    "commas and points": (
        "stimulus;rater;value\na;x;3,5\nb;x;4.5\n",
        {},
        r"line 2: value '3,5'.*a decimal comma\?",
    ),
    "thousands": ("stimulus;rater;value\na;x;1.234,5\n", {}, r"line 2: value '1.234,5' is not"),
    "said delimiter": ("sep=;\nstimulus;rater;value\na;x;q1\nb;x;2\n", {}, r"line 3: value 'q1'"),
    "said delimiter, header": ("sep=;\nstimulus;rater;rater\na;x;1\n", {}, r"line 2: column 'rat"),
    "said delimiter, short": ("sep=;\nstimulus;rater;value\na;x\n", {}, r"line 3: 2 fields, exp"),
    "infinite": (H + "a,x,1\nb,x,inf\n", {}, r"line 3: value 'inf' is not understood"),
    "too large": (H + "a,x,1e400\n", {}, r"line 2: value '1e400' is not understood"),
    "underscore": (H + "a,x,1_000\n", {}, r"line 2: value '1_000' is not understood"),
    "a word among numbers": (H + "a,x,yes\nb,x,3\n", {}, r"line 2: value 'yes' is not understood"),
    "nothing answered": (H + "a,x,nan\nb,x,NA\n", {}, r"r\.csv: no row can be used: 2 rows: no"),
    "header twice": ("stimulus,rater,value,value\na,x,1,2\n", {}, r"line 1: column 'value' stands"),
    "header gap": ("stimulus,rater,,value\na,x,1,2\n", {}, r"line 1: column 3 has no name"),
    "excel": (b"PK\x03\x04junk", {}, r"r\.csv is an Excel or zip file; save the sheet as CSV"),
    "gzip": (gzip.compress(b"stimulus,rater,value\na,x,1\n"), {}, r"a gzip file; unpack it first"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", {}, r"r\.csv is not text; expected"),
    "short row": (H + "a,x,1\nb,x\n", {}, r"line 3: 2 fields, expected 3 \(separated by ','\)"),
    "long row": (H + "a,x,1\nb,x,1,2\n", {}, r"line 3: 4 fields, expected 3"),
    "only ragged": (
        H + "b,x\n",
        {"on_bad": "set_aside"},
        r"r\.csv: no row can be used: 1 row: not 3 fields \(line 2\)",
    ),
    "no rater": (H + "a,x,1\nb,,2\nc, ,3\n", {}, r"line 3: rater is empty; .* \(and 1 more such"),
    "no rater at all": (H + "a,,1\n", {"on_bad": "set_aside"}, r"r\.csv: rater is empty in every"),
    "outcome": (
        "stimulus,rater,value,outcome\na,x,1,ok\nb,x,,refusd\n",
        {},
        r"line 3: unknown outcome 'refusd'; did you mean 'refused'\?",
    ),
    "reaction time": (
        "stimulus,rater,value,rt_ms\na,x,1,100\nb,x,2,fast\n",
        {},
        r"line 3: rt_ms 'fast' is not a number; expected milliseconds",
    ),
    "on_bad": (H + "a,x,1\n", {"on_bad": "drop"}, "unknown on_bad 'drop'"),
    "wide": (H + "a,x,1\n", {"wide": "long"}, "unknown wide 'long'; did you mean|unknown wide"),
    "attributes without wide": (H + "a,x,1\n", {"attributes": ["x"]}, r"\(wide='raters'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(read: Read, case: str) -> None:
    content, options, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence) as caught:
        read(content, **options)
    assert "\n" not in str(caught.value)


REFUSED_NAMED = {
    "csv called parquet": (H + "a,x,1\n", "r.parquet", r"is no parquet file"),
    "cut parquet": (
        parquet({"stimulus": ["a"], "rater": ["x"], "value": [1]})[:60],
        "r.parquet",
        r"r\.parquet cannot be read as Parquet",
    ),
    "excel": (b"PK\x03\x04junk", "r.xlsx", r"an Excel or zip file"),
    "json line": (
        '{"stimulus":7,"rater":"a","value":1}\n\n{"stimulus":"b","rater":true\n',
        "r.jsonl",
        r"r\.jsonl, line 3: not valid JSON",
    ),
    "json cell": (
        '{"stimulus":7,"rater":"a","value":1}\n\n{"stimulus":"b","rater":"a","value":"hi"}\n',
        "r.jsonl",
        r"r\.jsonl, line 3: value 'hi' is not understood",
    ),
    "json list in a cell": ('{"stimulus":7,"rater":"a","value":[1]}\n', "r.jsonl", "holds lists"),
    "json no objects": ("[1, 2]", "r.json", r"expected a list of objects, one per answer"),
    "json line no object": ("[1]\n[2]\n", "r.jsonl", r"line 1: expected an object, one per answer"),
    "json empty": ("[]", "r.json", r"holds no answer"),
    "json broken": ('[{"a":\n}]', "r.json", r"r\.json, line 2: not valid JSON"),
    "json gap": ('{"stimulus":null,"rater":"a","value":1}\n', "r.jsonl", r"line 1: stimulus is em"),
}


@pytest.mark.parametrize("case", REFUSED_NAMED)
def test_refused_by_name(read: Read, case: str) -> None:
    content, name, sentence = REFUSED_NAMED[case]
    with pytest.raises(InputError, match=sentence) as caught:
        read(content, name)
    assert "\n" not in str(caught.value)


def test_no_file_folder_and_locked_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_ratings(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_ratings(tmp_path)
    locked = tmp_path / "locked.csv"
    locked.write_text(H + "a,x,1\n")
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(InputError, match="cannot be read"):
        read_ratings(locked)


def test_marks_encodings_and_delimiters_are_told(read: Read) -> None:
    text = H + "é,x,1\nb,x,2\n"
    for content in (
        "\ufeff" + text,
        text.encode("utf-16"),
        text.encode("utf-8-sig"),
        text.replace("\n", "\r\n"),
        text.replace("\n", "\r"),
        text.replace(",", ";"),
        text.replace(",", "\t"),
        text.replace(",", "|"),
        text.rstrip("\n"),
        text + "\n\n",
        "\n" + text,
    ):
        assert read(content).stimulus_names == ("é", "b")
    for codec, name in (
        ("latin-1", "é"), ("cp1252", "don’t"), ("utf-16-le", "é"), ("utf-16-be", "é")
    ):  # fmt: skip
        content = text.replace("é", name).encode(codec)
        with guessing(StepKind.ENCODING, encoding=codec):
            guessed = read(content)
        assert guessed.stimulus_names == (name, "b")
        named = read(content, encoding=codec)
        assert (named.stimulus_names, named.history) == ((name, "b"), ())


def test_identifiers_stay_text_in_every_format(read: Read) -> None:
    names = ["007", "1e5", "NA", "None", "nan", "true", " x ", "a,b", "1.0"]
    rows = "".join(f'"{name}",NA,{value}\n' for value, name in enumerate(names))
    assert read(H + rows).stimulus_names == tuple(names)
    assert read(H + rows).rater_names == ("NA",)
    stored = parquet({"stimulus": [7, 8], "rater": [True, False], "value": [1, 2]})
    assert read(stored, "r.parquet").stimulus_names == ("7", "8")
    assert read(stored, "called.csv").rater_names == ("true", "false")
    lines = '{"id":7,"rater":"007","value":1}\n{"id":"007","rater":true,"value":2}\n'
    mixed = read(lines, "r.jsonl")
    assert mixed.stimulus_names == ("7", "007")
    assert mixed.rater_names == ("007", "true")
    assert read(f"[{','.join(lines.split())}]", "r.json").stimulus_names == ("7", "007")


def test_words_for_missing_and_true(read: Read) -> None:
    r = read(H + "a,x,nan\nb,x,NA\nc,x,2\nd,x,\ne,x,.\nf,x,3\n")
    assert r.value.tolist() == [2, 3]
    assert r.set_aside[0].count == 4
    assert r.set_aside[0].reason == "no answer (an empty cell or 'nan' or 'NA' or '.')"
    assert r.set_aside[0].places == ("line 2", "line 3", "line 5")
    assert read(H + "a,x,true\nb,x,No\nc,x,1\n").value.tolist() == [1, 0, 1]
    words = read(H + "a,x,yes\nb,x,no\nc,x,maybe\n")
    assert words.scale.categories == ("yes", "no", "maybe")
    assert read(H + "a,x,joy\nb,x, joy \n").scale.categories == ("joy",)


def test_short_rows_with_gaps_are_told_from_empty_cells(read: Read) -> None:
    note = "stimulus,rater,value,note\na,x,1,\nb,x,2,hi\n"
    assert read(note).n_rows == 2
    with pytest.raises(InputError, match="line 2: 3 fields, expected 4"):
        read(note.replace("a,x,1,", "a,x,1"))
    with pytest.raises(InputError, match="line 3: 3 fields, expected 4"):
        read(note.removesuffix(",hi\n"))
    with pytest.raises(InputError, match="line 2: 3 fields, expected 4"):
        read(note.replace("a,x,1,", "a,x,1").replace("hi", '"h,i"'))
    assert read(note.replace("hi", '"h,i"')).n_rows == 2
    assert read("\n" + note.rstrip("\n") + "\n\n").n_rows == 2
    for mark in "§→":
        assert read(note.replace(",", mark), delimiter=mark).n_rows == 2


def test_a_long_file_with_one_bad_cell_names_its_line(read: Read) -> None:
    rows = [f"s{k},r,{k % 8}\n" for k in range(60_000)]
    rows[45_678] = "bad,r,8\n"
    with pytest.raises(InputError, match=r"line 45680: value 8 is off"):
        read(H + "".join(rows), scale="0-7")


def test_a_bare_carriage_return_in_a_field_leaves_the_row_number(read: Read) -> None:
    text = H + "a,x\ry,1\nc,x,9\n"
    assert read(text).rater_names == ("x\ry", "x")
    with pytest.raises(InputError, match=r"r\.csv, row 2: value 9 is off"):
        read(text, scale="0-7")


def test_quotes_and_lines_inside_many_fields(read: Read) -> None:
    texts = ['he said "no"', "two\nlines", "a,b", "plain", '""', "end\n", "ü\r\n"]
    rows = [f"{k} {texts[k % len(texts)]}" for k in range(50_000)]
    quoted = "".join(
        '"' + name.replace('"', '""') + f'",r,{k % 8}\n' for k, name in enumerate(rows)
    )
    r = read(H + quoted, scale="0-7")
    assert r.stimulus_names == tuple(rows)
    before = sum(1 + name.count("\n") for name in rows[:40_000])
    cut = quoted.replace(f'{rows[40_000]}",r,0', f'{rows[40_000]}",r,99')
    with pytest.raises(InputError, match=rf"line {before + 2}: value 99 is off"):
        read(H + cut, scale="0-7")


def test_a_nameless_column_in_front_is_an_index(read: Read) -> None:
    r = read(",stimulus,rater,value\n0,a,x,1\n1,a,y,2\n")
    assert r.n_ratings == 2
    assert r.raters["index"].to_list() == [0, 1]


def test_rated_texts_are_no_answers(read: Read) -> None:
    text = "stimulus,rater,value,text\na,x,1,hi\na,y,2,hi\nb,x,,ho\n"
    r = read(text)
    assert r.n_ratings == 2
    assert r.stimuli.rows() == [("a", "hi")]
    assert StepKind.TEXTS_RATED in kinds(r)
    with guessing(StepKind.FREE_TEXT, column="text"):
        answers = read("stimulus,rater,text\na,x,hello\nb,x,\nc,y,hey\n")
    assert answers.scale.kind == "text"
    assert answers.n_ratings == 2
    assert answers.set_aside[0].places == ("line 3",)


CELL = st.sampled_from(["0", "1", "7", "8", "-1", "", "NA", "x", "3,5", "nan", "2.5", '"', "inf"])
NAME = st.sampled_from(["a", "b", "", " ", "007", "NA", "a b"])
ROW = st.one_of(
    st.tuples(NAME, NAME, CELL, st.sampled_from(["joy", "anger", "angre", ""])).map(list),
    st.lists(NAME, min_size=1, max_size=6),
)


@settings(deadline=None, max_examples=150)
@given(rows=st.lists(ROW, min_size=1, max_size=25), scale=st.sampled_from([None, "0-7"]))
@example(rows=[[" ", "b", "a", "a"], ["a", "b", "x", "anger"]], scale=None)
def test_rows_kept_and_set_aside_add_up(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], scale: str | None
) -> None:
    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"') else cell

    lines = [",".join(map(quoted, row)) for row in rows]
    file = tmp_path_factory.mktemp("sum") / "r.csv"
    file.write_text("stimulus,rater,value,label\n" + "".join(line + "\n" for line in lines))
    expected = sum(bool(line) for line in lines)

    def reading() -> Ratings:
        # Where both columns hold words, the label could be what the stimulus was meant to show.
        asked = {"label": "label"}
        return read_ratings(file, on_bad="set_aside", scale=scale, taxonomy="ekman", columns=asked)

    try:
        r = reading()
    except InputError:
        with pytest.raises(InputError, match=re.escape(str(file))):
            reading()
        return
    assert r.n_rows + sum(part.count for part in r.set_aside if part.unit == "row") == expected
    assert r.n_rows == r.n_ratings
    for part in (part for part in r.set_aside if part.unit == "row"):
        assert part.count > 0
        assert 1 <= len(part.places) <= 3
        for place in part.places:
            line = int(place.removeprefix("line "))
            assert lines[line - 2]


def test_a_blank_cell_is_no_word_that_a_stimulus_was_meant_to_show(read: Read) -> None:
    with pytest.raises(InputError, match="label is empty"):
        read('stimulus,rater,value,label\na,x, , \nb,y,x,anger\nc,y,"""",joy\n', taxonomy="ekman")


@pytest.mark.parametrize(
    "rows",
    [
        "s00,joy\ns01,fear\ns02,joy\ns03,anger\n",
        "a_1.png,ann,3\na_2.png,bo,4\na_3.png,ann,2\n",
        "joy\tann\nfear\tbo\njoy\tbo\nfear\tann\n",
    ],
)
def test_columns_without_names_are_asked_for(read: Read, rows: str) -> None:
    with pytest.raises(InputError, match=r"line 1: the first row \(.*\) looks like those below"):
        read(rows, "truth.tsv" if "\t" in rows else "truth.csv")


@pytest.mark.parametrize(
    "text",
    [
        # Numbers may be names of columns, and a header may be repeated.
        "1,2,3\n3,4,5\n4,4,5\n",
        "image,rater,value\na,x,1\nimage,rater,value\nb,x,2\n",
        # What was chosen stands under its name.
        "joy,fear\njoy,\n,fear\njoy,fear\n",
        "s1,s2\n3,4\n5,4\n2,2\n",
        "q1,label\nq2,joy\nq3,fear\n",
    ],
)
def test_a_header_is_taken_as_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text(text)
    assert list(read_columns(Peek.open(file)).columns) == text.splitlines()[0].split(",")


@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_arrays_of_numpy_are_named(tmp_path: Path, suffix: str) -> None:
    table = {"stimulus": np.array(["a", "b"]), "rater": np.array(["x", "x"])}
    table["value"] = np.array([1, 2])
    file = tmp_path / f"scores.{suffix}"
    if suffix == "npz":
        np.savez(file, **table)
    else:
        np.save(file, table["value"])
    with pytest.raises(InputError, match=r"holds arrays of numpy.*dict of columns") as refused:
        read_ratings(file)
    assert ("(stimulus, rater, value)" in str(refused.value)) == (suffix == "npz")
    # The remedy.
    assert read_ratings(table, scale="1-2").n_rows == 2


LISTS = [
    {"id": "a", "annotators": ["r1", "r2", "r3"], "annotations": ["joy", "joy", "anger"]},
    {"id": "b", "annotators": ["r1", "r3"], "annotations": ["fear", "joy"]},
]


@pytest.mark.parametrize("name", ["r.jsonl", "r.json"])
def test_lists_of_raters_and_answers_are_rows(read: Read, name: str) -> None:
    lines = [json.dumps(one) for one in LISTS]
    text = "\n".join(lines) if name == "r.jsonl" else json.dumps(LISTS)
    with guessing(StepKind.LISTS_BY_RATER, rater="annotators"):
        r = read(text, name)
    said = [(s, who, r.scale.categories[int(value)]) for s, who, value in _answers(r)]
    assert said == [
        *(("a", "r1", "joy"), ("a", "r2", "joy"), ("a", "r3", "anger")),
        *(("b", "r1", "fear"), ("b", "r3", "joy")),
    ]


def _answers(r: Ratings) -> list[tuple[str, str, float]]:
    return r.frame.select("stimulus", "rater", "value").rows()  # type: ignore[return-value]


def test_lists_of_numbers_beside_other_lists(read: Read) -> None:
    rows = [
        {"image": "a", "raters": ["r1", "r2"], "ratings": [1, 2.5], "tags": ["x", "y", "z"]},
        {"image": "b", "raters": ["r1"], "ratings": [3], "tags": []},
    ]
    with pytest.warns(GuessedColumnsWarning):
        r = read("\n".join(map(json.dumps, rows)), "r.jsonl")
    assert _answers(r) == [("a", "r1", 1.0), ("a", "r2", 2.5), ("b", "r1", 3.0)]


def test_lists_of_other_lengths_are_named(read: Read) -> None:
    rows = [json.dumps(one) for one in (LISTS[0], {**LISTS[1], "annotations": ["fear"]})]
    said = "line 3: column 'annotators' lists 2 and 'annotations' 1; expected an answer for each"
    with pytest.raises(InputError, match=said):
        read("\n\n".join(rows), "r.jsonl")


def test_lists_of_people_beside_the_one_who_answered(read: Read) -> None:
    row = {"id": "a", "rater": "r1", "value": 3, "participants": ["x", "y"], "tags": ["z"]}
    assert read("\n".join([json.dumps(row), json.dumps({**row, "id": "b"})]), "r.jsonl").n_rows == 2
