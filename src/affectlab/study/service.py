"""What a server, or a script, asks a study: each call is one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, RowMapping, select, update

from affectlab.study.delivery import (
    Submission,
    advance,
    end,
    find_picture,
    find_session,
    is_over,
    pending,
    refresh,
    save_answer,
    save_quickly,
    skip_trial,
    view,
)
from affectlab.study.design import drops_on_withdrawal
from affectlab.study.errors import StudyError
from affectlab.study.store import Store, log
from affectlab.study.tables import sessions
from affectlab.study.verdicts import judge_completed, let_count

__all__ = [
    "Service",
    "withdraw",
]

# Taking part no more: a participant withdraws, and what was answered counts no more.


_OVER = ("withdrawn", "declined", "erased")
"""Verdicts of sessions from which nothing can be taken back any more."""


def withdraw(connection: Connection, store: Store, token: str) -> RowMapping:
    """Withdraw a session as its participant wishes, under way or after its end.

    What becomes of the answers stands in the study file (``consent.on_withdrawal``): they count no
    more and their tasks are asked again of others, or they stay. A session that was complete stays
    complete, so that its code can still be read and its work be paid.

    Raises
    ------
    StudyError
        When no session has the token.
    """
    session = find_session(connection, store, token, for_update=True)
    if session["verdict"] not in _OVER:
        own = sessions.c.id == session["id"]
        if session["stage"] not in ("complete", "ended"):
            end(connection, session, "withdrawn")
        connection.execute(update(sessions).where(own).values(verdict="withdrawn"))
        drops = drops_on_withdrawal(store.study)
        dropped = let_count(connection, store, session["id"], valid=False) if drops else 0
        log(
            connection,
            "withdrawn",
            participant=session["participant_id"],
            session=session["id"],
            body={"from": session["stage"], "answers_dropped": dropped},
        )
    found = connection.execute(select(sessions).where(sessions.c.id == session["id"]))
    return found.mappings().one()


_REPORTS = ("blur", "focus", "slow", "image_retry", "resent", "resumed", "frame_error")
"""What browsers may report besides answers."""


class Service:
    """The steps of participants in one study.

    Parameters
    ----------
    store
        The open study.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        # Read now: within a transaction it would take a second connection.
        _ = store.content

    def state(self, token: str) -> dict[str, Any]:
        """Describe the session that a token opens, as `affectlab.study.delivery.view.view` does."""
        with self.store.database.read() as connection:
            session = find_session(connection, self.store, token)
            ahead = pending(connection, session["id"], 1) if session["stage"] == "trials" else []
            stale = is_over(self.store, session) or (ahead and ahead[0]["state"] == "expired")
            if not stale:
                return view(connection, self.store, session)
        with self.store.database.write() as connection:
            state = view(connection, self.store, refresh(connection, self.store, token))
        self._judge(state)
        return state

    def advance(self, token: str, stage: str, data: Any) -> dict[str, Any]:
        """Finish a stage; give the new state."""
        if stage == "waiting":
            # What is judged now may free tasks for those who wait.
            judge_completed(self.store)
        with self.store.database.write() as connection:
            session = advance(connection, self.store, token, stage, data)
            state = view(connection, self.store, session)
        if stage == "quiz" and state["quiz"] is not None:
            state["quiz"]["wrong"] = self._wrong(data["answers"])
        return state

    def answer(self, token: str, given: Submission) -> dict[str, Any]:
        """Store an answer; give the new state. When this returns, the answer is on the disk."""
        quick = save_quickly(self.store, token, given)
        if quick is not None:
            return quick
        with self.store.database.write() as connection:
            saved = save_answer(connection, self.store, token, given)
            state = view(connection, self.store, saved.session, saved.ahead)
        self._judge(state)
        state["feedback"] = saved.feedback
        return state

    def skip(self, token: str, trial: int, reason: str) -> dict[str, Any]:
        """Leave out a trial that cannot be shown; give the new state."""
        with self.store.database.write() as connection:
            session = skip_trial(connection, self.store, token, trial, reason[:200])
            state = view(connection, self.store, session)
        self._judge(state)
        return state

    def withdraw(self, token: str) -> dict[str, Any]:
        """Withdraw the session as its participant wishes, also after its end; give its state."""
        with self.store.database.write() as connection:
            return view(connection, self.store, withdraw(connection, self.store, token))

    def report(self, token: str, kind: str, body: dict[str, Any]) -> None:
        """Log what a browser noticed.

        Raises
        ------
        StudyError
            When the kind is not known.
        """
        if kind not in _REPORTS:
            raise StudyError(422, "invalid", f"kind: expected one of: {', '.join(_REPORTS)}.")
        with self.store.database.write() as connection:
            session = find_session(connection, self.store, token)
            log(
                connection,
                f"page_{kind}",
                participant=session["participant_id"],
                session=session["id"],
                body=body,
            )

    def picture(self, token: str, address: str) -> Path | None:
        """Find a picture by what follows ``/media/``; None where the session has no such."""
        with self.store.database.read() as connection:
            return find_picture(connection, self.store, token, address)

    def _judge(self, state: dict[str, Any]) -> None:
        """Judge what is complete; after the answer is stored, which does not wait for it to be."""
        if state["stage"] == "complete":
            judge_completed(self.store)

    def _wrong(self, given: list[Any]) -> list[dict[str, str]]:
        questions = self.store.study.design.quiz.questions
        return [
            {"question": one.question, "explanation": one.explanation}
            for one, choice in zip(questions, given, strict=True)
            if choice != one.answer
        ]
