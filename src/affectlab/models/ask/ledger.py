"""A file of lines that only grows, safe against a kill, and written by one process at a time."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import joined, plural, shown
from affectlab.models.runs import locked

__all__ = ["LineFile", "in_flight_sentence"]

_ASKING, _WITHDRAWN, _OPENING = "asking", "withdrawn", "opening"
_MOST_NAMES = 8


class LineFile:
    """JSON objects, one a line; each is on the disk before :meth:`add` comes back.

    Questions that leave this machine are written down by :meth:`ask` before they do. A line that is
    added later under the same name settles them. What a process asked and never settled was in
    flight when it ended, however it ended: it may have been paid for, and nobody has the answer.

    Parameters
    ----------
    path
        The file; its folder is made. A second process that opens it gets an error.
    schema
        What its first line says it is.
    names
        Keys of a line that together name a question.

    Raises
    ------
    InputError
        When it is something else, is in use, or cannot be made.
    """

    def __init__(self, path: Path, schema: str, names: Sequence[str] = ("key",)) -> None:
        self.path = path
        self.n_broken = 0
        """Lines that hold no object, such as one that was cut off when the work was killed."""
        self.lost: list[dict[str, Any]] = []
        """Questions that were in flight when one of the processes before this one ended."""
        self.in_flight: list[dict[str, Any]] = []
        """Those of them that the last process that asked anything has left."""
        self._unanswered: dict[tuple[str, ...], dict[str, Any]] = {}
        self._schema = schema
        self._names = tuple(names)
        self._opening = 0
        self._open: dict[tuple[str, ...], dict[str, Any]] = {}
        self._begun = self._torn = False
        self._queue: list[Mapping[str, Any]] = []
        self._n_queued = self._n_written = 0
        self._failed: InputError | None = None
        self._turn = asyncio.Lock()
        self._writing = threading.Lock()
        # Of its own: the threads that all share may be busy with models for minutes.
        self._pool = ThreadPoolExecutor(1)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._guard = locked(path)
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be made ({error.strerror})") from None
        try:
            self._lines = list(self._read())
            self.in_flight = self._end_opening()
            self._opening += 1
            # Without a buffer: what could not be written must not come after all, later.
            self._file = path.open("ab", buffering=0)
            if not self._begun:
                self.add({"schema": schema})
        except OSError as error:
            self._guard.close()
            raise InputError(f"{shown(path)} cannot be written ({error.strerror})") from None
        except BaseException:
            self._guard.close()
            raise

    @property
    def unanswered(self) -> list[dict[str, Any]]:
        """Questions that were lost by any process before, and that have no answer since.

        For files in which several ask in turn, each about its own.
        """
        return list(self._unanswered.values())

    def lines(self) -> Iterator[dict[str, Any]]:
        """Give the objects that were there, from the first on; once."""
        lines, self._lines = self._lines, []
        yield from lines

    def _read(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        if content and not content.endswith(b"\n"):
            # What comes next must not end up on a line that was cut off.
            with self.path.open("ab") as file:
                file.write(b"\n")
        first = _line({"schema": self._schema}).rstrip()
        for line in content.split(b"\n"):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            # Objects within objects, thousands deep, are no line of ours.
            except (ValueError, RecursionError):
                found = None
            if not self._begun and found is None and first.startswith(line):
                # Killed while the first line was written: nothing was asked yet.
                continue
            if not self._begun and not (isinstance(found, dict) and "schema" in found):
                raise InputError(f"{shown(self.path)} is no ledger; expected one, or a new folder")
            if not isinstance(found, dict):
                self.n_broken += 1
            elif "schema" in found:
                self._begun = True
                if found["schema"] != self._schema:
                    raise InputError(
                        f"{shown(self.path)}: schema {found['schema']!r}; expected "
                        f"{self._schema!r}, or a new folder"
                    )
            elif not self._tracked(found):
                yield found

    def _tracked(self, line: dict[str, Any]) -> bool:
        """Take note of what a line says of questions; False where it says more than that."""
        asked, withdrawn = line.get(_ASKING), line.get(_WITHDRAWN)
        if isinstance(asked, dict):
            opening = line.get(_OPENING)
            if opening != self._opening:
                # Whoever asked before is gone: nothing that comes now settles it.
                self._end_opening()
                self._opening = opening if isinstance(opening, int) else self._opening
            self._open[self._name(asked)] = asked
        elif isinstance(withdrawn, dict):
            self._open.pop(self._name(withdrawn), None)
        else:
            self._open.pop(self._name(line), None)
            self._unanswered.pop(self._name(line), None)
            return False
        return True

    def _end_opening(self) -> list[dict[str, Any]]:
        left = list(self._open.values())
        self.lost += left
        self._unanswered |= self._open
        self._open = {}
        return left

    def _name(self, line: Mapping[str, Any]) -> tuple[str, ...]:
        # Whatever else stands in a file that somebody edited can be no key of a dictionary.
        return tuple(str(line.get(name)) for name in self._names)

    def ask(self, *questions: Mapping[str, Any]) -> None:
        """Write down questions that are about to leave, by their names and whatever else is known.

        What is said of a question that was asked before, and has no answer yet, takes the place of
        what was said then.

        Raises
        ------
        InputError
            As :meth:`add`; such a question must not leave.
        """
        self.add(*map(self.asking, questions))

    def asking(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Give the line that :meth:`ask` writes."""
        return {_ASKING: dict(question), _OPENING: self._opening}

    def withdraw(self, *questions: Mapping[str, Any]) -> None:
        """Write that questions did not leave after all; they were never in flight."""
        named = ({name: one.get(name) for name in self._names} for one in questions)
        self.add(*({_WITHDRAWN: one} for one in named))

    def add(self, *lines: Mapping[str, Any]) -> None:
        """Write objects, and wait until they are on the disk; they settle questions they name.

        Raises
        ------
        InputError
            When it cannot be written, such as where the disk is full; the lines before it stay.
        """
        with self._writing:
            # One call of write: a kill between two would leave a line without an end.
            left = memoryview((b"\n" if self._torn else b"") + b"".join(map(_line, lines)))
            self._torn = True
            try:
                while left:
                    left = left[self._file.write(left) :]
                os.fsync(self._file.fileno())
            except OSError as error:
                raise InputError(
                    f"{shown(self.path)} cannot be written ({error.strerror}); what it held is kept"
                ) from None
            self._torn = False

    async def commit(self, *lines: Mapping[str, Any]) -> None:
        """Write as :meth:`add` does, with what other tasks write: one wait for the disk serves all.

        What is waiting when its task is cancelled is written all the same.

        Raises
        ------
        InputError
            As :meth:`add`.
        """
        self._queue += lines
        self._n_queued += len(lines)
        own = self._n_queued
        # Whoever waits is let in by the order of coming: first those whose lines were written.
        async with self._turn:
            if self._n_written < own:
                together, self._queue, n = self._queue, [], self._n_queued
                self._failed = None
                try:
                    loop = asyncio.get_running_loop()
                    await loop.run_in_executor(self._pool, partial(self.add, *together))
                except InputError as error:
                    self._failed = error
                self._n_written = n
            if self._failed is not None:
                raise self._failed

    def take_back(self, asking: Mapping[str, Any]) -> None:
        """Write nothing, or that it did not leave, of a question that :meth:`commit` waited for."""
        left = [line for line in self._queue if line is not asking]
        if len(left) == len(self._queue):
            self.withdraw(asking[_ASKING])
        self._queue = left

    def close(self) -> None:
        """Let another process write."""
        try:
            if self._queue:
                self.add(*self._queue)
        finally:
            self._pool.shutdown()
            self._file.close()
            self._guard.close()

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_flight_sentence(names: Iterable[str], what: str) -> str:
    """Say what was in flight when an earlier run ended, each name once.

    Examples
    --------
    >>> in_flight_sentence(["awe", "fear", "awe"], "question")
    '2 questions were in flight when an earlier run ended (awe and fear): no answer of theirs came'
    """
    different = list(dict.fromkeys(shown(name, 40) for name in names))
    n, rest = len(different), len(different) - _MOST_NAMES
    listed = [*different[:_MOST_NAMES], *([f"{rest:,} more"] if rest > 0 else [])]
    were, theirs = ("was", "its") if n == 1 else ("were", "theirs")
    return (
        f"{plural(n, what)} {were} in flight when an earlier run ended ({joined(listed)}): no "
        f"answer of {theirs} came"
    )


def _line(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"
