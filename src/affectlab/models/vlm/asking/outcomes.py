"""From what came back to one of the nine outcomes, and to what the answer says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from affectlab.core.words import shown
from affectlab.evaluation import Response, classify_outcome
from affectlab.models.vlm.asking.ledger import Record
from affectlab.models.vlm.asking.provider import STRUCTURED
from affectlab.models.vlm.prompts import Prompt, Read

__all__ = [
    "Askable",
    "Judged",
    "asked_before",
    "judge",
    "problem_of",
    "to_ask_again",
]

# What can be asked of a model: a prompt, where its answer is filed, and how it is read.


class Askable(Protocol):
    """One question, whatever it is about.

    :class:`~affectlab.models.vlm.questions.Question` is one, about a picture and a protocol.
    """

    @property
    def key(self) -> str:
        """Names the question by all that decides about its answer."""

    @property
    def stimulus(self) -> str:
        """Name of the stimulus."""

    @property
    def shows(self) -> tuple[str, ...]:
        """What is shown: picture, sound, text."""

    @property
    def most_asks(self) -> int:
        """Times that it is asked at most until its answer can be read."""

    def prompt(self, *, again: bool = False) -> Prompt:
        """Build what is sent, at first or again; raises InputError where it cannot be shown."""

    def told(self) -> dict[str, Any]:
        """Say what was asked, for readers of the ledger."""

    def read(
        self, text: str, *, held: bool, alternatives: Mapping[str, float] | None = None
    ) -> Read:
        """Read the answer; `held` says whether the provider held the model to the schema,
        `alternatives` how probable other first tokens were."""


@dataclass(frozen=True)
class Judged:
    """An answer and what became of it."""

    outcome: str
    read: Read


_FINAL = frozenset({"ok", "transport", "rejected"})
"""Outcomes after which nobody is asked again for an answer that can be read."""


def to_ask_again(question: Askable, record: Record, judged: Judged) -> bool:
    """Whether an answer that cannot be read is to be asked for once more."""
    return judged.outcome not in _FINAL and record.ask < question.most_asks


def judge(question: Askable, record: Record) -> Judged:
    """Read the text of a record anew, and say what became of the question.

    What is in the ledger is the text, so that a better reader makes more of old answers.
    """
    if record.unreadable:
        return Judged("unparseable", Read(problem=record.unreadable))
    nothing = bool(record.transport_error or record.rejection)
    read = Read()
    if not nothing and record.text is not None:
        held = STRUCTURED not in record.not_sent
        read = question.read(record.text, held=held, alternatives=record.alternatives)
    outcome = classify_outcome(
        Response(
            transport_error=record.transport_error,
            http_status=record.http_status,
            rejection=record.rejection,
            stop_reason=record.stop_reason,
            refusal=record.refusal,
            text=record.text,
            parsed=read.parsed,
            schema_errors=tuple(read.schema_errors),
            rule_errors=tuple(read.rule_errors),
            retries=record.retries,
        )
    )
    return Judged(outcome, read)


def asked_before(question: Askable, record: Record | None) -> int:
    """Say how often a question was asked in vain, where an earlier run stopped before its end."""
    if record is None:
        return 0
    if record.outcome == "transport":
        # This asking got no answer.
        return record.ask - 1
    return record.ask if to_ask_again(question, record, judge(question, record)) else 0


def problem_of(record: Record, judged: Judged) -> str:
    """Say why an answer cannot be used; "" for one that can."""
    read = judged.read
    found = {
        "transport": record.transport_error,
        "rejected": record.rejection,
        # The words of a refusal, or what stopped the answer where there are none.
        "refused": record.refusal or shown((record.text or "").strip(), 200) or record.stop_reason,
        "truncated": record.stop_reason,
        "unparseable": read.problem,
        "schema_invalid": "; ".join(read.schema_errors),
        "rule_violation": "; ".join(read.rule_errors),
        "empty": "no text",
    }
    return found.get(judged.outcome, "")
