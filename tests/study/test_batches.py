"""Batches kept whole: one to a session, counted by session, whatever happens in between."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select, update

from affectlab import InputError, read_ratings
from affectlab.study import study_status
from affectlab.study.dataset.ratings import export
from affectlab.study.delivery.claims import expire
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.people.erase import erase_person
from affectlab.study.pilot import prepare_pilot
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import open_store, pseudonym
from affectlab.study.tables import answers, tasks, trials
from affectlab.study.verdicts import accept_session, reject_session

from . import differences
from .answering import Begin, Maker, complete, submission, table
from .batched import (
    JOY,
    SIZES,
    TEXTS,
    batches as batches,
    check_whole,
    given_to,
    let_leases_end,
    places,
    rated,
)
from .differences import pairs  # noqa: F401


class TestClaims:
    def test_a_session_is_given_one_whole_batch(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(TEXTS, database=database)
        ends = [rated(begin, store)[1] for _ in range(7)]
        # Three batches, two sessions each.
        assert ends == ["complete"] * 6 + ["ended"]
        assert places(store) == dict.fromkeys(SIZES, (2, 0))
        given = Counter(frozenset(stimuli) for stimuli in given_to(store).values())
        assert set(given.values()) == {2}
        assert set(table(store, tasks.c.valid, tasks.c.leased)) == {(2, 0)}
        check_whole(store)

    def test_the_batch_with_the_fewest_sessions_goes_first(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(TEXTS)
        for n in (1, 2):
            for _ in SIZES:
                rated(begin, store)
            assert places(store) == dict.fromkeys(SIZES, (n, 0))

    def test_which_of_equal_batches_comes_and_its_order_is_drawn(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(TEXTS, replace={"raters = 2": "raters = 40"})
        orders = set()
        for _ in range(24):
            begin(store)
        with store.database.read() as connection:
            wanted = select(trials.c.session_id, trials.c.stimulus_id).order_by(
                trials.c.session_id, trials.c.position
            )
            rows = connection.execute(wanted).all()
        for session in range(1, 25):
            orders.add(tuple(stimulus for number, stimulus in rows if number == session))
        assert len(orders) > 12
        first = [min(stimuli)[0] for _, stimuli in sorted(given_to(store).items())]
        assert len({tuple(first[k : k + 3]) for k in range(0, 24, 3)}) > 1

    def test_nobody_is_given_a_batch_twice(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(
            TEXTS, replace={'batch = "batch"': 'batch = "batch"\nmost_per_rater = 9'}
        )
        ends = []
        for _ in range(4):
            service, token, state = begin(store, Visitor(external_id="p1"))
            ends.append(complete(service, token, state, answer=JOY)["stage"])
        assert ends == ["complete"] * 3 + ["ended"]
        assert len({frozenset(stimuli) for stimuli in given_to(store).values()}) == 3
        check_whole(store)

    def test_golden_repeated_and_training_trials_come_with_it(
        self,
        make_study: Maker,
        begin: Begin,
        pairs: Path,  # noqa: F811
    ) -> None:
        rows = (pairs / "pairs.csv").read_text().splitlines()
        batched = [f"{rows[0]},batch"]
        for number, row in enumerate(rows[1:]):
            batched.append(f"{row},{number % 2}" if row.startswith("pair") else f"{row},")
        (pairs / "pairs.csv").write_text("\n".join(batched), encoding="utf-8")
        store = make_study(differences.STUDY, replace={"trials = 12": 'batch = "batch"'})
        service, token, state = begin(store)
        assert differences.complete(store, service, token, state)["stage"] == "complete"
        kinds = Counter(kind for (kind,) in table(store, trials.c.kind))
        # Of a batch of six, three come early enough to come again.
        assert kinds == {"main": 6, "golden": 5, "training": 2, "repeat": 3}
        sides = [
            json.loads(layout)["swapped"]
            for kind, layout in table(store, trials.c.kind, trials.c.layout)
            if kind == "main"
        ]
        assert sorted(sides) == [False] * 3 + [True] * 3

    def test_an_answer_takes_no_more_statements(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(TEXTS, database=postgres)
        service, token, state = begin(store)
        sent: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            sent.append(statement.split()[0])

        event.listen(store.database.engine, "before_cursor_execute", note)
        service.answer(token, submission(state, JOY))
        event.remove(store.database.engine, "before_cursor_execute", note)
        assert sent == ["SELECT", "WITH"]

    def test_two_servers_share_out_all_batches_and_no_more(
        self, make_study: Maker, postgres: str
    ) -> None:
        store = make_study(TEXTS, replace={"raters = 2": "raters = 4"}, database=postgres)
        with open_store(store.study, postgres) as other:
            services = [Service(store), Service(other)]
            tokens = [enter(store, Visitor()) for _ in range(15)]
            barrier = threading.Barrier(15)

            def person(number: int) -> str:
                service = services[number % 2]
                barrier.wait()
                state = service.advance(tokens[number], "instructions", {})
                if number % 3:
                    state = complete(service, tokens[number], state, answer=JOY)
                return str(state["stage"])

            with ThreadPoolExecutor(15) as pool:
                ends = Counter(pool.map(person, range(15)))
        # Four sessions for each of three batches; nobody else is given anything.
        assert ends["complete"] + ends["trials"] == 12
        assert ends["waiting"] + ends["ended"] == 3
        assert {sum(one) for one in places(store).values()} == {4}
        check_whole(store)


class TestLeases:
    def test_run_out_for_a_whole_batch(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(TEXTS, replace={"raters = 2": "raters = 1"}, database=database)
        service, first, state = begin(store)
        state = service.answer(first, submission(state, JOY))
        for _ in range(2):
            assert rated(begin, store)[1] == "complete"
        service, waiting, state = begin(store)
        assert state["stage"] == "waiting"
        let_leases_end(store)
        with store.database.write() as connection:
            assert expire(connection) in (2, 3)
        assert sorted(places(store).values()) == [(0, 0), (1, 0), (1, 0)]
        check_whole(store)
        state = service.advance(waiting, "waiting", {})
        # Another gets all of it, also what the first had answered.
        assert state["progress"]["total"] in (3, 4)
        assert given_to(store)[1] == given_to(store)[4]
        check_whole(store)
        assert complete(service, waiting, state, answer=JOY)["stage"] == "complete"
        assert set(places(store).values()) == {(1, 0)}
        # Who comes back now has nothing left, and what was answered stays.
        assert service.state(first)["stage"] == "complete"
        assert set(places(store).values()) == {(1, 0)}
        assert len([row for row in table(store, answers.c.valid) if row[0]]) == 4 + 4 + 3 + 1
        check_whole(store)

    def test_who_comes_back_in_time_goes_on(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(TEXTS, replace={"raters = 2": "raters = 1"}, database=database)
        service, token, state = begin(store)
        state = service.answer(token, submission(state, JOY))
        let_leases_end(store)
        with store.database.write() as connection:
            expire(connection)
        again = service.state(token)
        assert again["trial"] == state["trial"]
        assert sum(leased for _, leased in places(store).values()) == 1
        check_whole(store)
        assert complete(service, token, again, answer=JOY)["stage"] == "complete"
        assert sum(valid for valid, _ in places(store).values()) == 1
        check_whole(store)

    def test_a_late_last_answer_counts(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS)
        service, token, state = begin(store)
        while state["progress"]["done"] + 1 < state["progress"]["total"]:
            state = service.answer(token, submission(state, JOY))
        let_leases_end(store)
        with store.database.write() as connection:
            assert expire(connection) == 1
        assert service.answer(token, submission(state, JOY))["stage"] == "complete"
        assert sorted(places(store).values()) == [(0, 0), (0, 0), (1, 0)]
        check_whole(store)


class TestTopUp:
    @pytest.mark.parametrize("how", ["reject", "withdraw", "erase"])
    def test_a_batch_is_asked_again(
        self, make_study: Maker, begin: Begin, database: str | None, how: str
    ) -> None:
        store = make_study(TEXTS, replace={"raters = 2": "raters = 1"}, database=database)
        token = ""
        for _ in SIZES:
            token, _ = rated(begin, store)
        assert begin(store)[2]["stage"] == "ended"
        if how == "reject":
            reject_session(store, 3, "careless")
        elif how == "withdraw":
            Service(store).withdraw(token)
        else:
            erase_person(store, pseudonym(store, 3))
        assert sorted(places(store).values()) == [(0, 0), (1, 0), (1, 0)]
        assert rated(begin, store)[1] == "complete"
        given = given_to(store)
        assert given[max(given)] == given[3]
        assert set(places(store).values()) == {(1, 0)}
        assert begin(store)[2]["stage"] == "ended"
        check_whole(store)

    def test_accepting_counts_again(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS)
        rated(begin, store)
        reject_session(store, 1, "careless")
        assert set(places(store).values()) == {(0, 0)}
        accept_session(store, 1)
        assert sorted(places(store).values()) == [(0, 0), (0, 0), (1, 0)]
        check_whole(store)

    def test_what_is_kept_on_withdrawal_counts(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS + '[consent]\ntext = "Yes?"\non_withdrawal = "keep"\n')
        service = Service(store)
        token = enter(store, Visitor())
        service.advance(token, "consent", {"agreed": True})
        state = service.advance(token, "instructions", {})
        complete(service, token, state, answer=JOY)
        service.withdraw(token)
        assert sorted(places(store).values()) == [(0, 0), (0, 0), (1, 0)]

    def test_who_stops_in_the_middle_gives_the_batch_back(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(TEXTS)
        service, token, state = begin(store)
        service.answer(token, submission(state, JOY))
        service.withdraw(token)
        assert set(places(store).values()) == {(0, 0)}
        service, token, state = begin(store)
        service.answer(token, submission(state, JOY))
        reject_session(store, 2, "careless")
        assert set(places(store).values()) == {(0, 0)}
        check_whole(store)

    @pytest.mark.parametrize(("left_out", "counts"), [(1, 1), (2, 0)])
    def test_a_session_that_left_out_too_much_does_not_count(
        self, make_study: Maker, begin: Begin, tmp_path: Path, left_out: int, counts: int
    ) -> None:
        from PIL import Image

        rows = [f"p{k},p{k}.png,one" for k in range(4)]
        for k in range(4):
            Image.new("RGB", (8, 8), (60 * k, 0, 0)).save(tmp_path / f"p{k}.png")
        (tmp_path / "batches.csv").write_text("stimulus,file,batch\n" + "\n".join(rows))
        text = TEXTS.replace('"multilabel"', '"intensity"').replace(
            "routing = { extra_raters = 0 }", 'asks = { taxonomy = "mikels", group_by = [] }'
        )
        store = make_study(text)
        service, token, state = begin(store)
        for _ in range(left_out):
            state = service.skip(token, int(state["trial"]["id"]), "image failed")
        assert complete(service, token, state)["stage"] == "complete"
        assert places(store) == {"one": (counts, 0)}


@contextmanager
def refusals() -> Iterator[None]:
    """What comes at the wrong moment is refused, and nothing else."""
    try:
        yield
    except StudyError as error:
        if error.status not in (403, 404, 409):
            raise


class TestRandomly:
    @pytest.mark.parametrize("seed", range(3))
    def test_counts_stay_right_whatever_happens(
        self, make_study: Maker, begin: Begin, seed: int
    ) -> None:
        """Against a slow plain version, which counts sessions and trials anew after every step."""
        store = make_study(TEXTS)
        drawn = random.Random(seed)
        service, tokens = Service(store), list[str]()
        for _ in range(80):
            what = drawn.choice(["enter", "answer", "answer", "rest", "lease", "judge", "leave"])
            token = drawn.choice(tokens) if tokens else ""
            with refusals():
                if what == "enter" or not token:
                    tokens.append(begin(store)[1])
                elif what in ("answer", "rest"):
                    state = service.state(token)
                    if state["stage"] == "waiting":
                        state = service.advance(token, "waiting", {})
                    if what == "rest":
                        complete(service, token, state, answer=JOY)
                    elif state["stage"] == "trials":
                        service.answer(token, submission(state, JOY))
                elif what == "lease":
                    one = drawn.randint(1, len(tokens))
                    with store.database.write() as connection:
                        own = update(trials).where(trials.c.session_id == one)
                        connection.execute(own.values(lease_until=1))
                        expire(connection)
                elif what == "judge":
                    judge = drawn.choice([reject_session, accept_session])
                    judge(store, drawn.randint(1, len(tokens)), "drawn")
                elif drawn.random() < 0.2:
                    service.withdraw(token)
            check_whole(store)
        found = study_status(store).batches
        assert found is not None
        assert found.held == sum(leased for _, leased in places(store).values())


class TestPilot:
    TEXT = f"{TEXTS}[pilot]\nstimuli = ['a0', 'b1']\nraters = 2\n"

    def test_is_not_in_batches(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(self.TEXT)
        assert prepare_pilot(store) == 2
        service, token, state = begin(store, Visitor(batch="pilot"))
        assert state["progress"]["total"] == 2
        complete(service, token, state, answer=JOY)
        assert set(places(store).values()) == {(0, 0)}
        for _ in range(6):
            rated(begin, store)
        assert set(places(store).values()) == {(2, 0)}
        found = export(store, store.study.path.parent / "data")
        assert found.n_pilot == 2 * 28
        # The table's own column of that name is not what says main or pilot.
        for name in ("pilot", "ratings"):
            rated_there = read_ratings(found.folder / f"{name}.parquet").stimuli
            assert set(rated_there["stimulus_batch"]) <= set(SIZES)

    def test_nobody_sees_a_stimulus_of_the_pilot_again(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(
            self.TEXT, replace={'batch = "batch"': 'batch = "batch"\nmost_per_rater = 9'}
        )
        prepare_pilot(store)
        for batch in ("pilot", "main", "main"):
            service, token, state = begin(store, Visitor(external_id="p1", batch=batch))
            stage = complete(service, token, state, answer=JOY)["stage"]
        assert stage == "ended"
        assert set(given_to(store)[2]) == {"c0", "c1", "c2"}

    def test_cannot_take_a_whole_batch_away(self, make_study: Maker) -> None:
        names = [f"c{k}" for k in range(3)]
        text = f"{TEXTS}[pilot]\nstimuli = {names}\napart = true\n"
        with pytest.raises(InputError, match="batch 'c' would have nothing left"):
            prepare_pilot(make_study(text))
