"""Reading JSON lines, compressed files and Parquet, whole or damaged, against plain Python."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.stimuli.curation.files import lines_of, places, read, write

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.input import lines as _lines
from affectlab.stimuli.curation.input.problems import Problems

GOOD = [{"id": f"c{k}", "body": f"Comment {k} — naïve", "subreddit": "aww"} for k in range(5)]


@pytest.fixture(params=[None, 64], ids=["whole", "in small chunks"])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(_lines, "CHUNK", request.param)


# JSON lines


@pytest.mark.usefixtures("chunk")
def test_json_lines(tmp_path: Path) -> None:
    frame, reading = read(write(tmp_path / "a.jsonl", lines_of(*GOOD)))
    assert frame.rows() == [(row["id"], row["body"], row["subreddit"]) for row in GOOD]
    assert (reading.n_read, reading.problems.counts) == (5, {})


@pytest.mark.usefixtures("chunk")
def test_every_broken_line_is_named(tmp_path: Path) -> None:
    good = json.dumps(GOOD[0]).encode()
    lines = [
        good,
        b'{"id": "x", "body": "cut of',
        b"[1, 2]",
        b"",
        b"   ",
        b"5",
        b'"text"',
        b"null",
        b'{"id": "x", "body": NaN}',
        b"\x00\x00\x00\x00",
        b'{"id": "x", "body": "raw \x00 NUL"}',
        good + good,
        good,
        b"not JSON at all",
    ]
    frame, reading = read(write(tmp_path / "a.jsonl", b"\r\n".join(lines)))
    assert frame["id"].to_list() == ["c0", "c0"]
    assert reading.n_read == 12
    assert reading.problems.counts == {"broken_line": 6, "not_an_object": 4}
    assert places(reading, "broken_line") == [2, 9, 10, 11, 12]
    assert places(reading, "not_an_object") == [3, 6, 7, 8]


def test_an_object_that_spans_lines_is_broken(tmp_path: Path) -> None:
    pretty = json.dumps(GOOD[0], indent=1).encode() + b"\n"
    frame, reading = read(write(tmp_path / "a.jsonl", pretty + lines_of(GOOD[1])))
    assert frame["id"].to_list() == ["c1"]
    assert reading.problems.counts["broken_line"] == 5


def test_deep_nesting_is_broken(tmp_path: Path) -> None:
    deep = [
        b'{"body": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n",
    ]
    for number, line in enumerate(deep):
        content = lines_of(GOOD[0]) + line + lines_of(GOOD[1])
        frame, reading = read(write(tmp_path / f"{number}.jsonl", content))
        assert frame["id"].to_list() == ["c0", "c1"]
        assert places(reading, "broken_line") == [2]


def test_values_that_are_no_text(tmp_path: Path) -> None:
    rows = [
        {"id": 17, "body": 3.5, "subreddit": True},
        {"id": 12345678901234567890123, "body": "big", "subreddit": None},
        {"body": "no id", "subreddit": ""},
        {"id": "", "body": "empty id"},
    ]
    frame, reading = read(write(tmp_path / "a.jsonl", lines_of(*rows)))
    assert frame.row(0) == ("17", "3.5", "true")
    assert frame["text"].to_list()[1:] == ["big", "no id", "empty id"]
    assert frame["id"].to_list()[2:] == ["a.jsonl:3", "a.jsonl:4"]
    assert frame["group"].to_list()[1:] == [None, None, None]
    assert reading.problems.counts == {"absent_id": 2}


def test_empty_texts_are_kept_and_counted(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "body": ""},
        {"id": "b", "body": " \n"},
        {"id": "c"},
        {"id": "d", "body": 0},
    ]
    frame, reading = read(write(tmp_path / "a.jsonl", lines_of(*rows)))
    assert frame["text"].to_list() == ["", " \n", "", "0"]
    assert reading.problems.counts == {"empty_text": 3}
    assert places(reading, "empty_text") == [1, 2, 3]


@pytest.mark.usefixtures("chunk")
def test_mixed_encodings(tmp_path: Path) -> None:
    content = (
        '{"id": "a", "body": "café"}\n'.encode()
        + '{"id": "b", "body": "café – “so”"}\n'.encode("cp1252")
        + b'{"id": "c", "body": "x\x81y"}\n'
        + b'{"id": "d", "body": "half \\ud83d, whole \\ud83d\\ude00, quoted \\\\ud83d"}\n'
    )
    frame, reading = read(write(tmp_path / "a.jsonl", content))
    texts = ["café", "café – “so”", "x\ufffdy", "half \ufffd, whole 😀, quoted \\ud83d"]
    assert frame["text"].to_list() == texts
    assert reading.problems.counts == {"encoding": 3}
    assert places(reading, "encoding") == [2, 3, 4]


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_marks_of_byte_order(tmp_path: Path, coding: str) -> None:
    for ending, text in {
        "jsonl": '{"id": "a", "body": "café"}\r\n',
        "csv": "id,body\r\na,café\r\n",
    }.items():
        frame, reading = read(write(tmp_path / f"a.{ending}", text.encode(coding)))
        assert frame.rows() == [("a", "café", None)]
        assert reading.problems.counts == ({"encoding": 1} if coding == "utf-16" else {})


def test_very_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lines, "LONGEST", 1000)
    monkeypatch.setattr(_lines, "CHUNK", 300)
    long = [{"id": "x", "body": "y" * size} for size in (2000, 960, 50_000)]
    rows = [GOOD[0], long[0], GOOD[1], long[1], long[2], GOOD[2]]
    for piece in (7, 64, 10**6):
        content = lines_of(*rows)
        pieces = iter([content[at : at + piece] for at in range(0, len(content), piece)])
        problems = Problems()
        chunks = list(_lines.line_chunks(pieces, problems))
        assert b"".join(chunk.data for chunk in chunks) == lines_of(*rows[:1], *rows[2:4], rows[5])
        assert problems.counts == {"too_long": 2}
        assert [found.line for found in problems.first] == [2, 5]
        numbers = [chunk.first_line + k for chunk in chunks for k in range(chunk.data.count(b"\n"))]
        assert numbers == [1, 3, 4, 6]


def test_an_absent_text_column_is_told_with_what_was_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines_of({"title": "x", "selftext": "y"}))
    frame, reading = read(path)
    assert frame.is_empty()
    (found,) = reading.problems.first
    assert found.kind == "absent_column"
    assert "title, selftext" in found.detail
    assert read(path, text="selftext")[0]["text"].to_list() == ["y"]


def test_a_file_without_any_object_is_not_passed_over(tmp_path: Path) -> None:
    frame, reading = read(write(tmp_path / "a.jsonl", b"one\ntwo\n"))
    assert frame.is_empty()
    assert reading.problems.counts == {"broken_line": 2}


def test_empty_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv", "a.zst", "a.tsv.gz"):
        frame, reading = read(write(tmp_path / name, b""))
        assert frame.is_empty()
        assert reading.problems.counts == {"empty_file": 1}, name
    assert read(write(tmp_path / "b.csv", b"id,text\n"))[1].problems.counts == {"empty_file": 1}


def test_predicted_emotions(tmp_path: Path) -> None:
    given_as = [
        "joy",
        "joy;love",
        "joy, love",
        ["joy", "love"],
        '["joy", "love"]',
        "['joy']",
        "",
        None,
        [],
        " ; ",
    ]
    two = ["joy", "love"]
    expected = [["joy"], two, two, two, two, ["joy"], None, None, [], []]
    rows = [{"body": "x", "e": value} for value in given_as]
    frame, _ = read(write(tmp_path / "a.jsonl", lines_of(*rows)), emotions="e")
    assert frame["emotions"].to_list() == expected
    assert frame.schema["emotions"] == pl.List(pl.String)
    lists = [value if isinstance(value, list) else None for value in given_as]
    table = pl.DataFrame({"body": ["x"] * len(lists), "e": lists})
    table.write_parquet(tmp_path / "a.parquet")
    frame, _ = read(tmp_path / "a.parquet", emotions="e")
    assert frame["emotions"].to_list() == [two if value else value for value in lists]


def test_kept_columns(tmp_path: Path) -> None:
    rows = [{"body": "x", "score": 3, "author": "a"}, {"body": "y", "score": None}]
    path = write(tmp_path / "a.jsonl", lines_of(*rows))
    frame, reading = read(path, keep=("score", "author", "date"))
    assert frame.columns == ["id", "text", "group", "score", "author", "date"]
    assert frame.select("score", "author", "date").rows() == [("3", "a", None), (None, None, None)]
    assert reading.problems.counts == {"absent_column": 1}
    assert "'date'" in reading.problems.first[0].detail


def test_strict_reading_ends_at_the_first_problem(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines_of(GOOD[0]) + b"broken\n" + lines_of(GOOD[1]))
    with pytest.raises(InputError, match=r"^a\.jsonl:2: broken line: "):
        read(path, strict=True)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lines=st.lists(
        st.one_of(
            st.dictionaries(
                st.sampled_from(["id", "body", "subreddit", "x"]),
                st.one_of(st.text(max_size=12), st.integers(-(10**6), 10**6), st.none()),
            ).map(lambda row: json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")),
            st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b"")),
        ),
        max_size=30,
    ),
    size=st.integers(1, 400),
    threads=st.integers(1, 3),
)
def test_json_lines_equal_plain_python(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[bytes],
    size: int,
    threads: int,
) -> None:
    monkeypatch.setattr(_lines, "CHUNK", size)
    first = lines_of({"id": "first", "body": "b", "subreddit": "s"}).strip()
    path = write(tmp_path / "a.jsonl", b"\n".join([first, *lines]))
    frame, reading = read(path, threads=threads)
    expected, n_read = [], 0
    for number, line in enumerate([first, *lines], 1):
        if not line.strip():
            continue
        n_read += 1
        try:
            row = json.loads(_lines.decoded(line)[0], parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            continue
        if isinstance(row, dict):
            texts = [
                "" if row.get(name) is None else str(row[name])
                for name in ("id", "body", "subreddit")
            ]
            expected.append((texts[0] or f"a.jsonl:{number}", texts[1], texts[2] or None))
    assert frame.rows() == expected
    assert reading.n_read == n_read
    lost = ("broken_line", "not_an_object")
    assert n_read - len(expected) == sum(reading.problems.counts.get(kind, 0) for kind in lost)


# Compressed files


def compressors() -> Iterator[tuple[str, Any]]:
    yield ".gz", gzip.compress
    yield ".bz2", lambda content: bz2.compress(content, 1)
    yield ".xz", lambda content: lzma.compress(content, preset=0)
    yield ".zst", zstandard.ZstdCompressor(write_checksum=True).compress


@pytest.mark.parametrize(("ending", "compress"), list(compressors()))
def test_compressed_files(tmp_path: Path, ending: str, compress: Any) -> None:
    whole, two = lines_of(*GOOD), [lines_of(*GOOD[:2]), lines_of(*GOOD[2:])]
    for number, content in enumerate([compress(whole), b"".join(map(compress, two))]):
        for name in (f"RC_{number}{ending}", f"b{number}.jsonl{ending}", f"c{number}.jsonl"):
            frame, reading = read(write(tmp_path / name, content))
            assert frame["id"].to_list() == [row["id"] for row in GOOD], name
            assert reading.problems.counts == {}


@pytest.mark.parametrize(("ending", "compress"), list(compressors()))
def test_damaged_compressed_files(tmp_path: Path, ending: str, compress: Any) -> None:
    rows = [{"id": f"c{k}", "body": f"{k * 7919 % 1000003} {k}" * 9} for k in range(10_000)]
    content = compress(lines_of(*rows))
    cut = write(tmp_path / f"a.jsonl{ending}", content[: len(content) // 2])
    frame, reading = read(cut, threads=2)
    assert reading.problems.counts == {"truncated": 1}
    assert 0 < frame.height < 10_000
    assert frame["id"].to_list() == [row["id"] for row in rows[: frame.height]]
    assert f"after {frame.height:,} rows" in reading.problems.first[0].detail
    with pytest.raises(InputError, match=r"truncated: the .* data ends in the middle"):
        read(cut, strict=True)
    at = len(content) // 2
    spoilt = content[:at] + bytes(reversed(content[at : at + 200])) + content[at + 200 :]
    frame, reading = read(write(tmp_path / f"b.jsonl{ending}", spoilt))
    assert reading.problems.counts.get("unreadable") == 1
    assert frame["id"].to_list()[:100] == [row["id"] for row in rows[:100]]
    frame, reading = read(write(tmp_path / f"c.jsonl{ending}", lines_of(*GOOD)))
    assert reading.problems.counts == {"unreadable": 1}
    assert f"called {ending}" in reading.problems.first[0].detail


def test_large_windows_of_reddit_dumps(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(
        window_log=31, enable_ldm=True, compression_level=1
    )
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    writer = compressor.compressobj()
    content = writer.compress(lines_of(*GOOD)) + writer.flush()
    assert zstandard.get_frame_parameters(content).window_size == 2**31
    frame, reading = read(write(tmp_path / "RC_2019-01.zst", content))
    assert frame.height == 5
    assert reading.problems.counts == {}


def test_truncated_csv_in_an_open_quote(tmp_path: Path) -> None:
    content = b'id,text\na,one\nb,"two\nlines and more\n'
    path = write(tmp_path / "a.csv.gz", gzip.compress(content)[:-9])
    frame, reading = read(path)
    assert frame["id"].to_list() == ["a"]
    assert reading.problems.counts == {"truncated": 1}


# Parquet


def test_parquet(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "id": [1, 2, None],
            "body": ["x", None, "z"],
            "subreddit": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            "score": [0.5, None, 2.0],
        }
    )
    table.write_parquet(tmp_path / "a.parquet")
    frame, reading = read(tmp_path / "a.parquet", keep=("score",))
    assert frame.rows() == [
        ("1", "x", "a", "0.5"),
        ("2", "", "b", None),
        ("a.parquet:3", "z", "a", "2.0"),
    ]
    assert reading.problems.counts == {"empty_text": 1, "absent_id": 1}
    assert places(reading, "empty_text") == [2]


def test_damaged_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"text": [f"{k} comment" for k in range(1000)]}).write_parquet(
        tmp_path / "a.parquet"
    )
    content = (tmp_path / "a.parquet").read_bytes()
    for number, bad in enumerate([content[:-50], b"PAR1", b"", content[:4] + content[8:]]):
        frame, reading = read(write(tmp_path / f"{number}.parquet", bad))
        assert frame.is_empty()
        assert sum(reading.problems.counts.values()) == 1
    frame, reading = read(tmp_path / "a.parquet", text="body")
    assert reading.problems.counts == {"absent_column": 1}
