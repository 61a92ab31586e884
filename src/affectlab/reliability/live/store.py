"""The answers of a running study, and the sums that are kept in step with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from affectlab.core.errors import InputError, unknown_name
from affectlab.ratings import Ratings
from affectlab.reliability.live.raters import Checked, OneRater, RaterChecks, RaterSums, flag_table
from affectlab.reliability.live.sums import Cell, LabelSums, Ledger, PairCounts, exact, shift_of

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Scale

__all__ = ["Question", "Row", "Store", "TrialKind"]

TrialKind: TypeAlias = Literal["main", "golden", "repeat", "training"]
Question: TypeAlias = tuple[str, str]
"""(label, stimulus)"""
Row: TypeAlias = tuple[str, str, float, "str | None", TrialKind, "str | None", "int | None"]
"""(stimulus, rater, value, label, trial kind, session, trial)"""
_Trial: TypeAlias = tuple["str | None", "int | None"]
_CheckKey: TypeAlias = tuple[TrialKind, Question, _Trial]

_UNNAMED = "rating"
_MOST_REMEMBERED = 4096


class Store:
    """Holds the answers of a running study by question and by rater."""

    def __init__(
        self,
        scale: Scale,
        labels: tuple[str, ...] | None,
        golden: dict[str | tuple[str, str], float],
        slack: float,
    ) -> None:
        self.scale, self.labels, self.golden, self.slack = scale, labels, {}, slack
        self.questions: dict[Question, Cell] = {}
        self.given: dict[str, dict[Question, _Trial]] = {}
        self.checked: dict[str, dict[_CheckKey, float]] = {}
        self.summaries: dict[Question, tuple[int, float, float]] = {}
        self._named: bool | None = None if labels is None else True
        self._shift = 0
        self._on_scale: set[float] = set()
        self._restart()
        self.drop_pairs()
        for key, value in golden.items():
            if not isinstance(key, str) and labels is not None and key[1] not in labels:
                raise unknown_name("label", key[1], labels, f"golden {key[0]!r}")
            self.golden[key] = self._reference(value, f"golden {key!r}")

    def _restart(self) -> None:
        self._sums: dict[str, LabelSums] = {}
        self._raters = RaterSums()
        self.summaries.clear()
        self._sum_ledger: Ledger[Question] = Ledger(self._change_sums)
        self._rater_ledger: Ledger[Question] = Ledger(
            lambda _, cell, sign: self._raters.add(cell, self._shift, sign)
        )

    # -- answers ---------------------------------------------------------------------------------

    def add(
        self,
        stimulus: str,
        rater: str,
        value: float,
        label: str | None,
        kind: TrialKind,
        session: str | None,
        trial: int | None,
    ) -> None:
        question = self._question(stimulus, rater, label, kind)
        number = self._value(value, f"rater {rater!r}, stimulus {stimulus!r}")
        old = self._get(question, rater, kind, (session, trial))
        if old is not None:
            raise InputError(
                f"rater {rater!r} already answered {_named(question, kind)}, with {old:g}; "
                "expected one answer per question, or replace"
            )
        if kind == "golden" and self.reference(question) is None:
            raise InputError(
                f"rater {rater!r}, {_named(question, kind)}: no reference answer is known; "
                "expected it among golden"
            )
        self._named = label is not None
        self.given.setdefault(rater, {})
        self.checked.setdefault(rater, {})
        if kind != "main":
            self.checked[rater][kind, question, (session, trial)] = number
            return
        cell = self.questions.setdefault(question, {})
        self._before_change(question, cell)
        self._make_room(number)
        cell[rater] = number
        self.given[rater][question] = (session, trial)

    def replace(
        self,
        stimulus: str,
        rater: str,
        value: float,
        label: str | None,
        kind: TrialKind,
        session: str | None,
        trial: int | None,
    ) -> float:
        question = self._question(stimulus, rater, label, kind)
        number = self._value(value, f"rater {rater!r}, stimulus {stimulus!r}")
        old = self._get(question, rater, kind, (session, trial))
        if old is None:
            raise InputError(
                f"rater {rater!r} gave no answer to {_named(question, kind)}; expected one to "
                "replace"
            )
        if kind != "main":
            self.checked[rater][kind, question, (session, trial)] = number
            return old
        cell = self.questions[question]
        self._before_change(question, cell)
        self._make_room(number)
        cell[rater] = number
        known = self.given[rater][question]
        self.given[rater][question] = (
            known[0] if session is None else session,
            known[1] if trial is None else trial,
        )
        return old

    def remove(self, rater: str, session: str | None) -> int:
        if rater not in self.given:
            raise unknown_name("rater", rater, self.given)
        main = [
            question
            for question, (of, _) in self.given[rater].items()
            if session is None or of == session
        ]
        others = [key for key in self.checked[rater] if session is None or key[2][0] == session]
        if session is not None and not main and not others:
            known = {of for of, _ in self.given[rater].values()}
            known |= {key[2][0] for key in self.checked[rater]}
            raise unknown_name("session", session, sorted(filter(None, known)), f"rater {rater!r}")
        for question in main:
            cell = self.questions[question]
            self._before_change(question, cell)
            del cell[rater], self.given[rater][question]
            if not cell:
                del self.questions[question]
        for key in others:
            del self.checked[rater][key]
        if not self.given[rater] and not self.checked[rater]:
            del self.given[rater], self.checked[rater]
        return len(main) + len(others)

    def merge(self, other: Store) -> None:
        if self.scale != other.scale:
            raise InputError(f"scale {other.scale}: expected the same scale, {self.scale}")
        for key, value in other.golden.items():
            if self.golden.get(key, value) != value:
                raise InputError(
                    f"golden {key!r}: reference {value:g}; expected the same, {self.golden[key]:g}"
                )
        rows = list(other.rows())
        for stimulus, rater, _, label, kind, session, trial in rows:
            question = self._question(stimulus, rater, label, kind)
            if self._get(question, rater, kind, (session, trial)) is not None:
                raise InputError(
                    f"rater {rater!r}: both hold an answer to {_named(question, kind)}; "
                    "expected one"
                )
        self.golden.update(other.golden)
        for row in rows:
            self.add(*row)

    def rows(self) -> Iterator[Row]:
        """Give every answer: the main ones by question, then the others by rater."""
        for question, cell in self.questions.items():
            for rater, value in cell.items():
                session, trial = self.given[rater][question]
                yield question[1], rater, value, self._label(question), "main", session, trial
        for rater, checked in self.checked.items():
            for (kind, question, (session, trial)), value in checked.items():
                yield question[1], rater, value, self._label(question), kind, session, trial

    def restore(self, raters: Iterable[str], rows: Iterable[Row]) -> None:
        """Take answers that were given by :meth:`rows`, with the raters in their old order."""
        for rater in raters:
            self.given[rater], self.checked[rater] = {}, {}
        for row in rows:
            self.add(*row)

    def to_ratings(self) -> Ratings:
        import polars as pl

        schema = {
            "stimulus": pl.String,
            "rater": pl.String,
            "value": pl.Float64,
            "label": pl.String,
            "trial_kind": pl.String,
            "session": pl.String,
            "trial": pl.Int64,
        }
        frame = pl.DataFrame(list(self.rows()), schema=schema, orient="row")
        empty = [name for name in ("session", "trial") if frame[name].is_null().all()]
        if not self._named:
            empty.append("label")
        return Ratings(frame.drop(empty), scale=self.scale, source="running study")

    def _label(self, question: Question) -> str | None:
        return question[0] if self._named else None

    # -- checks ----------------------------------------------------------------------------------

    def label_of(self, label: str | None, *, known: bool = False) -> str:
        """Give the name under which a label is kept; ``known`` looks it up among those in use."""
        if self._named is not None and self._named != (label is not None):
            expected = "a label with every answer" if self._named else "none, as before"
            raise InputError(f"label {label!r}: expected {expected}")
        if label is None:
            return _UNNAMED
        names = self.labels
        if known and names is None:
            names = tuple(self.by_label())
        if names is not None and label not in names:
            raise unknown_name("label", label, names)
        return label

    def _question(self, stimulus: str, rater: str, label: str | None, kind: str) -> Question:
        for name, given in (("stimulus", stimulus), ("rater", rater)):
            if not isinstance(given, str) or not given:
                raise InputError(f"{name} {given!r}: expected a name")
        if kind not in get_args(TrialKind):
            raise unknown_name("trial kind", str(kind), get_args(TrialKind))
        return self.label_of(label), stimulus

    def _value(self, value: float, where: str) -> float:
        try:
            number = math.nan if isinstance(value, str) else float(value) + 0.0
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise InputError(f"{where}: value {value!r}; expected a number")
        if number in self._on_scale:
            return number
        if not self.scale.contains([number])[0]:
            raise InputError(f"{where}: value {number:g} is off the scale ({self.scale})")
        if len(self._on_scale) < _MOST_REMEMBERED:
            self._on_scale.add(number)
        return number

    def _reference(self, value: float, where: str) -> float:
        """Read a reference, which may be a mean and so lie between the steps of the scale."""
        low = -math.inf if self.scale.low is None else self.scale.low
        high = math.inf if self.scale.high is None else self.scale.high
        number = float(value)
        if not (math.isfinite(number) and low <= number <= high):
            raise InputError(f"{where}: value {number:g} is off the scale ({self.scale})")
        return number

    def _get(self, question: Question, rater: str, kind: TrialKind, at: _Trial) -> float | None:
        if kind == "main":
            return self.questions.get(question, {}).get(rater)
        return self.checked.get(rater, {}).get((kind, question, at))

    def reference(self, question: Question) -> float | None:
        """Golden answer to a question."""
        label, stimulus = question
        return self.golden.get((stimulus, label), self.golden.get(stimulus))

    # -- sums ------------------------------------------------------------------------------------

    def _before_change(self, question: Question, cell: Cell) -> None:
        for ledger in (self._sum_ledger, self._rater_ledger, self._pair_ledger):
            ledger.before_change(question, cell)

    def _make_room(self, value: float) -> None:
        """Sums count in a unit that divides every answer; a finer answer makes them anew."""
        needed = shift_of(value)
        if needed > self._shift:
            self._shift = needed
            self._restart()

    def _change_sums(self, question: Question, cell: Cell, sign: int) -> None:
        part = self._sums.setdefault(question[0], LabelSums())
        part.add(cell, self._shift, self.slack, sign)
        if sign > 0:
            self.summaries[question] = self.summary_of(cell)
        else:
            del self.summaries[question]

    def _change_pairs(self, question: Question, cell: Cell, sign: int) -> None:
        self._pairs.setdefault(question[0], PairCounts()).add(cell, sign)

    def summary_of(self, cell: Cell) -> tuple[int, float, float]:
        """Number, mean and standard deviation (divisor n - 1) of answers."""
        n = len(cell)
        numbers = [exact(value, self._shift) for value in cell.values()]
        total = sum(numbers)
        within = n * sum(number * number for number in numbers) - total**2
        sd = math.sqrt(within / ((n * (n - 1)) << 2 * self._shift)) if n > 1 else math.nan
        return n, total / (n << self._shift), sd

    def by_label(self) -> dict[str, dict[Question, Cell]]:
        """Questions of every label."""
        found: dict[str, dict[Question, Cell]] = {}
        for question, cell in self.questions.items():
            found.setdefault(question[0], {})[question] = cell
        return found

    def settled_sums(self) -> dict[str, LabelSums]:
        """Sums over questions, by label."""
        self._sum_ledger.settle(self.questions)
        return self._sums

    def settled_pairs(self) -> dict[str, PairCounts]:
        """Pairs of different answers, by label."""
        self._pair_ledger.settle(self.questions)
        return self._pairs

    def drop_pairs(self) -> None:
        """Forget the pairs, which take room when there are many values."""
        self._pairs: dict[str, PairCounts] = {}
        self._pair_ledger: Ledger[Question] = Ledger(self._change_pairs)

    def flags(self, checks: RaterChecks) -> pl.DataFrame:
        """See :meth:`RunningReliability.flags`."""
        self._rater_ledger.settle(self.questions)
        known = self._raters.raters
        rows = (
            (rater, known.get(rater, OneRater()), self._checked(rater, checks))
            for rater in self.given
        )
        return flag_table(rows, checks, self._shift)

    def _checked(self, rater: str, checks: RaterChecks) -> Checked:
        found = Checked()
        for (kind, question, _), value in self.checked[rater].items():
            if kind == "golden":
                reference = self.reference(question)
                if reference is not None:
                    found.golden += 1
                    found.golden_violations += abs(value - reference) >= checks.golden_tolerance
            elif kind == "repeat":
                first = self.questions.get(question, {}).get(rater)
                if first is not None:
                    found.repeats += 1
                    found.repeat_violations += abs(value - first) >= checks.repeat_tolerance
        return found


def _named(question: Question, kind: str) -> str:
    label, stimulus = question
    of = "" if kind == "main" else f"{kind} "
    return f"{of}stimulus {stimulus!r}" + ("" if label == _UNNAMED else f" on {label!r}")
