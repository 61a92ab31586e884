"""The databases of studies: SQLite, and PostgreSQL where an address is given."""

from __future__ import annotations

from typing import Any

from affectlab.core.environment.processes import ask
from affectlab.core.remote.addresses import without_password

_SQLITE = """\
import json, pathlib, tempfile
found = {"sqlite": None, "problem": ""}
try:
    import sqlite3
    found["sqlite"] = sqlite3.sqlite_version
    with tempfile.TemporaryDirectory() as folder:
        found["folder"] = tempfile.gettempdir()
        place = pathlib.Path(folder) / "study.sqlite"
        with sqlite3.connect(place) as connection:
            found["journal"] = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("CREATE TABLE answers (value TEXT)")
            connection.execute("INSERT INTO answers VALUES ('kept')")
        connection.close()
        connection = sqlite3.connect(place)
        kept = connection.execute("SELECT value FROM answers").fetchall()
        connection.close()
        if kept != [("kept",)]:
            found["problem"] = "what was written was not read back"
except BaseException as error:
    found["problem"] = f"{type(error).__name__}: {error}".splitlines()[0]
say(json.dumps(found))
"""

_DRIVER = """\
import json
found = {"driver": None, "problem": ""}
try:
    import psycopg
    found["driver"] = f"psycopg {psycopg.__version__} ({psycopg.pq.__impl__})"
except ModuleNotFoundError as error:
    if error.name != "psycopg":
        found["problem"] = f"{type(error).__name__}: {error}"
except BaseException as error:
    found["problem"] = f"{type(error).__name__}: {error}".splitlines()[0]
say(json.dumps(found))
"""

_ADDRESS = """\
import json, os, sys
url = json.load(sys.stdin)
# How long to wait for a server that does not answer, where the address does not say it.
os.environ.setdefault("PGCONNECT_TIMEOUT", "10")
found = {"reached": False, "problem": ""}
try:
    from sqlalchemy import text
    from affectlab.study.database import Database
    database = Database(url)
    found["kind"] = "SQLite" if database.is_sqlite else "PostgreSQL"
    if database.is_sqlite:
        # Opening it would make the file.
        file = database.engine.url.database
        found["problem"] = "" if file and os.path.exists(file) else f"there is no file {file}"
    if not found["problem"]:
        with database.read() as connection:
            ask = "sqlite_version()" if database.is_sqlite else "current_setting('server_version')"
            found["version"] = connection.execute(text("SELECT " + ask)).scalar()
            found["reached"] = True
            if database.is_sqlite:
                found["may_create"] = os.access(file, os.W_OK)
            else:
                found["may_create"] = bool(connection.execute(text(
                    "SELECT has_schema_privilege(current_schema(), 'CREATE')"
                    " AND NOT pg_is_in_recovery()")).scalar())
        from sqlalchemy import inspect
        found["has_study"] = inspect(database.engine).has_table("alembic_version")
        database.close()
except BaseException as error:
    lines = str(getattr(error, "orig", None) or error).splitlines()
    said = [line.strip() for line in lines if line.strip()]
    ours = type(error).__module__.startswith("affectlab")
    first = said[0] if said else type(error).__name__
    found["problem"] = first if ours or getattr(error, "orig", None) else (
        f"{type(error).__name__}: {first}" if said else first)
say(json.dumps(found))
"""
_SECONDS = 40.0


def database(url: str | None, *, look: bool = True) -> dict[str, Any]:
    """Write to SQLite and read it back; connect to the database at an address.

    Parameters
    ----------
    url
        Address as ``affectlab study serve`` takes it; None: none is tried.
    look
        Write to SQLite, and import the driver of PostgreSQL; without, the version of SQLite is all.

    Returns
    -------
    dict
        ``sqlite``, ``driver`` and ``address``, the last None without an address. Each has
        ``problem``, "" for none.
    """
    found: dict[str, Any] = {"driver": None}
    if look:
        found["sqlite"] = {"sqlite": None} | ask(_SQLITE, None, seconds=_SECONDS)
        found["driver"] = {"driver": None} | ask(_DRIVER, None, seconds=_SECONDS)
    else:
        found["sqlite"] = _sqlite_version()
    return found | {"address": None if url is None else try_address(url)}


def _sqlite_version() -> dict[str, Any]:
    try:
        import sqlite3
    except ImportError as error:
        return {"sqlite": None, "problem": str(error)}
    return {"sqlite": sqlite3.sqlite_version, "problem": ""}


def try_address(url: str) -> dict[str, Any]:
    """Connect to the database at an address, as a study would; nothing is changed there.

    Returns
    -------
    dict
        ``address`` (without its password), ``reached``, ``problem`` and, where it was reached,
        ``kind``, ``version``, ``may_create`` (tables) and ``has_study``.
    """
    shown = {"address": without_password(url)}
    if url.partition("?")[0].count("@") > 1:
        # It would be cut in the middle, and its end taken for the host and told to everybody.
        return shown | {
            "reached": False,
            "problem": "the address has more than one @; expected %40 for one in a password",
        }
    told = {"reached": False} | ask(_ADDRESS, url, seconds=_SECONDS)
    # A driver repeats what it could not read, the password with it.
    told["problem"] = without_password(told["problem"])
    return shown | told
