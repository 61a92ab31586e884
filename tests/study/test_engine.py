"""Sessions, claims and answers: nothing lost, nothing twice, nothing out of order."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import DBAPIError

from affectlab import InputError
from affectlab.study import load_study
from affectlab.study._answers import Submission
from affectlab.study._claims import expire
from affectlab.study._entry import Visitor, enter, invite
from affectlab.study._errors import StudyError
from affectlab.study._export import collect, export, pseudonym
from affectlab.study._review import accept_session, reject_session
from affectlab.study._service import Service
from affectlab.study._status import study_status
from affectlab.study._store import Store, open_store
from affectlab.study._tables import answers, events, participants, sessions, tasks, trials

from .conftest import FACES, TEXTS, VERIFY


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


class TestExport:
    def test_not_rated_is_not_zero(self, make_study: Maker, begin: Begin, tmp_path: Any) -> None:
        store = make_study()
        service, token, state = begin(store)
        complete(service, token, state, answer={"ratings": {"awe": 0, "fear": 3, "sadness": None}})
        done = export(store, tmp_path / "out")
        from affectlab import read_ratings

        for name in ("ratings.parquet", "ratings.csv"):
            found = read_ratings(tmp_path / "out" / name)
            assert found.n_ratings == 6
            assert set(found.label_names) >= {"awe", "fear"}
            assert sorted(set(found.value.tolist())) == [0, 3]
            assert found.scale.high == 7
        assert done.n_raters == 1

    def test_people_have_stable_names_that_say_nothing(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study()
        person = Visitor("prolific", external_id="5f3e-secret")
        service, token, state = begin(store, person)
        complete(service, token, state)
        found = collect(store)
        assert found is not None
        assert found.rater_names == (pseudonym(store, 1),)
        assert "secret" not in found.to_frame().write_csv() + found.raters.write_csv()
        assert store.key.hex() not in str(table(store, events.c.body))

    def test_unclear_is_no_statement_about_labels(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS)
        service, token, state = begin(store)
        complete(service, token, state, answer={"chosen": ["unclear"]})
        service, token, state = begin(store)
        complete(service, token, state, answer={"chosen": ["joy"], "suggestion": "schadenfreude"})
        found = collect(store)
        assert found is not None
        assert found.summary().outcomes == {"refused": 4 * 28, "ok": 4 * 28}
        assert found.answers().n_raters == 1

    def test_suggestions_have_a_file(self, make_study: Maker, begin: Begin, tmp_path: Any) -> None:
        store = make_study(TEXTS)
        service, token, state = begin(store)
        complete(service, token, state, answer={"chosen": ["joy"], "suggestion": "schadenfreude"})
        export(store, tmp_path / "out")
        text = (tmp_path / "out" / "suggestions.csv").read_text(encoding="utf-8")
        assert text.count("schadenfreude") == 4

    def test_rejected_answers_stand_apart(
        self, make_study: Maker, begin: Begin, tmp_path: Any
    ) -> None:
        store = make_study()
        for _ in range(2):
            service, token, state = begin(store)
            complete(service, token, state)
        reject_session(store, 1, "careless")
        done = export(store, tmp_path / "out")
        assert (done.n_ratings, done.n_rejected) == (3, 3)
        assert (tmp_path / "out" / "rejected.csv").exists()

    def test_nothing_to_export_is_said(self, make_study: Maker, tmp_path: Any) -> None:
        with pytest.raises(InputError, match="no answer to export"):
            export(make_study(), tmp_path / "out")


class TestStore:
    def test_what_happened_cannot_be_changed(self, make_study: Maker, database: str | None) -> None:
        store = make_study(database=database)
        for statement in (update(events).values(kind="x"), delete(events)):
            with pytest.raises(DBAPIError, match="never changed"), store.database.write() as db:
                db.execute(statement)

    def test_a_change_of_the_questions_is_refused(self, make_study: Maker) -> None:
        store = make_study()
        path = store.study.path
        path.write_text(path.read_text().replace("raters = 2", "raters = 3"), encoding="utf-8")
        with pytest.raises(InputError, match="changed after the study had begun"):
            open_store(load_study(path))

    def test_a_change_of_words_is_logged(self, make_study: Maker) -> None:
        store = make_study()
        path = store.study.path
        text = path.read_text().replace("What do these faces show?", "Faces")
        path.write_text(text, encoding="utf-8")
        open_store(load_study(path)).close()
        assert [kind for (kind,) in table(store, events.c.kind)][-1] == "study_changed"

    def test_the_key_is_for_its_owner_alone(self, make_study: Maker) -> None:
        store = make_study()
        assert (store.study.state / "secret.key").stat().st_mode & 0o077 == 0
        assert store.study.state.stat().st_mode & 0o077 == 0

    def test_names_of_pictures_say_nothing(self, make_study: Maker, begin: Begin) -> None:
        _, _, state = begin(make_study())
        address = state["trial"]["stimulus"]["images"][0]
        assert address.startswith("/media/")
        position, place, digest = address.removeprefix("/media/").split("-")
        assert (position, place, len(digest)) == ("1", "0", 32)
        assert set(digest) <= set("0123456789abcdef")

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("faces = 6", "", "expected one of: faces, folder, table"),
            ("faces = 6", 'folder = "nowhere"', "is not there"),
            ('name = "faces"', 'name = "Fa ces"', "lower case"),
            ("trials = 3", "trials = 0", "trials"),
            ("raters = 2", "rater = 2", "not known"),
            ('name = "intensity"', 'name = "intensty"', "did you mean 'intensity'"),
            ('name = "intensity"', 'name = "intensity"\nwidget = "dial"', "allows"),
        ],
    )
    def test_mistakes_in_the_file_are_named(
        self, make_study: Maker, old: str, new: str, sentence: str
    ) -> None:
        with pytest.raises(InputError, match=sentence):
            make_study(replace={old: new})
