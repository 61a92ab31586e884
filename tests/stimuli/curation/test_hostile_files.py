"""Files that are small on disk and large in memory, and folders that are linked in circles."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.stimuli.curation.files import lines_of, places, read, write

from affectlab.stimuli.curation.input import lines as _lines, parquet as _parquet, staging as _parts
from affectlab.stimuli.curation.input.compression import decompressed
from affectlab.stimuli.curation.input.sources import find_sources, without_password
from affectlab.stimuli.curation.input.staging import stage

LARGE = 96 * 2**20


def zeros(compress: Callable[[bytes], bytes]) -> bytes:
    return compress(bytes(LARGE))


@pytest.mark.parametrize(
    ("compress", "most"),
    [
        (bz2.compress, 2**20),
        (lambda content: gzip.compress(content, 9), 2**20),
        (lambda content: lzma.compress(content, preset=1), 2**20),
        # The library gives all that a piece of 2 KiB stands for.
        (zstandard.ZstdCompressor().compress, 64 * 2**20),
    ],
)
def test_blocks_stay_small_however_much_they_stand_for(
    compress: Callable[[bytes], bytes], most: int
) -> None:
    packed = zeros(compress)
    assert len(packed) < LARGE / 500
    sizes = [len(block) for block in decompressed(iter([packed]), ".x")]
    assert sum(sizes) == LARGE
    assert max(sizes) <= most


def test_two_members_in_one_block() -> None:
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        packed = compress(bytes(3 * 2**20)) + compress(b"end")
        assert b"".join(decompressed(iter([packed]), ".x")) == bytes(3 * 2**20) + b"end"


def test_xz_that_asks_for_too_much_memory(tmp_path: Path) -> None:
    # The header alone asks for it: the first member can be read, the second cannot.
    good = lzma.compress(lines_of({"body": "one"}))
    at = bytes.fromhex("fd377a585a000004e6d6b446")
    # A block whose dictionary is 4 GiB (code 40), with the sum that belongs to it.
    import zlib

    header = bytes([2, 0, 0x21, 1, 40, 0, 0, 0])
    block = header + zlib.crc32(header).to_bytes(4, "little")
    frame, reading = read(write(tmp_path / "a.jsonl.xz", good + at + block + bytes(64)))
    assert frame["text"].to_list() == ["one"]
    (problem,) = reading.problems.first
    assert problem.kind == "unreadable"
    assert problem.detail.startswith("oversized xz data")


def written(path: Path, texts: list[str], rows: list[int]) -> Path:
    """A file that holds each text once, however many rows name it."""
    column = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), pa.array(texts))
    pq.write_table(pa.table({"body": column, "id": [f"c{k}" for k in range(len(rows))]}), path)
    return path


def test_parquet_that_names_a_long_text_in_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parquet, "_BYTES", 1_000_000)
    monkeypatch.setattr(_parts, "_LARGE", 3_000_000)
    texts = ["word " * 40_000, "short"]
    rows = [k % 50 == 49 for k in range(400)]
    path = written(tmp_path / "a.parquet", texts, [int(row) for row in rows])
    assert path.stat().st_size < 20_000
    (source,), _ = find_sources(path)
    frame, reading = read(path)
    assert frame["text"].to_list() == [texts[row] for row in rows]
    assert frame["id"].to_list() == [f"c{k}" for k in range(400)]
    table = _parquet.open_parquet(source)
    heights = [
        parsed.frame.height
        for parsed in _parquet.parquet_parts(table, reading.columns, source.name)
    ]
    assert sum(heights) == 400
    # Six texts pass a million bytes, and short ones take no room.
    assert max(heights) <= 8
    pool = stage(path, tmp_path / "out")
    assert [pl.read_parquet(part).height for part in pool.parts][:2] == [15, 15]
    assert pool.n_rows == 400


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_parquet_rows_above_the_limit_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    for module in (_lines, _parquet):
        monkeypatch.setattr(module, "LONGEST", 1000)
    texts = ["a", "b" * 1001, None, "c" * 998, "d" * 2000]
    for name, listed in (("listed", True), ("plain", False)):
        path = tmp_path / f"{name}.parquet"
        table = pa.table({"body": pa.array(texts, kind), "id": list("vwxyz")})
        pq.write_table(table, path, use_dictionary=listed)
        frame, reading = read(path)
        assert frame["id"].to_list() == ["v", "x", "y"]
        assert frame["text"].to_list() == ["a", "", "c" * 998]
        assert places(reading, "too_long") == [2, 5]
        assert reading.problems.counts == {"too_long": 2, "empty_text": 1}
        assert reading.n_read == 5


def test_parquet_rows_of_length_are_read_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{k} " * 500 for k in range(1000)]
    pl.DataFrame({"body": texts}).write_parquet(tmp_path / "a.parquet", compression="uncompressed")
    monkeypatch.setattr(_parquet, "_BYTES", 50_000)
    table = _parquet.open_parquet(find_sources(tmp_path / "a.parquet")[0][0])
    assert _parquet._rows_at_once(table, ["body"]) < 50
    assert read(tmp_path / "a.parquet")[0]["text"].to_list() == texts


def numbered(folder: Path) -> Iterator[Path]:
    for number, place in enumerate((folder, folder / "a", folder / "b")):
        place.mkdir(exist_ok=True)
        yield write(place / f"{number}.jsonl", lines_of({"body": f"{number}"}))


def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    raw, other = tmp_path / "raw", tmp_path / "other"
    expected = {str(path) for path in numbered(raw)}
    (raw / "a" / "loop").symlink_to(raw)
    (raw / "0").symlink_to(raw / "b")
    (raw / "b" / "self").symlink_to(raw / "b")
    list(numbered(other))
    (raw / "b" / "more").symlink_to(other)
    (raw / "b" / "again").symlink_to(other)
    (raw / "b" / "one.jsonl").symlink_to(other / "0.jsonl")
    found = {source.url for source in find_sources(raw)[0]}
    assert expected < found
    linked = {str(Path(url).relative_to(raw)) for url in found - expected}
    # Of two links to one folder, the first is followed.
    assert linked == {
        "b/again/0.jsonl",
        "b/again/a/1.jsonl",
        "b/again/b/2.jsonl",
        "b/one.jsonl",
    }
    (tmp_path / "link").symlink_to(raw)
    assert len(find_sources(tmp_path / "link")[0]) == len(found)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://name:word@bucket/a@b.jsonl", "s3://bucket/a@b.jsonl"),
        ("s3://name:pass@word@bucket/x", "s3://bucket/x"),
        ("s3://name:pa/ss@bucket/x", "s3://bucket/x"),
        ("s3://name@bucket/x?secret_key=word", "s3://bucket/x"),
        ("hdfs://host:9000/user@x/a", "hdfs://host:9000/user@x/a"),
        ("raw/a?b@c.jsonl", "raw/a?b@c.jsonl"),
    ],
)
def test_passwords_are_taken_out_of_urls(url: str, shown: str) -> None:
    assert without_password(url) == shown
