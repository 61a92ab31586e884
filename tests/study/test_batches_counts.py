"""Batches in checks, counts and exports; mistakes in them; studies begun before them."""

from __future__ import annotations

import csv
import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import select, text

from affectlab import InputError
from affectlab.study import load_study, release, simulate_study, study_status, workload
from affectlab.study.database import _MIGRATIONS, Database
from affectlab.study.dataset.ratings import export
from affectlab.study.store import open_store
from affectlab.study.tables import metadata, sessions, tasks
from affectlab.study.watch.overview import overview

from .answering import Begin, Maker, table
from .batched import (
    SIZES,
    TEXTS,
    batches as batches,
    check_whole,
    places,
    rated,
)


class TestMistakes:
    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ('batch = "batch"', 'batch = "bach"', "has no such column; found: batch"),
            ('table = "batches.csv"', "faces = 6", "names a column of stimuli.table"),
            (", routing = { extra_raters = 0 }", "", "extra_raters = 2"),
            ('batch = "batch"', 'batch = ""', "sessions.batch"),
        ],
    )
    def test_in_the_file_are_named(
        self, make_study: Maker, old: str, new: str, sentence: str
    ) -> None:
        text = TEXTS.replace("{ routing", "{ version = '1', routing")
        with pytest.raises(InputError, match=sentence):
            make_study(text, replace={old: new})

    def test_a_chain_of_confirmations_does_not_go_with_batches(self, make_study: Maker) -> None:
        text = TEXTS.replace('"multilabel"', '"verification"').replace(
            "routing = { extra_raters = 0 }", 'asks = { taxonomy = "mikels" }'
        )
        with pytest.raises(InputError, match=r"confirmations = 3.* does not go with whole batches"):
            make_study(text.replace("raters = 2\n", ""))

    def test_a_stimulus_without_a_batch_is_named(self, make_study: Maker, batches: Path) -> None:
        batches.write_text(batches.read_text().replace("Text 2 of b.,b", "Text 2 of b.,"))
        with pytest.raises(InputError, match="stimulus 'b2' has no batch") as refused:
            make_study(TEXTS)
        assert "\n" not in str(refused.value)

    def test_a_batch_with_nothing_to_ask_about_is_named(
        self, make_study: Maker, tmp_path: Path
    ) -> None:
        rows = "".join(f"c{k},joy,1\n" for k in range(3))
        (tmp_path / "golden.csv").write_text(f"stimulus,label,value\n{rows}", encoding="utf-8")
        named = 'table = "batches.csv"'
        with pytest.raises(InputError, match="batch 'c' has nothing to ask about"):
            make_study(TEXTS, replace={named: f'{named}\ngolden = "golden.csv"'})

    def test_nor_can_golden_items_of_a_pilot_empty_one(
        self, make_study: Maker, tmp_path: Path
    ) -> None:
        make_study(TEXTS).close()
        rows = "".join(f"c{k},joy,1\n" for k in range(3))
        (tmp_path / "golden.csv").write_text(f"stimulus,label,value\n{rows}", encoding="utf-8")
        named = 'table = "batches.csv"'
        with pytest.raises(InputError, match="batch 'c' has nothing to ask about"):
            make_study(TEXTS, replace={named: f'{named}\ngolden = "golden.csv"'})
        store = make_study(TEXTS)
        assert len(table(store, tasks.c.id)) == sum(SIZES.values())

    def test_batches_cannot_be_changed_under_a_study(self, make_study: Maker) -> None:
        make_study(TEXTS).close()
        with pytest.raises(InputError, match="changed after the study had begun"):
            make_study(TEXTS, replace={'batch = "batch"\n': ""})


class TestCounts:
    def test_of_a_check(self, make_study: Maker) -> None:
        found = workload(make_study(TEXTS).study)
        assert (found.batches, found.batch_sizes, found.trials_per_session) == (3, (3, 4), 4)
        assert (found.tasks, found.answers, found.sessions) == (11, 22, 6)
        assert any("batches have 3 to 4 stimuli" in one for one in found.warnings)
        assert not any("sessions.trials" in one for one in found.warnings)

    def test_equal_batches_are_no_caution_and_idle_trials_are(
        self, make_study: Maker, batches: Path
    ) -> None:
        batches.write_text(batches.read_text().replace("a3,Text 3 of a.,a\n", "a3,Text.,c\n"))
        text = TEXTS.replace('batch = "batch"', 'batch = "batch"\ntrials = 5')
        found = workload(make_study(text).study)
        assert found.batch_sizes == (3, 4)
        assert any("sessions.trials = 5 counts in a pilot alone" in one for one in found.warnings)
        assert not any(
            "sessions.trials" in one
            for one in workload(
                make_study(text.replace("raters = 2", "raters = 2\n[pilot]")).study
            ).warnings
        )

    def test_of_the_dashboard_and_the_export(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        store = make_study(TEXTS + "[recruitment]\npay = 2\n")
        for _ in range(4):
            rated(begin, store)
        begin(store)
        status = study_status(store).batches
        assert status is not None
        assert (status.batches, status.done, status.sessions, status.wanted) == (3, 1, 4, 6)
        assert status.held == 1
        shown = overview(store)
        assert shown.progress.batches == status
        assert shown.cost is not None
        # Two more sessions, however many trials they have.
        assert (shown.cost.sessions, shown.cost.projected_sessions) == (4, 6)
        export(store, tmp_path / "data")
        with (tmp_path / "data/sessions.csv").open(newline="") as file:
            given = [row["batch_given"] for row in csv.DictReader(file)]
        assert Counter(given[:3]) == {"a": 1, "b": 1, "c": 1}
        assert set(given) == {"a", "b", "c"}
        with (tmp_path / "data/ratings.csv").open(newline="") as file:
            assert {row["stimulus"][0] for row in csv.DictReader(file)} == {"a", "b", "c"}
        release(store, tmp_path / "released")
        card = (tmp_path / "released/README.md").read_text(encoding="utf-8")
        assert "- Sessions that count for their batch: 4 of 6 wanted" in card

    def test_other_studies_say_nothing_of_batches(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        assert study_status(store).batches is None
        assert overview(store).progress.batches is None
        assert workload(store.study).batches == 0
        # As it was stored before there were batches, so that studies under way go on.
        with store.database.read() as connection:
            stored = json.loads(connection.execute(text("SELECT design FROM studies")).scalar_one())
        assert "batch" not in stored["decisive"]


@pytest.mark.long
def test_a_rehearsal_fills_all_batches(make_study: Maker) -> None:
    store = make_study(TEXTS)
    path = store.study.path
    store.close()
    found = simulate_study(path, people=7, careless=1)
    assert (found.took_part, found.completed, found.answers) == (6, 6, 2 * sum(SIZES.values()))
    with open_store(load_study(path)) as again:
        assert set(places(again).values()) == {(2, 0)}
        check_whole(again)


class TestMigration:
    def test_a_study_begun_before_there_were_batches_goes_on(
        self, tmp_path: Path, postgres_server: Any
    ) -> None:
        address = postgres_server.make_database(f"t{uuid.uuid4().hex[:12]}")
        for database in (Database.in_folder(tmp_path / "state"), Database(address)):
            config = Config()
            config.set_main_option("script_location", str(_MIGRATIONS))
            with database.write() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, "0002")
                connection.execute(text(_PERSON))
                connection.execute(text(_SESSION))
            database.upgrade()
            with database.read() as connection:
                assert connection.execute(select(sessions.c.bundle_id, sessions.c.place)).one() == (
                    None,
                    "",
                )
                # The migrations make what the code says the tables are.
                found = compare_metadata(MigrationContext.configure(connection), metadata)
                assert [one for one in found if "bundle" in repr(one)] == []
            database.close()


_PERSON = """
INSERT INTO participants
    (id, kind, source, demographics, eligibility, blocked, created_at)
VALUES (1, 'human', 'open', '{}', '{}', FALSE, 0)
"""
_SESSION = """
INSERT INTO sessions
    (id, participant_id, token, stage, batch, seed, quiz_attempts, completion_code, verdict, pay,
     reasons, started_at, last_seen_at)
VALUES (1, 1, 't', 'trials', 'main', 0, 0, 'c', '', '', '[]', 0, 0)
"""
