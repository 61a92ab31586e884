"""Reading one file of any known kind into rows with the staged columns."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain

import polars as pl

from affectlab.stimuli.curation.input.columns import Columns, Parsed
from affectlab.stimuli.curation.input.compression import EndedEarly, decompressed
from affectlab.stimuli.curation.input.csv import header_of, parse_records
from affectlab.stimuli.curation.input.json_lines import keys_of, parse_json_lines
from affectlab.stimuli.curation.input.lines import line_chunks, recoded
from affectlab.stimuli.curation.input.parquet import open_parquet, parquet_parts
from affectlab.stimuli.curation.input.problems import Problems
from affectlab.stimuli.curation.input.records import Lines, record_chunks
from affectlab.stimuli.curation.input.sources import Source

__all__ = ["Reading"]

_BLOCK = 4 * 2**20
"""Bytes that are asked for at once; object stores answer each request after a while."""
_SHOWN = 12

Work = Iterator[Callable[[], Parsed]]


@dataclass
class Reading:
    """One file while it is read, and what was found in it."""

    source: Source
    """The file."""
    asked: Columns
    """The columns as the user named them."""
    problems: Problems
    """What was wrong so far."""
    threads: int = 1
    """Chunks that are parsed at a time."""
    columns: Columns = field(default_factory=Columns)
    """The columns that were found."""
    n_read: int = 0
    """Lines, records or rows that were read so far, whether they could be used or not."""

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in the order of the file; the memory held does not grow with it.

        Raises
        ------
        InputError
            At the first problem, when reading is strict.
        """
        try:
            for parsed in _in_order(self._work(), self.threads):
                self.n_read += parsed.n_read
                self.problems.merge(parsed.problems)
                if parsed.frame.height:
                    yield parsed.frame
        except EndedEarly as problem:
            where = f" after {self.n_read:,} rows" if self.n_read else ""
            self.problems.add(problem.kind, 0, f"{problem}{where}")
        self.n_read += self.problems.counts.get("too_long", 0)
        if not self.problems.counts and not self.n_read:
            self.problems.add("empty_file", 0, "there are no rows")

    def _work(self) -> Work:
        if self.source.kind == "parquet":
            return self._parquet()
        blocks = recoded(decompressed(self._blocks(), self.source.compression), self.problems)
        return self._json(blocks) if self.source.kind == "json" else self._separated(blocks)

    def _blocks(self) -> Iterator[bytes]:
        try:
            with self.source.system.open_input_stream(self.source.path, compression=None) as file:
                while block := file.read(_BLOCK):
                    yield block
        except OSError as problem:
            raise EndedEarly("unreadable", str(problem)) from None

    def _json(self, blocks: Iterator[bytes]) -> Work:
        chunks = line_chunks(blocks, self.problems)
        first = next(chunks, None)
        if first is None:
            return
        keys = keys_of(first)
        # Without a single object, every line is counted as what it is.
        if not self._found(keys or ["id", "body", "subreddit"]):
            return
        columns, label = self.columns, self.source.name
        for chunk in chain([first], chunks):
            yield lambda chunk=chunk: parse_json_lines(chunk, columns, label)  # type: ignore[misc]

    def _separated(self, blocks: Iterator[bytes]) -> Work:
        lines = Lines(blocks, self.problems)
        dialect, header = header_of(lines, self.source.ending, self.problems)
        if not header:
            if lines.early is not None:
                raise lines.early
            # A header that cannot be read is a line that was read.
            self.n_read += self.problems.counts.get("broken_line", 0)
            return
        if not self._found(header):
            return
        columns, label = self.columns, self.source.name
        for part in record_chunks(lines, dialect, self.problems):
            yield lambda part=part: parse_records(  # type: ignore[misc]
                part, header, dialect, columns, label
            )

    def _parquet(self) -> Work:
        table = open_parquet(self.source)
        if not self._found(table.schema_arrow.names):
            return
        for parsed in parquet_parts(table, self.columns, self.source.name):
            yield lambda parsed=parsed: parsed  # type: ignore[misc]

    def _found(self, names: list[str]) -> bool:
        """Find the columns among the names of the file; whether its texts are there."""
        found = self.asked.found_in(names)
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        if found.text is None or found.text not in names:
            wanted = repr(found.text) if found.text else "'body', 'text' or 'comment'"
            self.problems.add(
                "absent_column", 0, f"no column {wanted} with texts; found: {shown}; nothing read"
            )
            return False
        for part, name in found.needed().items():
            if names.count(name) > 1:
                self.problems.add("duplicate_column", 0, f"column {name!r} comes twice")
            if name not in names:
                self.problems.add(
                    "absent_column", 0, f"no column {name!r} for {part}; found: {shown}"
                )
        # An id that the whole file lacks is one problem, not one for each row.
        self.columns = found if found.id in names else replace(found, id=None)
        return True


def _in_order(work: Work, threads: int) -> Iterator[Parsed]:
    """Do the work on some threads and yield the results in its order."""
    if threads == 1:
        for single in work:
            yield single()
        return
    waiting: deque[Future[Parsed]] = deque()
    early: EndedEarly | None = None
    task: Callable[[], Parsed] | None
    with ThreadPoolExecutor(min(threads, os.cpu_count() or 1)) as pool:
        while early is None:
            try:
                task = next(work, None)
            except EndedEarly as problem:
                early, task = problem, None
            if task is None:
                break
            waiting.append(pool.submit(task))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    if early is not None:
        raise early
