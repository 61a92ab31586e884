"""The database of a study: SQLite by default, PostgreSQL for many participants or processes."""

from __future__ import annotations

import hashlib
import os
import random
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    URL,
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    cast,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DisconnectionError,
    NoSuchModuleError,
    SQLAlchemyError,
)

from affectlab.core.errors import AffectlabError, InputError
from affectlab.core.remote.addresses import without_password

__all__ = [
    "SCHEMA",
    "TASKS",
    "Database",
    "drawn_order",
    "first_line",
    "hold",
    "now_ms",
]

_MIGRATIONS = Path(__file__).parent / "migrations"
_OWN, _OWN_FOLDER = 0o600, 0o700
"""Rights on files and folders that hold data about people: their owner's alone."""
_BUSY_MS = 20_000
"""How long a connection waits for another process to finish writing (SQLite)."""
_CONNECTIONS = 16
"""Most connections of one process to PostgreSQL, which by default takes 100 in all."""
_UNUSED_SECONDS = 0.5
"""After how long a connection to PostgreSQL may have been lost unnoticed."""
SCHEMA, TASKS = "schema", "tasks"
"""What is held, by name: the tables while they are made or changed, and the counts of tasks."""
_HOLD = text("SELECT pg_advisory_xact_lock(:number)")


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def hold(connection: Connection, name: str) -> None:
    """Let nobody else hold a name until this transaction ends; wait while somebody does.

    SQLite has one writer at a time, so that nothing is left to do there.
    """
    if connection.dialect.name == "postgresql":
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        connection.execute(_HOLD, {"number": number})


class Database:
    """Connections to the database of one study.

    Parameters
    ----------
    url
        Address as SQLAlchemy writes it: ``sqlite:///…`` or ``postgresql+psycopg://…``.

    Raises
    ------
    InputError
        When the address is not understood or names another kind of database.
    """

    def __init__(self, url: str | URL) -> None:
        try:
            address = make_url(url)
        except ArgumentError:
            raise InputError(
                "database: the address is not understood; expected sqlite:///FILE or "
                "postgresql+psycopg://USER@HOST/NAME"
            ) from None
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        self.is_sqlite = address.get_backend_name() == "sqlite"
        if not self.is_sqlite and address.get_backend_name() != "postgresql":
            raise InputError(
                f"database: {address.get_backend_name()} is not supported; expected sqlite or "
                "postgresql"
            )
        # Errors of the database are logged; what participants sent is not to stand in them.
        options: dict[str, Any] = {"hide_parameters": True}
        if self.is_sqlite:
            options["connect_args"] = {"check_same_thread": False}
        else:
            options |= {
                "isolation_level": "READ COMMITTED",
                "pool_size": _CONNECTIONS,
                # One that was opened stays: it has the statements prepared that come all the time.
                "max_overflow": 0,
                "pool_use_lifo": True,
            }
        try:
            self.engine: Engine = create_engine(address, **options)
        except NoSuchModuleError:
            raise InputError(f"database: no driver for {address.drivername!r}") from None
        self._writing = threading.Lock()
        self._reading = self.engine
        if self.is_sqlite:
            _prepare_sqlite(self.engine)
        else:
            _prepare_postgres(self.engine)
            # Each statement sees what is there when it begins, within a transaction or without.
            self._reading = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @classmethod
    def in_folder(cls, folder: Path) -> Database:
        """Open the SQLite database in a study's folder, which is made when absent."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder.absolute() / "study.sqlite"
        # SQLite would make it for everybody to read; what it puts beside it gets the same rights.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, _OWN))
        for own, rights in ((folder, _OWN_FOLDER), *((one, _OWN) for one in _with_logs(file))):
            _keep_private(own, rights)
        # Not as text, in which "?" and "%" would mean something.
        return cls(URL.create("sqlite", database=str(file)))

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes; it commits at the end and rolls back on an error.

        SQLite has one writer at a time: the threads of a process queue up here, processes wait in
        the database. PostgreSQL locks the rows that are read ``FOR UPDATE``.
        """
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._writing, self.engine.connect() as connection:
            connection = connection.execution_options(affectlab_write=True)
            with connection.begin():
                yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection for reading.

        On SQLite it is a transaction; on PostgreSQL every statement is one of its own, which saves
        beginning and ending it.
        """
        with self._reading.connect() as connection:
            yield connection

    def upgrade(self) -> None:
        """Create the tables, or bring them to the version of this package.

        Raises
        ------
        AffectlabError
            When the database cannot be reached, or was written by a newer version.
        """
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        script = ScriptDirectory.from_config(config)
        try:
            with self.write() as connection:
                # Of several that open a database at once, one changes its tables.
                hold(connection, SCHEMA)
                current = MigrationContext.configure(connection).get_current_revision()
                known = {revision.revision for revision in script.walk_revisions()}
                if current is not None and current not in known:
                    raise AffectlabError(
                        f"the database is of a newer version of affectlab ({current}); update "
                        "affectlab to open it"
                    )
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except DatabaseError as error:
            raise AffectlabError(f"the database cannot be opened: {first_line(error)}") from None

    def check(self) -> None:
        """Raise when the database does not answer."""
        with self.read() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _with_logs(file: Path) -> list[Path]:
    """Give the files of a SQLite database that are there."""
    every = (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm"))
    return [one for one in every if one.exists()]


def _keep_private(path: Path, rights: int) -> None:
    """Take rights on data about people from everybody but their owner."""
    now = stat.S_IMODE(path.stat().st_mode)
    if not now & ~rights:
        return
    try:
        path.chmod(now & rights)
    except PermissionError:
        raise AffectlabError(
            f"{path}: others may read it, and it belongs to another user; have its owner run "
            f"chmod go-rwx on it"
        ) from None


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: Any) -> None:
        # The driver would begin transactions by itself, and too late to hold what was read.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # An answer that was acknowledged is on the disk, even when the power fails.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("affectlab_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgres(engine: Engine) -> None:
    """Look whether a connection that was not used for a moment is still there.

    Those in steady use are not asked first, which would cost every transaction a round trip: when
    one breaks, the pool drops all, and what was asked is answered with a 503 or asked again.
    """

    @event.listens_for(engine, "checkin")
    def returned(_connection: Any, record: Any) -> None:
        record.info["returned"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def taken(connection: Any, record: Any, _fairy: Any) -> None:
        returned = record.info.get("returned")
        if returned is None or time.monotonic() - returned < _UNUSED_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error


def first_line(error: Exception) -> str:
    """Give the first line of what a database says of an error."""
    return str(getattr(error, "orig", error)).strip().splitlines()[0]


# An order of rows that is drawn from a seed, within the database.


_PRIME = 2**31 - 1


def drawn_order(column: ColumnElement[Any], seed: str) -> ColumnElement[int]:
    """Give the place of each number of a column in an order that is drawn from a seed.

    A line modulo a prime: every two numbers stand in every order of theirs equally often.
    """
    drawn = random.Random(seed)
    factor, shift = drawn.randrange(1, _PRIME), drawn.randrange(_PRIME)
    return (cast(column, BigInteger) * factor + shift) % _PRIME


def try_address(url: str) -> dict[str, Any]:
    """Connect to the database of studies at an address; nothing is changed there.

    Returns
    -------
    dict
        ``address`` (without its password), ``problem`` ("" where it was reached), ``version`` and
        ``has_study``.
    """
    found: dict[str, Any] = {"address": without_password(url), "version": "", "has_study": False}
    if url.partition("?")[0].count("@") > 1:
        # It would be cut in the middle, and its end taken for the host.
        problem = "the address has more than one @; expected %40 for one in a password"
        return found | {"problem": problem}
    database = None
    try:
        database = Database(url)
        file = database.engine.url.database
        if database.is_sqlite and not (file and Path(file).exists()):
            # Opening it would make the file.
            return found | {"problem": f"there is no file {file}"}
        asked = "sqlite_version()" if database.is_sqlite else "current_setting('server_version')"
        with database.read() as connection:
            found["version"] = connection.execute(text(f"SELECT {asked}")).scalar()
        found["has_study"] = inspect(database.engine).has_table("alembic_version")
    except (InputError, SQLAlchemyError, OSError, ValueError) as error:
        said = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
        # A driver repeats what it could not read, the password with it.
        return found | {"problem": without_password(said.splitlines()[0])}
    finally:
        if database is not None:
            database.close()
    return found | {"problem": ""}
