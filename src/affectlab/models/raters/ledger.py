"""Answers of a rater on disk: written as they come, found again by the content of a stimulus."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any

from affectlab.core.errors import InputError
from affectlab.models.ask import LineFile
from affectlab.models.raters.rater import Answer, Notes, Rater

__all__ = ["AnswerLedger"]

LEDGER = "ledger.jsonl"
SCHEMA = "affectlab/answers/1"
_FAILURES = frozenset({"transport", "rejected"})
"""Outcomes that are no answers: whoever was asked has not looked at the stimulus."""


class AnswerLedger:
    """Answers by stimulus, in the file ``ledger.jsonl`` of a folder; without a folder in memory.

    A stimulus is known by the hash of its content, so that a copy under another name is not asked
    about again. Answers of another rater, version or setting stay where they are and do not count.
    Failures of the transport, rejections, and whatever a rater raised are no answers: such a
    stimulus is asked about again. A stimulus is written down before anybody is asked about it, so
    that the next run knows what was in flight when this one ended. No key is ever written, and
    nobody else writes there meanwhile.

    Parameters
    ----------
    again
        Outcomes that are asked about again although they were answers.

    Raises
    ------
    InputError
        When the folder holds another kind of ledger, or another run uses it.
    """

    def __init__(self, folder: Path | None, rater: Rater, again: Collection[str] = ()) -> None:
        self._rater = rater
        self._again = _FAILURES | set(again)
        self._end = f":{rater.fingerprint}"
        self._answers: dict[str, Answer] = {}
        self._states: dict[str, dict[str, Any]] = {}
        self._lock = Lock()
        self._file = None if folder is None else LineFile(folder / LEDGER, SCHEMA)
        self.n_broken = 0
        """Lines that could not be read; what they held is asked about again."""
        self.in_flight: tuple[str, ...] = ()
        """Stimuli that this rater was asked about when an earlier run ended, and that it has not
        answered about since."""
        if self._file is not None:
            self.n_broken = self._file.n_broken
            self.in_flight = tuple(
                str(asked.get("stimulus"))
                for asked in self._file.unanswered
                if str(asked.get("key")).endswith(self._end)
            )
            for line in self._file.lines():
                answer = _answer_of(line)
                if answer is None and not _is_state(line):
                    self.n_broken += 1
                elif line["key"].endswith(self._end):
                    self._keep(line["key"].removesuffix(self._end), answer, line.get("state"))

    def __enter__(self) -> AnswerLedger:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def get(self, sha256: str) -> Answer | None:
        """Give the answer about a stimulus, None where it is to be asked about."""
        held = self._answers.get(sha256)
        return None if held is None or held.outcome in self._again else held

    def ask(self, stimuli: Mapping[str, str]) -> None:
        """Write down which stimuli are about to be asked about, by hash."""
        if self._file is not None:
            with self._lock:
                self._file.ask(
                    *(
                        {"key": sha256 + self._end, "rater": self._rater.name, "stimulus": stimulus}
                        for sha256, stimulus in stimuli.items()
                    )
                )

    def withdraw(self, sha256: str) -> None:
        """Write down that nobody was asked about a stimulus after all."""
        if self._file is not None:
            with self._lock:
                self._file.withdraw({"key": sha256 + self._end})

    def put(self, *answers: tuple[str, Answer]) -> None:
        """Keep answers by hash, and write them down at once."""
        # The job that was handed in is still there to be asked for.
        self._write(
            *(
                (sha256, one, self._states.get(sha256) if one.outcome == "transport" else None)
                for sha256, one in answers
            )
        )

    def notes(self, sha256: str, stimulus: str) -> Notes:
        """Give the notes on a stimulus that is being asked about."""
        return Notes(
            self._states.get(sha256),
            lambda new: self._write((sha256, None, new)),
            lambda: self.ask({sha256: stimulus}),
        )

    def _keep(self, sha256: str, answer: Answer | None, state: dict[str, Any] | None) -> None:
        # What comes later takes the place of all that was known.
        self._answers.pop(sha256, None)
        self._states.pop(sha256, None)
        if answer is not None:
            self._answers[sha256] = answer
        if state is not None:
            self._states[sha256] = state

    def _write(self, *records: tuple[str, Answer | None, dict[str, Any] | None]) -> None:
        lines = []
        for sha256, answer, state in records:
            line: dict[str, Any] = {"key": sha256 + self._end, "rater": self._rater.name}
            if answer is not None:
                held = {name: getattr(answer, name) for name in _WRITTEN}
                line["answer"] = held | {"scores": dict(answer.scores)}
            if state is not None:
                line["state"] = state
            lines.append(line)
        # Stimuli are asked about by several threads.
        with self._lock:
            for record in records:
                self._keep(*record)
            if self._file is not None:
                self._file.add(*lines)


_WRITTEN = tuple(field.name for field in fields(Answer))


def _is_state(line: Mapping[str, Any]) -> bool:
    return (
        isinstance(line.get("key"), str)
        and isinstance(line.get("state"), dict)
        and line.get("answer") is None
    )


def _answer_of(line: Mapping[str, Any]) -> Answer | None:
    """Read the answer of a line; None where it holds none that was written here."""
    held = line.get("answer")
    if not isinstance(line.get("key"), str) or not isinstance(line.get("state"), dict | None):
        return None
    try:
        answer = Answer(**held) if isinstance(held, dict) else None
    except (TypeError, InputError):
        return None
    if answer is None or not (
        isinstance(answer.scores, dict)
        and all(_is_number(score) for score in answer.scores.values())
        and isinstance(answer.problem, str)
        and (answer.faces is None or _is_count(answer.faces))
        and _is_count(answer.retries)
    ):
        return None
    return answer


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
