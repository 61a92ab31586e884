"""The engine: each wanted answer is asked for, leased and stored once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update

from affectlab.study.delivery.answers import Submission
from affectlab.study.delivery.claims import expire
from affectlab.study.errors import StudyError
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store
from affectlab.study.tables import answers, tasks, trials
from affectlab.study.verdicts import accept_session, reject_session
from affectlab.study.watch.status import study_status

from .answering import Begin, Maker, complete, consistent, submission, table
from .conftest import TEXTS, VERIFY


class TestPlaythrough:
    def test_a_study_fills_and_then_says_so(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(database=database)
        ends = []
        for _ in range(6):
            service, token, state = begin(store)
            ends.append(complete(service, token, state)["stage"])
        # 6 faces, 2 raters each, 3 trials a session: four sessions.
        assert ends == ["complete"] * 4 + ["ended"] * 2
        assert set(table(store, tasks.c.valid, tasks.c.leased)) == {(2, 0)}
        consistent(store)

    def test_the_code_comes_after_the_last_answer(self, make_study: Maker, begin: Begin) -> None:
        service, token, state = begin(make_study())
        for _ in range(2):
            state = service.answer(token, submission(state))
            assert state["complete"] is None
        state = service.answer(token, submission(state))
        assert len(state["complete"]["code"]) == 8
        assert service.state(token)["complete"] == state["complete"]

    def test_coming_back_shows_the_same_trial(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        state = service.answer(token, submission(state))
        reopened = Service(open_store(store.study))
        assert reopened.state(token)["trial"] == state["trial"]
        reopened.store.close()

    def test_golden_and_repeated_trials_look_like_others(
        self, make_study: Maker, begin: Begin, tmp_path: Any
    ) -> None:
        store = make_study()
        names = [content["name"] for content in store.content.values()]
        store.close()
        golden = f"stimulus,label,value\n{names[0]},awe,7\n"
        (tmp_path / "golden.csv").write_text(golden, encoding="utf-8")
        import shutil

        shutil.rmtree(store.study.state)
        store = make_study(
            replace={
                "faces = 6": 'faces = 6\ngolden = "golden.csv"',
                "group_by = [] }": "group_by = [] }, checks = { golden = 1, repeats = 1 }",
            }
        )
        service, token, state = begin(store)
        kinds = set()
        while state["stage"] == "trials":
            kinds.add(state["trial"]["kind"])
            state = service.answer(token, submission(state))
        assert kinds == {"main"}
        assert state["progress"]["total"] == 5
        stored = [kind for (kind,) in table(store, trials.c.kind)]
        assert sorted(stored) == ["golden", "main", "main", "main", "repeat"]
        consistent(store)


class TestAnswers:
    def test_a_replay_is_stored_once(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(database=database)
        service, token, state = begin(store)
        given = submission(state)
        first = service.answer(token, given)
        assert service.answer(token, given) == first
        assert len(table(store, answers.c.trial_id)) == 1
        consistent(store)

    def test_another_answer_under_the_same_key_is_refused(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study()
        service, token, state = begin(store)
        given = submission(state)
        service.answer(token, given)
        other = Submission(given.trial, {"ratings": {"awe": 7}}, given.key, given.widget)
        with pytest.raises(StudyError, match="under this key") as refused:
            service.answer(token, other)
        assert refused.value.status == 409

    def test_answers_out_of_order_are_refused(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        later = Submission(
            int(state["trial"]["id"]) + 1, {"ratings": {"awe": 1}}, "k" * 20, "radio"
        )
        with pytest.raises(StudyError, match="others come first"):
            service.answer(token, later)
        done = submission(state)
        service.answer(token, done)
        again = Submission(done.trial, done.answer, "n" * 20, "radio")
        with pytest.raises(StudyError, match="answered already"):
            service.answer(token, again)
        assert len(table(store, answers.c.trial_id)) == 1

    def test_a_trial_of_someone_else_is_not_there(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        _, _, mine = begin(store)
        service, token, _ = begin(store)
        with pytest.raises(StudyError) as refused:
            service.answer(token, submission(mine))
        assert refused.value.status == 404

    @pytest.mark.parametrize(
        ("answer", "sentence"),
        [
            ({"ratings": {"awe": 8}}, "off the scale"),
            ({"ratings": {"awe": "7"}}, "off the scale"),
            ({"ratings": {"aw": 3}}, "unknown label"),
            ({"ratings": {}}, "at least 1"),
            ({"ratings": {"awe": None}}, "at least 1"),
            ({"value": 3}, "expected ratings"),
            ({}, "expected ratings"),
            ({"ratings": {"awe": 3}, "more": 1}, "expected ratings"),
        ],
    )
    def test_what_does_not_keep_to_the_protocol_is_refused(
        self, make_study: Maker, begin: Begin, answer: dict[str, Any], sentence: str
    ) -> None:
        store = make_study()
        service, token, state = begin(store)
        trial = state["trial"]
        with pytest.raises(StudyError, match=sentence) as refused:
            service.answer(token, Submission(int(trial["id"]), answer, "k" * 20, "radio"))
        assert refused.value.status == 422
        assert service.state(token)["trial"] == trial
        assert not table(store, answers.c.trial_id)

    def test_the_widget_used_is_stored_and_others_refused(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(replace={'name = "intensity"': 'name = "intensity"\nwidget = "slider"'})
        service, token, state = begin(store)
        assert state["trial"]["widget"] == "slider"
        service.answer(token, submission(state))
        assert table(store, answers.c.widget) == [("slider",)]
        state = service.state(token)
        wrong = Submission(int(state["trial"]["id"]), {"ratings": {"awe": 1}}, "k" * 20, "buttons")
        with pytest.raises(StudyError, match="widget"):
            service.answer(token, wrong)


class TestClaims:
    def test_many_at_once_are_never_given_too_much(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(replace={"faces = 6": "faces = 12", "trials = 3": "trials = 5"})
        store.close()
        if database is not None:
            store = open_store(store.study, database)
        else:
            store = open_store(store.study)

        def person(_: int) -> str:
            service, token, state = begin(store)
            return str(complete(service, token, state)["stage"])

        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(person, range(16)))
        consistent(store)
        assert set(table(store, tasks.c.valid)) <= {(0,), (1,), (2,)}
        assert set(ends) <= {"complete", "waiting", "ended"}
        while True:
            service, token, state = begin(store)
            if complete(service, token, state)["stage"] != "complete":
                break
        assert set(table(store, tasks.c.valid, tasks.c.leased)) == {(2, 0)}
        store.close()

    def test_others_wait_while_all_is_held_and_then_go_on(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(replace={"raters = 2": "raters = 1", "trials = 3": "trials = 6"})
        service, first, _ = begin(store)
        _, second, state = begin(store)
        assert state["stage"] == "waiting"
        assert 1 <= state["waiting"]["minutes"] <= 30
        _let_leases_end(store)
        state = service.advance(second, "waiting", {})
        assert state["stage"] == "trials"
        assert service.answer(second, submission(state))["progress"] == {"done": 1, "total": 6}
        consistent(store)
        assert service.state(first)["stage"] == "ended"

    def test_a_late_answer_is_stored_and_counts(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        _let_leases_end(store)
        with store.database.write() as connection:
            assert expire(connection) == 3
        state = service.answer(token, submission(state))
        assert state["progress"]["done"] == 1
        assert len(table(store, answers.c.trial_id)) == 1
        consistent(store)

    def test_an_answer_renews_the_leases_of_what_follows(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study()
        service, token, state = begin(store)
        with store.database.write() as connection:
            connection.execute(update(trials).values(lease_until=trials.c.lease_until - 1_200_000))
        before = table(store, trials.c.lease_until)[0][0]
        service.answer(token, submission(state))
        after = {
            until
            for state, until in table(store, trials.c.state, trials.c.lease_until)
            if state == "open"
        }
        assert min(after) > before + 1_000_000

    def test_what_cannot_be_shown_goes_back(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        after = service.skip(token, int(state["trial"]["id"]), "image failed")
        assert after["trial"]["id"] != state["trial"]["id"]
        assert not table(store, answers.c.trial_id)
        consistent(store)
        with pytest.raises(StudyError, match="not the next"):
            service.skip(token, int(state["trial"]["id"]), "image failed")

    def test_leaving_gives_back_what_was_held(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        service.answer(token, submission(state))
        assert service.withdraw(token)["ended"]["reason"] == "withdrawn"
        assert sum(leased for (leased,) in table(store, tasks.c.leased)) == 0
        assert study_status(store).answers == 1
        consistent(store)


def _let_leases_end(store: Store) -> None:
    with store.database.write() as connection:
        connection.execute(update(trials).values(lease_until=1))


class TestRouting:
    def test_a_chain_goes_on_while_the_answer_is_yes(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(VERIFY, replace={"trials = 4": "trials = 50"}, database=database)
        batches = table(store, tasks.c.batch)
        assert sorted(batches) == [("contrast",)] * 6 + [("main",)] * 6

        def say(yes: Callable[[str], bool]) -> dict[str, Any]:
            service, token, state = begin(store)
            while state["stage"] == "trials":
                label = state["trial"]["labels"][0]["name"]
                given = {"ratings": {label: int(yes(label))}}
                state = service.answer(token, submission(state, given))
            return state

        say(lambda _: True)
        found = table(store, tasks.c.batch, tasks.c.wanted, tasks.c.valid)
        assert sorted(set(found)) == [("contrast", 1, 1), ("main", 2, 1)]
        assert say(lambda _: True)["progress"]["total"] == 6
        say(lambda _: False)
        found = table(store, tasks.c.batch, tasks.c.wanted, tasks.c.valid)
        assert sorted(set(found)) == [("contrast", 1, 1), ("main", 3, 3)]
        assert say(lambda _: True)["ended"]["reason"] == "full"

    def test_disagreement_asks_two_more(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS)
        for label in ("joy", "fear", "anger"):
            service, token, state = begin(store)
            complete(service, token, state, answer={"chosen": [label]})
        assert set(table(store, tasks.c.wanted, tasks.c.valid)) == {(5, 3)}
        for label in ("joy", "love"):
            service, token, state = begin(store)
            complete(service, token, state, answer={"chosen": [label]})
        assert set(table(store, tasks.c.wanted, tasks.c.valid)) == {(5, 5)}

    def test_agreement_asks_nobody_more(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS)
        for labels in (["joy"], ["fear"], ["joy", "love"]):
            service, token, state = begin(store)
            complete(service, token, state, answer={"chosen": labels})
        assert set(table(store, tasks.c.wanted, tasks.c.valid)) == {(3, 3)}

    def test_rejected_work_is_asked_again(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        for _ in range(4):
            service, token, state = begin(store)
            complete(service, token, state)
        assert reject_session(store, 1, "careless") == 3
        assert study_status(store).rejected == 3
        consistent(store)
        service, token, state = begin(store)
        assert complete(service, token, state)["progress"]["total"] == 3
        assert study_status(store).tasks_done == 6
        assert accept_session(store, 1) == 3
        consistent(store)
        with pytest.raises(StudyError, match="no session 99"):
            reject_session(store, 99, "x")
