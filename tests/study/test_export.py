"""What is exported of the answers."""

from __future__ import annotations

from typing import Any

import pytest

from affectlab import InputError
from affectlab.study._entry import Visitor
from affectlab.study._export import collect, export, pseudonym
from affectlab.study._review import reject_session
from affectlab.study._tables import events

from .answering import Begin, Maker, complete, table
from .conftest import TEXTS


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

    def test_nothing_to_export_is_said(self, make_study: Maker, tmp_path: Any) -> None:
        with pytest.raises(InputError, match="no answer to export"):
            export(make_study(), tmp_path / "out")
