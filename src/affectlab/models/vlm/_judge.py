"""From what came back to one of the nine outcomes, and to what the answer says."""

from __future__ import annotations

from dataclasses import dataclass

from affectlab._words import shown
from affectlab.evaluation import Response, classify_outcome
from affectlab.models.vlm._askable import Askable
from affectlab.models.vlm._read import Read
from affectlab.models.vlm._record import Record
from affectlab.models.vlm._reply import STRUCTURED

__all__ = ["Judged", "judge", "problem_of"]


@dataclass(frozen=True)
class Judged:
    """An answer and what became of it."""

    outcome: str
    read: Read


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
        read = question.read(record.text, held=held)
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
