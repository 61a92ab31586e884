"""Studies to test with, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from affectlab.study import load_study
from affectlab.study._entry import Visitor, enter
from affectlab.study._service import Service
from affectlab.study._store import Store, open_store

FACES = """
[study]
name = "faces"
title = "What do these faces show?"
[protocol]
name = "intensity"
change = { asks = { taxonomy = "mikels", group_by = [] } }
[stimuli]
faces = 6
[sessions]
trials = 3
raters = 2
"""

TEXTS = """
[study]
name = "texts"
title = "What do these texts express?"
[protocol]
name = "multilabel"
change = { rules = { min_labels = 1, options = ["unclear"], exclusive = ["unclear"], \
suggestions = true } }
[stimuli]
table = "texts.csv"
[sessions]
trials = 10
"""

VERIFY = """
[study]
name = "verify"
title = "Is it there?"
[protocol]
name = "verification"
change = { asks = { taxonomy = "mikels" }, routing = { contrastive = true } }
[stimuli]
faces = 6
intended = "expression"
[sessions]
trials = 4
"""

Maker = Callable[..., Store]


@pytest.fixture
def make_study(tmp_path: Path) -> Iterator[Maker]:
    """Write a study file, and open its store; another text is put in with ``replace``."""
    opened: list[Store] = []

    def make(
        text: str = FACES, *, replace: dict[str, str] | None = None, database: str | None = None
    ) -> Store:
        for old, new in (replace or {}).items():
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "texts.csv").write_text(
            "stimulus,text,source\n" + "".join(f"t{k},Text number {k}.,forum\n" for k in range(4)),
            encoding="utf-8",
        )
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        opened.append(open_store(load_study(path), database))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL cluster of our own on a loopback port; its address without a database."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (initdb and pg_ctl were not found)")
    # Not below pytest's own folder, which no other user may enter.
    folder = Path(tempfile.mkdtemp(prefix="affectlab-postgres-"))
    run = _runner(folder)
    if run is None:
        folder.rmdir()
        pytest.skip("PostgreSQL does not run as root, and there is no user 'postgres'")
    data, port = folder / "data", _free_port()
    run([programs / "initdb", "-D", data, "-A", "trust", "-U", "affectlab", "-E", "UTF8"])
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c max_connections=200"
    start = [programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start"]
    run(start)
    yield f"postgresql+psycopg://affectlab@127.0.0.1:{port}"
    run([programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"])
    shutil.rmtree(folder)


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """Make an empty database on the test cluster; give its address."""
    from sqlalchemy import create_engine

    name = f"t{uuid.uuid4().hex[:12]}"
    engine = create_engine(f"{postgres_server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return f"{postgres_server}/{name}"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Each kind of database in turn; None is the SQLite file of the study."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgres")


def _programs() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "pg_ctl").exists()), None)


def _runner(folder: Path) -> Callable[[list[object]], None] | None:
    """Run programs as a user that PostgreSQL accepts: it refuses to run as root."""
    options: dict[str, object] = {}
    if os.geteuid() == 0:
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            return None
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def run(command: list[object]) -> None:
        # A file, not a pipe: the server that pg_ctl leaves behind would keep a pipe open.
        with (folder / "said").open("w") as said:
            done = subprocess.run(
                [str(part) for part in command],
                check=False,
                stdout=said,
                stderr=subprocess.STDOUT,
                cwd=folder,
                **options,  # type: ignore[call-overload]
            )
        assert done.returncode == 0, (folder / "said").read_text()

    return run


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def begin() -> Callable[..., tuple[Service, str, dict[str, object]]]:
    """Enter a study, and go to its trials."""

    def go(store: Store, visitor: Visitor | None = None) -> tuple[Service, str, dict[str, object]]:
        service = Service(store)
        token = enter(store, visitor or Visitor())
        state = service.state(token)
        if state["stage"] == "instructions":
            state = service.advance(token, "instructions", {})
        return service, token, state

    return go
