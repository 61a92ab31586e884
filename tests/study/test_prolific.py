"""Prolific: reading, deciding and paying, with a server that fails as the real one may."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from affectlab import InputError
from affectlab.study._answers import Submission as Given
from affectlab.study._entry import Visitor
from affectlab.study._service import Service
from affectlab.study._store import Store
from affectlab.study._tables import events, ledger, participants, sessions
from affectlab.study.recruit import (
    Outcome,
    ProlificClient,
    ProlificError,
    UnclearError,
    approve_sessions,
    carry_out,
    decisions,
    pay_bonuses,
    payments_table,
    platform_filters,
    reject_sessions,
    with_choices,
)
from affectlab.study.recruit._ledger import Entry, TakenError, entries, note_sent

from .conftest import FACES
from .prolific import TOKEN, Prolific, running

STUDY = f"""{FACES}
[recruitment]
platform = "prolific"
study_id = "study1"
pay = 1.5
"""
REASON = "the same number was given to every face"

Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
Maker = Callable[..., Store]


@pytest.fixture
def platform() -> Iterator[Prolific]:
    with running(Prolific()) as state:
        yield state


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def client(platform: Prolific, waits: list[float]) -> Iterator[ProlificClient]:
    with ProlificClient(TOKEN, url=platform.url, timeout=2, wait=waits.append) as made:
        yield made


def take_part(store: Store, begin: Begin, platform: Prolific, name: str) -> int:
    """Complete a session as someone from Prolific; give its number."""
    platform.add(f"s{name}", f"p{name}")
    visitor = Visitor(
        "prolific", external_id=f"p{name}", external_session=f"s{name}", study_id="study1"
    )
    service, token, state = begin(store, visitor)
    while state["stage"] == "trials":
        label = state["trial"]["labels"][0]["name"]
        given = Given(
            int(state["trial"]["id"]), {"ratings": {label: 1}}, uuid.uuid4().hex, "radio", 900
        )
        state = service.answer(token, given)
    assert state["stage"] == "complete"
    with store.database.read() as connection:
        found = connection.execute(
            select(sessions.c.id).where(sessions.c.external_id == f"s{name}")
        )
        return int(found.scalar_one())


def states(outcomes: tuple[Outcome, ...]) -> list[tuple[str, str]]:
    return [(one.action, one.state) for one in outcomes]


class TestClient:
    def test_lists_all_pages(self, platform: Prolific, client: ProlificClient) -> None:
        for number in range(45):
            platform.add(f"s{number:02d}", f"p{number:02d}")
        found = client.submissions("study1")
        assert [one.id for one in found] == [f"s{number:02d}" for number in range(45)]
        assert (found[3].participant, found[3].status) == ("p03", "AWAITING REVIEW")
        assert len(platform.calls("/submissions/")) == 3

    def test_says_what_is_wrong(self, platform: Prolific, client: ProlificClient) -> None:
        with pytest.raises(ProlificError, match="does not exist") as error:
            client.submissions("other")
        assert error.value.status == 404
        with (
            ProlificClient("wrong", url=platform.url) as stranger,
            pytest.raises(ProlificError, match=r"status 401") as refused,
        ):
            stranger.submission("s1")
        assert "wrong" not in str(refused.value)

    def test_waits_as_long_as_it_is_asked(
        self, platform: Prolific, client: ProlificClient, waits: list[float]
    ) -> None:
        platform.add("s1", "p1")
        soon = datetime.now(UTC) + timedelta(seconds=30)
        for after in (7, format_datetime(soon), None):
            platform.faults.append(("/transition/", "busy", after))
        assert client.approve("s1").status == "APPROVED"
        assert waits[0] == 7
        assert 20 < waits[1] <= 30
        assert 0 < waits[2] < 10

    def test_does_not_wait_for_ever(
        self, platform: Prolific, client: ProlificClient, waits: list[float]
    ) -> None:
        platform.faults.append(("/submissions/s1/", "busy", 3600))
        with pytest.raises(ProlificError, match="asks to wait 3600 s"):
            client.submission("s1")
        platform.faults.extend([("/submissions/s1/", "busy", 1)] * 4)
        with pytest.raises(ProlificError, match="Too many requests"):
            client.submission("s1")
        assert waits == [1.0, 1.0, 1.0]

    def test_tries_again_after_faults(self, platform: Prolific, client: ProlificClient) -> None:
        platform.add("s1", "p1")
        platform.faults.extend([("/submissions/s1/", "broken"), ("/submissions/s1/", "slow", 2.5)])
        assert client.submission("s1").participant == "p1"
        assert len(platform.asked) == 3

    def test_a_server_that_is_not_there(self, waits: list[float]) -> None:
        gone = ProlificClient(TOKEN, url="http://127.0.0.1:9", wait=waits.append)
        with gone, pytest.raises(ProlificError, match="cannot be reached"):
            gone.pay_bonuses("pay1")
        assert len(waits) == 3

    def test_pays_once_when_the_reply_is_lost(
        self, platform: Prolific, client: ProlificClient
    ) -> None:
        platform.add("s1", "p1")
        payment = client.set_up_bonuses("study1", [("s1", 5)])
        assert (payment.amount, payment.total) == (5, 7)
        assert platform.calls("bonus-payments")[0]["csv_bonuses"] == "s1,0.05"
        for fault in (("/pay/", "lost", 2.5), ("/pay/", "broken")):
            platform.faults.append(fault)
            with pytest.raises(UnclearError):
                client.pay_bonuses(payment.id)
        assert platform.paid == {"s1": [5]}
        assert len(platform.calls("/pay/")) == 2

    @pytest.mark.parametrize("name", ["../users/me", "a b", "", "s1/../../x", "s1?x=1"])
    def test_names_cannot_change_the_path(
        self, platform: Prolific, client: ProlificClient, name: str
    ) -> None:
        with pytest.raises(InputError, match="no name that Prolific gives"):
            client.approve(name)
        assert platform.asked == []

    def test_rejection_needs_a_message(self, platform: Prolific, client: ProlificClient) -> None:
        with pytest.raises(InputError, match="99 characters"):
            client.reject("s1", "x" * 99, "LOW_EFFORT")
        with pytest.raises(InputError, match="LOW_EFORT"):
            client.reject("s1", "x" * 100, "LOW_EFORT")
        assert platform.asked == []

    def test_the_token_is_never_shown(
        self, platform: Prolific, client: ProlificClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        platform.add("s1", "p1")
        client.submission("s1")
        with pytest.raises(ProlificError):
            client.submission("s2")
        assert caplog.records
        assert TOKEN not in caplog.text
        assert TOKEN not in repr(client)

    def test_the_token_comes_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
        with pytest.raises(InputError, match="PROLIFIC_TOKEN"):
            ProlificClient.from_environment()
        monkeypatch.setenv("PROLIFIC_TOKEN", "abc\ndef")
        with pytest.raises(InputError, match="expected the token") as error:
            ProlificClient.from_environment()
        assert "abc" not in str(error.value)

    def test_choices_get_their_numbers(
        self, make_study: Maker, platform: Prolific, client: ProlificClient
    ) -> None:
        rules = 'eligibility = { approval_rate = 0.9, countries = ["us", "UK"], languages = ["en"]}'
        design = make_study(f"{rules}\n{STUDY}").study.design
        found = with_choices(platform_filters(design), client.filters())
        assert [one.request for one in found] == [
            {"filter_id": "approval_rate", "selected_range": {"lower": 90, "upper": 100}},
            {"filter_id": "current-country-of-residence", "selected_values": ["1", "0"]},
            {"filter_id": "fluent-languages", "selected_values": ["19"]},
        ]
        other = design.model_copy(
            update={"eligibility": design.eligibility.model_copy(update={"countries": ("FR",)})}
        )
        with pytest.raises(InputError, match="no choice 'France'"):
            with_choices(platform_filters(other), client.filters())


class TestDecisions:
    def test_each_goes_out_once(
        self,
        make_study: Maker,
        begin: Begin,
        platform: Prolific,
        client: ProlificClient,
        database: str | None,
    ) -> None:
        store = make_study(STUDY, database=database)
        good, bad, open_ = (take_part(store, begin, platform, name) for name in "abc")
        approve_sessions(store, [good])
        reject_sessions(store, [bad], REASON, category="LOW_EFFORT")

        wanted = [("approve", "to do"), ("reject", "to do"), ("undecided", "undecided")]
        assert states(carry_out(store, client, dry_run=True)) == wanted
        assert entries(store) == {}
        assert set(platform.status.values()) == {"AWAITING REVIEW"}

        assert states(carry_out(store, client)) == [
            ("approve", "done"),
            ("reject", "done"),
            ("undecided", "undecided"),
        ]
        assert platform.status == {"sa": "APPROVED", "sb": "REJECTED", "sc": "AWAITING REVIEW"}
        (told,) = [one for one in platform.calls("/transition/") if one["action"] == "REJECT"]
        assert told["rejection_category"] == "LOW_EFFORT"
        assert REASON in told["message"]
        assert len(told["message"]) >= 100

        sent = len(platform.calls("/transition/"))
        approve_sessions(store, [], everyone=True)
        again = carry_out(store, client)
        assert states(again) == [("approve", "before"), ("reject", "before"), ("approve", "done")]
        assert len(platform.calls("/transition/")) == sent + 1
        assert {row["state"] for row in entries(store).values()} == {"done"}
        assert again[2].session == open_

    def test_what_was_done_by_hand_is_noted(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        first, second = (take_part(store, begin, platform, name) for name in "ab")
        approve_sessions(store, [first, second])
        platform.status |= {"sa": "APPROVED", "sb": "RETURNED"}
        found = carry_out(store, client)
        assert [(one.state, one.note) for one in found] == [
            ("before", ""),
            ("refused", "at Prolific it is returned"),
        ]
        assert platform.calls("/transition/") == []
        assert list(entries(store)) == ["approve:sa"]

    def test_a_crash_between_request_and_record(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        first, second = (take_part(store, begin, platform, name) for name in "ab")
        approve_sessions(store, [first, second])
        # The notes of a process that died: one request had arrived, the other had not.
        known = entries(store)
        for session, name in ((first, "sa"), (second, "sb")):
            note_sent(store, [Entry(f"approve:{name}", "approve", session, name)], known)
        platform.status["sa"] = "APPROVED"
        assert states(carry_out(store, client)) == [("approve", "before"), ("approve", "done")]
        assert platform.calls("/transition/") == [{"action": "APPROVE"}]

    def test_a_refusal_is_told_and_can_be_tried_again(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        approve_sessions(store, [take_part(store, begin, platform, "a")])
        platform.faults.extend([("/transition/", "busy", 1)] * 4)
        (found,) = carry_out(store, client)
        assert found.state == "refused"
        assert "Too many requests" in found.note
        assert states(carry_out(store, client)) == [("approve", "done")]

    def test_paying_is_apart_from_using(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        session = take_part(store, begin, platform, "a")
        reject_sessions(store, [session], "they looked away", pay=True)
        assert states(carry_out(store, client)) == [("approve", "done")]
        with store.database.read() as connection:
            verdict = connection.execute(select(sessions.c.verdict)).scalar_one()
        assert verdict == "rejected"

    def test_a_rejection_needs_a_sentence(
        self, make_study: Maker, begin: Begin, platform: Prolific
    ) -> None:
        store = make_study(STUDY)
        session = take_part(store, begin, platform, "a")
        with pytest.raises(InputError, match="participants read it"):
            reject_sessions(store, [session], "bad")
        with pytest.raises(InputError, match="LAZY"):
            reject_sessions(store, [session], REASON, category="LAZY")
        assert [one.action for one in decisions(store)] == ["undecided"]

    def test_only_prolific_can_be_paid(self, make_study: Maker, client: ProlificClient) -> None:
        with pytest.raises(InputError, match=r"recruitment\.platform is 'none'"):
            carry_out(make_study(), client)

    def test_prolific_wants_the_name_of_the_study(
        self, make_study: Maker, client: ProlificClient
    ) -> None:
        store = make_study(STUDY.replace('study_id = "study1"', ""))
        with pytest.raises(InputError, match=r"recruitment\.study_id is missing"):
            carry_out(store, client)


class TestBonuses:
    def test_each_is_paid_once(
        self,
        make_study: Maker,
        begin: Begin,
        platform: Prolific,
        client: ProlificClient,
        database: str | None,
    ) -> None:
        store = make_study(STUDY, database=database)
        first, second = (take_part(store, begin, platform, name) for name in "ab")
        wanted = [(first, 0.1, "for 2 stimuli"), (second, 0.125, "for 3 stimuli")]
        dry = pay_bonuses(store, client, wanted, dry_run=True)
        assert [one.state for one in dry] == ["to do"] * 2
        assert (platform.payments, entries(store)) == ({}, {})

        done = pay_bonuses(store, client, wanted)
        assert [(one.session, one.state, one.cents) for one in done] == [
            (first, "done", 10),
            (second, "done", 13),
        ]
        assert platform.paid == {"sa": [10], "sb": [13]}
        # More answers may change what was earned; what was paid is final.
        again = pay_bonuses(store, client, [wanted[0], (second, 0.5, "for 5 stimuli")])
        assert [(one.state, one.note) for one in again] == [
            ("before", ""),
            ("before", "paid as 0.13, which is final"),
        ]
        assert platform.paid == {"sa": [10], "sb": [13]}
        # A bonus under another name is another bonus.
        assert states(pay_bonuses(store, client, wanted[:1], name="thanks")) == [("bonus", "done")]
        assert platform.paid == {"sa": [10, 10], "sb": [13]}

    def test_a_lost_reply_is_reconciled(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        first, second = (take_part(store, begin, platform, name) for name in "ab")
        pay_bonuses(store, client, [(first, 0.1, "earlier")], name="earlier")
        platform.faults.append(("/pay/", "lost", 2.5))
        wanted = [(first, 0.1, "now"), (second, 0.2, "now")]
        assert [one.state for one in pay_bonuses(store, client, wanted)] == ["unclear"] * 2
        assert platform.paid == {"sa": [10, 10], "sb": [20]}
        again = pay_bonuses(store, client, wanted)
        assert [one.state for one in again] == ["before"] * 2
        assert platform.paid == {"sa": [10, 10], "sb": [20]}
        assert {row["state"] for row in entries(store).values()} == {"done"}

    def test_a_request_that_never_arrived(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        session = take_part(store, begin, platform, "a")
        wanted = [(session, 0.1, "now")]
        platform.faults.append(("/pay/", "broken"))
        assert [one.state for one in pay_bonuses(store, client, wanted)] == ["unclear"]
        # Prolific may still be paying: nothing is sent while it may.
        (soon,) = pay_bonuses(store, client, wanted)
        assert (soon.state, platform.paid) == ("unclear", {})
        assert "run this again in 60 min" in soon.note
        with store.database.write() as connection:
            connection.execute(update(ledger).values(sent_at=ledger.c.sent_at - 3_700_000))
        assert [one.state for one in pay_bonuses(store, client, wanted)] == ["done"]
        assert platform.paid == {"sa": [10]}

    def test_a_refusal_pays_nothing(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        session = take_part(store, begin, platform, "a")
        wanted = [(session, 0.1, "now")]
        del platform.status["sa"]
        (found,) = pay_bonuses(store, client, wanted)
        assert (found.state, entries(store)) == ("refused", {})
        assert "not in study" in found.note
        platform.add("sa", "pa")
        platform.faults.extend([("/pay/", "busy", 1)] * 4)
        (found,) = pay_bonuses(store, client, wanted)
        assert (found.state, platform.paid) == ("refused", {})
        assert [one.state for one in pay_bonuses(store, client, wanted)] == ["done"]

    def test_two_processes_pay_once(
        self,
        make_study: Maker,
        begin: Begin,
        platform: Prolific,
        client: ProlificClient,
        database: str | None,
    ) -> None:
        store = make_study(STUDY, database=database)
        wanted = [
            (take_part(store, begin, platform, name), 0.1, "now") for name in ("a", "b", "c", "d")
        ]
        with ThreadPoolExecutor(4) as pool:
            rounds = list(pool.map(lambda _: pay_bonuses(store, client, wanted), range(4)))
        assert platform.paid == {f"s{name}": [10] for name in "abcd"}
        assert sum(one.state == "done" for found in rounds for one in found) == 4

    def test_large_groups_are_split(
        self,
        make_study: Maker,
        begin: Begin,
        platform: Prolific,
        client: ProlificClient,
    ) -> None:
        store = make_study(STUDY)
        take_part(store, begin, platform, "a")
        with store.database.write() as connection:
            for table, own in ((participants, {}), (sessions, {"participant_id": 1})):
                row = dict(connection.execute(select(table)).mappings().one())
                rows = [
                    row | own | {"id": n, "external_id": f"x{n}", "token": f"t{n}"}
                    for n in range(2, 451)
                ]
                kept = [{key: one[key] for key in row} for one in rows]
                connection.execute(insert(table), kept)
        for number in range(2, 451):
            platform.add(f"x{number}", f"x{number}")
        wanted = [(number, 0.01, "r") for number in range(1, 451)]
        assert {one.state for one in pay_bonuses(store, client, wanted)} == {"done"}
        assert [len(lines) for lines in platform.payments.values()] == [200, 200, 50]
        assert list(platform.paid.values()) == [[1]] * 450

    @pytest.mark.parametrize("amount", [0, -1, 0.001, float("nan"), float("inf"), 5000])
    def test_amounts_that_cannot_be_paid(
        self,
        make_study: Maker,
        begin: Begin,
        platform: Prolific,
        client: ProlificClient,
        amount: float,
    ) -> None:
        store = make_study(STUDY)
        session = take_part(store, begin, platform, "a")
        with pytest.raises(InputError, match=r"cannot be paid; expected 0\.01 to 1000"):
            pay_bonuses(store, client, [(session, amount, "now")])
        assert platform.asked == []

    def test_who_gets_none(
        self, make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
    ) -> None:
        store = make_study(STUDY)
        rejected = take_part(store, begin, platform, "a")
        reject_sessions(store, [rejected], REASON)
        begin(store, Visitor("prolific", "px", "sx", study_id="study1"))
        found = pay_bonuses(store, client, [(rejected, 0.1, "r"), (rejected + 1, 0.1, "r")])
        assert [one.note for one in found] == [
            "the session was rejected",
            "the session is not complete",
        ]
        assert platform.asked == []
        with pytest.raises(InputError, match="no such session"):
            pay_bonuses(store, client, [(99, 0.1, "r")])
        with pytest.raises(InputError, match="comes twice"):
            pay_bonuses(store, client, [(rejected, 0.1, "r"), (rejected, 0.2, "r")])


def test_the_ledger_lets_one_process_through(make_study: Maker, begin: Begin) -> None:
    store = make_study()
    begin(store)
    one = Entry("bonus:1:x", "bonus", 1, "s", 10)
    note_sent(store, [one], entries(store))
    with pytest.raises(TakenError):
        note_sent(store, [one], {})
    stale = entries(store)
    note_sent(store, [one], stale)
    with store.database.write() as connection:
        connection.execute(update(ledger).values(sent_at=1))
    with pytest.raises(TakenError):
        note_sent(store, [Entry("bonus:1:y", "bonus", 1, "s", 10), one], stale)
    # All or none: the other one was not noted either.
    assert list(entries(store)) == ["bonus:1:x"]


def test_payments_by_hand(make_study: Maker, begin: Begin, platform: Prolific) -> None:
    store = make_study(STUDY)
    first, second = (take_part(store, begin, platform, name) for name in "ab")
    reject_sessions(store, [second], REASON, category="FAILED_CHECK")
    table = payments_table(store, [(first, 0.1, "x"), (first, 0.25, "y")])
    assert table.select("session", "participant", "submission", "decision").rows() == [
        (first, "pa", "sa", "undecided"),
        (second, "pb", "sb", "reject"),
    ]
    assert table["bonus"].to_list() == [0.35, 0.0]
    assert table["bonus_reasons"].to_list() == ["x; y", ""]
    assert table["category"].to_list() == ["", "FAILED_CHECK"]


def test_payments_are_logged(
    make_study: Maker, begin: Begin, platform: Prolific, client: ProlificClient
) -> None:
    store = make_study(STUDY)
    session = take_part(store, begin, platform, "a")
    pay_bonuses(store, client, [(session, 0.1, "x")])
    with store.database.read() as connection:
        logged = connection.execute(select(events.c.body).where(events.c.kind == "payment"))
        assert [row[0] for row in logged] == [
            '{"action": "bonus", "state": "done", "cents": 10, "problem": ""}'
        ]
