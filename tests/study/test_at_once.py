"""Several at one PostgreSQL database at once: none fails for what another is doing."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, func, select, text

from affectlab.study.database import _MIGRATIONS, SCHEMA, Database, hold
from affectlab.study.delivery.batches import give_up_place
from affectlab.study.errors import StudyError
from affectlab.study.people.erase import erase_person
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers

from .answering import Begin, Maker, submission
from .batched import JOY, TEXTS, batches as batches, check_whole

_WAITING = text(
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def until_another_waits(database: Database) -> None:
    """Return once somebody waits for a lock in the database."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with database.read() as connection:
            if connection.execute(_WAITING).scalar_one():
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


def test_who_opens_a_database_waits_for_who_changes_its_tables(postgres: str) -> None:
    first, second = Database(postgres), Database(postgres)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with first.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
    with ThreadPoolExecutor(1) as pool:
        with first.write() as connection:
            hold(connection, SCHEMA)
            opened = pool.submit(second.upgrade)
            until_another_waits(first)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        # It finds everything done.
        opened.result(timeout=20)
    for database in (first, second):
        database.close()


def test_a_person_is_erased_while_they_give_their_last_answer(
    make_study: Maker, begin: Begin, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Store = make_study(TEXTS, database=postgres)
    service, token, state = begin(store)
    while state["progress"]["done"] + 1 < state["progress"]["total"]:
        state = service.answer(token, submission(state, JOY))
    with ThreadPoolExecutor(2) as pool:
        sent: list[Future[dict[str, Any]]] = []

        def slowly(connection: Connection, session: int) -> None:
            if not sent:
                # In the middle of the erasure, the answer comes.
                sent.append(pool.submit(service.answer, token, submission(state, JOY)))
                until_another_waits(store.database)
            give_up_place(connection, session)

        monkeypatch.setattr("affectlab.study.delivery.claims.give_up_place", slowly)
        erased = pool.submit(erase_person, store, pseudonym(store, 1)).result(timeout=30)
        assert erased.answers in (2, 3)
        # The answer came too late: the session is nobody's any more.
        with pytest.raises(StudyError, match="not known here"):
            sent[0].result(timeout=30)
    with store.database.read() as connection:
        left = connection.execute(select(func.count()).select_from(answers)).scalar_one()
    assert left == 0
    check_whole(store)
