"""Carrying decisions and bonuses to Prolific: each goes out once, whatever happens in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal

from sqlalchemy import Connection, RowMapping, insert, select, update
from sqlalchemy.exc import IntegrityError

from affectlab.core.errors import InputError
from affectlab.core.types import pl
from affectlab.study.database import now_ms
from affectlab.study.recruit.approval import Decision, decisions
from affectlab.study.recruit.prolific import ProlificClient, ProlificError, UnclearError
from affectlab.study.store import Store, log
from affectlab.study.tables import ledger, participants, sessions

__all__ = [
    "BonusLine",
    "Entry",
    "Outcome",
    "TakenError",
    "carry_out",
    "entries",
    "note_sent",
    "pay_bonuses",
    "payments_table",
    "settle",
    "study_at_prolific",
]

# The ledger: what was sent to the platform, each under a key that goes out once.
#
# A row is written before its request is sent (``sending``) and again after the reply (``done`` or
# ``refused``). A row that is still ``sending`` is one whose reply was lost, or one that another
# process is sending at this moment.


class TakenError(Exception):
    """Another process has taken up what was to be sent."""


@dataclass(frozen=True)
class Entry:
    """Something to send."""

    key: str
    action: str
    """``approve``, ``reject`` or ``bonus``."""
    session: int
    submission: str
    cents: int | None = None
    reason: str = ""


def entries(store: Store) -> dict[str, RowMapping]:
    """Give all rows of the ledger by key."""
    with store.database.read() as connection:
        return {row["key"]: row for row in connection.execute(select(ledger)).mappings()}


def note_sent(
    store: Store,
    wanted: list[Entry],
    known: Mapping[str, RowMapping],
    payment: str | None = None,
) -> None:
    """Write down that these are being sent, all of them or none.

    Parameters
    ----------
    known
        Rows as they were read. One that was changed since then belongs to another process.

    Raises
    ------
    TakenError
        When another process was faster with one of them; nothing is written.
    """
    try:
        with store.database.write() as connection:
            for one in wanted:
                _note(connection, one, known.get(one.key), payment)
    except IntegrityError:
        raise TakenError from None


def _note(
    connection: Connection, one: Entry, before: RowMapping | None, payment: str | None
) -> None:
    values = {
        "state": "sending",
        "payment": payment,
        "problem": "",
        "sent_at": now_ms(),
        "cents": one.cents,
        "reason": one.reason,
    }
    if before is None:
        connection.execute(
            insert(ledger).values(
                key=one.key,
                action=one.action,
                session_id=one.session,
                submission=one.submission,
                **values,
            )
        )
        return
    taken = connection.execute(
        update(ledger)
        .where(
            ledger.c.key == one.key,
            ledger.c.state == before["state"],
            ledger.c.sent_at == before["sent_at"],
        )
        .values(**values)
    )
    if taken.rowcount != 1:
        raise TakenError


def settle(store: Store, wanted: list[Entry], state: str, problem: str = "") -> None:
    """Write down what came of what was sent, also where nothing was sent by us."""
    with store.database.write() as connection:
        for one in wanted:
            done = now_ms() if state == "done" else None
            changed = connection.execute(
                update(ledger)
                .where(ledger.c.key == one.key)
                .values(state=state, problem=problem, done_at=done)
            )
            if not changed.rowcount:
                connection.execute(
                    insert(ledger).values(
                        key=one.key,
                        action=one.action,
                        session_id=one.session,
                        submission=one.submission,
                        cents=one.cents,
                        reason=one.reason,
                        state=state,
                        problem=problem,
                        sent_at=now_ms(),
                        done_at=done,
                    )
                )
            body = {"action": one.action, "state": state, "cents": one.cents, "problem": problem}
            log(connection, "payment", session=one.session, body=body)


BonusLine = tuple[int, float, str]
"""Session, amount in the study's currency, and reason: what
:func:`affectlab.study.dataset.bonus.bonuses` gives."""

State = Literal["to do", "done", "before", "refused", "unclear", "undecided"]

_GROUP = 200
"""Bonuses that Prolific takes at once."""
_SETTLED_MS = 60 * 60_000
"""After so long a bonus that Prolific does not show was not paid; it says "in a few minutes"."""
_MOST_CENTS = 100_000

_OVER = {"approve": "APPROVED", "reject": "REJECTED"}


@dataclass(frozen=True)
class Outcome:
    """What came of one decision or bonus."""

    session: int
    submission: str
    action: str
    """``approve``, ``reject`` or ``bonus``."""
    state: State
    """``done`` now, done ``before``, ``to do`` in a dry run, ``refused`` by the platform,
    ``unclear`` after a lost reply, or ``undecided`` by the researcher."""
    cents: int | None = None
    note: str = ""


def carry_out(
    store: Store, client: ProlificClient, *, dry_run: bool = False
) -> tuple[Outcome, ...]:
    """Approve and reject at Prolific what was accepted and rejected here.

    What was carried out before, or on Prolific's own page, is only noted. Running it again after a
    failure goes on where it stopped.

    Parameters
    ----------
    store
        The study, which must name ``recruitment.study_id``.
    client
        Talks to Prolific.
    dry_run
        Read the state at Prolific, and send and write nothing.

    Returns
    -------
    One outcome per completed session.

    Raises
    ------
    InputError
        When the study does not recruit on Prolific.
    ProlificError
        When the list of submissions cannot be read.
    """
    study_id = study_at_prolific(store)
    found = decisions(store)
    if not found:
        return ()
    there = {one.id: one.status for one in client.submissions(study_id)}
    known = entries(store)
    return tuple(_carry(store, client, one, known, there, dry_run) for one in found)


def _carry(
    store: Store,
    client: ProlificClient,
    one: Decision,
    known: Mapping[str, RowMapping],
    there: Mapping[str, str],
    dry_run: bool,
) -> Outcome:
    def outcome(state: State, note: str = "") -> Outcome:
        return Outcome(one.session, one.submission, one.action, state, None, note)

    if one.action == "undecided":
        return outcome("undecided", "approve or reject it first")
    if one.action == "review":
        note = f"{one.answered} of {one.of} main trials answered: look at it, and decide"
        return outcome("undecided", note)
    entry = Entry(
        f"{one.action}:{one.submission}", one.action, one.session, one.submission, None, one.message
    )
    before = known.get(entry.key)
    status = there.get(one.submission)
    if status == _OVER[one.action]:
        # Done before, here or on Prolific's page, or sent by us just before a crash.
        if not dry_run and (before is None or before["state"] != "done"):
            settle(store, [entry], "done")
        return outcome("before")
    if status is None:
        return outcome("refused", "Prolific has no such submission in this study")
    if status != "AWAITING REVIEW":
        return outcome("refused", f"at Prolific it is {status.lower()}")
    if dry_run:
        # What cannot be taken back is shown in full before.
        return outcome("to do", one.message)
    try:
        note_sent(store, [entry], known)
    except TakenError:
        return outcome("unclear", "another process is sending it")
    try:
        if one.action == "approve":
            client.approve(one.submission)
        else:
            client.reject(one.submission, one.message, one.category)
    except (ProlificError, InputError) as error:
        settle(store, [entry], "refused", str(error))
        return outcome("refused", str(error))
    settle(store, [entry], "done")
    return outcome("done")


def pay_bonuses(
    store: Store,
    client: ProlificClient,
    bonuses: Iterable[BonusLine],
    *,
    name: str = "earned",
    dry_run: bool = False,
) -> tuple[Outcome, ...]:
    """Pay bonuses through Prolific, each once.

    Prolific pays again whenever it is asked again, so what is asked is written down before. When a
    reply is lost, the next run reads from Prolific whether the bonus was paid; one that is not
    there an hour later was not, and is paid then.

    Parameters
    ----------
    bonuses
        Session, amount and reason of each.
    name
        What the bonuses are for, up to 100 characters. A session gets one bonus under a name: what
        was paid is final, also when more answers would change the amount.

    Returns
    -------
    One outcome per bonus.

    Raises
    ------
    InputError
        When the study does not recruit on Prolific, or an amount cannot be paid.
    """
    study_id = study_at_prolific(store)
    lines = _entries(store, bonuses, name)
    known = entries(store)
    outcomes: list[Outcome] = []
    to_send: list[Entry] = []
    for one, problem in lines:
        found = Outcome(one.session, one.submission, "bonus", "refused", one.cents, problem)
        if not problem:
            found = _look(store, client, one, known, dry_run)
        if found.state == "to do" and not dry_run:
            to_send.append(one)
        else:
            outcomes.append(found)
    for start in range(0, len(to_send), _GROUP):
        outcomes += _pay(store, client, study_id, to_send[start : start + _GROUP], known)
    return tuple(sorted(outcomes, key=lambda one: (one.session, one.note)))


def _look(
    store: Store,
    client: ProlificClient,
    one: Entry,
    known: Mapping[str, RowMapping],
    dry_run: bool,
) -> Outcome:
    """Say what is still to be done for a bonus; ask Prolific where our own notes are not enough."""

    def outcome(state: State, note: str = "") -> Outcome:
        return Outcome(one.session, one.submission, "bonus", state, one.cents, note)

    before = known.get(one.key)
    if before is None or before["state"] == "refused":
        return outcome("to do")
    if before["state"] == "done":
        same = before["cents"] == one.cents
        return outcome(
            "before", "" if same else f"paid as {_money(before['cents'])}, which is final"
        )
    paid = Counter(client.submission(one.submission).bonuses or ())
    others = [
        row["cents"]
        for row in known.values()
        if row["action"] == "bonus"
        and row["state"] == "done"
        and row["submission"] == one.submission
    ]
    if (paid - Counter(others))[before["cents"]] > 0:
        if not dry_run:
            settle(store, [one], "done")
        return outcome("before", "the reply was lost; Prolific shows it paid")
    if now_ms() - before["sent_at"] < _SETTLED_MS:
        minutes = -(-(_SETTLED_MS - (now_ms() - before["sent_at"])) // 60_000)
        return outcome("unclear", f"the reply was lost; run this again in {minutes} min")
    return outcome("to do", "the reply was lost; Prolific does not show it paid")


def _pay(
    store: Store,
    client: ProlificClient,
    study_id: str,
    group: list[Entry],
    known: Mapping[str, RowMapping],
) -> list[Outcome]:
    def outcomes(state: State, note: str = "") -> list[Outcome]:
        return [
            Outcome(one.session, one.submission, "bonus", state, one.cents, note) for one in group
        ]

    try:
        payment = client.set_up_bonuses(
            study_id, [(one.submission, one.cents or 0) for one in group]
        )
    except ProlificError as error:
        return outcomes("refused", str(error))
    wanted = sum(one.cents or 0 for one in group)
    if payment.amount != wanted:
        return outcomes(
            "refused",
            f"Prolific set up {_money(payment.amount)} in place of {_money(wanted)}; nothing paid",
        )
    try:
        note_sent(store, group, known, payment.id)
    except TakenError:
        # Set up by us and never paid; the other process has set up its own.
        return outcomes("unclear", "another process is paying it")
    try:
        client.pay_bonuses(payment.id)
    except UnclearError as error:
        return outcomes("unclear", f"{error}; run this again later")
    except ProlificError as error:
        settle(store, group, "refused", str(error))
        return outcomes("refused", str(error))
    settle(store, group, "done")
    return outcomes("done")


def _entries(store: Store, bonuses: Iterable[BonusLine], name: str) -> list[tuple[Entry, str]]:
    """Give each bonus with what speaks against paying it."""
    if not name or len(name) > 100:
        raise InputError(f"name of bonuses {name!r}: expected 1 to 100 characters")
    with store.database.read() as connection:
        rows = connection.execute(
            select(
                sessions.c.id, sessions.c.external_id, sessions.c.stage, participants.c.source
            ).join(participants, participants.c.id == sessions.c.participant_id)
        ).all()
    people = {row.id: row for row in rows}
    rejected = {one.session for one in decisions(store) if one.action == "reject"}
    found: dict[str, tuple[Entry, str]] = {}
    for session, amount, reason in bonuses:
        cents = _cents(session, amount)
        row = people.get(session)
        if row is None:
            raise InputError(f"bonus of session {session}: there is no such session")
        entry = Entry(
            f"bonus:{session}:{name}", "bonus", session, row.external_id or "", cents, reason
        )
        problem = ""
        if row.source != "prolific" or not row.external_id:
            problem = "did not come through Prolific; pay it by hand"
        elif row.stage != "complete":
            problem = "the session is not complete"
        elif session in rejected:
            problem = "the session was rejected"
        if entry.key in found:
            raise InputError(f"bonus of session {session}: it comes twice under the name {name!r}")
        found[entry.key] = (entry, problem)
    return list(found.values())


def _cents(session: int, amount: float) -> int:
    try:
        exact = Decimal(str(amount)) * 100
        cents = int(exact.quantize(Decimal(1), ROUND_HALF_UP))
    except (InvalidOperation, ValueError, OverflowError):
        cents = 0
    if not 0 < cents <= _MOST_CENTS:
        raise InputError(
            f"bonus of session {session}: {amount!r} cannot be paid; expected 0.01 to "
            f"{_MOST_CENTS // 100}"
        )
    return cents


def _money(cents: int) -> str:
    return f"{cents / 100:.2f}"


def study_at_prolific(store: Store) -> str:
    """Give Prolific's name of the study, and refuse studies that cannot be paid there."""
    recruitment = store.study.design.recruitment
    if recruitment.platform != "prolific":
        raise InputError(
            f"{store.study.path}: recruitment.platform is {recruitment.platform!r}; only Prolific "
            "can be paid from here, others with the table of --out"
        )
    if not recruitment.study_id:
        raise InputError(
            f"{store.study.path}: recruitment.study_id is missing; expected Prolific's name of the "
            "study, the last part of its address"
        )
    return recruitment.study_id


# A table of what to pay, for platforms that are paid on their own pages.


def payments_table(store: Store, bonuses: Iterable[BonusLine] = ()) -> pl.DataFrame:
    """List the completed sessions of a platform, with what was decided and their bonuses.

    The table holds the platform's names of people: it is for paying, and never to be published.

    Returns
    -------
    ``session``, ``participant``, ``submission``, ``decision`` (``approve``, ``reject``,
    ``undecided``), ``message`` and ``category`` of a rejection, ``bonus`` and ``bonus_reasons``.
    """
    import polars as pl

    owed: dict[int, list[tuple[float, str]]] = {}
    for session, amount, reason in bonuses:
        owed.setdefault(session, []).append((amount, reason))
    rows = [
        {
            "session": one.session,
            "participant": one.participant,
            "submission": one.submission,
            "decision": one.action,
            "message": one.message,
            "category": one.category,
            "bonus": round(sum(amount for amount, _ in owed.get(one.session, [])), 2),
            "bonus_reasons": "; ".join(reason for _, reason in owed.get(one.session, [])),
        }
        for one in decisions(store)
    ]
    text = dict.fromkeys(
        ("participant", "submission", "decision", "message", "category"), pl.String
    )
    schema = {"session": pl.Int64, **text, "bonus": pl.Float64, "bonus_reasons": pl.String}
    return pl.DataFrame(rows, schema=schema)
