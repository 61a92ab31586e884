"""Names of columns that cross two things: ``img1_joy``, ``anger.face01``, ``Reader1_Joy``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from affectlab.ratings.formats.table.columns import DIMENSIONS

_MARKS = ("_", ".", "-", ": ", ":", " ", "[", "/")
_NEARLY_FULL = 0.7
"""Share of all combinations of two parts that must be there."""


@dataclass(frozen=True)
class Crossing:
    """Columns whose names have two parts, of which nearly all combinations are there."""

    columns: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    """The first and the second part of each name."""

    @property
    def fullness(self) -> float:
        """Share of the combinations that are there."""
        return len(self.columns) / (len({*self.first}) * len({*self.second}))


def crossings(names: Sequence[str]) -> list[Crossing]:
    """Find the ways in which names cross, those of most columns first.

    Examples
    --------
    >>> found = crossings(["age", "img1_joy", "img1_fear", "img2_joy", "img2_fear"])
    >>> [(one.first, one.second) for one in found]
    [(('img1', 'img1', 'img2', 'img2'), ('joy', 'fear', 'joy', 'fear'))]
    >>> crossings(["rater_a", "rater_b", "rater_c"])
    []
    """
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], Crossing] = {}
    for mark in _MARKS:
        for cut in (str.rpartition, str.partition):
            one = _crossing({name: cut(name, mark)[::2] for name in names if mark in name})
            if one is not None:
                found.setdefault((one.first, one.second), one)
    return sorted(found.values(), key=lambda one: (-len(one.columns), -one.fullness))


def _crossing(parts: dict[str, tuple[str, ...]]) -> Crossing | None:
    """Leave out the names whose parts hardly come back, and see whether the others cross."""
    stripped = {
        name: (first.strip(" :"), second.strip(" ]")) for name, (first, second) in parts.items()
    }
    left = {name: pair for name, pair in stripped.items() if all(pair)}
    while left:
        firsts, seconds = (Counter(pair[at] for pair in left.values()) for at in (0, 1))
        least = [_NEARLY_FULL * max(count.values()) for count in (firsts, seconds)]
        kept = {
            name: pair
            for name, pair in left.items()
            if firsts[pair[0]] >= least[0] and seconds[pair[1]] >= least[1]
        }
        if len(kept) == len(left):
            break
        left = kept
    pairs = [*left.values()]
    first, second = ([pair[at] for pair in pairs] for at in (0, 1))
    if min(len({*first}), len({*second})) < 2 or len({*pairs}) < len(pairs):
        return None
    found = Crossing(tuple(left), tuple(first), tuple(second))
    return found if found.fullness >= _NEARLY_FULL else None


def crossed_dimensions(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Tell stimulus and label in names of columns that cross several of both; None where none do.

    One part of each name is a dimension, such as valence; an emotion may be what a stimulus shows.

    Examples
    --------
    >>> crossed_dimensions(["clip1_valence", "clip1_arousal", "clip2_valence", "clip2_arousal"])
    (('clip1', 'clip1', 'clip2', 'clip2'), ('valence', 'arousal', 'valence', 'arousal'))
    >>> crossed_dimensions(["joy_1", "joy_2", "fear_1", "fear_2"]) is None
    True
    """
    for one in crossings(names):
        if len(one.columns) < len(names) or one.fullness < 1.0:
            continue
        for stimuli, labels in ((one.first, one.second), (one.second, one.first)):
            if {label.casefold() for label in labels} <= DIMENSIONS:
                return stimuli, labels
    return None
