"""Answer the trials of a study as a test wants, and check what it counts."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select

from affectlab.study.delivery.answers import Submission
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import answers, tasks, trials


def submission(state: dict[str, Any], answer: dict[str, Any] | None = None) -> Submission:
    """Answer the trial of a state."""
    trial = state["trial"]
    given = answer or {"ratings": {trial["labels"][0]["name"]: 1}}
    return Submission(int(trial["id"]), given, uuid.uuid4().hex, trial["widget"], 900)


def complete(service: Service, token: str, state: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Answer all trials of a session."""
    while state["stage"] == "trials":
        state = service.answer(token, submission(state, **given))
    return state


def table(store: Store, *columns: Any) -> list[Any]:
    with store.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]


def consistent(store: Store) -> None:
    """Check the counts of all tasks against the answers and leases they count."""
    with store.database.read() as connection:
        for task in connection.execute(select(tasks)).mappings():
            valid = connection.execute(
                select(func.count())
                .select_from(answers.join(trials))
                .where(trials.c.task_id == task["id"], answers.c.valid)
            ).scalar_one()
            leased = connection.execute(
                select(func.count()).where(trials.c.task_id == task["id"], trials.c.state == "open")
            ).scalar_one()
            assert (task["valid"], task["leased"]) == (valid, leased)


Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]
