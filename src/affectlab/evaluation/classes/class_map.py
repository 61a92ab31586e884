"""From the labels that were answered to the classes that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.inference import by_name
from affectlab.core.types import Floats
from affectlab.evaluation.classes.score_mapping import ScoreMapping
from affectlab.evaluation.classes.score_rows import ScoreRows
from affectlab.taxonomy import Taxonomy, load_taxonomy, match_taxonomy


@dataclass(frozen=True, eq=False)
class ClassMap:
    """Knows the classes, and how answers about labels become answers about them."""

    labels: tuple[str, ...]
    """The classes, in the order of the taxonomy."""
    taxonomy: Taxonomy
    mapping: ScoreMapping | None
    as_met: bool = False
    """Whether the taxonomy was made of names, in the order in which a table has them."""

    @property
    def order(self) -> list[int]:
        """Places of the classes in an order that does not depend on that of rows."""
        return by_name(self.labels) if self.as_met else list(range(len(self.labels)))

    def is_mapped(self, labels: Iterable[str]) -> bool:
        """Say whether these are labels to be mapped, rather than classes already."""
        return self.mapping is not None and not all(label in self.taxonomy for label in labels)

    def code(self, name: str, where: str) -> int:
        """Code of the class that a name stands for, -1 for a label that the mapping leaves out.

        Raises
        ------
        InputError
            When the name is neither a class nor a label that is mapped.
        """
        try:
            return self.labels.index(self.taxonomy.name_of(name))
        except InputError as error:
            mapping = self.mapping
            if mapping is None:
                hint = "; where answers are to become other classes, name a mapping"
            elif name in mapping.source:
                found = mapping.class_of(name)
                return -1 if found is None else self.labels.index(found)
            else:
                hint = ""
            raise InputError(f"{where}: {error}{hint}") from None

    def scores(self, labels: Sequence[str], scores: Floats, offsets: Floats | None) -> Floats:
        """Turn scores of labels, shape (n, number of labels), into scores of classes."""
        if self.is_mapped(labels):
            assert self.mapping is not None
            return self.mapping.combine(scores, labels, offsets)
        made = np.full((len(scores), len(self.labels)), np.nan)
        seen: dict[int, str] = {}
        for column, label in enumerate(labels):
            place = self.code(label, "labels")
            if seen.setdefault(place, label) != label:
                raise InputError(
                    f"labels {seen[place]!r} and {label!r} both stand for {self.labels[place]!r}; "
                    "expected one column of scores for each class"
                )
            made[:, place] = scores[:, column]
        return made

    def panel(self, panel: ScoreRows, offsets: Floats | None = None) -> ScoreRows:
        """Turn the rows of a panel into scores of classes.

        A yes to any of its labels is a yes to a class; a named label is a vote for its class.
        """
        if panel.form == "scale":
            return panel.with_labels(
                self.labels, self.scores(panel.labels, panel.scores, offsets), None
            )
        mapped = self.is_mapped(panel.labels)
        made = np.full((len(panel.scores), len(self.labels)), np.nan)
        outside = np.zeros(len(panel.scores), dtype=bool)
        for target, columns in self._columns(panel, mapped).items():
            part = panel.scores[:, columns]
            if target < 0:
                outside |= (part == 1).any(axis=1)
            else:
                made[:, target] = np.fmax.reduce(part, axis=1)
        if panel.form == "nominal":
            made = np.where(np.isnan(made), 0.0, made)
            return panel.with_labels(self.labels, made, outside)
        if mapped and self.mapping is not None and self.mapping.neutral is not None:
            place = self.labels.index(self.mapping.neutral.label)
            others = np.delete(made, place, axis=1)
            answered = ~np.isnan(made).all(axis=1)
            nothing = ~(others == 1).any(axis=1)
            made[:, place] = np.where(answered, np.fmax(made[:, place], nothing), np.nan)
        return panel.with_labels(self.labels, made, None)

    def offered(self, panel: ScoreRows) -> set[int]:
        """Give the classes that raters could answer, as far as is known."""
        labels = set(panel.offered.tolist())
        columns = self._columns(panel, self.is_mapped(panel.labels))
        return {place for place, mine in columns.items() if place >= 0 and labels & set(mine)}

    def _columns(self, panel: ScoreRows, mapped: bool) -> dict[int, list[int]]:
        """Columns of a panel that belong to each class; -1 for those that belong to none."""
        columns: dict[int, list[int]] = {}
        for column, label in enumerate(panel.labels):
            if not mapped or panel.form == "nominal":
                places = [self.code(label, "labels")]
            else:
                places = self._classes_with(label)
            for place in places:
                columns.setdefault(place, []).append(column)
        return columns

    def _classes_with(self, label: str) -> list[int]:
        assert self.mapping is not None
        name = self.mapping.source.name_of(label)
        return [
            self.labels.index(target)
            for target, sources in self.mapping.classes.items()
            if name in sources.labels
        ]


def class_map(
    names: Sequence[str],
    truths: Sequence[str],
    *,
    taxonomy: str | Taxonomy | None,
    known: Sequence[Taxonomy | None],
    mapping: ScoreMapping | None,
    where: str,
) -> ClassMap:
    """Find out what the classes are.

    With a mapping they are its target. Else they are the names that occur, in the order of
    `taxonomy`, or of the first of the `known` ones that holds the names of the answers, or of a
    built-in one that has just these; or, where no taxonomy is known, in the order in which they
    occur.

    Parameters
    ----------
    names
        Labels that raters could answer.
    truths
        Names that occur as truth, beside the labels of people.
    where
        What the truths come from, for errors.

    Raises
    ------
    InputError
        When a name is not in the taxonomy, or truth and answers share no class.
    """
    if mapping is not None:
        if taxonomy is not None and load_taxonomy(taxonomy) != mapping.target:
            raise InputError(
                f"taxonomy {load_taxonomy(taxonomy).name!r} is not the one that the mapping leads "
                f"to ({mapping.target.name!r}); expected only one of the two, or the same"
            )
        found = ClassMap(mapping.labels, mapping.target, mapping)
        _check_names(found, names, truths, where)
        return found
    chosen = None if taxonomy is None else load_taxonomy(taxonomy)
    if chosen is None:
        named = [entry for entry in known if entry is not None]
        found_by_names = match_taxonomy([*names, *truths])
        candidates = named if found_by_names is None else [*named, found_by_names]
        # One that was named and does not fit is a mistake to be told, not one to be passed over.
        chosen = next(
            (entry for entry in candidates if all(name in entry for name in names)),
            named[0] if named else None,
        )
    as_met = chosen is None
    if chosen is None:
        chosen = _from_names([*names, *truths])
    probe = ClassMap(chosen.labels, chosen, None)
    _check_names(probe, names, truths, where)
    used = {chosen.name_of(name) for name in (*names, *truths)}
    labels = tuple(label for label in chosen.labels if label in used)
    return ClassMap(labels, chosen, None, as_met)


def _check_names(
    classes: ClassMap, names: Sequence[str], truths: Sequence[str], where: str
) -> None:
    told = {classes.code(name, where) for name in truths}
    if classes.mapping is not None and classes.is_mapped(names):
        for name in names:
            if name not in classes.mapping.source and name not in classes.taxonomy:
                classes.mapping.source.name_of(name)
        return
    said = {classes.code(name, "the answers") for name in names}
    if truths and names and not told & said:
        raise InputError(
            f"{where} and the answers share no class: {where} has {truths[0]!r}, …, the answers "
            f"{names[0]!r}, …; expected the same names, or a mapping"
        )


def _from_names(names: Sequence[str]) -> Taxonomy:
    """Make a taxonomy of names, spellings that cannot be told apart taken as one."""
    kept: list[str] = []
    made: Taxonomy | None = None
    for name in dict.fromkeys(names):
        if made is None or name not in made:
            kept.append(name)
            made = Taxonomy.from_labels(kept, name="classes")
    if made is None:
        raise InputError("there is no class: neither truth nor answers name one")
    return made
