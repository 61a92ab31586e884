"""Files stay short enough to be read."""

from __future__ import annotations

from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[1]
_MOST_LINES = 500
_KINDS = {".py", ".js", ".css", ".html"}
"""What people write; tables and figures of papers are as long as they are."""


def test_no_source_file_is_longer_than_a_reader_is_patient() -> None:
    lengths = {
        path.relative_to(_REPOSITORY).as_posix(): len(path.read_bytes().splitlines())
        for folder in ("src", "tests", "benchmarks", "examples")
        for path in (_REPOSITORY / folder).rglob("*")
        if path.suffix in _KINDS
    }
    assert len(lengths) > 1000
    long = {path: length for path, length in lengths.items() if length > _MOST_LINES}
    assert not long, f"a part belongs in a file of its own: {long}, at most {_MOST_LINES}"
