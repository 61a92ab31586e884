"""Exact sums over questions that can be added to and taken from, for alpha and agreement.

A question is one stimulus on one label. All sums are whole numbers, so that taking a question out
gives exactly what was there before it came: nothing drifts, whatever the order of events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

__all__ = [
    "Cell",
    "LabelSums",
    "Ledger",
    "PairCounts",
    "SizeSums",
    "add_to",
    "exact",
    "exact_alpha",
    "shift_of",
]

Cell: TypeAlias = "dict[str, float]"
"""The answers to one question, by rater."""

_Key = TypeVar("_Key", bound=Hashable)
_Count = TypeVar("_Count", bound=Hashable)


def shift_of(value: float) -> int:
    """Binary places after the point that a number needs."""
    return value.as_integer_ratio()[1].bit_length() - 1


def exact(value: float, shift: int) -> int:
    """``value * 2**shift`` as a whole number; ``shift`` is at least that of the value."""
    top, bottom = value.as_integer_ratio()
    return top << (shift - bottom.bit_length() + 1)


def add_to(counts: dict[_Count, int], key: _Count, amount: int) -> None:
    """Add to a count; counts of zero are dropped."""
    total = counts.get(key, 0) + amount
    if total:
        counts[key] = total
    else:
        del counts[key]


@dataclass
class Ledger(Generic[_Key]):
    """Keeps sums in step with questions that change.

    A question is taken out of the sums just before its first change and put back when somebody
    looks. Changes between two looks therefore cost nothing more, and the sums are not made at all
    before the first look.
    """

    change: Callable[[_Key, Cell, int], None]
    """Puts a question into the sums (1), or takes it out of them (-1)."""
    started: bool = False
    waiting: set[_Key] = field(default_factory=set)

    def before_change(self, key: _Key, cell: Cell) -> None:
        """Take a question out, as it is now."""
        if self.started and key not in self.waiting:
            if cell:
                self.change(key, cell, -1)
            self.waiting.add(key)

    def settle(self, questions: Mapping[_Key, Cell]) -> None:
        """Put back all questions that wait."""
        for key in self.waiting if self.started else questions:
            if cell := questions.get(key):
                self.change(key, cell, 1)
        self.waiting.clear()
        self.started = True


@dataclass
class SizeSums:
    """Sums over the questions with the same number m of answers."""

    questions: int = 0
    within: int = 0
    """Sum of m s2 - s1^2, in squares of the smallest unit."""
    unequal: int = 0
    """Sum of m^2 - sum_c n_uc^2: ordered pairs of different answers."""
    close: int = 0
    """Pairs of answers that agree."""
    close_squares: int = 0
    """Sum of squares of the agreeing pairs of a question."""

    def add(self, other: SizeSums, sign: int = 1) -> None:
        self.questions += sign * other.questions
        self.within += sign * other.within
        self.unequal += sign * other.unequal
        self.close += sign * other.close
        self.close_squares += sign * other.close_squares


@dataclass
class LabelSums:
    """Sums over the questions of one label that have at least two answers."""

    sizes: dict[int, SizeSums] = field(default_factory=dict)
    margins: dict[float, int] = field(default_factory=dict)
    """n_c: answers of every value."""
    raters: dict[str, int] = field(default_factory=dict)
    """Answers of every rater."""
    margin_squares: int = 0
    n: int = 0
    s1: int = 0
    s2: int = 0

    def add(self, cell: Cell, shift: int, slack: float, sign: int) -> None:
        """Put a question in, or take it out with sign -1."""
        m = len(cell)
        if m < 2:
            return
        values = sorted(cell.values())
        numbers = [exact(value, shift) for value in values]
        s1, s2 = sum(numbers), sum(number * number for number in numbers)
        counts = Counter(values)
        equal = sum(count * count for count in counts.values())
        close = _close_pairs(values, slack) if slack else (equal - m) // 2
        size = self.sizes.setdefault(m, SizeSums())
        size.add(SizeSums(1, m * s2 - s1 * s1, m * m - equal, close, close * close), sign)
        if not size.questions:
            del self.sizes[m]
        for value, count in counts.items():
            self._add_margin(value, sign * count)
        for rater in cell:
            add_to(self.raters, rater, sign)
        self.n += sign * m
        self.s1 += sign * s1
        self.s2 += sign * s2

    def _add_margin(self, value: float, amount: int) -> None:
        self.margin_squares += amount * (2 * self.margins.get(value, 0) + amount)
        add_to(self.margins, value, amount)

    @classmethod
    def pooled(cls, parts: Iterable[LabelSums]) -> LabelSums:
        """Sum over labels."""
        total = cls()
        for part in parts:
            for m, size in part.sizes.items():
                total.sizes.setdefault(m, SizeSums()).add(size)
            for value, count in part.margins.items():
                total._add_margin(value, count)
            for rater, count in part.raters.items():
                add_to(total.raters, rater, count)
            total.n += part.n
            total.s1 += part.s1
            total.s2 += part.s2
        return total

    @property
    def questions(self) -> int:
        return sum(size.questions for size in self.sizes.values())

    def agreement(self) -> tuple[Fraction, Fraction]:
        """Sum, and sum of squares, over questions of the share of pairs that agree."""
        total = squares = Fraction(0)
        for m, size in self.sizes.items():
            pairs = m * (m - 1) // 2
            total += Fraction(size.close, pairs)
            squares += Fraction(size.close_squares, pairs * pairs)
        return total, squares


def _close_pairs(values: list[float], slack: float) -> int:
    """Pairs that differ by no more than ``slack``; values are sorted."""
    first = pairs = 0
    for position, value in enumerate(values):
        while value - values[first] > slack:
            first += 1
        pairs += position - first
    return pairs


@dataclass
class PairCounts:
    """Pairs of different values in the questions of one label, by the number of answers."""

    sizes: dict[int, dict[tuple[float, float], int]] = field(default_factory=dict)

    def add(self, cell: Cell, sign: int) -> None:
        """Put a question in, or take it out with sign -1."""
        counts = sorted(Counter(cell.values()).items())
        if len(counts) < 2:
            return
        pairs = self.sizes.setdefault(len(cell), {})
        for position, (low, n_low) in enumerate(counts):
            for high, n_high in counts[position + 1 :]:
                add_to(pairs, (low, high), sign * n_low * n_high)

    @classmethod
    def pooled(cls, parts: Iterable[PairCounts]) -> PairCounts:
        """Sum over labels."""
        total = cls()
        for part in parts:
            for m, pairs in part.sizes.items():
                into = total.sizes.setdefault(m, {})
                for pair, count in pairs.items():
                    add_to(into, pair, count)
        return total


def exact_alpha(level: str, sums: LabelSums, pairs: PairCounts | None = None) -> float:
    """Alpha as the exact fraction, rounded once; ``nan`` without expected disagreement.

    ``level`` is ``"nominal"`` or ``"interval"``, or ``"ordinal"``, which needs ``pairs``.
    """
    if pairs is not None:
        observed, expected = _ordinal(sums, pairs)
    else:
        observed, expected = {"nominal": _nominal, "interval": _interval}[level](sums)
    return float("nan") if expected == 0 else float(1 - observed / expected)


def _nominal(sums: LabelSums) -> tuple[Fraction, Fraction]:
    observed = sum(
        (Fraction(size.unequal, m - 1) for m, size in sums.sizes.items()), start=Fraction(0)
    )
    return observed, Fraction(sums.n**2 - sums.margin_squares, max(sums.n - 1, 1))


def _interval(sums: LabelSums) -> tuple[Fraction, Fraction]:
    observed = sum(
        (Fraction(2 * size.within, m - 1) for m, size in sums.sizes.items()), start=Fraction(0)
    )
    return observed, Fraction(2 * (sums.n * sums.s2 - sums.s1**2), max(sums.n - 1, 1))


def _ordinal(sums: LabelSums, pairs: PairCounts) -> tuple[Fraction, Fraction]:
    """Squared differences of midranks; all ranks are doubled, to be whole."""
    ranks, below = {}, 0
    for value in sorted(sums.margins):
        count = sums.margins[value]
        ranks[value] = 2 * below + count - sums.n
        below += count
    squares = sum(count * ranks[value] ** 2 for value, count in sums.margins.items())
    observed = Fraction(0)
    for m, counts in pairs.sizes.items():
        total = sum(n * (ranks[high] - ranks[low]) ** 2 for (low, high), n in counts.items())
        observed += Fraction(2 * total, m - 1)
    return observed, Fraction(2 * sums.n * squares, max(sums.n - 1, 1))
