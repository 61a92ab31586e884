"""What a rehearsal says of who came: not everyone who comes finds something to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from affectlab import InputError
from affectlab.study import simulate_study
from affectlab.study.dataset.ratings import collect
from affectlab.study.delivery.answers import Submission
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import participants

Maker = Callable[..., Store]


@pytest.mark.long
def test_only_those_who_answered_took_part(make_study: Maker) -> None:
    """Six faces, three to a session, two people each: four people fill the study."""
    store = make_study()
    found = simulate_study(store.study.path, people=7, careless=4, seed=3)
    ratings = collect(store)
    assert ratings is not None
    assert (found.people, found.took_part, found.completed) == (7, ratings.n_raters, 4)
    assert found.careless == ratings.raters["careless"].sum()
    with store.database.read() as connection:
        assert len(connection.execute(select(participants.c.id)).all()) == 7


def test_a_study_that_people_have_answered_says_how_to_rehearse(make_study: Maker) -> None:
    store = make_study()
    service, token = Service(store), enter(store, Visitor())
    trial = service.advance(token, "instructions", {})["trial"]
    answer = {"ratings": {trial["labels"][0]["name"]: 3}}
    service.answer(token, Submission(int(trial["id"]), answer, "k" * 32, trial["widget"], 900))
    with pytest.raises(InputError, match=r"given 1 answers.*copy the file.*delete .*affectlab"):
        simulate_study(store.study.path, people=2, careless=0)
