"""From what came back to one of the nine outcomes, and to what the answer says."""

from __future__ import annotations

from dataclasses import dataclass

from affectlab.evaluation import Response, classify_outcome
from affectlab.models.vlm._ledger import Record
from affectlab.models.vlm._question import Question
from affectlab.models.vlm._read import Read, read_answer

__all__ = ["Judged", "judge"]


@dataclass(frozen=True)
class Judged:
    """An answer and what became of it."""

    outcome: str
    read: Read


def judge(question: Question, record: Record) -> Judged:
    """Read the text of a record anew, and say what became of the question.

    What is in the ledger is the text, so that a better reader makes more of old answers.
    """
    nothing = bool(record.transport_error or record.rejection)
    read = Read()
    if not nothing and record.text is not None:
        read = read_answer(question.blank(), question.design.protocol, record.text)
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
