"""Staging: any input becomes the same parts, an interrupted run goes on, nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.input.columns import Columns
from affectlab.stimuli.curation.input.sources import find_sources
from affectlab.stimuli.curation.input.staging import StagedPool, stage


def comments(start: int, stop: int) -> list[dict[str, Any]]:
    return [
        {"id": f"c{k}", "body": f"Comment number {k}", "subreddit": f"s{k % 3}", "score": k}
        for k in range(start, stop)
    ]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if path.suffix == ".zst":
        content = zstandard.ZstdCompressor().compress(content)
    path.write_bytes(content)
    return path


def rows_of(pool: StagedPool) -> list[tuple[Any, ...]]:
    return pl.concat([pl.read_parquet(part) for part in pool.parts]).rows()


EXPECTED = [(f"c{k}", f"Comment number {k}", f"s{k % 3}") for k in range(60)]


def test_a_folder_of_every_kind(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    write_lines(raw / "a.jsonl", comments(0, 10))
    write_lines(raw / "b" / "RC_2019-01.zst", comments(10, 30))
    pl.DataFrame(comments(30, 45)).rename({"body": "text"}).write_csv(raw / "c.csv")
    pl.DataFrame(comments(45, 60)).write_parquet(raw / "d.parquet")
    (raw / "README.txt").write_text("About these files.")
    (raw / ".hidden.jsonl").write_text("broken")
    (raw / "_logs").mkdir()
    (raw / "_logs" / "x.jsonl").write_text("broken")
    told: list[tuple[str, int, int]] = []
    pool = stage(raw, tmp_path / "out", part_rows=7, progress=lambda *now: told.append(now))
    assert rows_of(pool) == EXPECTED
    assert (pool.n_read, pool.n_rows, len(pool)) == (60, 60, 60)
    assert pool.columns == ("id", "text", "group")
    assert pool.counts == {"unknown_file": 1}
    assert pool.problems["file"].to_list() == [str(raw / "README.txt")]
    heights = [pl.read_parquet(part).height for part in pool.parts]
    assert heights == [7, 3, 7, 7, 6, 7, 7, 1, 7, 7, 1]
    assert pool.files["n_rows"].to_list() == [10, 20, 15, 15]
    assert sorted(name for name, _, _ in told) == sorted(pool.files["file"].to_list())
    assert [done for _, done, _ in told] == [1, 2, 3, 4]
    summary = json.loads((tmp_path / "out" / "reading.json").read_text())
    assert summary["n_rows"] == 60
    assert summary["parts"] == [part.name for part in pool.parts]
    # A staged folder is an input like any other.
    again = stage(tmp_path / "out", tmp_path / "again")
    assert rows_of(again) == [row for name in sorted(pool.parts) for row in rows_of_part(name)]


def rows_of_part(path: Path) -> list[tuple[Any, ...]]:
    return pl.read_parquet(path).rows()


def test_the_schema_is_the_same_for_all_files(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{**row, "e": "joy;love"} for row in comments(0, 2)])
    pl.DataFrame(comments(2, 4)).write_parquet(tmp_path / "b.parquet")
    pool = stage(
        [tmp_path / "a.jsonl", tmp_path / "b.parquet"],
        tmp_path / "out",
        columns=Columns(emotions="e", keep=("score",)),
    )
    kinds = {
        "id": pl.String,
        "text": pl.String,
        "group": pl.String,
        "emotions": pl.List(pl.String),
        "score": pl.String,
    }
    for part in pool.parts:
        assert pl.read_parquet_schema(part) == kinds
    assert tuple(kinds) == pool.columns
    assert pool.counts == {"absent_column": 1}
    assert [row[3:] for row in rows_of(pool)] == [
        (["joy", "love"], "0"),
        (["joy", "love"], "1"),
        (None, "2"),
        (None, "3"),
    ]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        write_lines(tmp_path / folder / "a.jsonl", [{"body": folder}, {"body": "again"}])
    pool = stage([tmp_path / "x", tmp_path / "y"], tmp_path / "out")
    ids = [row[0] for row in rows_of(pool)]
    assert ids == ["x/a.jsonl:1", "x/a.jsonl:2", "y/a.jsonl:1", "y/a.jsonl:2"]
    once = stage([tmp_path / "x", tmp_path / "x" / "a.jsonl"], tmp_path / "once")
    assert [row[0] for row in rows_of(once)] == ["a.jsonl:1", "a.jsonl:2"]


def test_patterns_and_urls(tmp_path: Path) -> None:
    for number in range(3):
        name = tmp_path / "raw" / f"{number}" / f"part{number}.jsonl"
        write_lines(name, comments(number * 20, number * 20 + 20))
    write_lines(tmp_path / "raw" / "other.jsonl", comments(100, 101))
    raw = tmp_path / "raw"
    given = [f"{raw}/*/part*.jsonl", f"file://{raw}/*/part*.jsonl", f"file://{raw}/**/part*"]
    for number, pattern in enumerate(given):
        assert rows_of(stage(pattern, tmp_path / f"out{number}")) == EXPECTED
    whole = stage(f"file://{raw}", tmp_path / "whole")
    assert rows_of(whole)[:-1] == EXPECTED
    one = stage(f"file://{raw}/other.jsonl", tmp_path / "one")
    assert one.n_rows == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing.jsonl", "not found"),
        ("*.nothing", "there is no file to read"),
        ("notes.txt", "the kind of this file is not known"),
        ("empty", "there is no file to read"),
        ("ftp://user:secret@host/x.jsonl", "ftp://host/x.jsonl: not a URL that can be read"),
        ([], "no sources"),
    ],
)
def test_sources_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("x")
    Path("empty").mkdir()
    with pytest.raises(InputError, match=said) as caught:
        stage(given, "out")
    assert "secret" not in str(caught.value)


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", comments(0, 1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").write_text("x")
    for folder in ("mine", "a.jsonl", "s3://bucket/x"):
        place = folder if "://" in folder else tmp_path / folder
        with pytest.raises(InputError, match=r"expected a|cannot be used"):
            stage(path, place)
    assert (tmp_path / "mine" / "thesis.doc").read_text() == "x"
    with pytest.raises(InputError, match="part_rows = 0"):
        stage(path, tmp_path / "out", part_rows=0)


def test_a_folder_inside_the_one_that_is_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", comments(0, 60))
    for _ in range(2):
        assert rows_of(stage(tmp_path, tmp_path / "staged")) == EXPECTED
    with pytest.raises(InputError, match="the folder that is read"):
        stage(tmp_path / "staged", tmp_path / "staged")


def test_parts_that_cannot_be_written(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = write_lines(tmp_path / "a.jsonl", comments(0, 60))
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Files above 500 bytes fail as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, usual[1]))
    try:
        with pytest.raises(InputError, match=r"out: the parts cannot be written \(.*large"):
            stage(path, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert not list((tmp_path / "out").glob("part-*"))
    assert rows_of(stage(path, tmp_path / "out")) == EXPECTED


def inodes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.glob("part-*")}


def test_a_second_run_reads_only_what_changed(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    for number in range(3):
        write_lines(raw / f"{number}.jsonl", comments(number * 20, number * 20 + 20))
    first = stage(raw, out)
    before = inodes(out)
    told: list[str] = []
    again = stage(raw, out, progress=lambda name, *_: told.append(name))
    assert (told, inodes(out)) == ([], before)
    assert rows_of(again) == rows_of(first) == EXPECTED
    # One file is new, one changed, and one is gone.
    write_lines(raw / "3.jsonl", comments(60, 70))
    write_lines(raw / "1.jsonl", comments(20, 35))
    (raw / "0.jsonl").unlink()
    pool = stage(raw, out, progress=lambda name, *_: told.append(name))
    assert sorted(told) == ["1.jsonl", "3.jsonl"]
    assert [row[0] for row in rows_of(pool)] == [f"c{k}" for k in [*range(20, 35), *range(40, 70)]]
    assert {part.name for part in pool.parts} == set(inodes(out))
    assert before.items() & inodes(out).items()
    expected = rows_of(pool)
    # Other columns or parts of another size: everything anew.
    stage(raw, out, part_rows=5, progress=lambda name, *_: told.append(name))
    assert len(told) == 5
    # A part that someone removed is made again.
    next(out.glob("part-*")).unlink()
    assert rows_of(stage(raw, out, part_rows=5)) == expected


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """The second file ends a strict run; once it is mended, the first is not read again."""
    raw, out = tmp_path / "raw", tmp_path / "out"
    first = write_lines(raw / "0.jsonl", comments(0, 30))
    second = write_lines(raw / "1.jsonl", comments(30, 60))
    stage(first, out, part_rows=10)
    before = inodes(out)
    whole = second.read_bytes()
    second.write_bytes(whole[:-20])
    with pytest.raises(InputError, match=r"^1\.jsonl:30: broken line"):
        stage(raw, out, part_rows=10, strict=True)
    assert before.items() <= inodes(out).items()
    second.write_bytes(whole)
    pool = stage(raw, out, part_rows=10, strict=True)
    assert before.items() <= inodes(out).items()
    assert rows_of(pool) == EXPECTED


def test_a_killed_run_leaves_no_unfinished_part(tmp_path: Path) -> None:
    """The process dies while it writes the third part; what it left is not taken for finished."""
    raw = write_lines(tmp_path / "a.jsonl", comments(0, 60))
    out = tmp_path / "out"
    script = f"""
        import os
        import polars as pl
        from affectlab.stimuli.curation.input.staging import stage

        whole = pl.DataFrame.write_parquet
        written = []

        def die_at_the_third(frame, file, **options):
            whole(frame, file, **options)
            written.append(file)
            if len(written) == 3:
                os._exit(9)

        pl.DataFrame.write_parquet = die_at_the_third
        stage({str(raw)!r}, {str(out)!r}, part_rows=10)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == 9
    assert len(inodes(out)) == 2
    assert list(out.glob(".part-*.tmp"))
    pool = stage(raw, out, part_rows=20)
    assert rows_of(pool) == EXPECTED
    assert {part.name for part in pool.parts} == set(inodes(out))
    assert not list(out.glob(".part-*.tmp"))


def test_strict_staging_after_a_lenient_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "x"}\nbroken\n{"body": ""}\n')
    pool = stage(path, tmp_path / "out")
    assert pool.counts == {"broken_line": 1, "empty_text": 1}
    assert pool.problems.select("problem", "file", "line").rows() == [
        ("broken_line", "a.jsonl", 2),
        ("empty_text", "a.jsonl", 3),
    ]
    for out in ("out", "new"):
        with pytest.raises(InputError, match=r"a\.jsonl:2: broken line: .*'broken'"):
            stage(path, tmp_path / out, strict=True)
    write_lines(tmp_path / "raw" / "a.jsonl", comments(0, 1))
    (tmp_path / "raw" / "x.txt").write_text("x")
    with pytest.raises(InputError, match="unknown file"):
        stage(tmp_path / "raw", tmp_path / "strict", strict=True)


def test_only_the_first_problems_are_named_and_all_are_counted(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.jsonl").write_text('{"body": "x"}\n' + "broken\n" * 50)
    pool = stage(tmp_path / "*.jsonl", tmp_path / "out")
    assert pool.counts == {"broken_line": 300}
    assert pool.problems.height == 20
    assert (pool.n_read, pool.n_rows) == (306, 6)


def test_columns_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="taken by the staged column group"):
        Columns(keep=("group",))
    with pytest.raises(InputError, match="twice"):
        Columns(keep=("a", "a"))
    with pytest.raises(InputError, match="text is empty"):
        Columns(text="")


def test_names_of_many_files_grow_only_where_they_must(tmp_path: Path) -> None:
    for name in ("a/x/1.jsonl", "b/x/1.jsonl", "b/y/2.jsonl"):
        write_lines(tmp_path / name, [])
    found, _ = find_sources(tmp_path)
    assert [source.name for source in found] == ["a/x/1.jsonl", "b/x/1.jsonl", "2.jsonl"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of files")
def test_a_file_that_cannot_be_read_is_a_problem_of_that_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "raw" / "a.jsonl", comments(0, 5))
    gone = write_lines(tmp_path / "raw" / "b.jsonl", comments(5, 9))
    found, _ = find_sources(tmp_path / "raw")
    gone.unlink()
    from affectlab.stimuli.curation.input.problems import Problems
    from affectlab.stimuli.curation.input.reading import Reading

    reading = Reading(found[1], Columns(), Problems("b.jsonl"))
    assert list(reading.frames()) == []
    assert reading.problems.counts == {"unreadable": 1}
