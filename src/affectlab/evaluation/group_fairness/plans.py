"""Which groups of one who is judged are shown, which are tested, and against what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from affectlab.core.errors import unknown_name
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.group_fairness.gaps import Contrast
from affectlab.evaluation.group_fairness.units import Side


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups of one side, and the gaps between them.

    Sets of groups are arrays of booleans, shape (groups,).
    """

    side: Side
    against: str
    min_items: int

    def __post_init__(self) -> None:
        if self.against not in ("rest", "largest", *self.groups):
            known = ("rest", "largest", *self.groups)
            raise unknown_name("group", self.against, known, "against")

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.side.grouping.groups

    @cached_property
    def size(self) -> Ints:
        """Stimuli, or people, in each group."""
        members, codes = self.side.members, self.side.codes
        return np.array([members[codes == place].sum() for place in range(len(self.groups))])

    @property
    def present(self) -> Bools:
        """Groups that have an answer."""
        return np.asarray(self.size > 0)

    @property
    def tested(self) -> Bools:
        """Groups that are large enough."""
        return np.asarray(self.size >= self.min_items)

    def units(self, groups: Bools) -> Bools:
        """Units of some of the groups, shape (U,)."""
        return np.asarray(np.append(groups, False)[self.side.codes], dtype=np.bool_)

    def contrasts(self, values: Floats) -> tuple[Contrast, ...]:
        """The gaps that are tested, by the values of the groups."""
        if self.against != "largest":
            return tuple(pair for pair in self._pairs() if self._smaller(pair) >= self.min_items)
        usable = np.flatnonzero(self.tested & ~np.isnan(values))
        if usable.size < 2:
            return ()
        top = int(usable[np.argmax(values[usable])])
        # The last of equals, so that the two differ.
        bottom = int(usable[::-1][np.argmin(values[usable][::-1])])
        names, pool = (self.groups[top], self.groups[bottom]), np.isin(self._places, usable)
        return (Contrast(*names, self._places == top, self._places == bottom, pool, largest=True),)

    def untested(self) -> list[tuple[Contrast, Reason]]:
        """Contrasts that are not tested, and why."""
        if self.against == "largest":
            if int(self.tested.sum()) >= 2:
                return []
            few = self.side.grouping.counted(self.min_items)
            why = Reason(Cause.FEWER, least=2, of=f"groups of {few}")
            whole = self.present
            return [(Contrast("largest", "smallest", whole, whole, whole), why)]
        things = self.side.grouping.things
        return [
            (pair, Reason(Cause.FEW_UNITS, size, self.min_items, things))
            for pair in self._pairs()
            if (size := self._smaller(pair)) < self.min_items
        ]

    @property
    def _places(self) -> Ints:
        return np.arange(len(self.groups))

    def _smaller(self, pair: Contrast) -> int:
        return int(min(self.size[pair.first].sum(), self.size[pair.second].sum()))

    def _pairs(self) -> list[Contrast]:
        """Each group beside what it is held against, tested or not."""
        present = np.flatnonzero(self.present).tolist()
        if self.against in self.groups:
            reference = self.groups.index(self.against)
            pairs = [(at, self._places == reference) for at in present if at != reference]
            against = self.against
        elif len(present) == 2:
            # One gap seen from both sides would be tested twice: the smaller group comes first.
            first, second = sorted(present, key=lambda at: (int(self.size[at]), -at))
            pairs, against = [(first, self._places == second)], self.groups[second]
        else:
            pairs = [(at, self.present & (self._places != at)) for at in present]
            against = "rest"
        single = [self._places == at for at, _ in pairs]
        return [
            Contrast(self.groups[at], against, own, others, own | others)
            for own, (at, others) in zip(single, pairs, strict=True)
        ]
