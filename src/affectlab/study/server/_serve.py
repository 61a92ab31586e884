"""Running the server, in one process or several."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from affectlab.errors import InputError
from affectlab.study._design import load_study
from affectlab.study._store import open_store
from affectlab.study.server._app import create_app
from affectlab.study.server._settings import Settings

__all__ = ["from_environment", "serve"]

_VARIABLE = "AFFECTLAB_SERVE"
"""Tells the processes of a server what to serve; the database's password may stand in it."""


def serve(
    path: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    database: str | None = None,
    workers: int = 1,
    settings: Settings | None = None,
    ready: Callable[[str], None] | None = None,
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
        Called with the address before serving begins, when all could be opened.

    Raises
    ------
    InputError
        When the study file cannot be used, or `workers` does not fit the database.
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
    store = open_store(load_study(path), database)
    if ready is not None:
        ready(f"http://{host}:{port}/")
    common: dict[str, Any] = {
        "host": host,
        "port": port,
        "log_level": "warning",
        # Addresses of participants are nobody's business.
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": 10,
    }
    if workers == 1:
        try:
            uvicorn.run(create_app(store, settings), **common)
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
    return create_app(store, Settings(**told["settings"]))
