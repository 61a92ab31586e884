"""A dashboard of a study that pays, and a researcher who is logged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import func, select

from affectlab.study.server import Settings, create_app
from affectlab.study.store import Store
from affectlab.study.tables import events

from .conftest import FACES
from .desk import Desk, add_people

pytest.importorskip("argon2")


Maker = Callable[..., Store]
PAID = FACES + "[recruitment]\npay = 2.0\n"
REASON = "Every answer is the same number, whatever the picture shows."


@pytest.fixture
def make_app() -> Iterator[Callable[..., Any]]:
    """Make applications, and end what they started."""
    made: list[Any] = []

    def make(store: Store, **settings: Any) -> Any:
        given = {"statistics_seconds": 0.1, "requests_per_second": 0.0, **settings}
        made.append(create_app(store, Settings(**given)))
        return made[-1]

    yield make
    for app in made:
        app.state.live.close()


@pytest.fixture
def store(make_study: Maker) -> Store:
    made = make_study(PAID)
    add_people(made)
    return made


@pytest.fixture
def app(store: Store, make_app: Callable[..., Any]) -> Any:
    return make_app(store)


@pytest.fixture
def researcher(app: Any) -> Desk:
    return Desk(app, "researcher")


def scalar(store: Store, query: Any) -> Any:
    with store.database.read() as connection:
        return connection.execute(query).scalar_one()


def n_events(store: Store, kind: str) -> int:
    return int(scalar(store, select(func.count()).where(events.c.kind == kind)))
