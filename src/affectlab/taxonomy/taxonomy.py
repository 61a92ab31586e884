"""A taxonomy: the labels that can be felt, in a fixed order, and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice, check_choices, check_once, unknown_name
from affectlab.core.files.toml import parse_toml
from affectlab.core.registry import Definitions
from affectlab.core.result import Result
from affectlab.core.types import pl
from affectlab.taxonomy.cost_matrix import CostMatrix
from affectlab.taxonomy.costs import cost_from_groups, cost_from_reference, cost_from_ring
from affectlab.taxonomy.files import TaxonomyFile, taxonomy_toml
from affectlab.taxonomy.history import TaxonomyRevision
from affectlab.taxonomy.label import Label
from affectlab.taxonomy.names import NameIndex, fold

if TYPE_CHECKING:
    from rich.console import RenderableType


# What must hold between the parts of a taxonomy.


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def check_taxonomy(taxonomy: Taxonomy) -> None:
    """Raise an error for the first part that does not fit the others."""
    if not _NAME.fullmatch(taxonomy.name):
        raise InputError(
            f"name = {taxonomy.name!r}: expected letters, digits, '_', '-' and '.', "
            "with a letter or digit first"
        )
    if not taxonomy.entries:
        raise InputError(f"taxonomy {taxonomy.name} has no labels; expected at least one")
    _check_names(taxonomy)
    _check_levels(taxonomy)
    labels = [entry.name for entry in taxonomy.entries]
    if taxonomy.neutral is not None and taxonomy.neutral not in labels:
        raise unknown_name("label", taxonomy.neutral, labels, "neutral")
    _check_ring(taxonomy, labels)
    _check_opposites(taxonomy, labels)
    _check_stands_for(taxonomy, labels)


def _check_names(taxonomy: Taxonomy) -> None:
    """Every label and alias must lead to one label, however it is spelled."""
    holder: dict[str, str] = {}
    for entry in taxonomy.entries:
        key = fold(entry.name)
        other = holder.get(key)
        if other == entry.name:
            raise InputError(f"labels: {entry.name!r} appears twice")
        if other is not None:
            raise InputError(f"labels: {other!r} and {entry.name!r} cannot be told apart")
        holder[key] = entry.name
    for entry in taxonomy.entries:
        for alias in entry.aliases:
            other = holder.setdefault(fold(alias), entry.name)
            if other != entry.name:
                raise InputError(
                    f"label {entry.name!r}: alias {alias!r} already means {other!r}; "
                    "an alias may mean one label only"
                )


def _check_levels(taxonomy: Taxonomy) -> None:
    check_once("level", taxonomy.levels, "levels")
    for entry in taxonomy.entries:
        check_choices("level", entry.groups, taxonomy.levels, f"label {entry.name!r}: groups")
        for level in taxonomy.levels:
            if not entry.groups.get(level, "").strip():
                raise InputError(
                    f"label {entry.name!r}: no group at level {level!r}; "
                    "every label needs a group at every level"
                )


def _check_ring(taxonomy: Taxonomy, labels: list[str]) -> None:
    if taxonomy.ring is None:
        return
    check_once("label", taxonomy.ring, "ring")
    for name in taxonomy.ring:
        check_choice("label", name, labels, "ring")
        if name == taxonomy.neutral:
            raise InputError(f"ring: {name!r} is the neutral label, which has no place on a wheel")
    missing = [name for name in labels if name not in taxonomy.ring and name != taxonomy.neutral]
    if missing:
        raise InputError(
            f"ring: label {missing[0]!r} is missing; a wheel holds every label but the neutral one"
        )


def _check_opposites(taxonomy: Taxonomy, labels: list[str]) -> None:
    opposite_of = {entry.name: entry.opposite for entry in taxonomy.entries}
    for name, opposite in opposite_of.items():
        if opposite is None:
            continue
        check_choice("label", opposite, labels, f"label {name!r}: opposite")
        if opposite == name:
            raise InputError(f"label {name!r}: opposite is the label itself")
        back = opposite_of[opposite]
        if back != name:
            said = "nothing" if back is None else repr(back)
            raise InputError(
                f"label {name!r}: opposite is {opposite!r}, but the opposite of {opposite!r} "
                f"is {said}; opposites come in pairs"
            )


def _check_stands_for(taxonomy: Taxonomy, labels: list[str]) -> None:
    if taxonomy.reference is None:
        if taxonomy.stands_for:
            raise InputError("stands_for: given without a reference taxonomy")
        return
    check_choices("label", taxonomy.stands_for, labels, "stands_for")
    for name in labels:
        if name != taxonomy.neutral and not taxonomy.stands_for.get(name):
            raise InputError(
                f"stands_for: label {name!r} is missing; every label but the neutral one must "
                f"stand for labels of {taxonomy.reference!r}"
            )


CostKind = Literal["ring", "groups", "reference"]
KINDS = ("ring", "reference", "groups")
"""Kinds of costs; the first that a taxonomy has is taken where none is asked for."""


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
        check_choice("level", level, self.levels, f"taxonomy {self.name}")
        return {entry.name: entry.groups[level] for entry in self.entries}

    def sentiments(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Sentiment of each label: its group at that level, or else its polarity.

        None where it is not known of all labels.

        Examples
        --------
        >>> from affectlab.taxonomy import load_taxonomy
        >>> load_taxonomy("goemotions").sentiments(["joy", "fear"])
        ('positive', 'negative')
        """
        level = next((level for level in ("sentiment", "polarity") if level in self.levels), None)
        group = self.polarity if level is None else self.group_of(level)
        found = (group.get(self.name_of(name)) if name in self else None for name in labels)
        known = tuple(part for part in found if part is not None)
        return known if len(known) == len(labels) else None

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
        where = f"taxonomy {self.name}"
        if kind is not None and kind not in KINDS:
            raise unknown_name("kind of cost matrix", kind, KINDS, where)
        has = {
            "ring": self.ring is not None,
            "reference": self.reference is not None,
            "groups": bool(self.levels),
        }
        first = next((name for name in KINDS if has[name]), None)
        chosen = kind or ("groups" if levels is not None else first)
        if chosen is None:
            raise InputError(
                f"{where}: has no ring, no reference taxonomy and no groups; "
                "make its costs from data, for example with cost_from_confusions"
            )
        if not has[chosen]:
            raise InputError(f"{where}: has no {chosen}; costs of kind {chosen!r} cannot be made")
        if chosen == "groups":
            if lam is not None:
                raise InputError(f"{where}: lam has no part in costs of kind 'groups'")
            names = self.nesting_levels() if levels is None else tuple(levels)
            return cost_from_groups(self.labels, [self.group_of(name) for name in names])
        if levels is not None:
            raise InputError(f"{where}: levels have no part in costs of kind {chosen!r}")
        strength = 4.0 if lam is None else lam
        # All labels but the neutral one have a place on a wheel.
        emotions = [label for label in self.labels if label != self.neutral]
        if chosen == "ring":
            return cost_from_ring(self.ring or (), self.polarity, lam=strength).reorder(emotions)
        reference = load_taxonomy(self.reference or "")
        stands_for = {
            label: [reference.name_of(other) for other in others]
            for label, others in self.stands_for.items()
        }
        return cost_from_reference(
            emotions, reference.cost_matrix("ring", lam=strength), stands_for
        )

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
        return _built(parse_toml(text, TaxonomyFile, where=where), where)

    def to_toml(self) -> str:
        """Write the taxonomy as TOML that :meth:`from_toml` reads back as an equal one."""
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

    def to_result(self) -> Result:
        """Give the labels as a table: definition, polarity, groups, and what else is known of each.

        Examples
        --------
        >>> from affectlab.taxonomy import load_taxonomy
        >>> load_taxonomy("ekman").to_result().to_frame()["label"].to_list()[:2]
        ['anger', 'disgust']
        """
        import polars as pl

        from affectlab.core.tables import Key, Table, Text
        from affectlab.core.words import plural

        groups = {f"group_{level}": pl.String for level in self.levels}
        schema: dict[str, Any] = {
            **dict.fromkeys(("label", "emoji", "polarity", "opposite", "definition"), pl.String),
            **dict.fromkeys(("aliases", "words"), pl.List(pl.String)),
            **groups,
            **dict.fromkeys(("low_end", "high_end"), pl.String),
            **dict.fromkeys(("lowest", "highest"), pl.Float64),
        }
        rows = [
            (
                *(one.name, one.emoji, one.polarity, one.opposite, one.definition),
                *(list(one.aliases), list(one.words)),
                *(one.groups[level] for level in self.levels),
                *(one.ends or (None, None)),
                *(one.limits or (None, None)),
            )
            for one in self.entries
        ]
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        columns = [Key("label"), Text("emoji", spare=True), Text("polarity")]
        columns += [Text(name, name.removeprefix("group_")) for name in groups]
        columns += [Text("low_end", "from"), Text("high_end", "to"), Text("definition")]
        known = [column for column in columns if (frame[column.key].fill_null("") != "").any()]
        title = self.title or self.name
        return Result(
            (Table("labels", f"Labels of {title}.", frame, tuple(known)),),
            (
                f"{title} (taxonomy {self.name}, version {self.version}): "
                f"{plural(len(self), 'label')}",
            ),
            settings={
                "name": self.name,
                "title": self.title,
                "version": self.version,
                "source": self.source,
                "ring": self.ring,
            },
        )

    def _repr_html_(self) -> str:
        return self.to_result()._repr_html_()

    def __rich__(self) -> RenderableType:
        return self.to_result().__rich__()


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
            check_choice("label", label, self.source.labels, where)
            check_choice("label", target, self.target.labels, f"{where}: {label!r}")
        check_choices("label", self.reasons, self.source.labels, f"{where}: unmapped")
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


# Finding taxonomies: built in, in a user's file, or added by an installed package.


def _built(file: TaxonomyFile, where: str) -> Taxonomy:
    """Make the taxonomy of a file; an error names the file."""
    try:
        return Taxonomy(**file.parts())
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


_REGISTRY = Definitions(
    kind="taxonomy",
    group="affectlab.taxonomies",
    package="affectlab.taxonomy",
    accept=Taxonomy,
    expected="a path or a Taxonomy",
    parse=lambda text, where: Taxonomy.from_toml(text, where=where),
)


def load_taxonomy(name_or_path: str | Path | Taxonomy) -> Taxonomy:
    """Load a taxonomy.

    Parameters
    ----------
    name_or_path
        The name of a built-in taxonomy, or of one that an installed package adds through the
        entry-point group ``affectlab.taxonomies``; or the path of a TOML file (a string that ends
        in ``.toml`` or holds a separator). A taxonomy is given back as it is.

    Raises
    ------
    InputError
        When the name is not known, or the file cannot be used; the sentence says where and why.

    Examples
    --------
    >>> load_taxonomy("russell")
    Taxonomy('russell', version 1, 2 labels: valence, arousal)
    """
    return _REGISTRY.load(name_or_path)


def list_taxonomies() -> tuple[str, ...]:
    """Names that :func:`load_taxonomy` knows, built in or from installed packages, sorted.

    Examples
    --------
    >>> "ekman" in list_taxonomies()
    True
    """
    return _REGISTRY.names()


def match_taxonomy(labels: Iterable[str]) -> Taxonomy | None:
    """Find the built-in taxonomy that has exactly these labels, in any order and spelling.

    The neutral label may be absent. Aliases are understood.

    Examples
    --------
    >>> match_taxonomy(["Anger", "Disgust", "Fear", "Happiness", "Sadness", "Surprise"]).name
    'ekman'
    >>> match_taxonomy(["anger"]) is None
    True
    """
    names = {labels} if isinstance(labels, str) else set(labels)
    for name in _REGISTRY.own_names():
        taxonomy = _REGISTRY.builtin(name)
        wanted = set(taxonomy.labels)
        if len(names) not in (len(wanted), len(wanted - {taxonomy.neutral})):
            continue
        try:
            found = {taxonomy.name_of(label) for label in names}
        except InputError:
            continue
        if len(found) == len(names) and wanted - found <= {taxonomy.neutral}:
            return taxonomy
    return None


def are_labels(names: Iterable[str]) -> bool:
    """Say whether all names are labels of one taxonomy.

    Examples
    --------
    >>> are_labels(["Joy", "anger"]), are_labels(["Joy", "Ann"]), are_labels([])
    (True, False, False)
    """
    known = list(names)
    return bool(known) and any(
        all(name in taxonomy for name in known)
        for taxonomy in map(load_taxonomy, list_taxonomies())
    )


def taxonomy_overview() -> Result:
    """List the taxonomies that can be used by name, with what each is.

    Returns
    -------
    A row for each: ``name``, ``n_labels`` and ``title``. Notes say which of an installed package
    cannot be used.

    Examples
    --------
    >>> "ekman" in taxonomy_overview().to_frame()["name"]
    True
    """
    import polars as pl

    from affectlab.core.tables import Count, Key, Table, Text

    known, broken = [], []
    for name in list_taxonomies():
        try:
            known.append((name, load_taxonomy(name)))
        # What one package adds must not hide the rest.
        except InputError as problem:
            broken.append(str(problem))
    frame = pl.DataFrame(
        [(name, len(one), one.title) for name, one in known],
        schema={"name": pl.String, "n_labels": pl.Int64, "title": pl.String},
        orient="row",
    )
    columns = (Key("name"), Count("n_labels"), Text("title"))
    table = Table("taxonomies", "Taxonomies by name.", frame, columns)
    return Result((table,), notes=tuple(broken))
