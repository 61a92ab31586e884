"""Servers in processes of their own: of a study, and of PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError

__all__ = ["Missing", "Postgres", "StudyServer", "free_port"]

_START_SECONDS = 60.0


class Missing(Exception):
    """Something that is needed is not installed."""


def free_port() -> int:
    """Find a port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class StudyServer:
    """``affectlab study serve`` on a port of this machine.

    Parameters
    ----------
    study
        The study file.
    options
        More options of the command.
    """

    def __init__(self, study: Path, *options: str) -> None:
        self.port = free_port()
        self._command = [
            *(sys.executable, "-m", "affectlab", "study", "serve", str(study)),
            *("--port", str(self.port), "--quiet"),
            *("--entries-per-minute", "0", "--requests-per-second", "0", *options),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> StudyServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGTERM)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        # A group of its own, so that its worker processes end with it.
        self._process = subprocess.Popen(self._command, start_new_session=True)
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with status {self._process.returncode}")
            with contextlib.suppress(URLError, ConnectionError, TimeoutError):
                address = f"http://127.0.0.1:{self.port}/health"
                with urllib.request.urlopen(address, timeout=5) as reply:
                    if reply.status == 200:
                        return
            time.sleep(0.05)
        raise RuntimeError(f"the server did not answer within {_START_SECONDS:g} s")

    def stop(self, how: signal.Signals) -> None:
        """End it with a signal, and wait until it is gone."""
        if self._process is None or self._process.poll() is not None:
            return
        os.killpg(self._process.pid, how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Postgres:
    """A cluster of our own on a loopback port, deleted at the end.

    Raises
    ------
    Missing
        When PostgreSQL is not installed, or cannot run as this user.
    """

    def __init__(self) -> None:
        self._programs = _programs()
        # Not below a folder that only this user may enter: another one runs the server.
        self._folder = Path(tempfile.mkdtemp(prefix="affectlab-postgres-"))
        try:
            self._as = _user(self._folder)
        except Missing:
            self._folder.rmdir()
            raise
        self.port = free_port()
        self._data = self._folder / "data"
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "affectlab", "-E", "UTF8")

    def __enter__(self) -> Postgres:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop("immediate")
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start it."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self._folder}"
        options += " -c max_connections=200"
        log = self._folder / "log"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str) -> None:
        """Stop it: ``fast``, or ``immediate``, as when the power fails."""
        self._run("pg_ctl", "-D", self._data, "-m", mode, "stop")

    def make_database(self, name: str, *, like: str = "template1") -> str:
        """Make a database, empty or a copy of one that nobody is connected to; give its address."""
        from sqlalchemy import create_engine

        base = f"postgresql+psycopg://affectlab@127.0.0.1:{self.port}"
        engine = create_engine(f"{base}/postgres", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
        engine.dispose()
        return f"{base}/{name}"

    def _run(self, program: str, *words: object) -> None:
        # A file, not a pipe: the server that pg_ctl leaves behind would keep a pipe open.
        said = self._folder / "said"
        with said.open("w") as file:
            done = self._as([str(self._programs / program), *map(str, words)], file)
        if done:
            raise RuntimeError(f"{program} failed: {said.read_text().strip()}")


def _programs() -> Path:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "pg_ctl").exists():
            return place
    raise Missing("PostgreSQL is not installed (initdb and pg_ctl were not found)")


def _user(folder: Path) -> Callable[[list[str], object], int]:
    """Run programs as a user that PostgreSQL accepts: it refuses to run as root."""
    options: dict[str, object] = {}
    if os.geteuid() == 0:
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            raise Missing(
                "PostgreSQL does not run as root, and there is no user 'postgres'"
            ) from None
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def run(command: list[str], said: object) -> int:
        return subprocess.call(
            command,
            stdout=said,  # type: ignore[arg-type]
            stderr=subprocess.STDOUT,
            cwd=folder,
            **options,  # type: ignore[arg-type]
        )

    return run


@contextlib.contextmanager
def database_of(kind: str) -> Iterator[str | None]:
    """Give the address of an empty database of a kind: ``sqlite`` (None) or ``postgres``."""
    if kind == "sqlite":
        yield None
        return
    with Postgres() as cluster:
        yield cluster.make_database("study")
