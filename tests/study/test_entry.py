"""Entering a study, and the stages of a session."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from affectlab.study.dataset.ratings import collect
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.people.invitations import create_invitations as invite
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.tables import participants, sessions, trials
from affectlab.study.watch.status import study_status

from .answering import Begin, Maker, complete, consistent, submission, table
from .conftest import FACES


class TestEntry:
    def test_nobody_gets_a_task_twice(self, make_study: Maker) -> None:
        store = make_study(replace={"trials = 3": "trials = 4\nmost_per_rater = 5"})
        service = Service(store)
        person = Visitor("prolific", external_id="p1")
        seen: list[int] = []
        for _ in range(3):
            token = enter(store, person)
            state = service.state(token)
            if state["stage"] == "instructions":
                state = service.advance(token, "instructions", {})
            complete(service, token, state)
        seen = [task for (task,) in table(store, trials.c.task_id)]
        assert len(seen) == len(set(seen)) == 6

    def test_a_known_person_takes_up_the_same_session(self, make_study: Maker) -> None:
        store = make_study()
        service = Service(store)
        person = Visitor("prolific", external_id="p1")
        old = enter(store, person)
        state = service.advance(old, "instructions", {})
        new = enter(store, person)
        assert service.state(new)["trial"] == state["trial"]
        with pytest.raises(StudyError, match="not known"):
            service.state(old)
        assert len(table(store, sessions.c.id)) == 1

    def test_a_finished_session_still_shows_its_code(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        person = Visitor("prolific", external_id="p1")
        service, token, state = begin(store, person)
        code = complete(service, token, state)["complete"]["code"]
        again = Service(store).state(enter(store, person))
        assert again["complete"]["code"] == code
        assert len(table(store, sessions.c.id)) == 1

    def test_invitations_are_personal_and_secret(self, make_study: Maker) -> None:
        store = make_study()
        first, _ = invite(store, 2)
        enter(store, Visitor("link", invitation=first))
        stored = {value for (value,) in table(store, participants.c.invitation)}
        assert first not in stored
        with pytest.raises(StudyError, match="not known"):
            enter(store, Visitor("link", invitation="guess"))
        assert len(table(store, sessions.c.id)) == 1

    def test_an_open_study_may_want_a_word(self, make_study: Maker) -> None:
        store = make_study(FACES + '[recruitment]\ncode = "tulip"\n')
        with pytest.raises(StudyError, match="not complete"):
            enter(store, Visitor())
        enter(store, Visitor(code="tulip"))

    @pytest.mark.parametrize("status", ["paused", "closed"])
    def test_nobody_enters_what_is_not_open(
        self, make_study: Maker, begin: Begin, status: str
    ) -> None:
        store = make_study()
        service, token, state = begin(store)
        store.set_status(status)
        with pytest.raises(StudyError, match=status):
            enter(store, Visitor())
        if status == "paused":
            assert complete(service, token, state)["stage"] == "complete"
        else:
            with pytest.raises(StudyError, match="at stage ended"):
                service.answer(token, submission(state))
            assert service.state(token)["ended"]["reason"] == "closed"

    def test_a_blocked_person_stays_out(self, make_study: Maker) -> None:
        store = make_study()
        person = Visitor("prolific", external_id="p1")
        enter(store, person)
        with store.database.write() as connection:
            connection.execute(update(participants).values(blocked=True))
        with pytest.raises(StudyError) as refused:
            enter(store, person)
        assert refused.value.status == 403

    def test_a_session_left_too_long_ends(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        service.answer(token, submission(state))
        with store.database.write() as connection:
            connection.execute(update(sessions).values(last_seen_at=1))
        assert service.state(token)["ended"]["reason"] == "late"
        assert study_status(store).answers == 1
        consistent(store)


class TestStages:
    TEXT = (
        FACES
        + """
[consent]
text = "Please take part."
[demographics]
questions = [
  { name = "age", question = "How old are you?", kind = "number", low = 18, high = 120 },
  { name = "gender", question = "What is your gender?", choices = ["woman", "man", "other"] },
]
[quiz]
questions = [{ question = "What is 0?", choices = ["absent", "skipped"], answer = "absent" }]
"""
    )

    def test_all_stages_in_order(self, make_study: Maker) -> None:
        store = make_study(self.TEXT)
        service, token = Service(store), enter(store, Visitor())
        assert service.state(token)["consent"]["paragraphs"] == ["Please take part."]
        state = service.advance(token, "consent", {"agreed": True})
        assert [one["name"] for one in state["demographics"]["questions"]] == ["age", "gender"]
        data = {"answers": {"age": None, "gender": "woman"}}
        assert service.advance(token, "demographics", data)["stage"] == "instructions"
        assert service.advance(token, "instructions", {})["stage"] == "quiz"
        state = service.advance(token, "quiz", {"answers": ["absent"]})
        assert state["stage"] == "trials"
        complete(service, token, state)
        found = collect(store)
        assert found is not None
        assert found.raters["gender"].to_list() == ["woman"]
        assert "age" not in found.raters.columns

    def test_who_declines_goes(self, make_study: Maker) -> None:
        store = make_study(self.TEXT)
        service, token = Service(store), enter(store, Visitor())
        assert service.advance(token, "consent", {"agreed": False})["ended"]["reason"] == "declined"
        with pytest.raises(StudyError, match="stage ended"):
            service.advance(token, "consent", {"agreed": True})

    def test_two_attempts_at_the_quiz(self, make_study: Maker) -> None:
        store = make_study(self.TEXT)
        service, token = Service(store), enter(store, Visitor())
        service.advance(token, "consent", {"agreed": True})
        service.advance(token, "demographics", {"answers": {}})
        service.advance(token, "instructions", {})
        state = service.advance(token, "quiz", {"answers": ["skipped"]})
        assert state["quiz"]["attempts_left"] == 1
        assert state["quiz"]["wrong"][0]["question"] == "What is 0?"
        assert "answer" not in state["quiz"]["questions"][0]
        assert service.advance(token, "quiz", {"answers": [[]]})["ended"]["reason"] == "quiz"

    @pytest.mark.parametrize("age", [17, 121, "40", True, float("nan"), float("inf"), [30]])
    def test_demographics_are_checked(self, make_study: Maker, age: object) -> None:
        store = make_study(self.TEXT)
        service, token = Service(store), enter(store, Visitor())
        service.advance(token, "consent", {"agreed": True})
        with pytest.raises(StudyError, match="age"):
            service.advance(token, "demographics", {"answers": {"age": age}})

    def test_stages_cannot_be_skipped(self, make_study: Maker) -> None:
        store = make_study(self.TEXT)
        service, token = Service(store), enter(store, Visitor())
        with pytest.raises(StudyError, match="at stage consent"):
            service.advance(token, "instructions", {})
