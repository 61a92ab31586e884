"""One process at a time: a lock beside a file, which the system gives back when a process ends."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import IO

from affectlab.core.errors import InputError
from affectlab.core.words import shown

__all__ = ["NoLocksError", "locked", "take_lock"]

_TAKEN = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""How systems say that another process has a lock; any other error says that there can be none."""


class NoLocksError(InputError):
    """A file system without locks, as some that computers share are mounted."""


def locked(path: Path) -> IO[str]:
    """Take the lock of a file, whose folder is there; closing what comes back gives it back.

    Raises
    ------
    InputError
        When another process has it.
    NoLocksError
        When the file system has no locks.
    OSError
        When it cannot be written.
    """
    guard = path.with_name(f".{path.name}.lock").open("a")
    try:
        take_lock(guard.fileno())
    except OSError as error:
        guard.close()
        if error.errno not in _TAKEN:
            raise NoLocksError(
                f"{shown(path)} cannot be locked ({error.strerror}); expected a folder on a file "
                "system with locks, such as one of this machine's own"
            ) from None
        raise InputError(
            f"{shown(path)} is in use by another run; wait for it, or use another folder"
        ) from None
    return guard


def take_lock(file: int) -> None:
    """Lock an open file; it raises an OSError where another process has it, and does not wait."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
