"""CSV and TSV: whole chunks at once, and record by record only where a chunk cannot be read."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from affectlab.stimuli.curation.input.columns import LINE, Columns, Parsed, staged_rows
from affectlab.stimuli.curation.input.lines import CHUNK, Chunk
from affectlab.stimuli.curation.input.problems import Problems
from affectlab.stimuli.curation.input.records import (
    Dialect,
    Lines,
    Records,
    last_end,
    quotes_fit,
    record_lines,
    slow_records,
)

__all__ = ["header_of", "parse_records"]

_BLANK = re.compile(rb"\n\r?\n")
_COMPRESSED = (b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""What the fast parser takes for compressed data, though a field may begin so."""
_TABBED = (".tsv", ".tab")


def header_of(lines: Lines, ending: str, problems: Problems) -> tuple[Dialect, list[str]]:
    """Tell how a file separates its fields, and take its header; no names where there is none.

    A file called .csv without any comma in its first line may be separated by ``;`` or tabs.
    Tables separated by tabs are often written without quoting: where the quotes at the start of
    the file do not pair up, a quote is a character like any other.
    """
    lines.fill(CHUNK)
    start = bytes(lines.buffer)
    first = start[: start.find(b"\n") + 1 or None]
    separator = "\t" if ending in _TABBED else ","
    if separator == "," and b"," not in first:
        separator = next((sign for sign in ";\t" if sign.encode() in first), ",")
    whole = start[: last_end(start, quoted=True)]
    quoted = separator != "\t" or bool(whole and quotes_fit(whole, separator))
    dialect = Dialect(separator, quoted)
    header = slow_records(lines, dialect, problems, budget=1)
    lines.settle()
    return dialect, [name.strip() for name in header.rows[0]] if header.rows else []


def parse_records(
    part: Chunk | Records, header: Sequence[str], dialect: Dialect, columns: Columns, label: str
) -> Parsed:
    """Read the records of a part of a file; empty fields count as absent.

    A record with fewer fields than the header lacks the last ones; one with more is counted as
    broken and left out.
    """
    problems = Problems()
    needed = {name: at for name, at in _places(header).items() if name in columns.needed().values()}
    fast = _fast(part, len(header), needed, dialect) if isinstance(part, Chunk) else None
    if fast is not None:
        frame, lines = fast
        n_read = frame.height
    else:
        records = part if isinstance(part, Records) else slow_records(part, dialect, problems)
        frame, begins = _frame(records, len(header), needed, problems)
        lines = np.asarray(begins)
        n_read = records.n_read
    present = {part: name for part, name in columns.needed().items() if name in needed}
    rows = frame.select(**{part: pl.col(name) for part, name in present.items()})
    rows = rows.with_columns(pl.Series(LINE, lines, dtype=pl.Int64))
    return Parsed(staged_rows(rows, columns, label, problems), n_read, problems)


def _places(header: Sequence[str]) -> dict[str, int]:
    """Place of each name in the header; the first one of a name that comes twice."""
    return {name: at for at, name in reversed(list(enumerate(header)))}


def _fast(
    chunk: Chunk, width: int, needed: dict[str, int], dialect: Dialect
) -> tuple[pl.DataFrame, np.ndarray] | None:
    """Read whole records; None where one of them is not to be read."""
    if chunk.data.startswith(_COMPRESSED):
        return None
    names = [str(at) for at in range(width)]
    try:
        frame = pl.read_csv(
            chunk.data,
            has_header=False,
            columns=sorted(set(needed.values())),
            schema=dict.fromkeys(names, pl.String),
            separator=dialect.separator,
            quote_char='"' if dialect.quoted else None,
        )
    except pl.exceptions.PolarsError:
        return None
    number = chunk.data.count(b"\n")
    blank = chunk.data.startswith((b"\n", b"\r\n")) or _BLANK.search(chunk.data)
    if frame.height == number and not blank:
        lines = np.arange(chunk.first_line, chunk.first_line + number)
    else:
        lines = record_lines(chunk, dialect.quoted)
        if lines.size != frame.height:
            return None
    return frame.select(**{name: pl.col(str(at)) for name, at in needed.items()}), lines


def _frame(
    records: Records, width: int, needed: dict[str, int], problems: Problems
) -> tuple[pl.DataFrame, list[int]]:
    rows, lines = [], []
    for row, line in zip(records.rows, records.lines, strict=True):
        if len(row) > width:
            problems.add("broken_line", line, f"{len(row)} fields; expected {width}")
        else:
            rows.append(row)
            lines.append(line)
    content = {
        name: pl.Series([row[at] if at < len(row) else None for row in rows], dtype=pl.String)
        for name, at in needed.items()
    }
    return pl.DataFrame(content), lines
