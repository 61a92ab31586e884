"""Batches stay whole, and are counted right, though servers are killed under load."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks._servers import StudyServer
from sqlalchemy import func, select

from affectlab.study import load_study, open_store
from affectlab.study.tables import bundles, sessions, tasks, trials

from .test_faults import KILLS, assert_whole, under_load

pytestmark = pytest.mark.long

BATCH = 12


@pytest.fixture
def batched(study: Path) -> Path:
    """The study, with its faces in batches of twelve."""
    files = sorted(file.name for file in (study.parent / "faces").glob("*.png"))
    rows = [f"{name},{name},{number // BATCH}" for number, name in enumerate(files)]
    table = "stimulus,file,batch\n" + "\n".join(rows)
    (study.parent / "batches.csv").write_text(table, encoding="utf-8")
    words = study.read_text().replace('folder = "faces"', 'folder = "faces"\ntable = "batches.csv"')
    words = words.replace("trials = 20\nraters = 12", 'batch = "batch"\nraters = 40')
    assert 'batch = "batch"' in words
    study.write_text(words, encoding="utf-8")
    return study


@pytest.mark.parametrize("n", [1, 2])
def test_killed_servers_keep_batches_whole(
    batched: Path, n: int, request: pytest.FixtureRequest
) -> None:
    database = request.getfixturevalue("postgres") if n > 1 else None
    options = () if database is None else ("--database", database)
    drawn = random.Random(n)
    with ExitStack() as stack:
        servers = [stack.enter_context(StudyServer(batched, *options)) for _ in range(n)]

        def kill() -> None:
            for _ in range(KILLS):
                time.sleep(drawn.uniform(0.3, 1.5))
                server = drawn.choice(servers)
                server.stop(signal.SIGKILL)
                server.start()
            time.sleep(1)

        load = under_load(servers, kill)
    assert load.completed > BATCH
    # All leases have run out when it is done.
    assert_whole(batched, database, load)
    with open_store(load_study(batched), database) as store, store.database.read() as connection:
        own = dict(connection.execute(select(tasks.c.stimulus_id, tasks.c.bundle_id)).all())
        given: dict[int, list[int]] = {}
        wanted = select(trials.c.session_id, trials.c.stimulus_id).where(trials.c.kind == "main")
        for session, stimulus in connection.execute(wanted):
            given.setdefault(session, []).append(own[stimulus])
        assert {tuple(Counter(of).values()) for of in given.values()} == {(BATCH,)}
        counted = (
            select(sessions.c.bundle_id, func.count())
            .where(sessions.c.stage == "complete")
            .group_by(sessions.c.bundle_id)
        )
        complete = dict(connection.execute(counted).all())
        for row in connection.execute(select(bundles)).mappings():
            assert (row["valid"], row["leased"]) == (complete.get(row["id"], 0), 0)
        # The batch with the fewest sessions goes first.
        n_given = Counter(of[0] for of in given.values())
        assert len(n_given) == 6
        assert max(n_given.values()) - min(n_given.values()) <= 1
