"""A consent text that people have agreed to stays what it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab import AffectlabError, InputError
from affectlab.study import load_study, simulate_study, workload
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.people.erase import erase_person
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store, pseudonym

from .answering import Maker
from .conftest import FACES

TEXT = FACES + '[consent]\ntext = "Do you agree?"\n'


def _come(store: Store, *, agreed: bool) -> None:
    token = enter(store, Visitor())
    Service(store).advance(token, "consent", {"agreed": agreed})


def _change(store: Store, old: str, new: str) -> None:
    path = store.study.path
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")


def _stops(path: Path, database: str | None) -> None:
    for look in (open_store, workload):
        with pytest.raises(InputError, match="undo that, or give the new text another version"):
            look(load_study(path), database)


def test_another_text_needs_another_version(make_study: Maker, database: str | None) -> None:
    store = make_study(TEXT, database=database)
    _come(store, agreed=True)
    _change(store, "Do you agree?", "Do you agree to be filmed?")
    _stops(store.study.path, database)
    _change(store, "[consent]\n", '[consent]\nversion = "2"\n')
    workload(load_study(store.study.path), database)
    with open_store(load_study(store.study.path), database) as again:
        _come(again, agreed=True)
    # Back to the first version with the second text, and to the first text.
    _change(store, 'version = "2"', 'version = "1"')
    _stops(store.study.path, database)
    _change(store, " to be filmed", "")
    workload(load_study(store.study.path), database)


def test_a_text_that_nobody_agreed_to_may_change(make_study: Maker) -> None:
    store = make_study(TEXT)
    _come(store, agreed=False)
    _change(store, "Do you agree?", "Do you agree, please?")
    open_store(load_study(store.study.path)).close()
    assert not any("agreed" in one for one in workload(load_study(store.study.path)).warnings)


def test_lines_and_spaces_are_no_change_and_the_erased_agreed_to_nothing(make_study: Maker) -> None:
    store = make_study(TEXT)
    _come(store, agreed=True)
    _change(store, "Do you agree?", "Do  you agree?")
    open_store(load_study(store.study.path)).close()
    erase_person(store, pseudonym(store, 1))
    _change(store, "Do  you agree?", "May we?")
    open_store(load_study(store.study.path)).close()


def test_the_commands_stop(make_study: Maker) -> None:
    store = make_study(TEXT)
    _come(store, agreed=True)
    _change(store, "Do you agree?", "May we?")
    for verb in ("check", "serve"):
        said = " ".join(run_here("study", verb, store.study.path, code=2).stderr.split())
        assert "consent.text was changed, and people have agreed to the text" in said


def test_check_does_not_begin_a_study(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(TEXT, encoding="utf-8")
    workload(load_study(path))
    assert not path.with_suffix(".affectlab").exists()


@pytest.mark.long
def test_simulated_people_hold_nobody_to_a_text(make_study: Maker) -> None:
    store = make_study(TEXT)
    simulate_study(store.study.path, people=2, careless=0)
    _change(store, "Do you agree?", "Do you agree to be filmed?")
    workload(load_study(store.study.path))
    with open_store(load_study(store.study.path)) as again:
        _come(again, agreed=True)
    _change(store, " to be filmed", "")
    with pytest.raises(InputError, match=r"or delete .*\.affectlab if these are only your own"):
        workload(load_study(store.study.path))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[consent]\ntext = "Do you agree?"\n', "", r"\[consent\] was removed"),
        ("[consent]\n", '[consent]\non_withdrawal = "keep"\n', "consent.on_withdrawal was changed"),
    ],
)
def test_what_was_agreed_to_stays(make_study: Maker, old: str, new: str, said: str) -> None:
    store = make_study(TEXT)
    _change(store, old, new)
    open_store(load_study(store.study.path)).close()
    path = store.study.path
    path.write_text(TEXT, encoding="utf-8")
    _come(store, agreed=True)
    _change(store, old, new)
    for look in (open_store, workload):
        with pytest.raises(InputError, match=said):
            look(load_study(path))


def test_a_page_that_shows_another_text_agrees_to_nothing(make_study: Maker) -> None:
    store = make_study(TEXT)
    token = enter(store, Visitor())
    shown = Service(store).state(token)["consent"]
    del shown["paragraphs"]
    for old, new in (
        ("Do you agree?", "May we film?"),
        ("[consent]\n", '[consent]\nversion = "2"\n'),
    ):
        _change(store, old, new)
        with open_store(load_study(store.study.path)) as again:
            with pytest.raises(StudyError, match="read it again") as refused:
                Service(again).advance(token, "consent", {"agreed": True, **shown})
            assert refused.value.status == 409
            shown = Service(again).state(token)["consent"]
            del shown["paragraphs"]
    with open_store(load_study(store.study.path)) as again:
        state = Service(again).advance(token, "consent", {"agreed": True, **shown})
    assert state["stage"] == "instructions"


@pytest.mark.parametrize("name", ["a#b", "a%25b", "a%41b", "a?b"])
def test_check_reads_the_data_of_a_study_wherever_it_lies(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    path = folder / "study.toml"
    path.write_text(TEXT, encoding="utf-8")
    with open_store(load_study(path)) as store:
        _come(store, agreed=True)
    path.write_text(TEXT.replace("Do you agree?", "May we?"), encoding="utf-8")
    with pytest.raises(InputError, match="people have agreed to the text"):
        workload(load_study(path))
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_check_makes_no_database_and_says_which_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(TEXT, encoding="utf-8")
    study = load_study(path)
    absent = tmp_path / "none.sqlite"
    workload(study, f"sqlite:///{absent}")
    assert not absent.exists()
    absent.write_bytes(b"no database" * 100)
    for database in (f"sqlite:///{absent}", "postgresql://nobody@127.0.0.1:1/x"):
        for look in (workload, open_store):
            with pytest.raises(AffectlabError, match="the database cannot be opened"):
                look(study, database)
    assert absent.read_bytes() == b"no database" * 100
