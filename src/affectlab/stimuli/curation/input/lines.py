"""A stream of bytes, cut into chunks of whole lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

from affectlab.stimuli.curation.input.problems import Problems

__all__ = ["CHUNK", "LONGEST", "Chunk", "decoded", "line_chunks", "pieces", "recoded", "too_long"]

CHUNK = 4 * 2**20
"""Bytes that are parsed at once."""
LONGEST = 16 * 2**20
"""Bytes of the longest line; one of a gigabyte is damage, and would be held in memory whole."""

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True)
class Chunk:
    """Some whole lines of a file."""

    data: bytes
    """The lines; the last one ends in a line feed, too."""
    first_line: int
    """Number of the first one in the file, from 1."""


def decoded(line: bytes) -> tuple[str, bool]:
    """Decode a line as UTF-8 or, failing that, as Windows-1252; and say whether it was UTF-8."""
    try:
        return line.decode("utf-8"), True
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace"), False


def recoded(blocks: Iterator[bytes], problems: Problems) -> Iterator[bytes]:
    """Drop the mark that UTF-8 files may begin with, and turn UTF-16 into UTF-8."""
    start = b""
    for block in blocks:
        start += block
        if len(start) >= 3:
            break
    coding = next((name for mark, name in _UTF16.items() if start.startswith(mark)), None)
    if coding is None:
        start = start.removeprefix(codecs.BOM_UTF8)
        if start:
            yield start
        yield from blocks
        return
    problems.add("encoding", 1, f"the file is {coding.upper()}, and read so; expected UTF-8")
    decoder = codecs.getincrementaldecoder(coding)("replace")
    yield decoder.decode(start[2:]).encode("utf-8", "replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def line_chunks(blocks: Iterator[bytes], problems: Problems) -> Iterator[Chunk]:
    """Cut a stream into chunks of whole lines; lines above :data:`LONGEST` are left out.

    When the stream ends early, the whole lines before that place are given first, and what there
    is of the broken line is dropped.
    """
    blocks = pieces(blocks)
    buffer = bytearray()
    line = 1
    skipping = False
    early: Exception | None = None
    while early is None:
        try:
            block = next(blocks, None)
        except Exception as problem:  # noqa: BLE001 - raised again below, after the whole lines
            early = problem
            block = None
        if block is not None:
            if skipping:
                # The rest of a line that was too long.
                end = block.find(b"\n") + 1
                if not end:
                    continue
                block, skipping, line = block[end:], False, line + 1
            buffer += block
            if len(buffer) < CHUNK:
                continue
        end = buffer.rfind(b"\n") + 1
        if block is None and early is None and end < len(buffer):
            buffer += b"\n"
            end = len(buffer)
        if end:
            data = bytes(buffer[:end])
            del buffer[:end]
            number = data.count(b"\n")
            first = data.find(b"\n")
            if first >= LONGEST:
                too_long(problems, line)
                data, number, line = data[first + 1 :], number - 1, line + 1
            if data:
                yield Chunk(data, line)
            line += number
        if len(buffer) > LONGEST:
            too_long(problems, line)
            buffer.clear()
            skipping = True
        if block is None:
            break
    if early is not None:
        raise early


def pieces(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut large blocks, so that a line above :data:`LONGEST` is always the first of a buffer."""
    for block in blocks:
        for at in range(0, len(block), CHUNK):
            yield block[at : at + CHUNK]


def too_long(problems: Problems, line: int) -> None:
    """Count a line above :data:`LONGEST`."""
    problems.add("too_long", line, f"a line above {LONGEST // 2**20} MiB")
