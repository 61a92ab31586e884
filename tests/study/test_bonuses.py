"""Bonuses: each is paid once, whatever fails, and the ledger says what was."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert, select, update

from affectlab import InputError
from affectlab.study.recruit import ProlificClient, pay_bonuses, payments_table, reject_sessions
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.recruit.payments import Entry, TakenError, entries, note_sent
from affectlab.study.tables import events, ledger, participants, sessions

from .prolific import Prolific
from .prolific_study import REASON, STUDY, Begin, Maker, client, platform, states, take_part, waits

__all__ = ["client", "platform", "waits"]


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
