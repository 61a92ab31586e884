"""Withdrawing, declining and erasing: what stays stored, and what leaves no trace."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from affectlab import InputError
from affectlab.study import (
    invite,
    load_study,
    open_store,
    study_status,
    workload,
    write_template,
)
from affectlab.study._entry import Visitor, enter
from affectlab.study._erase import erase_person
from affectlab.study._errors import StudyError
from affectlab.study._export import export, pseudonym
from affectlab.study._export_tables import guard_csv
from affectlab.study._release import release
from affectlab.study._review import accept_session, reject_session
from affectlab.study._service import Service
from affectlab.study._store import Store
from affectlab.study._tables import (
    answers,
    erasures,
    events,
    participants,
    sessions,
    tasks,
    trials,
)
from affectlab.study.recruit import approve_sessions, decisions
from affectlab.study.server._participant import COOKIE

from .conftest import FACES
from .test_engine import complete, consistent, submission, table
from .test_pages import SIZES, browser, check, heading, served
from .test_recruitment import client_of

__all__ = ["browser"]

CONSENT = '[consent]\ntext = "Please take part."\n'
KEEP = f'{CONSENT}on_withdrawal = "keep"\n'
PLATFORM = '[recruitment]\nplatform = "prolific"\n'
ABOUT = '[[demographics.questions]]\nname = "town"\nquestion = "Where?"\nkind = "text"\n'
ONE = {"raters = 2": "raters = 1"}
TOWN = "Entenhausen"
PERSON = "5f0000aaaa"
WORK = "60d111bbbb"

Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]


def take_part(
    store: Store, visitor: Visitor | None = None, most: int = 99
) -> tuple[Service, str, dict[str, Any]]:
    """Go through a session, up to so many answers."""
    service = Service(store)
    token = enter(store, visitor or Visitor())
    state = service.state(token)
    given: dict[str, dict[str, Any]] = {
        "consent": {"agreed": True},
        "demographics": {"answers": {"town": TOWN}},
        "instructions": {},
    }
    while state["stage"] in given:
        state = service.advance(token, state["stage"], given[state["stage"]])
    while state["stage"] == "trials" and most:
        state = service.answer(token, submission(state))
        most -= 1
    return service, token, state


def verdicts(store: Store) -> list[Any]:
    return [one for (one,) in table(store, sessions.c.verdict)]


class TestWithdrawing:
    def test_the_answers_count_no_more(
        self, make_study: Maker, tmp_path: Path, database: str | None
    ) -> None:
        store = make_study(FACES + CONSENT, replace=ONE, database=database)
        service, token, _ = take_part(store, most=2)
        take_part(store)
        assert sum(valid for (valid,) in table(store, tasks.c.valid)) == 5
        state = service.withdraw(token)
        assert (state["stage"], state["ended"]["reason"]) == ("ended", "withdrawn")
        assert state["study"]["drops_on_withdrawal"]
        # They are stored, do not count, and are asked again.
        assert sum(valid for (valid,) in table(store, tasks.c.valid)) == 3
        assert table(store, answers.c.valid).count((False,)) == 2
        consistent(store)
        _, _, last = take_part(store)
        assert last["stage"] == "complete"
        assert sum(valid for (valid,) in table(store, tasks.c.valid)) == 6
        found = export(store, tmp_path / "out")
        assert (found.n_ratings, found.n_raters, found.n_rejected) == (6, 2, 0)
        gone = pseudonym(store, 1)
        for file in found.files:
            if file.name != "sessions.csv":
                assert gone.encode() not in file.read_bytes(), file
        told = pl.read_csv(tmp_path / "out" / "sessions.csv", schema_overrides={"session": str})
        assert told["verdict"].to_list() == ["withdrawn", "", ""]
        assert told["use"].to_list() == [False, True, True]
        release(store, tmp_path / "set")
        assert gone not in (tmp_path / "set" / "raters.csv").read_text()

    def test_or_they_stay(self, make_study: Maker) -> None:
        store = make_study(FACES + KEEP)
        service, token, _ = take_part(store, most=2)
        assert not service.withdraw(token)["study"]["drops_on_withdrawal"]
        assert table(store, answers.c.valid) == [(True,), (True,)]

    def test_after_the_end(self, make_study: Maker, begin: Begin) -> None:
        store = make_study()
        service, token, state = take_part(store)
        assert not state["complete"]["withdrawn"]
        code = state["complete"]["code"]
        again = service.withdraw(token)
        assert (again["stage"], again["complete"]["withdrawn"]) == ("complete", True)
        assert again["complete"]["code"] == code
        assert all(not valid for (valid,) in table(store, answers.c.valid))
        assert service.withdraw(token) == again
        assert [kind for (kind,) in table(store, events.c.kind)].count("withdrawn") == 1

    def test_nobody_takes_it_back(self, make_study: Maker) -> None:
        store = make_study(FACES + PLATFORM)
        service, token, _ = take_part(store, Visitor("prolific", PERSON, WORK))
        service.withdraw(token)
        assert accept_session(store, 1) == 0
        assert verdicts(store) == ["withdrawn"]
        assert not any(valid for (valid,) in table(store, answers.c.valid))
        # The work can be paid all the same.
        assert [one.action for one in decisions(store)] == ["undecided"]
        approve_sessions(store, [], everyone=True)
        assert [one.action for one in decisions(store)] == ["approve"]
        reject_session(store, 1, "no")
        assert verdicts(store) == ["withdrawn"]


class TestDeclining:
    def test_names_are_dropped(self, make_study: Maker, database: str | None) -> None:
        rules = '[eligibility]\ncountries = ["US"]\n'
        store = make_study(FACES + CONSENT + PLATFORM + rules, database=database)
        visitor = Visitor("prolific", PERSON, WORK, told={"countries": "US"})
        token = enter(store, visitor)
        state = Service(store).advance(token, "consent", {"agreed": False})
        assert state["ended"]["reason"] == "declined"
        row = table(
            store,
            participants.c.external_id,
            participants.c.eligibility,
            participants.c.demographics,
        )[0]
        assert row[0].startswith("forgotten:")
        assert PERSON not in row[0]
        assert row[1:] == ("{}", "{}")
        assert table(store, sessions.c.external_id) == [(None,)]
        # Known again all the same: nobody is asked twice.
        for work in (WORK, "another"):
            again = Service(store).state(enter(store, Visitor("prolific", PERSON, work)))
            assert again["ended"]["reason"] == "declined"
        assert len(table(store, participants.c.id)) == 1


class TestErasing:
    @pytest.fixture
    def filled(self, make_study: Maker, database: str | None) -> Store:
        store = make_study(FACES + CONSENT + PLATFORM + ABOUT, replace=ONE, database=database)
        service, token, _ = take_part(store, Visitor("prolific", PERSON, WORK))
        service.report(token, "slow", {"browser": "secret browser"})
        take_part(store, Visitor("prolific", "other", "work2"), most=2)
        return store

    def everything(self, store: Store) -> str:
        """All that the database holds, as text."""
        with store.database.read() as connection:
            names = (
                connection.execute(
                    text(
                        "SELECT name FROM sqlite_master WHERE type = 'table'"
                        if store.database.is_sqlite
                        else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                    )
                )
                .scalars()
                .all()
            )
            return "\n".join(
                str(tuple(row))
                for name in names
                for row in connection.execute(text(f'SELECT * FROM "{name}"'))
            )

    @pytest.mark.parametrize("by_name", [False, True])
    def test_nothing_of_a_person_is_left(
        self, filled: Store, by_name: bool, tmp_path: Path
    ) -> None:
        before = self.everything(filled)
        for secret in (PERSON, WORK, TOWN, "secret browser"):
            assert secret in before
        name = PERSON if by_name else pseudonym(filled, 1)
        found = erase_person(filled, name, by="anna")
        assert (found.sessions, found.answers, found.unpaid) == (1, 3, 1)
        assert found.rater == pseudonym(filled, 1)
        after = self.everything(filled)
        for secret in (PERSON, WORK, "secret browser"):
            assert secret not in after
        # The other person said the same town, and is still there.
        assert after.count(TOWN) == before.count(TOWN) - 1
        if filled.database.is_sqlite:
            raw = b"".join(file.read_bytes() for file in filled.study.state.glob("study.sqlite*"))
            assert PERSON.encode() not in raw
            assert b"secret browser" not in raw
        consistent(filled)
        with filled.database.read() as connection:
            bodies = connection.execute(
                select(events.c.kind, events.c.body).where(events.c.participant_id == 1)
            ).all()
        left = [(kind, body) for kind, body in bodies if body != "{}"]
        assert [kind for kind, _ in left] == ["erased"]
        assert json.loads(left[0][1]) == {"by": "anna", "answers": 3, "sessions": 1}
        assert pseudonym(filled, 1) not in "".join(
            file.read_text()
            for file in export(filled, tmp_path / "out").files
            if file.suffix == ".csv" and file.name != "sessions.csv"
        )
        # Others are asked again; the same person is not.
        assert sum(valid for (valid,) in table(filled, tasks.c.valid)) == 2
        again = Service(filled).state(enter(filled, Visitor("prolific", PERSON, "new")))
        assert (again["stage"], again["ended"]["reason"]) == ("ended", "erased")
        _, _, state = take_part(filled, Visitor("prolific", "third", "w3"))
        assert state["stage"] == "complete"

    def test_the_log_refuses_everything_else(self, filled: Store) -> None:
        erase_person(filled, PERSON)
        other = events.c.participant_id == 2
        for statement in (
            update(events).where(other).values(body="{}"),
            update(events).where(events.c.participant_id == 1).values(body='{"a": 1}'),
            update(events).where(events.c.participant_id == 1).values(at=1, body="{}"),
            update(events).where(events.c.participant_id == 1).values(kind="x", body="{}"),
            update(events).where(events.c.kind == "erased").values(body="{}"),
            delete(events).where(events.c.participant_id == 1),
        ):
            with (
                pytest.raises(DBAPIError, match="never changed"),
                filled.database.write() as connection,
            ):
                connection.execute(statement)
        assert len(table(filled, erasures.c.participant_id)) == 1

    def test_twice_and_wrong_names(self, filled: Store) -> None:
        name = pseudonym(filled, 1)
        erase_person(filled, name)
        assert erase_person(filled, name).answers == 0
        with pytest.raises(InputError, match="nobody in this study has this name"):
            erase_person(filled, "nobody")
        with pytest.raises(InputError, match="nobody in this study has this name"):
            erase_person(filled, PERSON)


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


class TestLeavingTheStudy:
    """What leaves the study says what a methods section needs, and runs nothing."""

    def test_sessions_tell_what_went_wrong(self, make_study: Maker, tmp_path: Path) -> None:
        store = make_study(FACES + CONSENT)
        service, token, state = take_part(store, most=1)
        service.report(token, "blur", {})
        service.report(token, "blur", {})
        service.report(token, "image_retry", {"attempt": 1})
        state = service.state(token)
        service.skip(token, int(state["trial"]["id"]), "image failed")
        export(store, tmp_path / "out")
        row = pl.read_csv(tmp_path / "out" / "sessions.csv").row(0, named=True)
        wanted = {
            "stage": "trials",
            "answers": 1,
            "skipped": 1,
            "broken_images": 1,
            "image_retries": 1,
            "blurs": 2,
            "consent_version": 1,
            "quiz_attempts": 0,
            "pay": None,
            "finished_at": None,
            "rater": pseudonym(store, 1),
        }
        assert {key: row[key] for key in wanted} == wanted
        assert row["started_at"][:2] == "20"

    def test_a_formula_is_text(self, make_study: Maker, tmp_path: Path) -> None:
        store = make_study(FACES + ABOUT)
        service = Service(store)
        token = enter(store, Visitor())
        evil = '=HYPERLINK("http://evil","x")'
        service.advance(token, "demographics", {"answers": {"town": evil}})
        state = service.advance(token, "instructions", {})
        complete(service, token, state)
        export(store, tmp_path / "out")
        release(store, tmp_path / "set")
        for file in [*(tmp_path / "out").glob("*.csv"), *(tmp_path / "set").glob("*.csv")]:
            table = pl.read_csv(file, infer_schema=False)
            for cell in (cell for row in table.rows() for cell in row if cell):
                assert cell[0] not in "=+@\t", (file.name, cell)
        # Parquet holds what was written.
        from affectlab.ratings import read_ratings

        raters = read_ratings(tmp_path / "out" / "ratings.parquet").raters
        assert raters["town"].to_list() == [evil]


@pytest.mark.parametrize("cell", ["=1+1", "+1 (555)", "-x", "@a", "\ta", "\rx"])
def test_cells_that_compute(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": [cell], "b": ["-1.5e-3"], "c": ["fine, = here"]}).write_csv(path)
    guard_csv(path)
    read = pl.read_csv(path, infer_schema=False).row(0)
    assert read == (f"'{cell}", "-1.5e-3", "fine, = here")


@pytest.mark.parametrize("name", ["rater", "rater_kind", "language", "stimulus", "movement"])
def test_a_question_cannot_take_the_name_of_a_column(make_study: Maker, name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is a column of the export"):
        make_study(FACES + ABOUT.replace("town", name))


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


def test_why_sessions_ended(make_study: Maker) -> None:
    store = make_study(FACES + CONSENT)
    service = Service(store)
    service.advance(enter(store, Visitor()), "consent", {"agreed": False})
    enter(store, Visitor())
    _, token, _ = take_part(store, most=1)
    service.withdraw(token)
    _, token, _ = take_part(store)
    service.withdraw(token)
    found = study_status(store)
    assert (found.participants, found.consented, found.under_way) == (4, 2, 1)
    assert found.ended == {"declined": 1, "withdrawn": 1}
    assert found.withdrawn == 2


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


@pytest.mark.parametrize(
    "protocol",
    ["intensity", "verification", "multilabel", "difference", "staircase", "reaction",
     "preference", "jspsych"],
)  # fmt: skip
def test_templates_promise_nothing(tmp_path: Path, protocol: str) -> None:
    path, *_ = write_template(tmp_path / "my.toml", protocol)
    study = load_study(path)
    assert study.design.consent is not None
    assert not re.search(r"(\w+|\d+) minutes", study.design.consent.text.replace("] minutes", ""))
    for place in ("[how many]", "[purpose of the study]", "[when]", "[whom]"):
        assert place in study.design.consent.text
    assert any("places to fill in" in one for one in workload(study).warnings)


def test_the_card_counts_main_answers_as_data(make_study: Maker, tmp_path: Path) -> None:
    (tmp_path / "golden.csv").write_text("stimulus,label,value\nface-001,awe,3\n", "utf-8")
    probe = make_study(FACES)
    name = next(iter(probe.content.values()))["name"]
    (tmp_path / "golden.csv").write_text(f"stimulus,label,value\n{name},awe,3\n", "utf-8")
    probe.close()
    (tmp_path / "study.toml").unlink()
    text = (
        FACES.replace("faces = 6", 'faces = 6\ngolden = "golden.csv"')
        .replace("group_by = [] }", "group_by = [] }, checks = { golden = 1 }")
        .replace('name = "faces"', 'name = "golden"')
    )
    path = tmp_path / "golden.toml"
    path.write_text(text, encoding="utf-8")
    with open_store(load_study(path)) as store:
        take_part(store)
        release(store, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "\n3 ratings of 3 stimuli by 1 person. Not counted here: 1 row of" in card


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


@pytest.mark.browser
@pytest.mark.parametrize("size", SIZES)
def test_withdrawing_on_the_last_page(browser: Any, make_study: Maker, size: str) -> None:
    store = make_study(FACES + CONSENT)
    _, token, state = take_part(store)
    width, height = SIZES[size]
    with served(store) as address:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.context.add_cookies([{"name": COOKIE, "value": token, "url": address}])
        page.goto(f"{address}/")
        heading(page, "You are done")
        check(page)
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="Withdraw my answers").click()
        assert verdicts(store) == [""]
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Withdraw my answers").click()
        page.get_by_text("You have withdrawn. Your answers will not be used.").wait_for()
        assert state["complete"]["code"] in page.inner_text("main")
        assert page.get_by_role("button", name="Withdraw my answers").count() == 0
        check(page)
        page.context.clear_cookies()
        page.goto(f"{address}/")
        page.get_by_role("button", name="I do not want to take part").click()
        heading(page, "The study ends here for you")
        assert "Only that choice, its time and the language" in page.inner_text("main")
        assert "null" not in page.inner_text("main")
        page.close()
    assert verdicts(store) == ["withdrawn", "declined"]
