"""Who somebody is, and how they enter and leave: names, cookies, invitations, closing."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from affectlab import InputError
from affectlab.study import invite, workload
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import pseudonym
from affectlab.study.tables import answers, participants, sessions, tasks, trials

from .answering import complete, consistent, submission, table
from .conftest import FACES
from .test_recruitment import client_of
from .withdrawing import (
    PERSON,
    PLATFORM,
    WORK,
    Begin,
    Maker,
    take_part,
)


class TestWhoIsWho:
    def test_a_name_alone_opens_nothing(self, make_study: Maker) -> None:
        store = make_study(FACES + PLATFORM)
        _, _, state = take_part(store, Visitor("prolific", PERSON, WORK))
        code = state["complete"]["code"]
        for work in ("other", None, ""):
            with pytest.raises(StudyError, match="does not belong to the visit"):
                enter(store, Visitor("prolific", PERSON, work))
        again = Service(store).state(enter(store, Visitor("prolific", PERSON, WORK)))
        assert again["complete"]["code"] == code
        # Prolific's own word is enough.
        token = enter(store, Visitor("prolific", PERSON, "newer", verified="yes"))
        assert Service(store).state(token)["complete"]["code"] == code
        assert table(store, sessions.c.external_id) == [("newer",)]

    def test_an_open_link_knows_its_browser(self, make_study: Maker) -> None:
        store = make_study()
        _, token, state = take_part(store)
        assert state["stage"] == "complete"
        token = enter(store, Visitor(token=token))
        assert Service(store).state(token)["complete"] == state["complete"]
        assert len(table(store, sessions.c.id)) == 1
        assert len(table(store, participants.c.id)) == 1
        # Another browser is another person, as far as anyone can tell.
        assert Service(store).state(enter(store, Visitor()))["stage"] == "instructions"

    def test_more_sessions_never_show_the_same(self, make_study: Maker) -> None:
        store = make_study(FACES + "most_per_rater = 2\n")
        _, token, _ = take_part(store)
        _, token, _ = take_part(store, Visitor(token=token))
        shown = [one for (one,) in table(store, trials.c.stimulus_id)]
        assert len(shown) == len(set(shown)) == 6
        assert Service(store).state(enter(store, Visitor(token=token)))["stage"] == "complete"
        assert len(table(store, sessions.c.id)) == 2

    def test_a_failed_quiz_is_failed(self, make_study: Maker) -> None:
        quiz = '[[quiz.questions]]\nquestion = "?"\nchoices = ["a", "b"]\nanswer = "a"\n'
        store = make_study(FACES + quiz)
        service, token, _ = take_part(store)
        for _ in range(2):
            state = service.advance(token, "quiz", {"answers": ["b"]})
        assert state["ended"]["reason"] == "quiz"
        token = enter(store, Visitor(token=token))
        assert service.state(token)["ended"]["reason"] == "quiz"


class TestClosing:
    def test_nobody_is_trapped(self, make_study: Maker, database: str | None) -> None:
        away = 'screened_out_url = "https://app.example.org/x"\nstopped_code = "PART"\n'
        store = make_study(FACES + PLATFORM + away, database=database)
        service, token, state = take_part(store, Visitor("prolific", PERSON, WORK), most=1)
        _, idle, _ = take_part(store, Visitor("prolific", "p2", "w2"), most=0)
        store.set_status("closed")
        with pytest.raises(StudyError) as refused:
            service.answer(token, submission(state))
        assert refused.value.status == 409
        state = service.state(token)
        assert state["ended"] == {
            "reason": "closed",
            "paragraphs": [],
            "return_url": "https://app.example.org/x",
            "code": "PART",
        }
        # Who has done nothing has no code for it.
        assert service.state(idle)["ended"]["code"] == ""
        assert sum(leased for (leased,) in table(store, tasks.c.leased)) == 0
        assert len(table(store, answers.c.trial_id)) == 1
        consistent(store)

    def test_what_is_complete_stays_so(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = begin(store)
        complete(service, token, state)
        store.set_status("closed")
        assert service.state(token)["stage"] == "complete"


class TestInvitations:
    def test_links_open_one_session_each(self, make_study: Maker) -> None:
        store = make_study(FACES + "[recruitment]\nopen = false\n")
        assert any("nobody can come in" in one for one in workload(store.study).warnings)
        made = invite(store, 2, "https://study.example.org/")
        assert not any("nobody can come in" in one for one in workload(store.study).warnings)
        assert len({one.link for one in made}) == 2
        for one in made:
            address, _, secret = one.link.rpartition("/")
            assert address == "https://study.example.org/p"
            token = enter(store, Visitor("link", invitation=secret))
            assert Service(store).state(token)["stage"] == "instructions"
        assert [one.rater for one in made] == [pseudonym(store, 1), pseudonym(store, 2)]
        for n, url, said in ((0, "https://a", "at least 1"), (1, "ftp://a", "https://")):
            with pytest.raises(InputError, match=said):
                invite(store, n, url)

    def test_the_verbs(
        self, make_study: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from affectlab.cli import main

        store = make_study(FACES)
        file, links = str(store.study.path), tmp_path / "links.csv"

        def run(*words: str) -> int:
            with pytest.raises(SystemExit) as done:
                main(["study", *words])
            return int(done.value.code or 0)

        assert run("invite", file, "--people", "2", "--out", str(links)) == 0
        assert links.stat().st_mode & 0o077 == 0
        rows = pl.read_csv(links)
        assert rows.columns == ["rater", "link"]
        assert rows.height == 2
        assert run("invite", file, "--people", "2", "--out", str(links)) == 2
        assert pl.read_csv(links).equals(rows)
        assert run("invite", file, "--people", "0", "--out", str(tmp_path / "n.csv")) == 2
        assert not (tmp_path / "n.csv").exists()
        capsys.readouterr()
        secret = rows["link"][0].rpartition("/")[2]
        take_part(store, Visitor("link", invitation=secret), most=1)
        assert run("close", file) == 0
        assert "1 session under way: they are told so" in capsys.readouterr().out
        assert run("status", file) == 0
        shown = capsys.readouterr().out
        assert "visitors" in shown
        assert "took part" in shown
        assert run("erase", file, rows["rater"][0], "--yes", "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert '"answers": 1' in json.dumps(told)
        assert run("erase", file, "nobody", "--yes") == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[consent]\ntext = "Kept until [when], by [whom]."\n', "[when], [whom]"),
        ('[recruitment]\nplatform = "prolific"\n', "recruitment.verify is off"),
        ('[eligibility]\ncountries = ["US"]\n', "no platform filters for eligibility"),
    ],
)
def test_what_check_says(make_study: Maker, more: str, said: str) -> None:
    assert any(said in one for one in workload(make_study(FACES + more).study).warnings)
    assert not any(said in one for one in workload(make_study(FACES).study).warnings)


@pytest.mark.parametrize(
    ("languages", "own", "warned"),
    [(["en"], False, False), (["en", "de"], False, True), (["de"], False, True),
     (["de"], True, False), (["de", "es"], True, True)],
)  # fmt: skip
def test_pages_in_a_language_that_the_protocol_is_not_in(
    make_study: Maker, languages: list[str], own: bool, warned: bool
) -> None:
    text = FACES.replace("[protocol]", f"languages = {languages}\n[protocol]")
    if own:
        text = text.replace("change = {", 'change = { question = "Wie stark?",')
    found = workload(make_study(text).study).warnings
    assert any("study.languages" in one for one in found) == warned


def test_the_server_honours_its_cookie(make_study: Maker) -> None:
    store = make_study()
    with client_of(store) as http:
        state = http.post("/api/enter", json={}).json()
        crown = {"X-CSRF": state["csrf"]}
        assert http.post("/api/withdraw", json={}, headers=crown).status_code == 200
        again = http.post("/api/enter", json={}).json()
        assert (again["stage"], again["ended"]["reason"]) == ("ended", "withdrawn")
        http.cookies.clear()
        assert http.post("/api/enter", json={}).json()["stage"] == "instructions"
    assert len(table(store, participants.c.id)) == 2
