"""People who take part, of whom something is known that must not be left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import sessions

from .test_engine import submission, table

CONSENT = '[consent]\ntext = "Please take part."\n'
KEEP = f'{CONSENT}on_withdrawal = "keep"\n'
PLATFORM = '[recruitment]\nplatform = "prolific"\n'
ABOUT = '[[demographics.questions]]\nname = "town"\nquestion = "Where?"\nkind = "text"\n'
ONE = {"raters = 2": "raters = 1"}
TOWN = "Entenhausen"
PERSON = "5f0000aaaa"
WORK = "60d111bbbb"
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]


def take_part(
    store: Store, visitor: Visitor | None = None, most: int = 99
) -> tuple[Service, str, dict[str, Any]]:
    """Go through a session, up to so many answers."""
    service = Service(store)
    token = enter(store, visitor or Visitor())
    state = service.state(token)
    given: dict[str, dict[str, Any]] = {
        "consent": {"agreed": True},
        "demographics": {"answers": {"town": TOWN}},
        "instructions": {},
    }
    while state["stage"] in given:
        state = service.advance(token, state["stage"], given[state["stage"]])
    while state["stage"] == "trials" and most:
        state = service.answer(token, submission(state))
        most -= 1
    return service, token, state


def verdicts(store: Store) -> list[Any]:
    return [one for (one,) in table(store, sessions.c.verdict)]
