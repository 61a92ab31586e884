"""Which groups of one who is judged are shown, which are tested, and against what."""

from __future__ import annotations

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.errors import unknown_name
from affectlab.evaluation._fairness_data import Side, Units, counted
from affectlab.evaluation._fairness_tests import Contrast

__all__ = ["Plan"]


class Plan:
    """The groups of one side, and the gaps between them.

    Sets of groups are arrays of booleans, shape (groups,).
    """

    def __init__(
        self, side: Side, units: Units, groups: tuple[str, ...], against: str, min_items: int
    ) -> None:
        if against not in ("rest", "largest") and against not in groups:
            raise unknown_name("group", against, ("rest", "largest", *groups), "against")
        self.side = side
        self.groups = groups
        self.against = against
        self.min_items = min_items
        self.things = units.things
        self.codes: Ints = np.where(side.present, units.group, -1)
        """Group of each unit, -1 where it has no answer."""
        self.size = np.array(
            [int(side.members[self.codes == place].sum()) for place in range(len(groups))]
        )
        self.present: Bools = self.size > 0
        self.tested: Bools = self.size >= min_items

    def units(self, groups: Bools) -> Bools:
        """Units of some of the groups, shape (U,)."""
        return np.asarray(np.append(groups, False)[self.codes], dtype=np.bool_)

    def single(self, place: int) -> Bools:
        """The set of one group."""
        return np.asarray(np.arange(len(self.groups)) == place)

    def contrasts(self, values: Floats) -> tuple[Contrast, ...]:
        """The gaps that are tested."""
        if self.against == "largest":
            return self._furthest_apart(values)
        return tuple(
            Contrast(self.groups[at], name, self.single(at), others, self.single(at) | others)
            for at, others, name in self._pairs()
            if self._testable(at, others)
        )

    def untested(self) -> list[tuple[str, str, Bools, str]]:
        """Group, what it would be held against, the groups of both, and why that is not tested."""
        if self.against == "largest":
            if int(self.tested.sum()) >= 2:
                return []
            why = f"not tested: fewer than two groups of {counted(self.min_items, self.things)}"
            return [("largest", "smallest", self.present, why)]
        return [
            (self.groups[at], name, self.single(at) | others, self._why(at, others))
            for at, others, name in self._pairs()
            if not self._testable(at, others)
        ]

    def _pairs(self) -> list[tuple[int, Bools, str]]:
        """Group, what it is held against, and the name of that, tested or not."""
        present = [int(at) for at in np.flatnonzero(self.present)]
        if self.against in self.groups:
            reference = self.groups.index(self.against)
            held = self.single(reference)
            return [(at, held, self.against) for at in present if at != reference]
        if len(present) == 2:
            # One gap seen from both sides would be tested twice: the smaller group comes first.
            first, second = sorted(present, key=lambda at: (int(self.size[at]), -at))
            return [(first, self.single(second), self.groups[second])]
        return [(at, self.present & ~self.single(at), "rest") for at in present]

    def _testable(self, place: int, others: Bools) -> bool:
        alone = int(self.size[others].sum())
        return bool(self.tested[place]) and alone >= self.min_items

    def _why(self, place: int, others: Bools) -> str:
        small = min(int(self.size[place]), int(self.size[others].sum()))
        return f"not tested: {counted(small, self.things)}, fewer than {self.min_items}"

    def _furthest_apart(self, values: Floats) -> tuple[Contrast, ...]:
        usable = np.flatnonzero(self.tested & ~np.isnan(values))
        if usable.size < 2:
            return ()
        top = int(usable[np.argmax(values[usable])])
        # The last of equals, so that the two differ.
        bottom = int(usable[::-1][np.argmin(values[usable][::-1])])
        pool = np.isin(np.arange(len(self.groups)), usable)
        return (
            Contrast(
                self.groups[top],
                self.groups[bottom],
                self.single(top),
                self.single(bottom),
                pool,
                largest=True,
            ),
        )
