"""What a server, or a script, asks a study: each call is one transaction."""

from __future__ import annotations

from typing import Any

from affectlab.study._answers import Submission, save_answer, skip_trial
from affectlab.study._errors import StudyError
from affectlab.study._session import advance, find_session, is_late, refresh, withdraw
from affectlab.study._store import Store, log
from affectlab.study._view import media_of, pending, view

__all__ = ["Service"]

_REPORTS = ("blur", "focus", "slow", "image_retry", "resent", "resumed")
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

    def state(self, token: str) -> dict[str, Any]:
        """Describe the session that a token opens; see :func:`affectlab.study._view.view`."""
        with self.store.database.read() as connection:
            session = find_session(connection, self.store, token)
            ahead = pending(connection, session["id"], 1) if session["stage"] == "trials" else []
            stale = is_late(self.store, session) or (ahead and ahead[0]["state"] == "expired")
            if not stale:
                return view(connection, self.store, session)
        with self.store.database.write() as connection:
            return view(connection, self.store, refresh(connection, self.store, token))

    def advance(self, token: str, stage: str, data: Any) -> dict[str, Any]:
        """Finish a stage; give the new state."""
        with self.store.database.write() as connection:
            session = advance(connection, self.store, token, stage, data)
            state = view(connection, self.store, session)
        if stage == "quiz" and state["quiz"] is not None:
            state["quiz"]["wrong"] = self._wrong(data["answers"])
        return state

    def answer(self, token: str, given: Submission) -> dict[str, Any]:
        """Store an answer; give the new state. When this returns, the answer is on the disk."""
        with self.store.database.write() as connection:
            session, feedback = save_answer(connection, self.store, token, given)
            state = view(connection, self.store, session)
        state["feedback"] = feedback
        return state

    def skip(self, token: str, trial: int, reason: str) -> dict[str, Any]:
        """Leave out a trial that cannot be shown; give the new state."""
        with self.store.database.write() as connection:
            session = skip_trial(connection, self.store, token, trial, reason[:200])
            return view(connection, self.store, session)

    def withdraw(self, token: str) -> dict[str, Any]:
        """End the session as its participant wishes; give the new state."""
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

    def may_see(self, token: str, media: str) -> bool:
        """Say whether a picture belongs to a trial of the session."""
        with self.store.database.read() as connection:
            session = find_session(connection, self.store, token)
            return media in media_of(connection, self.store, session["id"])

    def _wrong(self, given: list[Any]) -> list[dict[str, str]]:
        questions = self.store.study.design.quiz.questions
        return [
            {"question": one.question, "explanation": one.explanation}
            for one, choice in zip(questions, given, strict=True)
            if choice != one.answer
        ]
