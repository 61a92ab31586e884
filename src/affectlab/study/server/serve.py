"""Running the server, in one process or several."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.study.design import load_study
from affectlab.study.people import make_setup
from affectlab.study.server.app import create_app
from affectlab.study.server.settings import Settings
from affectlab.study.store import open_store

__all__ = [
    "Addresses",
    "check_free",
    "from_environment",
    "serve",
    "watch_signals",
]

# Whether a server can listen where it is to, said before it tells anyone its address.


def check_free(host: str, port: int) -> None:
    """Check that nobody else listens on a port.

    Parameters
    ----------
    host, port
        Where a server is to listen.

    Raises
    ------
    InputError
        When the port is taken, or this machine has no such address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found[:1]:
            with socket.socket(family, kind, protocol) as tried:
                # As the server does: the port of one that has just ended is free. On Windows the
                # same word would let two servers have one port.
                if os.name == "posix":
                    tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is taken, perhaps by a study that is still served; stop "
                f"that, or name another port ({option('port', port + 1 if port < 65535 else 8000)})"
            ) from None
        raise InputError(
            f"{host}, port {port}: nothing can be served there ({error.strerror or error})"
        ) from None


# Noticing that the server is about to stop.


def watch_signals(stopping: threading.Event) -> None:
    """Set an event with the signals that end the server, which gets them all the same.

    Streams end with it, instead of being waited for. To be called once the server listens to
    signals itself, in its main thread.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def noticed(number: int, frame: FrameType | None, before: object = before) -> None:
            stopping.set()
            if callable(before):
                before(number, frame)

        signal.signal(number, noticed)


_HAND_OVER_SECONDS = 0.001
_VARIABLE = "AFFECTLAB_SERVE"
"""Tells the processes of a server what to serve; the database's password may stand in it."""


@dataclass(frozen=True)
class Addresses:
    """Where a server can be reached."""

    participants: str
    dashboard: str
    setup: str | None
    """One-time link that makes the first account of the dashboard; None where there is one."""


def serve(
    path: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    database: str | None = None,
    workers: int = 1,
    settings: Settings | None = None,
    ready: Callable[[Addresses], None] | None = None,
) -> None:
    """Serve a study until interrupted.

    Parameters
    ----------
    path
        The study file.
    host, port
        Where to listen. The default host is this machine alone.
    database
        Address of a database; None: SQLite in the study's folder.
    workers
        Processes. More than one needs PostgreSQL: SQLite has one writer at a time.
    settings
        Limits, and what stands in front of the server.
    ready
        Called with the addresses before serving begins, when all could be opened.

    Raises
    ------
    InputError
        When the study file cannot be used, the port is taken, or `workers` does not fit the
        database.
    """
    import uvicorn

    if workers < 1:
        raise InputError(f"workers {workers}: expected at least 1")
    settings = settings or Settings()
    if workers > 1 and (database is None or database.startswith("sqlite")):
        raise InputError(
            f"workers {workers}: several processes need PostgreSQL; name a database, or take one"
        )
    # Opened here first, so that what is wrong is said once and before anything listens.
    study = load_study(path)
    check_free(host, port)
    store = open_store(study, database)
    if ready is not None:
        here = f"http://{host}:{port}"
        secret = make_setup(store)
        # Behind the #, where it reaches neither the server's log nor another site.
        link = None if secret is None else f"{here}/dashboard/setup#{secret}"
        ready(Addresses(f"{here}/", f"{here}/dashboard", link))
    common: dict[str, Any] = {
        "host": host,
        "port": port,
        "log_level": "warning",
        # Addresses of participants are nobody's business.
        "access_log": False,
        "server_header": False,
        # Anyone on this machine may write X-Forwarded-For; where a proxy of ours does, we read it.
        "proxy_headers": False,
        # People look at a trial for longer than the few seconds that uvicorn waits.
        "timeout_keep_alive": 75,
        "timeout_graceful_shutdown": 10,
    }
    if workers == 1:
        try:
            uvicorn.run(lambda: _noticing(create_app(store, settings)), factory=True, **common)
        finally:
            store.close()
        return
    store.close()
    told = {"path": str(path), "database": database, "settings": asdict(settings)}
    os.environ[_VARIABLE] = json.dumps(told)
    uvicorn.run(
        "affectlab.study.server.serve:from_environment", factory=True, workers=workers, **common
    )


def from_environment() -> Any:
    """Make the application in a process of its own, as :func:`serve` said."""
    told = json.loads(os.environ[_VARIABLE])
    store = open_store(load_study(told["path"]), told["database"])
    return _noticing(create_app(store, Settings(**told["settings"])))


def _noticing(app: Any) -> Any:
    """Watch for the end of the server, which listens to signals by the time it makes this.

    Threads of a server hand over sooner than others: an answer, which takes little, then does not
    wait for each of those who are just entering.
    """
    sys.setswitchinterval(_HAND_OVER_SECONDS)
    watch_signals(app.state.live.stopping)
    return app
