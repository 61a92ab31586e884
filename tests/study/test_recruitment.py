"""Coming in: full studies, other studies, people who are not eligible, and asking Prolific."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from affectlab import InputError
from affectlab.study import load_study
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.server import create_app
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import events, participants, sessions
from affectlab.study.verdicts import reject_session

from .answering import complete
from .conftest import FACES
from .prolific import TOKEN, Prolific, running
from .test_pages import SIZES, browser, check, heading, served

__all__ = ["browser"]

SMALL = {"faces = 6": "faces = 3", "raters = 2": "raters = 1"}
GUARDED = """
[consent]
text = "Please take part."
[[quiz.questions]]
question = "Ready?"
choices = ["yes", "no"]
answer = "yes"
"""
RULES = """
[recruitment]
platform = "prolific"
study_id = "study1"
screened_out_url = "https://app.prolific.com/submissions/complete?cc=AWAY"
[eligibility]
approval_rate = 0.98
countries = ["US", "GB"]
"""

Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]


def visit(store: Store, name: str = "p1", **more: Any) -> dict[str, Any]:
    """Come from Prolific; give the state."""
    visitor = Visitor("prolific", name, f"s-{name}", study_id="study1", **more)
    return Service(store).state(enter(store, visitor))


def stored(store: Store, name: str = "p1") -> dict[str, Any]:
    with store.database.read() as connection:
        found = connection.execute(
            select(participants.c.eligibility).where(participants.c.external_id == name)
        )
        return dict(json.loads(found.scalar_one()))


class TestFull:
    def test_said_before_the_consent(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(FACES + GUARDED, replace=SMALL, database=database)
        service = Service(store)
        token = enter(store, Visitor())
        assert service.state(token)["stage"] == "consent"
        service.advance(token, "consent", {"agreed": True})
        service.advance(token, "instructions", {})
        state = service.advance(token, "quiz", {"answers": ["yes"]})
        # While somebody holds the tasks, the study is not full: they may come back.
        assert service.state(enter(store, Visitor()))["stage"] == "consent"
        assert complete(service, token, state)["stage"] == "complete"
        late = service.state(enter(store, Visitor()))
        assert (late["stage"], late["ended"]["reason"]) == ("ended", "full")

    def test_someone_who_came_too_late_can_come_again(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(replace=SMALL)
        service, token, state = begin(store)
        complete(service, token, state)
        late = Visitor("open", external_id="late")
        for _ in range(3):
            assert service.state(enter(store, late))["ended"]["reason"] == "full"
        with store.database.read() as connection:
            count = connection.execute(select(func.count()).select_from(sessions)).scalar_one()
            assert count == 2
        reject_session(store, 1, "careless")
        assert service.state(enter(store, late))["stage"] == "instructions"

    def test_nothing_left_for_this_person(self, make_study: Maker, begin: Begin) -> None:
        replace = {"trials = 3": "trials = 6\nmost_per_rater = 3"}
        store = make_study(replace=replace)
        known = Visitor("open", external_id="p1")
        service, token, state = begin(store, known)
        complete(service, token, state)
        # Others are still wanted, but this person has seen everything.
        assert service.state(enter(store, known))["ended"]["reason"] == "full"
        assert service.state(enter(store, Visitor()))["stage"] == "instructions"


class TestEligible:
    def test_what_was_checked_is_stored(self, make_study: Maker, database: str | None) -> None:
        store = make_study(FACES + RULES, database=database)
        assert visit(store, told={"countries": "GB", "shoes": "44"})["stage"] == "instructions"
        assert stored(store) == {
            "checks": [
                {
                    "rule": "approval_rate",
                    "wanted": 0.98,
                    "told": None,
                    "by": "filter",
                    "passed": None,
                },
                {
                    "rule": "countries",
                    "wanted": ["US", "GB"],
                    "told": ["GB"],
                    "by": "address",
                    "passed": True,
                },
            ],
            "verified": "",
        }

    def test_others_are_told_so(self, make_study: Maker) -> None:
        store = make_study(FACES + RULES + GUARDED)
        state = visit(store, told={"approval_rate": "90"})
        assert (state["stage"], state["ended"]["reason"]) == ("ended", "ineligible")
        assert state["ended"]["return_url"].endswith("cc=AWAY")
        # Coming back with a nicer address does not help.
        assert visit(store, told={"approval_rate": "99"})["ended"]["reason"] == "ineligible"
        with store.database.read() as connection:
            kinds = connection.execute(select(events.c.kind).order_by(events.c.id)).scalars().all()
        assert "turned_away" in kinds
        assert "entered" not in kinds

    def test_another_study_of_the_platform(self, make_study: Maker) -> None:
        store = make_study(FACES + RULES)
        for study in ("study2", None, ""):
            with pytest.raises(StudyError, match="belongs to another study"):
                enter(store, Visitor("prolific", "p1", "s1", study_id=study))
        with store.database.read() as connection:
            assert connection.execute(select(participants)).all() == []


def client_of(store: Store) -> TestClient:
    return TestClient(create_app(store), base_url="http://test")


class TestOverHttp:
    def test_the_address_says_it_all(self, make_study: Maker) -> None:
        store = make_study(FACES + RULES)
        message = {
            "prolific_pid": "p1",
            "external_session": "s1",
            "external_study": "study1",
            "told": {"countries": "US"},
        }
        with client_of(store) as http:
            assert http.post("/api/enter", json=message).json()["stage"] == "instructions"
            other = http.post("/api/enter", json={**message, "external_study": "x"})
            assert (other.status_code, other.json()["error"]["code"]) == (403, "forbidden")
        assert stored(store)["checks"][1]["told"] == ["US"]

    @pytest.mark.parametrize(
        "told", [{"countries": "x" * 201}, {"y" * 41: "1"}, {str(n): "1" for n in range(21)}, [1]]
    )
    def test_too_much_is_refused(self, make_study: Maker, told: Any) -> None:
        with client_of(make_study(FACES + RULES)) as http:
            reply = http.post("/api/enter", json={"prolific_pid": "p1", "told": told})
            assert reply.status_code == 422

    def test_connect(self, make_study: Maker) -> None:
        store = make_study(
            f'{FACES}[recruitment]\nplatform = "connect"\nstudy_id = "PROJ"\n'
            'return_url = "https://connect.cloudresearch.com/participant/project/PROJ/complete"\n'
        )
        message = {
            "participant_id": "c1",
            "external_session": "a1",
            "external_study": "PROJ",
        }
        with client_of(store) as http:
            assert http.post("/api/enter", json=message).json()["stage"] == "instructions"
        with store.database.read() as connection:
            found = connection.execute(
                select(
                    participants.c.source, participants.c.external_id, sessions.c.external_id
                ).select_from(sessions.join(participants))
            ).one()
        assert tuple(found) == ("connect", "c1", "a1")


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    with running(Prolific()) as state:
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_URL", state.url)
        yield state


class TestVerify:
    STUDY = FACES + RULES.replace('study_id = "study1"', 'study_id = "study1"\nverify = true')

    def enter(self, store: Store, person: str, submission: str) -> Any:
        message = {
            "prolific_pid": person,
            "external_session": submission,
            "external_study": "study1",
        }
        with client_of(store) as http:
            return http.post("/api/enter", json=message)

    def test_prolific_is_asked(self, make_study: Maker, platform: Prolific) -> None:
        store = make_study(self.STUDY)
        platform.add("s1", "p1", "ACTIVE")
        assert self.enter(store, "p1", "s1").json()["stage"] == "instructions"
        assert stored(store)["verified"] == "yes"
        for person, submission in (("p2", "s1"), ("p1", "s2"), ("p1", "../users"), ("p1", "")):
            reply = self.enter(store, person, submission)
            assert (reply.status_code, "Prolific" in reply.text) == (403, True)
        platform.study = "another"
        assert self.enter(store, "p1", "s1").status_code == 403

    def test_nobody_waits_for_prolific(self, make_study: Maker, platform: Prolific) -> None:
        store = make_study(self.STUDY)
        platform.add("s1", "p1", "ACTIVE")
        platform.faults.append(("/submissions/s1/", "broken"))
        assert self.enter(store, "p1", "s1").json()["stage"] == "instructions"
        assert stored(store)["verified"] == "not reached"

    def test_a_server_without_a_token_does_not_start(
        self, make_study: Maker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
        with pytest.raises(InputError, match="PROLIFIC_TOKEN"):
            create_app(make_study(self.STUDY))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('screened_out_url = "javascript:alert(1)"', "starts with https://"),
        ('study_id = "a/b"', "study_id"),
    ],
)
def test_bad_recruitment(make_study: Maker, text: str, said: str, tmp_path: Any) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(f"{FACES}[recruitment]\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_study(path)


@pytest.mark.browser
@pytest.mark.parametrize("size", SIZES)
def test_the_page_for_those_who_are_turned_away(
    browser: Any, make_study: Maker, begin: Begin, size: str
) -> None:
    """In a browser: what the address tells is checked, and the way back is shown."""
    text = RULES.replace("study_id", "completion_code", 1).replace('"study1"', '"C1"', 1)
    store = make_study(FACES + text, replace=SMALL)
    width, height = SIZES[size]
    with served(store) as address:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(f"{address}/?PROLIFIC_PID=p1&SESSION_ID=s1&STUDY_ID=x&countries=FR")
        heading(page, "The study ends here for you")
        assert "looks for other participants" in page.inner_text("main")
        link = page.get_by_role("link", name="Finish and go back")
        assert link.get_attribute("href").endswith("cc=AWAY")
        check(page)
        assert stored(store)["checks"][1]["told"] == ["FR"]
        service, token, state = begin(store, Visitor("prolific", "p2", "s2"))
        complete(service, token, state)
        page.context.clear_cookies()
        page.goto(f"{address}/?PROLIFIC_PID=p3&SESSION_ID=s3&countries=US")
        heading(page, "The study ends here for you")
        assert "All work of this study is done." in page.inner_text("main")
        page.close()
