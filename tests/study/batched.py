"""A study that keeps batches whole, and what its batches count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from affectlab.study.store import Store
from affectlab.study.tables import answers, bundles, sessions, tasks, trials

from .answering import Begin, complete, table

TEXTS = """
[study]
name = "batches"
title = "What do these texts express?"
[protocol]
name = "multilabel"
change = { routing = { extra_raters = 0 } }
[stimuli]
table = "batches.csv"
[sessions]
batch = "batch"
raters = 2
"""
SIZES = {"a": 4, "b": 4, "c": 3}
JOY = {"chosen": ["joy"]}


@pytest.fixture(autouse=True)
def batches(tmp_path: Path) -> Path:
    """A table of three batches."""
    rows = [f"{name}{k},Text {k} of {name}.,{name}" for name, n in SIZES.items() for k in range(n)]
    path = tmp_path / "batches.csv"
    path.write_text("stimulus,text,batch\n" + "\n".join(rows), encoding="utf-8")
    return path


def given_to(store: Store) -> dict[int, set[str]]:
    """Names of the stimuli of the main trials of each session."""
    found: dict[int, set[str]] = {}
    kinds = (trials.c.session_id, trials.c.stimulus_id)
    with store.database.read() as connection:
        rows = connection.execute(select(*kinds).where(trials.c.kind == "main")).all()
    for session, stimulus in rows:
        found.setdefault(session, set()).add(store.content[stimulus]["name"])
    return found


def places(store: Store) -> dict[str, tuple[int, int]]:
    """Valid and holding sessions of each batch, as it counts them."""
    found = table(store, bundles.c.name, bundles.c.valid, bundles.c.leased)
    return {name: (valid, leased) for name, valid, leased in found}


def check_whole(store: Store) -> None:
    """Compare all counts with what they count, and check that each session was given one batch."""
    is_open = trials.c.state == "open"
    with store.database.read() as connection:

        def count(*what: Any, of: Any, joined: bool = False) -> dict[int, int]:
            rows = select(of, func.count()).where(*what).group_by(of)
            if joined:
                rows = rows.join(answers, answers.c.trial_id == trials.c.id)
            return {key: int(n) for key, n in connection.execute(rows)}

        counts = answers.c.valid.is_(True)
        valid = count(counts, of=trials.c.task_id, joined=True)
        leased = count(is_open, of=trials.c.task_id)
        for task in connection.execute(select(tasks)).mappings():
            found = (valid.get(task["id"], 0), leased.get(task["id"], 0))
            assert (task["valid"], task["leased"]) == found
        counted = count(sessions.c.place == "counted", of=sessions.c.bundle_id)
        held = count(sessions.c.place == "held", of=sessions.c.bundle_id)
        for bundle in connection.execute(select(bundles)).mappings():
            found = (counted.get(bundle["id"], 0), held.get(bundle["id"], 0))
            assert (bundle["valid"], bundle["leased"]) == found
            assert bundle["leased"] <= bundle["wanted"]
            if bundle["valid"] >= bundle["wanted"]:
                own = select(tasks).where(tasks.c.bundle_id == bundle["id"])
                for task in connection.execute(own).mappings():
                    assert task["valid"] >= task["wanted"]
        holding = count(is_open, trials.c.task_id.is_not(None), of=trials.c.session_id)
        done = count(trials.c.kind == "main", trials.c.state == "answered", of=trials.c.session_id)
        good = count(counts, of=trials.c.session_id, joined=True)
        for row in connection.execute(select(sessions)).mappings():
            assert (row["place"] == "held") == (row["id"] in holding)
            if row["place"] == "counted":
                assert row["stage"] == "complete"
                assert good[row["id"]] == done[row["id"]] >= 3
    whole = {name: {f"{name}{k}" for k in range(n)} for name, n in SIZES.items()}
    assert all(stimuli in whole.values() for stimuli in given_to(store).values())


def let_leases_end(store: Store) -> None:
    with store.database.write() as connection:
        connection.execute(update(trials).values(lease_until=1))


def rated(begin: Begin, store: Store) -> tuple[str, str]:
    """Let somebody rate one batch; give the token and the stage at the end."""
    service, token, state = begin(store)
    return token, complete(service, token, state, answer=JOY)["stage"]
