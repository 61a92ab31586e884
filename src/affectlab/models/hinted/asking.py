"""Asking the annotator about the pictures of a round, those that it has not answered about yet."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from affectlab.core.errors import InputError
from affectlab.core.words import percent, plural
from affectlab.evaluation import OUTCOMES
from affectlab.models.hinted.annotator import Annotator, annotation_of, ask
from affectlab.models.hinted.state import FAILURES, MAIN, Answered, Store
from affectlab.models.images import ImageFile
from affectlab.ratings import Scale

__all__ = [
    "Asking",
    "Progress",
    "Question",
    "Usable",
]

# Whether an annotator gives answers that can be used: without them, a loop learns nothing.


_ODDS = 1e-6
"""Chance of as many answers in a row without use, at the share that a plan wants, after which it is
no chance."""


class Usable:
    """Watches the answers of a run.

    Parameters
    ----------
    where
        Who answers, for errors.
    share
        Share of answers that must be usable, in [0, 1].

    Examples
    --------
    >>> Usable("annotator 'mine'", 0.5).most_in_a_row, Usable("annotator 'mine'", 0).most_in_a_row
    (20, inf)
    """

    def __init__(self, where: str, share: float) -> None:
        self._where = where
        self._share = share
        self._in_a_row: list[Answered] = []
        most = math.inf
        if share > 0:
            most = 1 if share == 1 else math.ceil(math.log(_ODDS) / math.log1p(-share))
        self.most_in_a_row = most
        """Answers in a row without use after which a run stops."""

    def told(self, answers: Iterable[Answered]) -> None:
        """Take note of answers as they come.

        Raises
        ------
        InputError
            When too many in a row cannot be used.
        """
        for answer in answers:
            if OUTCOMES[answer.outcome].usable:
                self._in_a_row.clear()
            else:
                self._in_a_row.append(answer)
        if len(self._in_a_row) >= self.most_in_a_row:
            raise InputError(
                f"{self._where} gave {plural(len(self._in_a_row), 'answer')} in a row that cannot "
                f"be used ({_counted(self._in_a_row)}); {_what_to_do(self._in_a_row)}"
            )

    def check_round(self, round: int, answers: Iterable[Answered]) -> None:
        """Look at all answers of a round.

        Raises
        ------
        InputError
            When fewer can be used than the share asks for.
        """
        held = list(answers)
        bad = [one for one in held if not OUTCOMES[one.outcome].usable]
        if len(held) - len(bad) < self._share * len(held):
            raise InputError(
                f"{self._where}: {plural(len(bad), 'answer')} of the {len(held):,} in round "
                f"{round} cannot be used ({_counted(bad)}), and at least {percent(self._share)} "
                f"must be (usable); {_what_to_do(bad)}"
            )


def _counted(answers: Iterable[Answered]) -> str:
    counts = Counter(one.outcome for one in answers)
    return ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())


def _what_to_do(answers: Sequence[Answered]) -> str:
    kinds = sorted({one.outcome for one in answers} - FAILURES)
    problems = [one.problem for one in answers if one.problem]
    said = f"the last one because: {problems[-1]}; " if problems else ""
    if not kinds:
        return said + "another run asks about these pictures again"
    ways = " ".join(f"--config again={kind}" for kind in kinds)
    return f"{said}what was answered is kept, and {ways} (again=) asks about such pictures again"


_TRIES = 3
"""Runs that end for want of an answer about one picture; it is asked about in later ones, too."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Question:
    """A picture that is to be asked about."""

    file: ImageFile
    sha256: str
    hint: str
    target: str


class Asking:
    """Asks an annotator, and keeps what it answers.

    Raises
    ------
    InputError
        By its methods, when the annotator fails, is out of reach, or gives too little that can be
        used; what was answered is kept.
    """

    def __init__(self, store: Store, annotator: Annotator, progress: Progress | None) -> None:
        self._store = store
        self._plan = store.plan
        self._annotator = annotator
        self._progress = progress
        self._known = store.plan.known()
        self._scale = Scale.parse(store.plan.scale)
        self._where = f"annotator {store.annotator['name']!r}"
        self._usable = Usable(self._where, store.plan.usable)

    def about(self, round: int, role: str, questions: Sequence[Question]) -> None:
        """Ask about the pictures of a round that were not answered about yet."""
        store = self._store
        store.say(round=round, step="answers", stopped="")
        todo = [
            one
            for one in questions
            if not store.holds(role, one.file.stimulus, one.sha256, one.hint)
        ]
        unheard = 0
        for start in range(0, len(todo), self._plan.batch):
            batch = todo[start : start + self._plan.batch]
            answers = self._asked(round, role, batch)
            store.add(answers)
            # A picture that never gets through must not hold up the others.
            fresh = [one for one in answers if store.n_failures(role, one.stimulus) <= _TRIES]
            lost = sum(one.outcome == "transport" for one in fresh)
            unheard += lost
            failed = sum(one.outcome in FAILURES for one in answers)
            nobody = failed == len(batch) and (lost or (fresh and failed > 1))
            if nobody or (unheard and start + self._plan.batch >= len(todo)):
                self._stop(round, unheard, failed)
            self._usable.told(answers)
            if self._progress is not None:
                done = min(start + self._plan.batch, len(todo))
                self._progress(f"answers of round {round}", done, len(todo))
        if role == MAIN:
            keys = [(role, one.file.stimulus) for one in questions]
            self._usable.check_round(round, [store.answers[key] for key in keys])

    def _stop(self, round: int, unheard: int, failed: int) -> None:
        did, why = "was out of reach for", ""
        if not unheard:
            did, why = "rejected", " (its key or address may be wrong)"
        raise InputError(
            f"{self._where} {did} {plural(unheard or failed, 'picture')} of round {round}{why}; "
            "what was answered is kept, and another run goes on from here"
        )

    def _asked(self, round: int, role: str, batch: Sequence[Question]) -> list[Answered]:
        files, hints = [one.file for one in batch], [one.hint for one in batch]
        asked = [
            {
                "role": role,
                "stimulus": one.file.stimulus,
                "sha256": one.sha256,
                "hint": one.hint,
            }
            for one in batch
        ]
        self._store.ask(asked)
        given = ask(self._annotator, files, hints, self._where, lambda: self._store.withdraw(asked))
        answers = []
        for question, said in zip(batch, given, strict=True):
            found = annotation_of(said, self._known, self._scale, self._plan.at_most)
            answers.append(
                Answered(
                    role,
                    question.file.stimulus,
                    question.sha256,
                    round,
                    question.hint,
                    question.target,
                    found.outcome,
                    dict(found.values),
                    found.problem,
                )
            )
        return answers
