"""What a metric knows of the labels: their names, the costs of mistakes, and their sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from affectlab.core.errors import InputError, check_once, unknown_name
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classes import read_costs
from affectlab.taxonomy import CostMatrix, Taxonomy, load_taxonomy

TaxonomyLike: TypeAlias = str | Path | Taxonomy | CostMatrix
CostsLike: TypeAlias = CostMatrix | str
GroupsLike: TypeAlias = Mapping[str, str] | str


@dataclass(frozen=True, eq=False)
class LabelFacts:
    """k labels with what is known of them, found by name."""

    labels: tuple[str, ...]
    source: Taxonomy | CostMatrix | None = None
    """What resolves names; exact names only where there is none."""
    costs: Floats | None = None
    """Costs W, shape (k, k), ``nan`` for a label that has none."""
    sides: Ints | None = None
    """Code of the polarity or group of each label, shape (k,), -1 for a label that has none."""
    side_word: str = "polarity"

    @cached_property
    def positions(self) -> dict[str, int]:
        """Position of each canonical name."""
        return {name: place for place, name in enumerate(self.labels)}

    def index(self, name: str) -> int:
        """Position of a label, its name in any spelling that the taxonomy understands."""
        if name in self.positions:
            return self.positions[name]
        known = canonical(self.source, name)
        if known not in self.positions:
            raise unknown_name("label", name, self.labels)
        return self.positions[known]

    def without_costs(self, used: Sequence[int] | Ints) -> Reason | None:
        """Give the reason why the labels at these positions cannot be judged by costs, if any."""
        if self.costs is None:
            return Reason(Cause.NO_COSTS)
        missing = [place for place in used if np.isnan(self.costs[place, place])]
        return _without("costs", self.labels[missing[0]]) if missing else None

    def without_sides(self, used: Sequence[int] | Ints) -> Reason | None:
        """Give the reason why the labels at these positions have no side; none if all have one."""
        if self.sides is None:
            of_costs = isinstance(self.source, CostMatrix)
            return Reason(Cause.COSTS_WITHOUT_POLARITY if of_costs else Cause.NO_POLARITY)
        missing = [place for place in used if self.sides[place] < 0]
        return _without(self.side_word, self.labels[missing[0]]) if missing else None

    def select(self, labels: Sequence[str]) -> LabelFacts:
        """The same facts for some of the labels, in the order given."""
        if isinstance(labels, str):
            raise InputError(f"labels: expected a list of names, not the one text {labels!r}")
        places = [self.index(name) for name in labels]
        names = tuple(self.labels[place] for place in places)
        check_once("label", names)
        return LabelFacts(
            names,
            self.source,
            None if self.costs is None else self.costs[np.ix_(places, places)],
            None if self.sides is None else self.sides[places],
            self.side_word,
        )


def _without(what: str, label: str) -> Reason:
    return Reason(Cause.NONE, of=f"{what} of label {label!r}")


def canonical(source: Taxonomy | CostMatrix | None, name: str) -> str:
    """The name that the taxonomy or cost matrix gives to a label, in any spelling it knows."""
    if isinstance(source, Taxonomy):
        return source.name_of(name)
    if isinstance(source, CostMatrix):
        return source.labels[source.index(name)]
    return name


def label_facts(
    taxonomy: TaxonomyLike | None,
    *,
    labels: Sequence[str] | None = None,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
) -> LabelFacts | None:
    """Gather what is known of the labels.

    Parameters
    ----------
    taxonomy
        A taxonomy, its name or path, a cost matrix, or nothing.
    labels
        The labels that are wanted, in their order; all by default.
    costs
        A cost matrix, its file (see :func:`read_costs`), or the kind of costs that the taxonomy
        makes; its own by default.
    groups
        Group of each label, or a level of the taxonomy; by default polarity.

    Returns
    -------
    The facts; ``None`` when neither taxonomy, labels nor costs say which labels there are.

    Raises
    ------
    InputError
        When a name is not known, or the taxonomy has no such costs or level.
    """
    if isinstance(costs, str) and Path(costs).is_file():
        costs = read_costs(costs)
    source: Taxonomy | CostMatrix | None
    if taxonomy is None or isinstance(taxonomy, CostMatrix):
        source = taxonomy
    else:
        source = load_taxonomy(taxonomy)
    if source is None and isinstance(costs, CostMatrix):
        source = costs
    if source is None:
        if isinstance(costs, str):
            raise InputError(f"costs {costs!r}: a taxonomy is expected that makes them")
        if labels is None:
            return None
        if isinstance(labels, str):
            raise InputError(f"labels: expected a list of names, not the one text {labels!r}")
        names = tuple(labels)
        for name in names:
            if not isinstance(name, str):
                raise InputError(f"labels: expected names, got {name!r}")
        check_once("label", names)
    else:
        names = source.labels
    sides, word = _sides(source, names, groups)
    facts = LabelFacts(names, source, _costs(source, names, costs), sides, word)
    return facts if labels is None or source is None else facts.select(labels)


def _costs(
    source: Taxonomy | CostMatrix | None, names: tuple[str, ...], costs: CostsLike | None
) -> Floats | None:
    given: CostMatrix
    if isinstance(costs, CostMatrix):
        given = costs
    elif isinstance(source, CostMatrix):
        if costs is not None:
            raise InputError(f"costs {costs!r}: a taxonomy is expected that makes them")
        given = source
    elif source is None:
        return None
    elif costs is not None:
        # An unknown kind is refused by the taxonomy itself.
        given = source.cost_matrix(cast("None", costs))
    elif source.ring is None and source.reference is None and not source.levels:
        return None
    else:
        given = source.cost_matrix()
    position = {name: place for place, name in enumerate(names)}
    places = [position[canonical(source, name)] for name in given.labels]
    if len(set(places)) < len(places):
        raise InputError("costs: two of its labels are one and the same in the taxonomy")
    wide = np.full((len(names), len(names)), np.nan)
    wide[np.ix_(places, places)] = given.matrix
    return wide


def _sides(
    source: Taxonomy | CostMatrix | None, names: tuple[str, ...], groups: GroupsLike | None
) -> tuple[Ints | None, str]:
    word = "polarity"
    found: Mapping[str, str | None]
    if groups is None:
        if not isinstance(source, Taxonomy):
            return None, word
        found = source.polarity
    elif isinstance(groups, str):
        if not isinstance(source, Taxonomy):
            raise InputError(
                f"groups {groups!r}: a taxonomy is expected that has this level, "
                "or a mapping of label to group"
            )
        found, word = source.group_of(groups), f"group at level {groups!r}"
    else:
        # Groups may speak of more labels than there are here.
        wanted = set(names)
        found, word = {}, "group"
        for name, group in groups.items():
            known = canonical(source, name) if source is not None else name
            if known in wanted:
                found[known] = group
    codes: dict[str, int] = {}
    sides = np.full(len(names), -1, dtype=np.int64)
    for place, name in enumerate(names):
        side = found.get(name)
        if side is not None:
            sides[place] = codes.setdefault(side, len(codes))
    if not codes:
        return None, word
    return sides, word
