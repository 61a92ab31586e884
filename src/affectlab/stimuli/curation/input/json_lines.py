"""JSON lines: whole chunks at once, and line by line only where a chunk cannot be read."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import polars as pl

from affectlab.stimuli.curation.input.columns import LINE, Columns, Parsed, staged_rows
from affectlab.stimuli.curation.input.lines import Chunk, decoded
from affectlab.stimuli.curation.input.problems import Problems

__all__ = ["keys_of", "parse_json_lines"]

_LOOKED_AT = 100
"""Objects whose keys tell the columns of a file."""
_BEGINS = (b"{", b" ", b"\t", b"\r", b"\n", b"")
_HALF = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])", re.DOTALL)
"""The first half of a surrogate pair without the second, for which the fast reader gives NUL."""


def keys_of(chunk: Chunk) -> list[str]:
    """Keys of the first objects of a chunk, in the order in which they come."""
    keys: dict[str, None] = {}
    found = 0
    for line in io.BytesIO(chunk.data):
        value = _loaded(decoded(line)[0])
        if isinstance(value, dict):
            keys |= dict.fromkeys(value)
            found += 1
            if found == _LOOKED_AT:
                break
    return list(keys)


def parse_json_lines(chunk: Chunk, columns: Columns, label: str) -> Parsed:
    """Read the objects of a chunk; numbers where text is expected become text.

    Lines that are blank are passed over. Lines that cannot be used are counted and left out.
    """
    problems = Problems()
    names = list(dict.fromkeys(columns.needed().values()))
    number = chunk.data.count(b"\n")
    data = chunk.data
    halves = b"\\u" in data and (b"\\ud" in data or b"\\uD" in data) and _HALF.search(data)
    frame = None if halves else _read(chunk.data, names)
    if frame is not None and frame.height == number:
        lines = pl.int_range(chunk.first_line, chunk.first_line + number, eager=True)
        n_read = number
    else:
        frame, lines, n_read = _by_line(chunk, names, problems)
    needed = frame.select(**{part: pl.col(name) for part, name in columns.needed().items()})
    rows = needed.with_columns(lines.alias(LINE))
    return Parsed(staged_rows(rows, columns, label, problems), n_read, problems)


def _read(data: bytes, names: list[str]) -> pl.DataFrame | None:
    """Read lines of objects; None where one of them is not to be read."""
    if data[:1] not in _BEGINS:
        # The reader would take some such data for compressed.
        return None
    try:
        return pl.read_ndjson(data, schema=dict.fromkeys(names, pl.String))
    except pl.exceptions.PolarsError:
        return None


def _by_line(
    chunk: Chunk, names: list[str], problems: Problems
) -> tuple[pl.DataFrame, pl.Series, int]:
    """Read what can be read of a chunk in which something cannot.

    Returns
    -------
    The rows, their lines, and the number of lines that were not blank.
    """
    good: list[tuple[int, bytes]] = []
    n_read = 0
    for number, line in enumerate(io.BytesIO(chunk.data), chunk.first_line):
        if not line.strip():
            continue
        n_read += 1
        mended = _mended(line, number, problems)
        if mended is not None:
            good.append((number, mended))
    frames = [pl.DataFrame(schema=dict.fromkeys(names, pl.String))]
    lines: list[int] = []
    for part, frame in _readable(good, names, problems):
        frames.append(frame)
        lines.extend(number for number, _ in part)
    return pl.concat(frames), pl.Series(lines, dtype=pl.Int64), n_read


def _readable(
    lines: list[tuple[int, bytes]], names: list[str], problems: Problems
) -> Iterator[tuple[list[tuple[int, bytes]], pl.DataFrame]]:
    """Find the lines that the fast reader refuses by halving, and yield the others as frames."""
    if not lines:
        return
    frame = _read(b"".join(line for _, line in lines), names)
    if frame is not None and frame.height == len(lines):
        yield lines, frame
    elif len(lines) == 1:
        number, line = lines[0]
        problems.add("broken_line", number, f"not usable as JSON: {_shown(line)}")
    else:
        half = len(lines) // 2
        yield from _readable(lines[:half], names, problems)
        yield from _readable(lines[half:], names, problems)


def _mended(line: bytes, number: int, problems: Problems) -> bytes | None:
    """Give back a line that holds an object, as UTF-8; None for any other line."""
    text, is_utf8 = decoded(line)
    value = _loaded(text)
    if isinstance(value, str):
        problems.add("broken_line", number, f"{value}: {_shown(line)}")
        return None
    if not isinstance(value, dict):
        problems.add("not_an_object", number, f"expected {{…}}, found {_shown(line)}")
        return None
    if re.search(r"\\u[dD]", text):
        written = json.dumps(value, ensure_ascii=False)
        text = written.encode("utf-16", "surrogatepass").decode("utf-16", "replace") + "\n"
        is_utf8 = is_utf8 and text == f"{written}\n"
    if not is_utf8:
        problems.add("encoding", number, f"not UTF-8: {_shown(line)}")
    return text.encode("utf-8")


def _loaded(text: str) -> Any:
    """The value of a line of JSON in a list unless it is an object; a string says what is wrong."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        return "nested too deeply"
    except ValueError as problem:
        return getattr(problem, "msg", None) or str(problem)
    return value if isinstance(value, dict) else [value]


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _shown(line: bytes) -> str:
    text = decoded(line)[0].strip()
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
