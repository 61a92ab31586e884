"""Statistics of a running study in a process of their own, at low priority.

Statistics and answers would otherwise take turns on one interpreter lock, and people who answer
would wait. The process is told everything through its standard input, and ends when that ends,
however the server ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import weakref
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from affectlab.core.errors import AffectlabError
from affectlab.core.files.toml import parse_toml
from affectlab.protocols import Protocol
from affectlab.study.database import Database
from affectlab.study.design import Design, Study
from affectlab.study.store import Store

__all__ = ["StatisticsProcess"]

_IDLE_SECONDS = 120.0
"""Without a question for so long, the process ends; it is started again when needed."""


class StatisticsProcess:
    """Computes :func:`affectlab.study.watch.statistics.statistics` elsewhere.

    Parameters
    ----------
    store
        The open study.
    """

    def __init__(self, store: Store) -> None:
        self._told = json.dumps(_told(store))
        self._child: subprocess.Popen[str] | None = None
        self._asking = threading.Lock()
        self._closed = False
        self._idle: threading.Timer | None = None
        # Also where nobody closes it, no process stays behind.
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def ask(self) -> dict[str, Any]:
        """Compute the statistics as they now are; takes seconds where there are many answers.

        Raises
        ------
        AffectlabError
            When they cannot be computed.
        """
        with self._asking:
            if self._idle is not None:
                self._idle.cancel()
            line = self._exchange()
            if not line:
                self._end()
                raise AffectlabError("the process that computes statistics ended")
            self._idle = threading.Timer(_IDLE_SECONDS, self._rest)
            self._idle.daemon = True
            self._idle.start()
        found: dict[str, Any] = json.loads(line)
        if "problem" in found:
            raise AffectlabError(found["problem"])
        return found

    def close(self) -> None:
        """End the process, also while it computes."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        child = self._child
        if child is not None:
            child.kill()
        with self._asking:
            self._end()

    def _exchange(self) -> str:
        try:
            child = self._running()
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write("\n")
            child.stdin.flush()
            return child.stdout.readline()
        except BrokenPipeError:
            return ""

    def _rest(self) -> None:
        """End a process that nobody has asked for a while."""
        # Somebody who asks right now goes first.
        if self._asking.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._asking.release()

    def _running(self) -> subprocess.Popen[str]:
        if self._closed:
            raise AffectlabError("the server is stopping")
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._end()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "affectlab.study.statistics_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            # Ctrl-C on the terminal is for the server, which ends this process itself.
            start_new_session=True,
        )
        self._finalizer = weakref.finalize(self, _end_process, self._child)
        if self._closed:  # Meanwhile: whoever closes this has not seen the process.
            self._end()
            raise AffectlabError("the server is stopping")
        assert self._child.stdin is not None
        self._child.stdin.write(self._told + "\n")
        return self._child

    def _end(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._child = self._finalizer = None


def _end_process(child: subprocess.Popen[str]) -> None:
    child.kill()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            # What was not read by a process that is gone is lost on purpose.
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    child.wait()


def _told(store: Store) -> dict[str, Any]:
    study = store.study
    return {
        "path": str(study.path.absolute()),
        "text": study.text,
        # As the study began with it, which may differ from what its file says by now.
        "protocol": study.protocol.model_dump(mode="json", exclude_unset=True),
        "database": store.database.engine.url.render_as_string(hide_password=False),
        "key": store.key.hex(),
    }


def _opened(told: dict[str, Any]) -> Store:
    design = parse_toml(told["text"], Design, where=told["path"])
    protocol = Protocol.model_validate(told["protocol"])
    study = Study(Path(told["path"]), design, protocol, told["text"])
    return Store(study, Database(told["database"]), bytes.fromhex(told["key"]))


def _answer(store: Store) -> dict[str, Any]:
    from affectlab.study.watch.statistics import statistics

    try:
        return asdict(statistics(store))
    except AffectlabError as error:
        return {"problem": str(error)}


def _serve(questions: IO[str], replies: IO[str]) -> None:
    """Answer each line until there are no more."""
    if hasattr(os, "nice"):
        os.nice(10)
    with _opened(json.loads(questions.readline())) as store:
        while questions.readline():
            replies.write(json.dumps(_answer(store), allow_nan=False) + "\n")
            replies.flush()


if __name__ == "__main__":
    # Whatever a library prints must not come between the replies.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        _serve(sys.stdin, out)
