"""What a server, or a script, asks a study: each call is one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affectlab.study._answers import Submission, save_answer, skip_trial
from affectlab.study._answers_quick import save_quickly
from affectlab.study._errors import StudyError
from affectlab.study._media import find_picture
from affectlab.study._policy import judge_completed
from affectlab.study._session import advance, find_session, is_over, refresh
from affectlab.study._store import Store, log
from affectlab.study._view import pending, view
from affectlab.study._withdrawal import withdraw

__all__ = ["Service"]

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
        """Describe the session that a token opens; see :func:`affectlab.study._view.view`."""
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
