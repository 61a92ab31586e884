"""Studies to test with, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from benchmarks._servers import Missing, Postgres

from affectlab.study import load_study
from affectlab.study.database import Database
from affectlab.study.design import Study
from affectlab.study.design.pairs import shows_pairs
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store

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


class Prepared:
    """What every new study makes again: the tables of its SQLite file, and its faces."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        tables = Database.in_folder(folder)
        tables.upgrade()
        tables.close()

    def put(self, study: Study, *, tables: bool) -> None:
        """Put it where a new study looks for it before it makes it."""
        study.state.mkdir(mode=0o700, parents=True)
        if tables:
            shutil.copy(self._folder / "study.sqlite", study.state)
        faces = self._faces(study)
        if faces is not None and faces.exists():
            shutil.copytree(faces, study.state / "media")

    def keep(self, study: Study) -> None:
        """Keep the faces that a study has drawn for the next that wants as many."""
        faces = self._faces(study)
        if faces is not None and not faces.exists():
            shutil.copytree(study.state / "media", faces)

    def _faces(self, study: Study) -> Path | None:
        n = study.design.stimuli.faces
        if n is None or study.protocol.staircase is not None or shows_pairs(study):
            return None
        return self._folder / f"faces-{n}"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Make what new studies share once: drawing and migrating take longer than most tests."""
    return Prepared(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def make_study(tmp_path: Path, prepared: Prepared) -> Iterator[Maker]:
    """Write a study file, and open its store; another text is put in with ``replace``.

    ``fresh`` leaves it to the study to draw its faces and to make its tables.
    """
    opened: list[Store] = []

    def make(
        text: str = FACES,
        *,
        replace: dict[str, str] | None = None,
        database: str | None = None,
        fresh: bool = False,
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
        study = load_study(path)
        if not fresh and not study.state.exists():
            prepared.put(study, tables=database is None)
        opened.append(open_store(study, database))
        if not fresh:
            prepared.keep(study)
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


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: Postgres) -> str:
    """Make a database with the tables of a study; give its name."""
    tables = Database(postgres_server.make_database("tables"))
    tables.upgrade()
    tables.close()
    return "tables"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def database(request: pytest.FixtureRequest) -> str | None:
    """Each kind of database in turn, without data; None is the SQLite file of the study."""
    if request.param == "sqlite":
        return None
    tables = request.getfixturevalue("postgres_tables")
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.make_database(f"t{uuid.uuid4().hex[:12]}", like=tables)


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
