"""The routes that lead from a word to a label, from the surest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from affectlab._emotion_words import emotion_key
from affectlab.analysis.reactions._lexicon import synonym_groups
from affectlab.errors import InputError

if TYPE_CHECKING:
    from affectlab.taxonomy import Taxonomy

__all__ = ["ROUTES", "Found", "LabelIndex"]

_T = TypeVar("_T")

ROUTES = (
    "given",
    "name",
    "alias",
    "descriptor",
    "form",
    "synonym",
    "by way of another taxonomy",
    "similarity",
)
"""All routes, from the surest on; what a word is mapped by says more after a colon."""

_GRADES = {"name": 1.0, "alias": 0.95, "descriptor": 0.85}
_FORM = 0.05
_SYNONYM = 0.6
_OTHER = 0.7
_FIRM = 0.8
"""Grade that a label of another taxonomy must have for its mapping to be followed."""
_SOURCES = ("goemotions", "emonet_face", "mikels")


class Found(NamedTuple):
    """What a route leads to."""

    label: str | None
    confidence: float
    route: str
    open: bool = True
    """Whether a weaker route may still be tried."""


@dataclass(frozen=True)
class LabelIndex:
    """The words by which the labels of a taxonomy are found."""

    labels: tuple[str, ...]
    exact: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Labels by word as it is written, per kind of word."""
    forms: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]]
    """Labels with the word they are found by, by what its forms have in common."""
    groups: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    """Groups of synonyms that a word is in, by what its forms have in common."""
    others: tuple[tuple[str, LabelIndex, Mapping[str, str]], ...] = ()
    """Other taxonomies whose labels are mapped to those of this one."""

    @classmethod
    def of(cls, taxonomy: Taxonomy, *, others: bool = True) -> LabelIndex:
        """Index the names, aliases and descriptor words of a taxonomy."""
        told: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _GRADES}
        for entry in taxonomy.entries:
            names = [entry.name, *(entry.name.split("/") if "/" in entry.name else [])]
            told["name"] += [(name, entry.name) for name in names]
            told["alias"] += [(alias, entry.name) for alias in entry.aliases]
            told["descriptor"] += [(word, entry.name) for word in entry.words]
        exact: dict[str, dict[str, tuple[str, ...]]] = {}
        forms: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {}
        for kind, pairs in told.items():
            exact[kind], forms[kind] = {}, {}
            for word, label in pairs:
                plain, key = word.casefold().strip(), emotion_key(word)
                exact[kind][plain] = _with(exact[kind].get(plain, ()), label)
                forms[kind][key] = _with(forms[kind].get(key, ()), (label, plain))
        return cls(taxonomy.labels, exact, forms, _groups(), _others(taxonomy) if others else ())

    def find(self, word: str) -> Found:
        """Follow the routes until one leads to a single label."""
        found = self.own(word)
        if found.label is None and found.open:
            synonym = self._synonym(word)
            if synonym.label is not None:
                return synonym
            other = self._other(word)
            if other is not None:
                return other
            return synonym if synonym.route != "unknown word" else found
        return found

    def own(self, word: str) -> Found:
        """Find a word among those of the taxonomy itself."""
        plain, key = " ".join(word.casefold().split()), emotion_key(word)
        doubtful = None
        for kind, grade in _GRADES.items():
            labels = self.exact[kind].get(plain, ())
            if len(labels) == 1:
                return Found(labels[0], grade, kind)
            doubtful = doubtful or _doubtful(labels)
        for kind, grade in _GRADES.items():
            pairs = self.forms[kind].get(key, ())
            labels = tuple(dict.fromkeys(label for label, _ in pairs))
            if len(labels) == 1 and doubtful is None:
                return Found(labels[0], round(grade - _FORM, 3), f"form: of {pairs[0][1]}")
            doubtful = doubtful or _doubtful(labels)
        return doubtful or Found(None, 0.0, "unknown word")

    def _synonym(self, word: str) -> Found:
        """The label of the groups of synonyms that the word is in.

        The heads of groups say what they are about: a label that is a head comes before one that is
        only another word of a group.
        """
        groups = self.groups.get(emotion_key(word), ())
        heads = self._labels([(group[0],) for _, group in groups], _FIRM)
        members = heads or self._labels([group for _, group in groups], 1 - _FORM, named=True)
        labels = tuple(members)
        if len(labels) == 1:
            return Found(labels[0], _SYNONYM, f"synonym: {members[labels[0]]}")
        return _doubtful(labels) or Found(None, 0.0, "unknown word")

    def _labels(
        self, groups: Iterable[tuple[str, ...]], least: float, *, named: bool = False
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for group in groups:
            for other in group:
                own = self.own(other)
                # An alias of a label, such as fun, is further from the rest of a group.
                if (
                    own.label is not None
                    and own.confidence >= least
                    and not (named and own.route == "alias")
                ):
                    found.setdefault(own.label, other)
        return found

    def _other(self, word: str) -> Found | None:
        for name, index, targets in self.others:
            there = index.own(word)
            if there.label is not None and there.confidence >= _FIRM and there.label in targets:
                route = f"by way of another taxonomy: {name} {there.label}"
                return Found(targets[there.label], round(_OTHER * there.confidence, 3), route)
        return None


def _with(before: tuple[_T, ...], one: _T) -> tuple[_T, ...]:
    return before if one in before else (*before, one)


def _doubtful(labels: tuple[str, ...]) -> Found | None:
    if len(labels) < 2:
        return None
    return Found(None, 0.0, f"doubtful: {' or '.join(labels)}")


@lru_cache(maxsize=1)
def _groups() -> dict[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    found: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {}
    for head, group in synonym_groups():
        for word in group:
            key = emotion_key(word)
            found[key] = _with(found.get(key, ()), (head, group))
    return found


def _others(taxonomy: Taxonomy) -> tuple[tuple[str, LabelIndex, Mapping[str, str]], ...]:
    from affectlab.taxonomy import load_taxonomy, map_labels

    found = []
    for name in _SOURCES:
        if name == taxonomy.name:
            continue
        source = load_taxonomy(name)
        try:
            mapping = map_labels(source, taxonomy)
        except InputError:
            # There is no built-in mapping between the two, or this is another taxonomy of the name.
            continue
        found.append((name, LabelIndex.of(source, others=False), mapping.targets))
    return tuple(found)
