"""What sessions left out of a batch is asked again, where the server has its pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import select, update

from affectlab.cli import main
from affectlab.study import study_status
from affectlab.study.delivery.claims import expire
from affectlab.study.design.batches import set_wanted
from affectlab.study.people.erase import erase_person
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.store import Store, open_store, pseudonym
from affectlab.study.tables import bundles, stimuli, tasks, trials
from affectlab.study.verdicts import reject_session

from .answering import Begin, Maker, complete, submission, table
from .batched import TEXTS, let_leases_end, places

TEXT = TEXTS.replace('"multilabel"', '"intensity"').replace(
    "routing = { extra_raters = 0 }", 'asks = { taxonomy = "mikels", group_by = [] }'
)
N = 8


@pytest.fixture(autouse=True)
def pictures(tmp_path: Path) -> Path:
    """Two batches of pictures."""
    rows = []
    for name in ("one", "two"):
        for k in range(N):
            Image.new("RGB", (8, 8), (20 * k, 0, 0)).save(tmp_path / f"{name}{k}.png")
            rows.append(f"{name}{k},{name}{k}.png,{name}")
    (tmp_path / "batches.csv").write_text("stimulus,file,batch\n" + "\n".join(rows))
    return tmp_path


def only_one(pictures: Path) -> None:
    """Leave one batch of the two."""
    path = pictures / "batches.csv"
    path.write_text("".join(path.read_text().partition("two0")[0]))


def rated(begin: Begin, store: Store, *, without: tuple[str, ...] = ()) -> str:
    """Let somebody rate a batch, leaving some stimuli out; give the stage at the end."""
    service, token, state = begin(store)
    while state["stage"] == "trials":
        number = int(state["trial"]["id"])
        with store.database.read() as connection:
            shown = select(trials.c.stimulus_id).where(trials.c.id == number)
            name = store.content[connection.execute(shown).scalar_one()]["name"]
        if name in without:
            state = service.skip(token, number, "image failed")
        else:
            state = service.answer(token, submission(state))
    return str(state["stage"])


def ask_first(store: Store, session: int, name: str) -> None:
    """Put a stimulus before all others of a session."""
    (number,) = [key for key, one in store.content.items() if one["name"] == name]
    own = update(trials).where(trials.c.session_id == session, trials.c.stimulus_id == number)
    with store.database.write() as connection:
        connection.execute(own.values(position=0))


def wanted(store: Store) -> dict[str, int]:
    return dict(table(store, bundles.c.name, bundles.c.wanted))


class TestAskedAgain:
    def test_what_a_session_left_out_is_asked_of_one_more(
        self, make_study: Maker, begin: Begin, database: str | None, pictures: Path
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"}, database=database)
        assert rated(begin, store, without=("one3", "one5")) == "complete"
        # It counts, and may be paid; the batch is not done all the same.
        assert (places(store), wanted(store)) == ({"one": (1, 0)}, {"one": 2})
        found = study_status(store)
        assert found.below == ("one3", "one5")
        assert found.batches is not None
        assert (found.batches.done, found.batches.sessions, found.batches.wanted) == (0, 1, 2)
        assert rated(begin, store) == "complete"
        assert rated(begin, store) == "ended"
        assert {valid for (valid,) in table(store, tasks.c.valid)} == {1, 2}
        found = study_status(store)
        assert found.batches is not None
        assert (found.batches.done, found.batches.sessions, found.batches.wanted) == (1, 1, 1)
        assert (found.valid, found.wanted, found.surplus, found.below) == (N, N, N - 2, ())

    def test_what_different_sessions_left_out_takes_one_more_in_all(
        self, make_study: Maker, begin: Begin, pictures: Path
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT)
        rated(begin, store, without=("one0",))
        rated(begin, store, without=("one1", "one2"))
        assert wanted(store) == {"one": 3}
        assert rated(begin, store) == "complete"
        assert rated(begin, store) == "ended"

    def test_nobody_is_asked_for_what_others_answered_who_left(
        self, make_study: Maker, begin: Begin, pictures: Path
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"})
        rated(begin, store, without=("one3",))
        service, token, _ = begin(store)
        ask_first(store, 2, "one3")
        service.answer(token, submission(service.state(token)))
        let_leases_end(store)
        with store.database.write() as connection:
            expire(connection)
        assert begin(store)[2]["stage"] == "ended"
        assert wanted(store) == {"one": 1}
        # Unless that does not count.
        reject_session(store, 2, "careless")
        assert wanted(store) == {"one": 2}
        assert rated(begin, store) == "complete"

    @pytest.mark.parametrize("how", ["reject", "erase"])
    def test_what_counts_no_more_is_asked_again(
        self, make_study: Maker, begin: Begin, database: str | None, pictures: Path, how: str
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"}, database=database)
        rated(begin, store, without=("one3",))
        # The second answered what the first did not, and goes; so does its answer.
        rated(begin, store)
        assert wanted(store) == {"one": 1}
        if how == "reject":
            reject_session(store, 2, "careless")
        else:
            erase_person(store, pseudonym(store, 2))
        assert (places(store), wanted(store)) == ({"one": (1, 0)}, {"one": 2})
        assert rated(begin, store) == "complete"
        assert rated(begin, store) == "ended"

    def test_a_study_that_was_full_before_goes_on(
        self, make_study: Maker, begin: Begin, pictures: Path
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"})
        rated(begin, store, without=("one3",))
        with store.database.write() as connection:
            # As it was written before batches waited for every stimulus.
            connection.execute(update(bundles).values(wanted=1))
        with open_store(store.study) as again:
            assert wanted(again) == {"one": 2}
            assert rated(begin, again) == "complete"


class TestMissingPictures:
    def test_are_held_against_no_session(
        self, make_study: Maker, begin: Begin, database: str | None, pictures: Path
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"}, database=database)
        gone = tuple(f"one{k}" for k in range(N // 2))
        for name in gone:
            (pictures / f"{name}.png").unlink()
        assert rated(begin, store, without=gone) == "complete"
        assert (places(store), wanted(store)) == ({"one": (1, 0)}, {"one": 1})
        assert rated(begin, store) == "ended"
        found = study_status(store)
        assert found.below == found.unshown == gone
        # Once they are there, they are asked about.
        for name in gone:
            Image.new("RGB", (8, 8)).save(pictures / f"{name}.png")
        with open_store(store.study, database) as again:
            assert rated(begin, again) == "complete"
            assert study_status(again).below == ()

    def test_of_a_whole_batch_give_it_to_nobody(
        self, make_study: Maker, begin: Begin, database: str | None, pictures: Path
    ) -> None:
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"}, database=database)
        for k in range(N):
            (pictures / f"two{k}.png").unlink()
        assert [rated(begin, store) for _ in range(3)] == ["complete", "ended", "ended"]
        assert places(store) == {"one": (1, 0), "two": (0, 0)}
        assert study_status(store).unshown == tuple(f"two{k}" for k in range(N))
        for k in range(N):
            Image.new("RGB", (8, 8)).save(pictures / f"two{k}.png")
        with open_store(store.study, database) as again:
            assert rated(begin, again) == "complete"
            assert places(again) == {"one": (1, 0), "two": (1, 0)}

    def test_a_machine_without_them_takes_nothing_back(
        self, make_study: Maker, begin: Begin, pictures: Path
    ) -> None:
        only_one(pictures)
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"})
        rated(begin, store, without=("one3",))
        kept = (pictures / "one3.png").read_bytes()
        (pictures / "one3.png").unlink()
        with store.database.write() as connection:
            set_wanted(connection, store.study)
        (pictures / "one3.png").write_bytes(kept)
        assert wanted(store) == {"one": 2}
        assert rated(begin, store) == "complete"


class TestStatus:
    def test_says_what_is_beyond_and_what_lacks(
        self,
        make_study: Maker,
        pictures: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        path = pictures / "batches.csv"
        path.write_text(path.read_text().replace("two3,two3.png", "[/b]3,two3.png"))
        store = make_study(TEXT, replace={"raters = 2": "raters = 1"})
        # As when sessions stop before their end, whose answers fill no batch.
        with store.database.write() as connection:
            lacking = select(stimuli.c.id).where(stimuli.c.name.in_(["one0", "[/b]3"]))
            own = tasks.c.stimulus_id.in_(lacking)
            connection.execute(update(tasks).where(own).values(valid=0))
            connection.execute(update(tasks).where(~own).values(valid=3))
        (pictures / "two3.png").unlink()
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["study", "status", str(store.study.path), "--json"])
        found = json.loads(capsys.readouterr().out)["result"]
        assert (found["valid"], found["wanted"]) == (2 * N - 2, 2 * N)
        assert found["surplus"] == 2 * (2 * N - 2)
        assert (found["below"], found["unshown"]) == (["one0", "[/b]3"], ["[/b]3"])
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["study", "status", str(store.study.path)])
        printed = " ".join(capsys.readouterr().out.split())
        assert "valid 14 of 16 wanted (88 %)" in printed
        assert "valid beyond these 28" in printed
        assert "stimuli that lack some 2 (one0, [/b]3)" in printed
        assert "of these, not on this machine 1 ([/b]3)" in printed


class TestWaiting:
    def test_is_until_the_first_batch_that_comes_back(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(
            TEXT,
            replace={
                "raters = 2": "raters = 1",
                'batch = "batch"': 'batch = "batch"\nmost_per_rater = 9\nlease_minutes = 60',
            },
            database=database,
        )
        service, token, state = begin(store, Visitor(external_id="p1"))
        assert complete(service, token, state)["stage"] == "complete"
        # Of the other batch somebody answers all but one stimulus, and leaves.
        service, token, state = begin(store)
        while state["progress"]["done"] + 1 < N:
            state = service.answer(token, submission(state))
        let_leases_end(store)
        with store.database.write() as connection:
            expire(connection)
        # Another holds it and answers that one first: no single task lacks anything now.
        service, token, _ = begin(store)
        last = int(state["trial"]["id"])
        of_last = select(trials.c.stimulus_id).where(trials.c.id == last)
        with store.database.read() as connection:
            name = store.content[connection.execute(of_last).scalar_one()]["name"]
        ask_first(store, 3, name)
        service.answer(token, submission(service.state(token)))
        assert {one for (one,) in table(store, tasks.c.valid)} == {1}
        with store.database.write() as connection:
            connection.execute(
                update(trials)
                .where(trials.c.session_id == 3)
                .values(lease_until=trials.c.lease_until - 30 * 60_000)
            )
        _, _, state = begin(store, Visitor(external_id="p1"))
        assert state["stage"] == "waiting"
        assert state["waiting"] == {"minutes": 30}
