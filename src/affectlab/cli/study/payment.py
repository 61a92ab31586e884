"""Verbs that decide about sessions, and have them paid: ``approve``, ``reject``, ``pay``, …."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from affectlab.cli._output import Output, write_table
from affectlab.cli.study.answers import open_study
from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.study.dataset import bonuses
from affectlab.study.recruit import (
    Outcome,
    ProlificClient,
    approve_sessions,
    carry_out,
    pay_bonuses,
    payments_table,
    reject_sessions,
    study_at_prolific,
)

if TYPE_CHECKING:
    from affectlab.study import Store

_SAID = {
    "done": "done",
    "before": "done before",
    "to do": "would be sent",
    "refused": "refused",
    "unclear": "not clear yet",
    "undecided": "not decided",
}


def approve(
    out: Output,
    study: Path,
    sessions: Sequence[int] | None = None,
    *,
    everyone: bool = False,
    database: str | None = None,
) -> None:
    """Decide that sessions are paid and their answers count; `study pay` then tells the platform.

    Parameters
    ----------
    sessions
        Numbers of sessions, as the export names them.
    everyone
        All completed sessions that nobody has judged.
    """
    if not sessions and not everyone:
        raise InputError("no session is named; expected numbers of sessions, or --all")
    with open_study(study, database) as store:
        found = approve_sessions(store, list(sessions or []), everyone=everyone)
    out.show(f"{plural(len(found), 'session')} approved.")
    out.show(f"Tell the platform: affectlab study pay {study} --dry-run")
    out.finish({"approved": found})


def reject(
    out: Output,
    study: Path,
    sessions: Sequence[int],
    *,
    reason: str,
    category: str = "OTHER",
    pay: bool = False,
    database: str | None = None,
) -> None:
    """Decide that answers of sessions do not count: their tasks are asked again.

    Parameters
    ----------
    sessions
        Numbers of sessions, as the export names them.
    reason
        What was wrong, in a sentence; the participant reads it.
    category
        Kind of reason as Prolific names it: LOW_EFFORT, FAILED_CHECK, ….
    pay
        Pay all the same; only the answers do not count.
    """
    with open_study(study, database) as store:
        found = reject_sessions(store, list(sessions), reason, category=category, pay=pay)
    paid = "paid all the same" if pay else "not paid"
    out.show(f"{plural(len(found), 'session')} rejected, {paid}; the tasks are asked again.")
    out.show(f"Tell the platform: affectlab study pay {study} --dry-run")
    out.finish({"rejected": found, "paid": pay})


def pay(
    out: Output,
    study: Path,
    *,
    bonus: bool = False,
    dry_run: bool = False,
    session: int | None = None,
    amount: float | None = None,
    name: str | None = None,
    to: Path | None = None,
    database: str | None = None,
) -> None:
    """Tell Prolific what was decided here, or pay bonuses; each goes out once.

    Without --bonus sessions are approved and rejected as was decided. The token is read from the
    environment variable PROLIFIC_TOKEN.

    Parameters
    ----------
    bonus
        Pay the bonuses that sessions have earned.
    dry_run
        Read the state at the platform; send nothing.
    session
        With --bonus: pay a bonus of your own to this session, in place of those that were earned.
    amount
        With --session: how much.
    name
        With --session: what it is for; one bonus is paid under a name.
    to
        Write decisions and bonuses to this CSV file instead, to pay by hand. It holds the
        platform's names of people.
    """
    given = [one is not None for one in (session, amount, name)]
    if any(given) and not (all(given) and bonus):
        raise InputError(
            "--bonus, --session, --amount and --name belong together; expected all of them"
        )
    with open_study(study, database) as store:
        if to is not None:
            if bonus:
                raise InputError("--out writes decisions and bonuses; expected no --bonus")
            table = payments_table(store, bonuses(store))
            write_table(table, to)
            out.show(f"written: {to} ({plural(table.height, 'session')})")
            out.finish({"file": to, "sessions": table.height})
            return

        def work(client: ProlificClient) -> tuple[Outcome, ...]:
            if not bonus:
                return carry_out(store, client, dry_run=dry_run)
            if session is None or amount is None or name is None:
                return pay_bonuses(store, client, bonuses(store), dry_run=dry_run)
            own = [(session, amount, name)]
            return pay_bonuses(store, client, own, name=f"given:{name}", dry_run=dry_run)

        _at_prolific(out, store, work, dry_run=dry_run)


def _at_prolific(
    out: Output,
    store: Store,
    work: Callable[[ProlificClient], tuple[Outcome, ...]],
    *,
    dry_run: bool,
) -> None:
    """Do something at Prolific, and say what came of it."""
    study_at_prolific(store)
    with ProlificClient.from_environment() as client:
        found = work(client)
    _finish(out, found, dry_run=dry_run, currency=store.study.design.recruitment.currency)


def _finish(out: Output, found: tuple[Outcome, ...], *, dry_run: bool, currency: str) -> None:
    """Print one line per decision or bonus, and their sums.

    Raises
    ------
    SystemExit
        With 1 when something was refused or is not clear, so that scripts notice.
    """
    money = any(one.cents is not None for one in found)
    table = [
        {
            "session": one.session,
            "action": one.action,
            "state": _SAID[one.state],
            **({"amount": f"{(one.cents or 0) / 100:.2f}"} if money else {}),
            "note": one.note,
        }
        for one in found
    ]
    counts = Counter(one.state for one in found)
    if found:
        out.show_frame(pl.DataFrame(table), [*table[0]], most=len(table))
        out.show("")
        parts = [f"{count} {_SAID[state]}" for state, count in counts.items()]
        out.show(f"{plural(len(found), 'session')}: {', '.join(parts)}.")
    else:
        out.show("There is nothing to send.")
    cents = {state: sum(one.cents or 0 for one in found if one.state == state) for state in counts}
    if money:
        told = "would be paid" if dry_run else "paid now"
        total = cents.get("to do" if dry_run else "done", 0) / 100
        out.show(f"{total:,.2f} {currency} {told}, Prolific's fees not counted.")
    if dry_run:
        out.show("Nothing was sent: this was a dry run.")
    out.finish(
        {
            "dry_run": dry_run,
            "currency": currency,
            "outcomes": [asdict(one) for one in found],
            "counts": dict(counts),
        }
    )
    if counts["refused"] or counts["unclear"]:
        raise SystemExit(1)
