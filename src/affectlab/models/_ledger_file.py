"""A file of lines that only grows, safe against a kill, and written by one process at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from affectlab._words import shown
from affectlab.errors import InputError

__all__ = ["LineFile"]

_LOCK = ".lock"


class LineFile:
    """JSON objects, one a line; each is on the disk before :meth:`add` comes back.

    Parameters
    ----------
    path
        The file; its folder is made. A second process that opens it gets an error.
    schema
        What its first line says it is.

    Raises
    ------
    InputError
        When it is something else, is in use, or cannot be made.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self.path = path
        self.n_broken = 0
        """Lines that hold no object, such as one that was cut off when the work was killed."""
        self._schema = schema
        self._begun = self._torn = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._guard = path.with_name(f".{path.name}{_LOCK}").open("a")
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be made ({error.strerror})") from None
        try:
            _lock(self._guard, path)
            self._lines = list(self._read())
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
            else:
                yield found

    def add(self, *lines: Mapping[str, Any]) -> None:
        """Write objects, and wait until they are on the disk.

        Raises
        ------
        InputError
            When it cannot be written, such as where the disk is full; the lines before it stay.
        """
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

    def close(self) -> None:
        """Let another process write."""
        self._file.close()
        self._guard.close()

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def _lock(guard: IO[str], path: Path) -> None:
    """Take the lock, which the system gives back when this process ends, however it ends."""
    try:
        try:
            import fcntl
        except ImportError:
            import msvcrt

            msvcrt.locking(guard.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(
            f"{shown(path)} is in use by another run; wait for it, or use another folder"
        ) from None
