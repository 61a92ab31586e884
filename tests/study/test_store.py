"""The data of a study: what cannot be changed, and who may read it."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, update
from sqlalchemy.exc import DBAPIError

from affectlab import InputError
from affectlab.study import load_study
from affectlab.study.store import open_store
from affectlab.study.tables import events

from .answering import Begin, Maker, table


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
        store = make_study(fresh=True)
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
