"""A taxonomy: the labels that can be felt, in a fixed order, and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from affectlab._types import pl
from affectlab.errors import InputError, unknown_name
from affectlab.taxonomy._check import check_taxonomy
from affectlab.taxonomy._cost_matrix import CostMatrix
from affectlab.taxonomy._history import TaxonomyRevision
from affectlab.taxonomy._label import Label
from affectlab.taxonomy._names import NameIndex

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["LabelMapping", "Taxonomy"]

CostKind = Literal["ring", "groups", "reference"]


@dataclass(frozen=True, repr=False)
class Taxonomy:
    """Labels in a fixed order, with definitions, groups, polarity, wheel and opposites.

    A taxonomy never changes; a revision is a new one, made with :func:`dataclasses.replace` or read
    from a file, under a new version.

    Raises
    ------
    InputError
        When the parts do not fit together: a label twice, an alias of two labels, a wheel or an
        opposite that names no label, a level where a label has no group.

    Examples
    --------
    >>> mood = Taxonomy("mood", (Label("up", polarity="positive"), Label("down", aliases=("low",))))
    >>> mood.name_of("LOW"), mood.index("low")
    ('down', 1)
    """

    name: str
    entries: tuple[Label, ...]
    """The labels with all that is known of them, in order."""
    title: str = ""
    version: str = "1"
    source: str = ""
    """The publication it comes from."""
    licence: str = ""
    """What of it is fact, and what is ours."""
    notes: str = ""
    """How unclear points were read."""
    levels: tuple[str, ...] = ()
    """Names of the levels of groups, from fine to coarse."""
    ring: tuple[str, ...] | None = None
    """The labels in their order around a wheel, all but the neutral one."""
    neutral: str | None = None
    """The label that stands for no emotion."""
    reference: str | None = None
    """Built-in taxonomy from whose costs those of this one are derived."""
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The labels of `reference` that each label stands for, when costs are derived."""
    history: tuple[TaxonomyRevision, ...] = ()
    """Its versions from the first on, with what was decided about each label."""

    def __post_init__(self) -> None:
        check_taxonomy(self)

    @classmethod
    def from_labels(
        cls,
        labels: Iterable[str],
        *,
        name: str = "custom",
        neutral: str | None = None,
        ring: Iterable[str] | None = None,
    ) -> Taxonomy:
        """Make a taxonomy from label names alone.

        Examples
        --------
        >>> Taxonomy.from_labels(["calm", "tense"]).labels
        ('calm', 'tense')
        """
        if isinstance(labels, str):
            raise InputError(f"labels: expected a list of names, not the one text {labels!r}")
        entries = tuple(Label(label) for label in labels)
        return cls(name, entries, neutral=neutral, ring=None if ring is None else tuple(ring))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Canonical label names, in the order that matrices and models use."""
        return tuple(entry.name for entry in self.entries)

    @cached_property
    def _names(self) -> NameIndex:
        return NameIndex.build(self.labels, self.aliases)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        try:
            self.name_of(name)
        except InputError:
            return False
        return True

    def name_of(self, name: str) -> str:
        """Canonical name of the label that `name` stands for.

        Case, punctuation, underscores and the word "and" do not matter; aliases and, where no two
        labels share it, each part of a name with slashes are understood.

        Raises
        ------
        InputError
            When no label has that name (the closest ones are offered), or when two may be meant.
        """
        return self._names.resolve(name, kind="label", where=f"taxonomy {self.name}")

    def index(self, name: str) -> int:
        """Position of the label that `name` stands for; raises as :meth:`name_of` does."""
        return self._names.positions[self.name_of(name)]

    def label(self, name: str) -> Label:
        """All that is known of the label that `name` stands for."""
        return self.entries[self.index(name)]

    @property
    def definitions(self) -> dict[str, str]:
        """Definition of each label, empty where none is given."""
        return {entry.name: entry.definition for entry in self.entries}

    @property
    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Declared aliases of each label."""
        return {entry.name: entry.aliases for entry in self.entries}

    @property
    def polarity(self) -> dict[str, str | None]:
        """Polarity of each label: positive, negative, ambiguous, neutral, or None."""
        return {entry.name: entry.polarity for entry in self.entries}

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Descriptor words of each label."""
        return {entry.name: entry.words for entry in self.entries}

    @property
    def emoji(self) -> dict[str, str]:
        """Emoji of each label that has one."""
        return {entry.name: entry.emoji for entry in self.entries if entry.emoji}

    @property
    def opposites(self) -> dict[str, str]:
        """Opposite of each label that has one."""
        return {entry.name: entry.opposite for entry in self.entries if entry.opposite}

    def groups(self, level: str) -> dict[str, tuple[str, ...]]:
        """Labels of each group of a level; groups in order of first use.

        Raises
        ------
        InputError
            When the taxonomy has no such level.
        """
        found: dict[str, list[str]] = {}
        for label, group in self.group_of(level).items():
            found.setdefault(group, []).append(label)
        return {group: tuple(labels) for group, labels in found.items()}

    def group_of(self, level: str) -> dict[str, str]:
        """Group of each label at a level."""
        if level not in self.levels:
            raise unknown_name("level", level, self.levels, f"taxonomy {self.name}")
        return {entry.name: entry.groups[level] for entry in self.entries}

    def group_to(self, level: str) -> LabelMapping:
        """Mapping of the labels to the groups of a level."""
        return LabelMapping(
            self,
            self.coarsen(level),
            self.group_of(level),
            provenance=f"level {level!r} of taxonomy {self.name}",
        )

    def coarsen(self, level: str) -> Taxonomy:
        """Taxonomy whose labels are the groups of a level.

        Polarity, and the groups of other levels, are kept where all labels of a group share them.

        Examples
        --------
        >>> from affectlab.taxonomy import load_taxonomy
        >>> load_taxonomy("goemotions").coarsen("sentiment").labels
        ('positive', 'negative', 'ambiguous', 'neutral')
        """
        groups = self.groups(level)
        kept = self.nesting_levels(level)[1:]
        entries = []
        for group, labels in groups.items():
            first = self.label(labels[0])
            polarities = {self.polarity[label] for label in labels}
            entries.append(
                Label(
                    group,
                    definition=first.definition
                    if labels == (group,)
                    else "Any of: " + ", ".join(labels) + ".",
                    polarity=first.polarity if len(polarities) == 1 else None,
                    words=first.words if labels == (group,) else labels,
                    groups={other: first.groups[other] for other in kept},
                )
            )
        neutral = next(
            (group for group, labels in groups.items() if labels == (self.neutral,)), None
        )
        return replace(
            self,
            name=f"{self.name}-{re.sub(r'[^A-Za-z0-9_.-]+', '_', level)}",
            title=f"{self.title or self.name}, by {level}",
            entries=tuple(entries),
            levels=kept,
            ring=None,
            neutral=neutral,
            reference=None,
            stands_for={},
            history=(),
        )

    def nesting_levels(self, start: str | None = None) -> tuple[str, ...]:
        """Levels, from fine to coarse, of which each lies wholly inside the next.

        Levels that cut across the ones before them are left out.
        """
        chain: list[str] = []
        below = {label: label for label in self.labels}
        first = 0 if start is None or start not in self.levels else self.levels.index(start)
        for level in self.levels[first:]:
            above = self.group_of(level)
            parents: dict[str, set[str]] = {}
            for label in self.labels:
                parents.setdefault(below[label], set()).add(above[label])
            if all(len(found) == 1 for found in parents.values()):
                chain.append(level)
                below = above
        return tuple(chain)

    def cost_matrix(
        self,
        kind: CostKind | None = None,
        *,
        lam: float | None = None,
        levels: Iterable[str] | None = None,
    ) -> CostMatrix:
        """What it costs to take one label for another, labels in the order of the taxonomy.

        Parameters
        ----------
        kind
            ``"ring"``: steps around the wheel, and polarity; ``"groups"``: distance in the tree of
            levels; ``"reference"``: derived from another taxonomy's costs. The first that the
            taxonomy has, in the order ring, reference, groups, when not given.
        lam
            What replaces the 1 when polarities differ, for ``"ring"`` and ``"reference"``;
            at least 1, 4 when not given.
        levels
            Levels of the tree for ``"groups"``, from fine to coarse; by default those that nest.

        Raises
        ------
        InputError
            When the taxonomy has not what `kind` needs.

        Notes
        -----
        Source: to-err-like-human, equation 1, for the wheel.

        Examples
        --------
        >>> from affectlab.taxonomy import load_taxonomy
        >>> load_taxonomy("mikels").cost_matrix().matrix[0].tolist()
        [1.0, 2.0, 3.0, 4.0, 8.0, 7.0, 6.0, 5.0]
        """
        from affectlab.taxonomy._taxonomy_costs import taxonomy_costs

        return taxonomy_costs(self, kind, lam=lam, levels=levels)

    @classmethod
    def from_toml(cls, text: str, *, where: str = "taxonomy") -> Taxonomy:
        """Read a taxonomy from TOML text; `where` names the text in errors.

        Raises
        ------
        InputError
            When the text is not TOML or does not describe a taxonomy.

        Examples
        --------
        >>> Taxonomy.from_toml('name = "mood"\\nlabels = [{ name = "up" }]').labels
        ('up',)
        """
        from affectlab.taxonomy._file import TaxonomyFile
        from affectlab.toml import parse_toml

        return parse_toml(text, TaxonomyFile, where=where).build(where)

    def to_toml(self) -> str:
        """Write the taxonomy as TOML that :meth:`from_toml` reads back as an equal one."""
        from affectlab.taxonomy._write import taxonomy_toml

        return taxonomy_toml(self)

    def save(self, path: str | Path) -> Path:
        """Write the taxonomy to a TOML file and give back its path.

        Raises
        ------
        InputError
            When the folder does not exist, or a text cannot be written as UTF-8.
        """
        path = Path(path)
        text = self.to_toml()
        if not path.parent.is_dir():
            raise InputError(f"{path}: folder {str(path.parent)!r} does not exist")
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def __repr__(self) -> str:
        shown = ", ".join(self.labels[:6]) + (", …" if len(self) > 6 else "")
        return f"Taxonomy({self.name!r}, version {self.version}, {len(self)} labels: {shown})"

    def _repr_html_(self) -> str:
        from affectlab.taxonomy._show import taxonomy_html

        return taxonomy_html(self)

    def __rich__(self) -> Table:
        from affectlab.taxonomy._show import taxonomy_table

        return taxonomy_table(self)


@dataclass(frozen=True, repr=False)
class LabelMapping:
    """Which label of the target each label of the source belongs to, and which belong nowhere.

    Raises
    ------
    InputError
        When a label is unknown, is mapped and declared unmapped, or is neither.

    Examples
    --------
    >>> from affectlab.taxonomy import map_labels
    >>> mapping = map_labels("mikels", "ekman")
    >>> mapping["amusement"], mapping["awe"]
    ('joy', None)
    >>> mapping.unmapped
    ('awe',)
    """

    source: Taxonomy
    target: Taxonomy
    targets: Mapping[str, str] = field(hash=False)
    """Target label of each source label that has one."""
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Why each of the other source labels has none."""
    provenance: str = ""
    """Who made the mapping, and on what grounds."""

    def __post_init__(self) -> None:
        where = f"mapping {self.source.name} to {self.target.name}"
        for label, target in self.targets.items():
            if label not in self.source.labels:
                raise unknown_name("label", label, self.source.labels, where)
            if target not in self.target.labels:
                raise unknown_name("label", target, self.target.labels, f"{where}: {label!r}")
        for label in self.reasons:
            if label not in self.source.labels:
                raise unknown_name("label", label, self.source.labels, f"{where}: unmapped")
        for label in self.source.labels:
            if (label in self.targets) == (label in self.reasons):
                said = "both" if label in self.targets else "neither"
                raise InputError(
                    f"{where}: label {label!r} is {said} mapped and declared unmapped; "
                    "expected one of the two"
                )

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that mapped labels belong to: `target`."""
        return self.target

    @property
    def unmapped(self) -> tuple[str, ...]:
        """Source labels without a target, in the order of the source."""
        return tuple(label for label in self.source.labels if label in self.reasons)

    def __getitem__(self, label: str) -> str | None:
        """Target of a source label in any spelling the source understands; None when unmapped."""
        return self.targets.get(self.source.name_of(label))

    def sources(self, target: str) -> tuple[str, ...]:
        """Source labels that belong to a target label."""
        wanted = self.target.name_of(target)
        return tuple(label for label in self.source.labels if self.targets.get(label) == wanted)

    def matrix(self) -> NDArray[np.float64]:
        """0/1 matrix, one row per source label and one column per target label.

        Rows of unmapped labels are 0. Votes or probabilities times this matrix sum over labels.
        """
        matrix = np.zeros((len(self.source), len(self.target)))
        for label, target in self.targets.items():
            matrix[self.source.labels.index(label), self.target.labels.index(target)] = 1
        return matrix

    def to_frame(self) -> pl.DataFrame:
        """One row per source label: ``label``, ``target`` (null when unmapped), ``reason``."""
        import polars as pl

        labels = self.source.labels
        return pl.DataFrame(
            {
                "label": labels,
                "target": [self.targets.get(label) for label in labels],
                "reason": [self.reasons.get(label) for label in labels],
            },
            schema={"label": pl.String, "target": pl.String, "reason": pl.String},
        )

    def __repr__(self) -> str:
        return (
            f"LabelMapping({self.source.name} to {self.target.name}: {len(self.targets)} mapped, "
            f"{len(self.unmapped)} unmapped)"
        )
