"""Studies to test with, on SQLite and on PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from benchmarks._servers import Missing, Postgres

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
def postgres_server() -> Iterator[Postgres]:
    """Start a PostgreSQL cluster of our own on a loopback port."""
    try:
        cluster = Postgres()
    except Missing as missing:
        pytest.skip(str(missing))
    with cluster:
        yield cluster


@pytest.fixture
def postgres(postgres_server: Postgres) -> str:
    """Make an empty database on the test cluster; give its address."""
    return postgres_server.make_database(f"t{uuid.uuid4().hex[:12]}")


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Each kind of database in turn; None is the SQLite file of the study."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgres")


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
