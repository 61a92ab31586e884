"""What is exported of the answers."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab import InputError, read_ratings
from affectlab.study.dataset.ratings import collect, export
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.store import pseudonym
from affectlab.study.tables import events
from affectlab.study.verdicts import reject_session

from .answering import Begin, Maker, complete, table
from .conftest import TEXTS


class TestExport:
    def test_not_rated_is_not_zero(self, make_study: Maker, begin: Begin, tmp_path: Any) -> None:
        store = make_study()
        service, token, state = begin(store)
        complete(service, token, state, answer={"ratings": {"awe": 0, "fear": 3, "sadness": None}})
        done = export(store, tmp_path / "out")
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

    def test_suggestions_of_rejected_sessions_have_none(
        self, make_study: Maker, begin: Begin, tmp_path: Any
    ) -> None:
        store = make_study(TEXTS)
        for word in ("schadenfreude", "saudade"):
            service, token, state = begin(store)
            complete(service, token, state, answer={"chosen": ["joy"], "suggestion": word})
        reject_session(store, 1, "careless")
        export(store, tmp_path / "out")
        text = (tmp_path / "out" / "suggestions.csv").read_text(encoding="utf-8")
        assert "schadenfreude" not in text
        assert text.count("saudade") == 4

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

    def test_rejected_answers_have_a_file_where_nothing_else_is_there(
        self, make_study: Maker, begin: Begin, tmp_path: Any
    ) -> None:
        store = make_study()
        service, token, state = begin(store)
        complete(service, token, state)
        out = tmp_path / "out"
        assert export(store, out).n_ratings == 3
        reject_session(store, 1, "careless")
        done = export(store, out)
        assert (done.n_ratings, done.n_raters, done.n_rejected) == (0, 0, 3)
        # What an earlier export wrote is no longer there as if it counted.
        assert (pl.read_csv(out / "ratings.csv").height, "value" in _header(out)) == (0, True)
        assert not (out / "ratings.csv.meta.json").exists()
        assert read_ratings(out / "rejected.csv").n_rows == 3
        with pytest.raises(InputError, match="no rows"):
            read_ratings(out / "ratings.parquet")

    def test_sessions_have_a_file_before_anybody_has_answered(
        self, make_study: Maker, begin: Begin, tmp_path: Any
    ) -> None:
        store = make_study()
        out = tmp_path / "out"
        done = export(store, out)
        assert {file.name for file in done.files} == {
            *("ratings.csv", "ratings.parquet", "rejected.csv", "sessions.csv", "codebook.csv")
        }
        header = pl.read_csv(out / "sessions.csv").columns
        begin(store)
        said = run_here("study", "export", store.study.path, "--out", out)
        assert "0 ratings of 0 people" in said.stdout
        assert "note: no answer of the main study counts yet" in said.stderr
        sessions = pl.read_csv(out / "sessions.csv")
        assert (sessions.height, sessions.columns) == (1, header)
        assert sessions["stage"].to_list() == ["trials"]

    def test_an_export_into_a_file_is_refused(self, make_study: Maker, tmp_path: Any) -> None:
        (tmp_path / "out").write_text("here")
        with pytest.raises(InputError, match="expected a folder"):
            export(make_study(), tmp_path / "out")


def _header(folder: Any) -> list[str]:
    return pl.read_csv(folder / "ratings.csv").columns
