"""Whether an annotator gives answers that can be used: without them, a loop learns nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from affectlab._words import percent, plural
from affectlab.errors import InputError
from affectlab.evaluation import OUTCOMES
from affectlab.models.hinted._state import FAILURES, Answered

__all__ = ["Usable"]

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
    ways = " ".join(f"--again {kind}" for kind in kinds)
    return f"{said}what was answered is kept, and {ways} (again=) asks about such pictures again"
