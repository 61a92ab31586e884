"""Withdrawing, declining and erasing: what stays stored, and what leaves no trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from affectlab import InputError
from affectlab.study import study_status
from affectlab.study.dataset.ratings import export
from affectlab.study.dataset.release import release
from affectlab.study.people.entry import enter
from affectlab.study.people.erase import erase_person
from affectlab.study.recruit import approve_sessions, decisions
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.server.guard import COOKIE
from affectlab.study.service import Service
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, erasures, events, participants, sessions, tasks
from affectlab.study.verdicts import accept_session, reject_session

from .answering import consistent, table
from .conftest import FACES
from .test_pages import SIZES, browser, check, heading, served
from .withdrawing import (
    ABOUT,
    CONSENT,
    KEEP,
    ONE,
    PERSON,
    PLATFORM,
    TOWN,
    WORK,
    Begin,
    Maker,
    take_part,
    verdicts,
)

__all__ = ["browser"]


class TestWithdrawing:
    def test_the_answers_count_no_more(
        self, make_study: Maker, tmp_path: Path, database: str | None
    ) -> None:
        store = make_study(FACES + CONSENT, replace=ONE, database=database)
        service, token, _ = take_part(store, most=2)
        take_part(store)
        assert sum(valid for (valid,) in table(store, tasks.c.valid)) == 5
        state = service.withdraw(token)
        assert (state["stage"], state["ended"]["reason"]) == ("ended", "withdrawn")
        assert state["study"]["drops_on_withdrawal"]
        # They are stored, do not count, and are asked again.
        assert sum(valid for (valid,) in table(store, tasks.c.valid)) == 3
        assert table(store, answers.c.valid).count((False,)) == 2
        consistent(store)
        _, _, last = take_part(store)
        assert last["stage"] == "complete"
        assert sum(valid for (valid,) in table(store, tasks.c.valid)) == 6
        found = export(store, tmp_path / "out")
        assert (found.n_ratings, found.n_raters, found.n_rejected) == (6, 2, 0)
        gone = pseudonym(store, 1)
        for file in found.files:
            if file.name != "sessions.csv":
                assert gone.encode() not in file.read_bytes(), file
        told = pl.read_csv(tmp_path / "out" / "sessions.csv", schema_overrides={"session": str})
        assert told["verdict"].to_list() == ["withdrawn", "", ""]
        assert told["use"].to_list() == [False, True, True]
        release(store, tmp_path / "set")
        assert gone not in (tmp_path / "set" / "raters.csv").read_text()

    def test_or_they_stay(self, make_study: Maker) -> None:
        store = make_study(FACES + KEEP)
        service, token, _ = take_part(store, most=2)
        assert not service.withdraw(token)["study"]["drops_on_withdrawal"]
        assert table(store, answers.c.valid) == [(True,), (True,)]

    def test_after_the_end(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = take_part(store)
        assert not state["complete"]["withdrawn"]
        code = state["complete"]["code"]
        again = service.withdraw(token)
        assert (again["stage"], again["complete"]["withdrawn"]) == ("complete", True)
        assert again["complete"]["code"] == code
        assert all(not valid for (valid,) in table(store, answers.c.valid))
        assert service.withdraw(token) == again
        assert [kind for (kind,) in table(store, events.c.kind)].count("withdrawn") == 1

    def test_nobody_takes_it_back(self, make_study: Maker) -> None:
        store = make_study(FACES + PLATFORM)
        service, token, _ = take_part(store, Visitor("prolific", PERSON, WORK))
        service.withdraw(token)
        assert accept_session(store, 1) == 0
        assert verdicts(store) == ["withdrawn"]
        assert not any(valid for (valid,) in table(store, answers.c.valid))
        # The work can be paid all the same.
        assert [one.action for one in decisions(store)] == ["undecided"]
        approve_sessions(store, [], everyone=True)
        assert [one.action for one in decisions(store)] == ["approve"]
        reject_session(store, 1, "no")
        assert verdicts(store) == ["withdrawn"]


class TestDeclining:
    def test_names_are_dropped(self, make_study: Maker, database: str | None) -> None:
        rules = '[eligibility]\ncountries = ["US"]\n'
        store = make_study(FACES + CONSENT + PLATFORM + rules, database=database)
        visitor = Visitor("prolific", PERSON, WORK, told={"countries": "US"})
        token = enter(store, visitor)
        state = Service(store).advance(token, "consent", {"agreed": False})
        assert state["ended"]["reason"] == "declined"
        row = table(
            store,
            participants.c.external_id,
            participants.c.eligibility,
            participants.c.demographics,
        )[0]
        assert row[0].startswith("forgotten:")
        assert PERSON not in row[0]
        assert row[1:] == ("{}", "{}")
        assert table(store, sessions.c.external_id) == [(None,)]
        # Known again all the same: nobody is asked twice.
        for work in (WORK, "another"):
            again = Service(store).state(enter(store, Visitor("prolific", PERSON, work)))
            assert again["ended"]["reason"] == "declined"
        assert len(table(store, participants.c.id)) == 1


class TestErasing:
    @pytest.fixture
    def filled(self, make_study: Maker, database: str | None) -> Store:
        store = make_study(FACES + CONSENT + PLATFORM + ABOUT, replace=ONE, database=database)
        service, token, _ = take_part(store, Visitor("prolific", PERSON, WORK))
        service.report(token, "slow", {"browser": "secret browser"})
        take_part(store, Visitor("prolific", "other", "work2"), most=2)
        return store

    def everything(self, store: Store) -> str:
        """All that the database holds, as text."""
        with store.database.read() as connection:
            names = (
                connection.execute(
                    text(
                        "SELECT name FROM sqlite_master WHERE type = 'table'"
                        if store.database.is_sqlite
                        else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                    )
                )
                .scalars()
                .all()
            )
            return "\n".join(
                str(tuple(row))
                for name in names
                for row in connection.execute(text(f'SELECT * FROM "{name}"'))
            )

    @pytest.mark.parametrize("by_name", [False, True])
    def test_nothing_of_a_person_is_left(
        self, filled: Store, by_name: bool, tmp_path: Path
    ) -> None:
        before = self.everything(filled)
        for secret in (PERSON, WORK, TOWN, "secret browser"):
            assert secret in before
        name = PERSON if by_name else pseudonym(filled, 1)
        found = erase_person(filled, name, by="anna")
        assert (found.sessions, found.answers, found.unpaid) == (1, 3, 1)
        assert found.rater == pseudonym(filled, 1)
        after = self.everything(filled)
        for secret in (PERSON, WORK, "secret browser"):
            assert secret not in after
        # The other person said the same town, and is still there.
        assert after.count(TOWN) == before.count(TOWN) - 1
        if filled.database.is_sqlite:
            raw = b"".join(file.read_bytes() for file in filled.study.state.glob("study.sqlite*"))
            assert PERSON.encode() not in raw
            assert b"secret browser" not in raw
        consistent(filled)
        with filled.database.read() as connection:
            bodies = connection.execute(
                select(events.c.kind, events.c.body).where(events.c.participant_id == 1)
            ).all()
        left = [(kind, body) for kind, body in bodies if body != "{}"]
        assert [kind for kind, _ in left] == ["erased"]
        assert json.loads(left[0][1]) == {"by": "anna", "answers": 3, "sessions": 1}
        assert pseudonym(filled, 1) not in "".join(
            file.read_text()
            for file in export(filled, tmp_path / "out").files
            if file.suffix == ".csv" and file.name != "sessions.csv"
        )
        # Others are asked again; the same person is not.
        assert sum(valid for (valid,) in table(filled, tasks.c.valid)) == 2
        again = Service(filled).state(enter(filled, Visitor("prolific", PERSON, "new")))
        assert (again["stage"], again["ended"]["reason"]) == ("ended", "erased")
        _, _, state = take_part(filled, Visitor("prolific", "third", "w3"))
        assert state["stage"] == "complete"

    def test_the_log_refuses_everything_else(self, filled: Store) -> None:
        erase_person(filled, PERSON)
        other = events.c.participant_id == 2
        for statement in (
            update(events).where(other).values(body="{}"),
            update(events).where(events.c.participant_id == 1).values(body='{"a": 1}'),
            update(events).where(events.c.participant_id == 1).values(at=1, body="{}"),
            update(events).where(events.c.participant_id == 1).values(kind="x", body="{}"),
            update(events).where(events.c.kind == "erased").values(body="{}"),
            delete(events).where(events.c.participant_id == 1),
        ):
            with (
                pytest.raises(DBAPIError, match="never changed"),
                filled.database.write() as connection,
            ):
                connection.execute(statement)
        assert len(table(filled, erasures.c.participant_id)) == 1

    def test_twice_and_wrong_names(self, filled: Store) -> None:
        name = pseudonym(filled, 1)
        erase_person(filled, name)
        assert erase_person(filled, name).answers == 0
        with pytest.raises(InputError, match="nobody in this study has this name"):
            erase_person(filled, "nobody")
        with pytest.raises(InputError, match="nobody in this study has this name"):
            erase_person(filled, PERSON)


def test_why_sessions_ended(make_study: Maker) -> None:
    store = make_study(FACES + CONSENT)
    service = Service(store)
    service.advance(enter(store, Visitor()), "consent", {"agreed": False})
    enter(store, Visitor())
    _, token, _ = take_part(store, most=1)
    service.withdraw(token)
    _, token, _ = take_part(store)
    service.withdraw(token)
    found = study_status(store)
    assert (found.participants, found.consented, found.under_way) == (4, 2, 1)
    assert found.ended == {"declined": 1, "withdrawn": 1}
    assert found.withdrawn == 2


@pytest.mark.browser
@pytest.mark.parametrize("size", SIZES)
def test_withdrawing_on_the_last_page(browser: Any, make_study: Maker, size: str) -> None:
    store = make_study(FACES + CONSENT)
    _, token, state = take_part(store)
    width, height = SIZES[size]
    with served(store) as address:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.context.add_cookies([{"name": COOKIE, "value": token, "url": address}])
        page.goto(f"{address}/")
        heading(page, "You are done")
        check(page)
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="Withdraw my answers").click()
        assert verdicts(store) == [""]
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Withdraw my answers").click()
        page.get_by_text("You have withdrawn. Your answers will not be used.").wait_for()
        assert state["complete"]["code"] in page.inner_text("main")
        assert page.get_by_role("button", name="Withdraw my answers").count() == 0
        check(page)
        page.context.clear_cookies()
        page.goto(f"{address}/")
        page.get_by_role("button", name="I do not want to take part").click()
        heading(page, "The study ends here for you")
        assert "Only that choice, its time and the language" in page.inner_text("main")
        assert "null" not in page.inner_text("main")
        page.close()
    assert verdicts(store) == ["withdrawn", "declined"]
