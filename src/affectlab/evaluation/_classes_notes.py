"""What was left out on the way from answers to classes, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._hints import option
from affectlab._types import Bools
from affectlab._words import count, joined, plural
from affectlab.evaluation._classes_panel import Panel
from affectlab.evaluation._classes_rule import Decided, TruthRule
from affectlab.evaluation._classes_votes import AnswerTies

__all__ = ["Counted", "answer_notes", "counted", "offset_note", "truth_notes"]


def truth_notes(decided: Decided, settings: TruthRule, *, of_people: bool) -> list[str]:
    notes = []
    tied = int(decided.tied.sum())
    if tied:
        done = {
            "leave_out": "left out",
            "first": "given the first of them in the order of the taxonomy (without one, by name)",
            "random": "given one of them at random",
        }[settings.ties]
        notes.append(
            f"{plural(tied, 'stimulus', 'stimuli')} with several highest classes in the truth: "
            f"{done}"
        )
    scarce = int((decided.size < settings.min_people).sum())
    if scarce:
        notes.append(
            f"{plural(scarce, 'stimulus', 'stimuli')} with fewer than "
            f"{plural(settings.min_people, 'person', 'people')}: left out"
        )
    gone = ~decided.known & ~decided.tied & (decided.size >= settings.min_people)
    if gone.any():
        why = "majority or true class" if settings.rule == "majority" else "true class"
        notes.append(f"{plural(int(gone.sum()), 'stimulus', 'stimuli')} without a {why}: left out")
    alone = int((decided.known & (decided.size == 1)).sum())
    if of_people and alone:
        all_known = plural(int(decided.known.sum()), "stimulus", "stimuli")
        notes.append(f"the truth of {count(alone)} of {all_known} rests on one person")
    return notes


def offset_note(neutral: str | None, raters: Sequence[str]) -> str:
    """Say that the truth was used to take neutral means off."""
    return (
        f"means over stimuli whose truth is {neutral!r} were taken off the scores of "
        f"{joined(raters)}: this uses the truth, each such stimulus left out of its own mean"
    )


@dataclass(frozen=True)
class Counted:
    """What is worth saying of the answers of one rater."""

    rater: str
    tied: int
    """Stimuli with several highest classes."""
    outside: int
    """Answers that name a label of no class."""
    partly: int
    """Stimuli of which some label was not answered."""


def counted(rater: str, panel: Panel, given: Decided, rows: Bools) -> Counted:
    """Count what is worth saying of the rows of one rater."""
    partly = 0
    if panel.form != "nominal" and rows.any():
        reachable = ~np.isnan(panel.scores).all(axis=0)
        gaps = np.isnan(panel.scores[rows][:, reachable]).any(axis=1)
        partly = int((gaps & given.known[rows]).sum())
    return Counted(rater, int(given.tied[rows].sum()), int((panel.unmapped & rows).sum()), partly)


def answer_notes(found: Sequence[Counted], ties: AnswerTies) -> list[str]:
    """Put what was counted into words, one note for all raters."""
    done = {
        "random": "one of them was taken at random",
        "first": "the first in the order of the taxonomy (without one, by name) was taken",
        "missing": "taken as no answer",
    }[ties]
    said = {
        "tied": f"several highest classes in answers, of which {done}",
        "outside": "answers that name a label of no class, taken as no answer",
        "partly": "labels that were not answered, which is not taken as 0 "
        f"({option('absent', 'zero')} does that)",
    }
    notes = []
    for name, text in said.items():
        number = {entry.rater: n for entry in found if (n := getattr(entry, name))}
        if not number:
            continue
        shown = [f"{rater} ({plural(n, 'stimulus', 'stimuli')})" for rater, n in number.items()]
        more = [f"{len(shown) - 3} others"] if len(shown) > 4 else []
        notes.append(f"{text}: {joined([*(shown[:3] if more else shown), *more])}")
    return notes
