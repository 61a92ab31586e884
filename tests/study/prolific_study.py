"""A study on Prolific, its client, and people who come from there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import select

from affectlab.study.delivery.answers import Submission as Given
from affectlab.study.recruit import Outcome, ProlificClient
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import sessions

from .conftest import FACES
from .prolific import TOKEN, Prolific, running

STUDY = f"""{FACES}
[recruitment]
platform = "prolific"
study_id = "study1"
pay = 1.5
"""
REASON = "the same number was given to every face"
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]


@pytest.fixture
def platform() -> Iterator[Prolific]:
    with running(Prolific()) as state:
        yield state


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def client(platform: Prolific, waits: list[float]) -> Iterator[ProlificClient]:
    with ProlificClient(TOKEN, url=platform.url, timeout=2, wait=waits.append) as made:
        yield made


def take_part(store: Store, begin: Begin, platform: Prolific, name: str) -> int:
    """Complete a session as someone from Prolific; give its number."""
    platform.add(f"s{name}", f"p{name}")
    visitor = Visitor(
        "prolific", external_id=f"p{name}", external_session=f"s{name}", study_id="study1"
    )
    service, token, state = begin(store, visitor)
    while state["stage"] == "trials":
        label = state["trial"]["labels"][0]["name"]
        given = Given(
            int(state["trial"]["id"]), {"ratings": {label: 1}}, uuid.uuid4().hex, "radio", 900
        )
        state = service.answer(token, given)
    assert state["stage"] == "complete"
    with store.database.read() as connection:
        found = connection.execute(
            select(sessions.c.id).where(sessions.c.external_id == f"s{name}")
        )
        return int(found.scalar_one())


def states(outcomes: tuple[Outcome, ...]) -> list[tuple[str, str]]:
    return [(one.action, one.state) for one in outcomes]
