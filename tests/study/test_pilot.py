"""The pilot: apart from the main study everywhere, and a source of golden items."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from affectlab import InputError
from affectlab.ratings import read_ratings
from affectlab.study import load_study, simulate_study
from affectlab.study.dataset.ratings import collect, export
from affectlab.study.pilot import golden_from_pilot, prepare_pilot
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.server import Settings, create_app
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store
from affectlab.study.tables import sessions, stimuli, tasks, trials
from affectlab.study.verdicts import reject_session
from affectlab.study.watch.status import study_status

from .answering import complete, consistent, submission, table
from .conftest import FACES, VERIFY

PILOT = f"""{FACES}
[pilot]
stimuli = 3
raters = 2
"""

Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]


def pilot_session(store: Store, begin: Begin) -> None:
    service, token, state = begin(store, Visitor(batch="pilot"))
    assert complete(service, token, state)["stage"] == "complete"


class TestTasks:
    def test_the_pilot_fills_and_the_main_study_does_not(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(PILOT, database=database)
        assert prepare_pilot(store) == 3
        assert prepare_pilot(store) == 3
        for _ in range(2):
            pilot_session(store, begin)
        service, token, state = begin(store, Visitor(batch="pilot"))
        assert (state["stage"], state["ended"]["reason"]) == ("ended", "full")
        counts = set(table(store, tasks.c.batch, tasks.c.valid, tasks.c.wanted))
        assert counts == {("pilot", 2, 2), ("main", 0, 2)}
        found = study_status(store)
        assert (found.valid, found.wanted, found.tasks) == (0, 12, 6)
        assert (found.pilot_valid, found.pilot_wanted) == (6, 6)
        # The main study is asked as if there had been no pilot.
        for _ in range(4):
            service, token, state = begin(store)
            assert complete(service, token, state)["stage"] == "complete"
        assert study_status(store).valid == 12
        assert begin(store)[2]["ended"]["reason"] == "full"
        consistent(store)

    def test_answers_of_the_pilot_route_nothing(self, make_study: Maker, begin: Begin) -> None:
        """A chain of confirmations in the main study; a fixed number in the pilot."""
        store = make_study(f"{VERIFY}[pilot]\nstimuli = 2\nraters = 4\n")
        assert prepare_pilot(store) == 4
        service, token, state = begin(store, Visitor(batch="pilot"))
        while state["stage"] == "trials":
            label = state["trial"]["labels"][0]["name"]
            state = service.answer(token, submission(state, {"ratings": {label: 0}}))
        batches = table(store, tasks.c.batch, tasks.c.valid, tasks.c.wanted)
        assert {row for row in batches if row[0] == "pilot"} == {("pilot", 1, 4)}
        assert all(row[1] == 0 for row in batches if row[0] != "pilot")

    def test_rejected_pilot_work_is_asked_again(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        pilot_session(store, begin)
        reject_session(store, 1, "careless")
        found = study_status(store)
        assert (found.pilot_valid, found.pilot_wanted) == (0, 6)

    def test_nobody_rates_the_same_thing_in_both(self, make_study: Maker, begin: Begin) -> None:
        text = PILOT.replace("trials = 3", "trials = 6\nmost_per_rater = 2")
        store = make_study(text)
        prepare_pilot(store)
        person = {"source": "open", "external_id": "p1"}
        service, token, state = begin(store, Visitor(**person, batch="pilot"))
        complete(service, token, state)
        service, token, state = begin(store, Visitor(**person))
        assert state["progress"]["total"] == 3
        complete(service, token, state)
        seen = collect(store, batch=None)
        assert seen is not None
        assert seen.n_stimuli == 6
        assert seen.n_rows == 6

    def test_more_raters_later(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        pilot_session(store, begin)
        store.close()
        again = make_study(PILOT.replace("stimuli = 3\nraters = 2", "stimuli = 5\nraters = 3"))
        assert prepare_pilot(again) == 3
        found = study_status(again)
        assert (found.pilot_valid, found.pilot_wanted) == (3, 9)

    def test_the_same_stimuli_for_the_same_seed(self, make_study: Maker, tmp_path: Path) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        own = select(stimuli.c.name).join(tasks).where(tasks.c.batch == "pilot")
        with store.database.read() as connection:
            first = set(connection.execute(own).scalars())
        path = tmp_path / "again.toml"
        path.write_text(PILOT, encoding="utf-8")
        with open_store(load_study(path)) as other:
            prepare_pilot(other)
            with other.database.read() as connection:
                assert set(connection.execute(own).scalars()) == first

    def test_stimuli_by_name(self, make_study: Maker) -> None:
        store = make_study(FACES)
        names = [content["name"] for content in store.content.values()]
        store.close()
        named = f'{FACES}[pilot]\nstimuli = ["{names[1]}"]\n'
        assert prepare_pilot(make_study(named)) == 1

    def test_a_stimulus_that_is_not_there(self, make_study: Maker) -> None:
        with pytest.raises(InputError, match="'nobody' is no stimulus"):
            prepare_pilot(make_study(f'{FACES}[pilot]\nstimuli = ["nobody"]\n'))

    def test_apart(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(PILOT.replace("[pilot]", "[pilot]\napart = true"))
        prepare_pilot(store)
        found = study_status(store)
        assert (found.tasks, found.wanted, found.pilot_wanted) == (3, 6, 6)

    def test_apart_needs_something_to_be_left(self, make_study: Maker, begin: Begin) -> None:
        text = PILOT.replace("stimuli = 3", "stimuli = 6\napart = true")
        store = make_study(text)
        with pytest.raises(InputError, match="no stimulus would be left"):
            prepare_pilot(store)
        begin(store)
        with pytest.raises(InputError, match="asks about these stimuli already"):
            prepare_pilot(store)

    def test_without_a_table(self, make_study: Maker) -> None:
        store = make_study()
        assert prepare_pilot(store) == 6
        assert study_status(store).pilot_wanted == 6 * 25


class TestServer:
    def test_everyone_who_enters_then_is_of_the_pilot(self, make_study: Maker) -> None:
        store = make_study(PILOT)
        with TestClient(create_app(store, Settings(pilot=True)), base_url="http://t") as http:
            assert http.post("/api/enter", json={}).status_code == 200
        with TestClient(create_app(store), base_url="http://t") as http:
            assert http.post("/api/enter", json={}).status_code == 200
        assert table(store, sessions.c.batch) == [("pilot",), ("main",)]


class TestExport:
    def test_pilot_answers_stand_apart(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        pilot_session(store, begin)
        only = export(store, tmp_path / "a")
        named = [file.name for file in only.files]
        assert {"pilot.parquet", "pilot.csv", "sessions.csv"} <= set(named)
        assert (only.n_ratings, only.n_pilot) == (0, 3)
        service, token, state = begin(store)
        complete(service, token, state)
        both = export(store, tmp_path / "b")
        assert {file.name for file in both.files} == {
            "ratings.parquet",
            "ratings.csv",
            "rejected.csv",
            "codebook.csv",
            "pilot.parquet",
            "pilot.csv",
            "sessions.csv",
        }
        assert (both.n_ratings, both.n_pilot) == (3, 3)
        pilot = read_ratings(tmp_path / "b" / "pilot.parquet")
        main = read_ratings(tmp_path / "b" / "ratings.parquet")
        assert not set(pilot.rater_names) & set(main.rater_names)
        assert set(pilot.stimuli["batch"]) == {"pilot"}
        assert "batch" not in (*main.frame.columns, *main.stimuli.columns, *main.raters.columns)

    def test_both_together_have_a_column(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        pilot_session(store, begin)
        service, token, state = begin(store)
        complete(service, token, state)
        found = collect(store, batch=None)
        assert found is not None
        # It describes raters, and stimuli as well where both happened to see different ones.
        table = found.raters if "batch" in found.raters.columns else found.stimuli
        assert set(table["batch"]) == {"main", "pilot"}


RATED = """
[study]
name = "golden"
title = "Golden"
[protocol]
name = "intensity"
change = { asks = { taxonomy = "mikels", group_by = [] } }
[stimuli]
faces = 16
[sessions]
trials = 16
raters = 1
[pilot]
stimuli = 16
raters = 5
"""


@pytest.fixture(scope="module")
def piloted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose pilot careful simulated people have filled, over HTTP."""
    path = tmp_path_factory.mktemp("pilot") / "study.toml"
    path.write_text(RATED, encoding="utf-8")
    found = simulate_study(path, people=5, careless=0, pilot=True, seed=1)
    assert (found.completed, found.answers) == (5, 5 * 16)
    return path


class TestGolden:
    @pytest.mark.long
    def test_clear_cases_are_proposed(self, piloted: Path) -> None:
        with open_store(load_study(piloted)) as store:
            found = golden_from_pilot(store, 6)
            again = golden_from_pilot(store, 6)
        assert found.equals(again)
        assert found.height == 6
        assert found["stimulus"].n_unique() == 6
        # Both ends of the scale, and nothing in between.
        assert found.filter(found["value"] > 3.5).height == 3
        assert found.filter(found["value"] < 3.5).height == 3
        with (piloted.with_suffix(".affectlab") / "truth.csv").open(encoding="utf-8") as file:
            truth = {
                (row["stimulus"], row["label"]): float(row["value"]) for row in csv.DictReader(file)
            }
        # What was planted is what careful raters agree on, within a quarter of the scale.
        for row in found.iter_rows(named=True):
            assert abs(truth[row["stimulus"], row["label"]] - row["value"]) <= 1.75
            assert row["value"] == round(row["value"])
            assert row["ratings"] == 5

    def test_one_label(self, piloted: Path) -> None:
        with open_store(load_study(piloted)) as store:
            found = golden_from_pilot(store, 4, label="amusement")
            assert set(found["label"]) == {"amusement"}
            with pytest.raises(InputError, match="label 'joy': the pilot has no answers"):
                golden_from_pilot(store, 4, label="joy")

    def test_they_become_golden_in_the_same_study(
        self, piloted: Path, tmp_path: Path, begin: Begin
    ) -> None:
        shutil.copytree(piloted.parent, tmp_path / "copy")
        path = tmp_path / "copy" / piloted.name
        with open_store(load_study(path)) as store:
            found = golden_from_pilot(store, 4)
        found.write_csv(path.parent / "golden.csv")
        path.write_text(
            RATED.replace("faces = 16", 'faces = 16\ngolden = "golden.csv"'), encoding="utf-8"
        )
        with open_store(load_study(path)) as store:
            kinds = table(store, stimuli.c.name, stimuli.c.kind)
            assert {name for name, kind in kinds if kind == "golden"} == set(found["stimulus"])
            state = study_status(store)
            assert (state.tasks, state.pilot_wanted) == (12, 80)
            _, _, state = begin(store)
            assert state["stage"] == "trials"
            with_layout = [kind for (kind,) in table(store, trials.c.kind)]
            assert with_layout[-16:].count("golden") == 4
        # From now on people of the main study are held against them: no way back.
        path.write_text(RATED, encoding="utf-8")
        with pytest.raises(InputError, match="were changed after the study had begun"):
            open_store(load_study(path))

    def test_other_changes_are_still_refused(self, piloted: Path, tmp_path: Path) -> None:
        shutil.copytree(piloted.parent, tmp_path / "copy")
        path = tmp_path / "copy" / piloted.name
        path.write_text(RATED.replace("raters = 1", "raters = 2"), encoding="utf-8")
        with pytest.raises(InputError, match="were changed after the study had begun"):
            open_store(load_study(path))

    def test_without_answers(self, make_study: Maker) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        with pytest.raises(InputError, match="the pilot has no answers yet"):
            golden_from_pilot(store)
        with pytest.raises(InputError, match="n 0"):
            golden_from_pilot(store, 0)

    def test_too_few_answers(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(PILOT)
        prepare_pilot(store)
        pilot_session(store, begin)
        with pytest.raises(InputError, match="no stimulus of the pilot qualifies"):
            golden_from_pilot(store)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stimuli = 0", "at least one stimulus"),
        ("stimuli = []", "at least one stimulus"),
        ('stimuli = ["a", "a"]', "stimulus 'a' stands twice"),
        ("raters = 0", "pilot.raters"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(f"{FACES}[pilot]\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_study(path)
