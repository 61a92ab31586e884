"""A stream of CSV, cut into chunks of whole records; a record may span lines.

Where quotes pair up, they tell which line feeds end a record, and a chunk is left to the fast
parser. Where they do not, records are read one by one until they do again.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from affectlab.stimuli.curation.input.lines import CHUNK, LONGEST, Chunk, decoded, pieces, too_long
from affectlab.stimuli.curation.input.problems import Problems

__all__ = ["Dialect", "Records", "quotes_fit", "record_chunks", "record_lines", "slow_records"]

_QUOTE, _FEED, _RETURN = 34, 10, 13


@dataclass(frozen=True)
class Dialect:
    """How a file separates and quotes its fields."""

    separator: str
    """``,``, ``;`` or a tab."""
    quoted: bool
    """Whether a quote at the start of a field has a meaning."""


@dataclass(frozen=True)
class Records:
    """Records that were read one by one."""

    rows: list[list[str]]
    """Their fields."""
    lines: list[int]
    """Line on which each begins."""
    n_read: int
    """Records that were found, usable or not."""


def quotes_fit(data: bytes, separator: str) -> bool:
    """Whether each quote of whole records begins or ends a field, or is a doubled one."""
    content = np.frombuffer(data, np.uint8)
    at = np.flatnonzero(content == _QUOTE)
    if at.size % 2:
        return False
    before = np.where(at[::2] > 0, content[at[::2] - 1], _FEED)
    after = content[np.minimum(at[1::2] + 1, content.size - 1)]
    after = np.where(at[1::2] + 1 < content.size, after, _FEED)
    begins = np.isin(before, [ord(separator), _FEED, _QUOTE])
    ends = np.isin(after, [ord(separator), _FEED, _RETURN, _QUOTE])
    return bool(begins.all() and ends.all())


def record_lines(chunk: Chunk, quoted: bool) -> np.ndarray:
    """Line on which each record of a chunk begins, by shape (records,); blank lines have none."""
    content = np.frombuffer(chunk.data, np.uint8)
    feeds = np.flatnonzero(content == _FEED)
    lines = chunk.first_line + 1 + np.arange(feeds.size)
    if quoted:
        ends = np.searchsorted(np.flatnonzero(content == _QUOTE), feeds) % 2 == 0
        feeds, lines = feeds[ends], lines[ends]
    starts = np.concatenate([[0], feeds[:-1] + 1])
    begins = np.concatenate([[chunk.first_line], lines[:-1]])
    length = feeds - starts
    blank = (length == 0) | ((length == 1) & (content[starts] == _RETURN))
    return np.asarray(begins[~blank])


def record_chunks(lines: Lines, dialect: Dialect, problems: Problems) -> Iterator[Chunk | Records]:
    """Cut a stream into chunks for the fast parser, and records where quotes do not pair up.

    When the stream ends early, the whole records before that place are given first.
    """
    while lines.fill(CHUNK):
        end = last_end(lines.buffer, dialect.quoted)
        if not end and lines.fill(len(lines.buffer) + CHUNK):
            end = last_end(lines.buffer, dialect.quoted)
        if not end and lines.early is not None:
            break
        fits = end > 0 and (
            not dialect.quoted or quotes_fit(bytes(lines.buffer[:end]), dialect.separator)
        )
        if fits:
            yield lines.chunk(end)
        else:
            yield slow_records(lines, dialect, problems, budget=min(len(lines.buffer), CHUNK))
            lines.settle()
    if lines.early is not None:
        raise lines.early


def slow_records(
    source: Lines | Chunk, dialect: Dialect, problems: Problems, budget: int = -1
) -> Records:
    """Read records one by one, at least `budget` bytes of them; all where it is negative.

    A record whose quotes make no sense is counted, and reading goes on with the line after its
    first.
    """
    if isinstance(source, Chunk):
        lines = Lines(iter([source.data]), problems, source.first_line)
    else:
        lines = source
    # The limit belongs to the process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    pulled = _Pulled(lines)
    reader = csv.reader(
        pulled,
        delimiter=dialect.separator,
        quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
        strict=True,
    )
    rows: list[list[str]] = []
    begins: list[int] = []
    n_read = 0
    stop = lines.taken + budget if budget >= 0 else None
    while stop is None or lines.taken < stop:
        pulled.begin()
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as problem:
            n_read += 1
            problems.add("broken_line", pulled.first_line, f"not usable as CSV: {problem}")
            pulled.give_back()
            continue
        if not row:
            continue
        n_read += 1
        if pulled.recoded:
            problems.add("encoding", pulled.first_line, "not UTF-8")
        rows.append(row)
        begins.append(pulled.first_line)
    return Records(rows, begins, n_read)


def last_end(buffer: bytes | bytearray, quoted: bool) -> int:
    """Where the last whole record ends: after the last line feed outside quotes; 0 for none."""
    if not quoted:
        return buffer.rfind(b"\n") + 1
    content = np.frombuffer(bytes(buffer), np.uint8)
    feeds = np.flatnonzero(content == _FEED)
    outside = np.searchsorted(np.flatnonzero(content == _QUOTE), feeds) % 2 == 0
    return int(feeds[outside][-1]) + 1 if outside.any() else 0


class Lines:
    """The lines of a stream, of which some can be given back."""

    def __init__(self, blocks: Iterator[bytes], problems: Problems, first_line: int = 1) -> None:
        self._blocks = pieces(blocks)
        self._problems = problems
        self._back: deque[bytes] = deque()
        self._ended = False
        self.buffer = bytearray()
        self.line = first_line
        """Number of the next line."""
        self.taken = 0
        """Bytes that were taken and not given back."""
        self.early: Exception | None = None
        """Why the stream ended early, once it did."""

    def fill(self, size: int) -> bool:
        """Read until so many bytes are there or the stream ends; whether there are any."""
        while len(self.buffer) < size and not self._ended:
            try:
                block = next(self._blocks, None)
            except Exception as problem:  # noqa: BLE001 - raised after the records before it
                self.early, block = problem, None
                # What there is of the broken line is dropped.
                del self.buffer[self.buffer.rfind(b"\n") + 1 :]
            if block is None:
                self._ended = True
                if self.buffer and not self.buffer.endswith(b"\n"):
                    self.buffer += b"\n"
            else:
                self.buffer += block
        return bool(self.buffer)

    def chunk(self, size: int) -> Chunk:
        """Take the first `size` bytes, which are whole lines."""
        chunk = Chunk(bytes(self.buffer[:size]), self.line)
        del self.buffer[:size]
        self.line += chunk.data.count(b"\n")
        return chunk

    def next_line(self) -> bytes:
        """Take one line; an empty one where there are no more."""
        if self._back:
            line = self._back.popleft()
        else:
            end = self.buffer.find(b"\n") + 1
            while not end and self.fill(len(self.buffer) + CHUNK):
                end = self.buffer.find(b"\n") + 1
                if (end or len(self.buffer)) > LONGEST:
                    self._pass_over()
                    end = self.buffer.find(b"\n") + 1
            line = bytes(self.buffer[:end])
            del self.buffer[:end]
        self.line += bool(line)
        self.taken += len(line)
        return line

    def _pass_over(self) -> None:
        """Leave out a line that is too long, without holding it."""
        too_long(self._problems, self.line)
        end = self.buffer.find(b"\n") + 1
        while not end:
            self.buffer.clear()
            if not self.fill(1):
                break
            end = self.buffer.find(b"\n") + 1
        del self.buffer[:end]
        self.line += 1

    def give_back(self, lines: list[bytes]) -> None:
        """Put lines before those that are still to be taken."""
        self._back.extendleft(reversed(lines))
        self.line -= len(lines)
        self.taken -= sum(map(len, lines))

    def settle(self) -> None:
        """Put all lines that were given back into the buffer again."""
        self.buffer[:0] = b"".join(self._back)
        self._back.clear()


class _Pulled:
    """The lines that one record took, decoded for the reader of Python."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._raw: list[bytes] = []
        self.first_line = 0
        self.recoded = False

    def begin(self) -> None:
        """Start a record."""
        self._raw = []
        self.recoded = False
        self.first_line = self._lines.line

    def give_back(self) -> None:
        """Let the next record start on the line after the first one of this."""
        self._lines.give_back(self._raw[1:])

    def __iter__(self) -> _Pulled:
        return self

    def __next__(self) -> str:
        raw = self._lines.next_line()
        if not raw:
            raise StopIteration
        self._raw.append(raw)
        text, is_utf8 = decoded(raw)
        self.recoded |= not is_utf8
        return text
