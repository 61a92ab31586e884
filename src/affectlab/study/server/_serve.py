"""Running the server, in one process or several."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from affectlab.errors import InputError
from affectlab.study._accounts_login import make_setup
from affectlab.study._design import load_study
from affectlab.study._store import open_store
from affectlab.study.server._app import create_app
from affectlab.study.server._listening import check_free
from affectlab.study.server._settings import Settings
from affectlab.study.server._stopping import watch_signals

__all__ = ["Addresses", "from_environment", "serve"]

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
        "affectlab.study.server._serve:from_environment", factory=True, workers=workers, **common
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
