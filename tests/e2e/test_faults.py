"""Servers are killed, and the database with them: whatever was acknowledged is there afterwards.

``AFFECTLAB_KILLS=20`` kills so often in each test, for a long run.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks._servers import Missing, Postgres, StudyServer
from benchmarks._study_browser import Load, take_part
from sqlalchemy import func, select

from affectlab.study import load_study, open_store
from affectlab.study.delivery.claims import expire
from affectlab.study.tables import answers, tasks, trials

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("AFFECTLAB_KILLS", "5"))
PEOPLE = 30
THINK = 0.3
LEASE_MS = 40 * 60_000
"""Longer than any lease of the study."""


def under_load(servers: list[StudyServer], harm: Callable[[], None]) -> Load:
    """Let people take part, one after the other on each place, while `harm` does its work."""
    load, over = Load(), threading.Event()

    async def place(number: int) -> None:
        turn = 0
        while not over.is_set():
            ports = [server.port for server in servers]
            random.Random(number).shuffle(ports)
            seed = 1000 * turn + number
            await take_part(ports, load, think=THINK, trials=20, seed=seed, patience=90)
            turn += 1

    async def everyone() -> None:
        await asyncio.gather(*(place(number) for number in range(PEOPLE)))

    people = threading.Thread(target=lambda: asyncio.run(everyone()))
    people.start()
    try:
        harm()
    finally:
        over.set()
        people.join()
    return load


def assert_whole(study: Path, database: str | None, load: Load) -> None:
    """Compare the database with what was acknowledged, and its counts with its rows."""
    assert not load.errors, load.errors[:3]
    assert len(load.stored) > 100
    with open_store(load_study(study), database) as store, store.database.write() as connection:
        rows = connection.execute(select(answers.c.key, answers.c.trial_id, answers.c.value)).all()
        found = {row.key: (row.trial_id, json.loads(row.value)) for row in rows}
        for one in load.stored:
            assert found[one.key] == (one.trial, one.answer)
        # Everyone went on until the last reply, so nothing is stored that was not acknowledged.
        assert len(rows) == len(load.stored)
        for moment in ("before", "after"):
            _assert_counts(connection, moment)
            if moment == "before":
                expire(connection, int(time.time() * 1000) + LEASE_MS)
        assert not connection.execute(select(func.sum(tasks.c.leased))).scalar_one()


def _assert_counts(connection: object, moment: str) -> None:
    def by_task(*conditions: object) -> dict[int, int]:
        rows = connection.execute(  # type: ignore[attr-defined]
            select(trials.c.task_id, func.count())
            .select_from(trials.outerjoin(answers, answers.c.trial_id == trials.c.id))
            .where(trials.c.task_id.is_not(None), *conditions)  # type: ignore[arg-type]
            .group_by(trials.c.task_id)
        )
        return {int(task): int(n) for task, n in rows}

    valid, leased = by_task(answers.c.valid.is_(True)), by_task(trials.c.state == "open")
    for task in connection.execute(select(tasks)).mappings():  # type: ignore[attr-defined]
        assert task["valid"] == valid.get(task["id"], 0), moment
        assert task["leased"] == leased.get(task["id"], 0), moment
        assert task["valid"] + task["leased"] <= task["wanted"], moment


def test_a_killed_server_loses_nothing(study: Path) -> None:
    drawn = random.Random(7)
    with StudyServer(study) as server:

        def kill() -> None:
            for _ in range(KILLS):
                time.sleep(drawn.uniform(0.3, 1.5))
                server.stop(signal.SIGKILL)
                server.start()
            time.sleep(1)

        load = under_load([server], kill)
    assert load.repeated
    assert_whole(study, None, load)


def test_two_killed_servers_lose_nothing(study: Path, postgres: str) -> None:
    drawn = random.Random(8)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(StudyServer(study, "--database", postgres)) for _ in range(2)
        ]

        def kill() -> None:
            for _ in range(KILLS):
                time.sleep(drawn.uniform(0.3, 1.5))
                server = drawn.choice(servers)
                server.stop(signal.SIGKILL)
                server.start()
            time.sleep(1)

        load = under_load(servers, kill)
    assert_whole(study, postgres, load)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_database_that_goes_away_and_comes_back(study: Path, mode: str) -> None:
    try:
        cluster = Postgres()
    except Missing as missing:
        pytest.skip(str(missing))
    with cluster:
        database = cluster.make_database("study")
        with StudyServer(study, "--database", database) as server:

            def restart() -> None:
                for _ in range(3):
                    time.sleep(2)
                    cluster.stop(mode)
                    time.sleep(0.5)
                    cluster.start()
                time.sleep(2)

            load = under_load([server], restart)
        assert load.repeated
        assert_whole(study, database, load)
