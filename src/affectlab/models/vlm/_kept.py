"""What the ledger answers, and what is still to be asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from affectlab._words import joined, shown
from affectlab.models._outcomes_again import again_outcomes
from affectlab.models.images import ImageFile
from affectlab.models.vlm._ask import Progress
from affectlab.models.vlm._askable import Askable
from affectlab.models.vlm._judge import Judged, judge
from affectlab.models.vlm._ledger import Ledger
from affectlab.models.vlm._record import Record

__all__ = ["One", "same_content", "split"]

_TOLD_EVERY = 200
One = TypeVar("One", bound=Askable)


def split(
    ledger: Ledger,
    questions: Sequence[One],
    again: Collection[str],
    progress: Progress | None = None,
) -> tuple[dict[str, tuple[Record, Judged]], list[One]]:
    """Tell what the ledger answers from what is to be asked, each question once.

    Parameters
    ----------
    again
        Outcomes that are asked again although they are in the ledger.
    progress
        Told how far it is, since answers are read anew: thousands take a while.
    """
    wanted = again_outcomes(again) | {"transport"}
    kept: dict[str, tuple[Record, Judged]] = {}
    todo: dict[str, One] = {}
    for number, question in enumerate(questions):
        if progress is not None and len(ledger) and number % _TOLD_EVERY == 0:
            progress("reading the ledger", number, len(questions))
        if question.key in kept or question.key in todo:
            continue
        record = ledger.get(question.key)
        if record is not None:
            judged = judge(question, record)
            if judged.outcome not in wanted and not record.of_account:
                kept[question.key] = (record, judged)
                continue
        todo[question.key] = question
    return kept, list(todo.values())


def same_content(files: Sequence[ImageFile]) -> list[str]:
    """Say which stimuli have the same bytes, since one answer serves them all."""
    by_content: dict[str, list[str]] = {}
    for file in files:
        by_content.setdefault(file.sha256, []).append(file.stimulus)
    same = [names for names in by_content.values() if len(names) > 1]
    if not same:
        return []
    first = joined(shown(name, 40) for name in same[0][:3])
    n = sum(len(names) for names in same)
    return [f"{n:,} images hold the content of another one ({first} first); asked about once each"]
