"""Prolific: reading, deciding and paying, with a server that fails as the real one may."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from sqlalchemy import select

from affectlab import InputError
from affectlab.study.recruit import (
    ProlificClient,
    ProlificError,
    UnclearError,
    approve_sessions,
    carry_out,
    decisions,
    platform_filters,
    reject_sessions,
    with_choices,
)
from affectlab.study.recruit.payments import Entry, entries, note_sent
from affectlab.study.tables import sessions

from .prolific import TOKEN, Prolific
from .prolific_study import REASON, STUDY, Begin, Maker, client, platform, states, take_part, waits

__all__ = ["client", "platform", "waits"]


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
