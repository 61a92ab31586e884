"""Reading CSV and TSV, whole or damaged, against plain Python."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.stimuli.curation.files import places, read, write

from affectlab.stimuli.curation.input import csv as _separated, lines as _lines, records as _records


@pytest.fixture(params=[None, 64], ids=["whole", "in small chunks"])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(_records, "CHUNK", request.param)


@pytest.mark.usefixtures("chunk")
def test_csv_with_quotes_and_line_feeds(tmp_path: Path) -> None:
    rows = [("a", 'She said "hi", twice', "aww"), ("b", "one\ntwo\r\nthree", "x"), ("c", "", "y")]
    for terminator in ("\n", "\r\n"):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator=terminator)
        writer.writerows([("id", "text", "subreddit"), *rows])
        frame, reading = read(write(tmp_path / "a.csv", text.getvalue().encode()))
        assert frame.rows() == rows
        assert places(reading, "empty_text") == [6]
        # Without ids, lines name the comments.
        frame, _ = read(tmp_path / "a.csv", id="")
        assert frame["id"].to_list() == ["a.csv:2", "a.csv:3", "a.csv:6"]


@pytest.mark.usefixtures("chunk")
def test_broken_csv(tmp_path: Path) -> None:
    content = (
        b"id,text,subreddit\n"
        b'a,"fine, so far",x\n'
        b"b,too,many,fields\n"
        b"c,few\n"
        b'd,"never closed,x\n'
        b"e,fine again,x\n"
        b'f,"closed "badly",x\n'
        b"\n"
        b"g,caf\xe9,x\n"
        b"h,NUL \x00 inside,x\n"
        b'i,"two\nlines",x\n'
    )
    frame, reading = read(write(tmp_path / "a.csv", content))
    assert frame.rows() == [
        ("a", "fine, so far", "x"),
        ("c", "few", None),
        ("e", "fine again", "x"),
        ("g", "café", "x"),
        ("h", "NUL \x00 inside", "x"),
        ("i", "two\nlines", "x"),
    ]
    assert places(reading, "broken_line") == [3, 5, 7]
    assert reading.problems.counts == {"broken_line": 3, "encoding": 1}
    assert reading.n_read == 9


def test_names_of_csv_columns(tmp_path: Path) -> None:
    content = b" id , text ,text,subreddit\na,first,second,s\n"
    frame, reading = read(write(tmp_path / "a.csv", content))
    assert frame.rows() == [("a", "first", "s")]
    assert reading.problems.counts == {"duplicate_column": 1}


def test_separators(tmp_path: Path) -> None:
    frame, _ = read(write(tmp_path / "a.csv", b'id;text\na;"one; two, three"\n'))
    assert frame.rows() == [("a", "one; two, three", None)]
    frame, _ = read(write(tmp_path / "b.csv", b"id\ttext\na\tone; two, three\n"))
    assert frame.rows() == [("a", "one; two, three", None)]
    frame, _ = read(write(tmp_path / "c.csv", b"text\nonly one column\n\nanother\n"))
    assert frame["text"].to_list() == ["only one column", "another"]
    assert frame["id"].to_list() == ["c.csv:2", "c.csv:4"]


def test_tsv_with_and_without_quoting(tmp_path: Path) -> None:
    quoted = b'id\ttext\na\t"say ""so"""\nb\tplain\n'
    frame, reading = read(write(tmp_path / "a.tsv", quoted))
    assert frame["text"].to_list() == ['say "so"', "plain"]
    literal = b'id\ttext\na\t"Hello" he said\nb\t"open\nc\t5" tall\n'
    frame, reading = read(write(tmp_path / "b.tsv", literal))
    assert frame["text"].to_list() == ['"Hello" he said', '"open', '5" tall']
    assert reading.problems.counts == {}


def test_what_looks_compressed_is_read_as_it_is(tmp_path: Path) -> None:
    starts = [b"x^2", b"x\x01", b"(\xb5/\xfd"]
    content = b"text,id\n" + b"".join(
        start + b" is text,%d\n" % k for k, start in enumerate(starts)
    )
    for size in (1, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_records, "CHUNK", size)
            frame, _ = read(write(tmp_path / "a.csv", content))
        assert frame["text"].to_list() == ["x^2 is text", "x\x01 is text", "(µ/ý is text"]


def test_very_long_lines_of_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_lines, _records, _separated):
        monkeypatch.setattr(module, "CHUNK", 300)
    monkeypatch.setattr(_records, "LONGEST", 5000)
    endless = [b"x" * 60_000, b"\x00" * 60_000, b'"' + b"y" * 60_000]
    for number, line in enumerate(endless):
        content = b"id,text\na,one\n" + line + b"\nb,two\n" + line
        frame, reading = read(write(tmp_path / f"{number}.csv", content))
        assert frame["text"].to_list() == ["one", "two"]
        assert reading.problems.counts == {"too_long": 2}
        assert places(reading, "too_long") == [3, 5]
        assert reading.n_read == 4


FIELD = st.text(st.sampled_from('ab é,"\n\r;\t'), max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=20),
    size=st.integers(1, 200),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_csv_equals_plain_python(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[str, str, str]],
    size: int,
    quoting: Any,
) -> None:
    monkeypatch.setattr(_records, "CHUNK", size)
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=quoting)
    writer.writerow(("text", "subreddit", "id"))
    begins = []
    for row in rows:
        begins.append(text.getvalue().count("\n") + 1)
        writer.writerow(row)
    frame, reading = read(write(tmp_path / "a.csv", text.getvalue().encode()))
    assert frame.rows() == [
        (own or f"a.csv:{line}", comment, group or None)
        for (comment, group, own), line in zip(rows, begins, strict=True)
    ]
    assert reading.n_read == len(rows)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.text(st.sampled_from('ab,"\n\r é'), max_size=80), size=st.integers(1, 60))
def test_any_csv_is_read_without_end_or_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, size: int
) -> None:
    monkeypatch.setattr(_records, "CHUNK", size)
    path = write(tmp_path / "a.csv", f"id,text\n{content}".encode())
    frame, reading = read(path)
    broken = reading.problems.counts.get("broken_line", 0)
    assert frame.height + broken == reading.n_read
    lines = [int(own.partition(":")[2]) for own in read(path, id="")[0]["id"]]
    assert lines == sorted(set(lines))
