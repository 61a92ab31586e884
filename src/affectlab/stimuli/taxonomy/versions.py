"""From a review to a taxonomy, or to the next version of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Literal, NamedTuple, cast

from affectlab.core.errors import InputError, unknown_name
from affectlab.stimuli.taxonomy.review import Review, ReviewRow
from affectlab.taxonomy import Label, LabelChange, Taxonomy, TaxonomyRevision

__all__ = [
    "Assembled",
    "carry_opposites",
    "carry_reference",
    "carry_ring",
    "next_version",
    "revised_taxonomy",
    "taxonomy_of",
]

# What a new version takes over from its parent, beside labels: opposites, wheel, derived costs.


def carry_opposites(
    entries: list[Label], name_of: Mapping[str, str], labels: list[str], warnings: list[str]
) -> list[Label]:
    """Follow new names of opposites; a pair of which one label is gone is no pair."""
    there = {entry.name: entry.opposite for entry in entries}
    made = []
    for entry in entries:
        opposite = None if entry.opposite is None else name_of.get(entry.opposite)
        back = None if opposite is None else name_of.get(there.get(opposite) or "")
        if opposite not in labels or back != entry.name:
            opposite = None
        if entry.opposite is not None and opposite is None:
            warnings.append(f"{entry.name!r} has lost its opposite, {entry.opposite!r}")
        made.append(replace(entry, opposite=opposite))
    return made


def carry_ring(
    parent: Taxonomy, review: Review, labels: list[str], warnings: list[str]
) -> tuple[str, ...] | None:
    """Keep the wheel without the labels that left it, where all others have a place on it."""
    if parent.ring is None:
        return None
    kept = {row.term: row.target for row in review if row.decision in ("keep", "add")}
    ring = tuple(kept[label] for label in parent.ring if label in kept)
    neutral = kept.get(parent.neutral or "")
    placeless = [label for label in labels if label not in ring and label != neutral]
    if placeless:
        warnings.append(f"the wheel is left out: {placeless[0]!r} has no place on it")
        return None
    return ring


def carry_reference(
    parent: Taxonomy, review: Review, labels: list[str], warnings: list[str]
) -> tuple[str | None, dict[str, tuple[str, ...]]]:
    """Keep the labels of another taxonomy that each label stands for; of merged ones all."""
    if parent.reference is None:
        return None, {}
    found: dict[str, tuple[str, ...]] = {}
    for row in review:
        others = parent.stands_for.get(row.term, ())
        if row.target and others:
            found[row.target] = tuple(dict.fromkeys((*found.get(row.target, ()), *others)))
    neutral = next((row.target for row in review if row.term == parent.neutral), None)
    lacking = [label for label in labels if label not in found and label != neutral]
    if lacking:
        warnings.append(
            f"costs are no longer derived from {parent.reference}: nothing says what "
            f"{lacking[0]!r} stands for there"
        )
        return None, {}
    return parent.reference, {label: found[label] for label in labels if label in found}


_POLARITIES = ("positive", "negative", "ambiguous", "neutral")
_Polarity = Literal["positive", "negative", "ambiguous", "neutral"]


class Assembled(NamedTuple):
    """A taxonomy, and what could not be carried over from its parent."""

    taxonomy: Taxonomy
    warnings: tuple[str, ...]


def taxonomy_of(
    review: Review,
    *,
    name: str,
    title: str = "",
    source: str = "",
    neutral: str | None = None,
) -> Assembled:
    """Make the first version of a taxonomy from a review of terms.

    A merged term becomes a descriptor word of its label. Every decision goes into the history.

    Parameters
    ----------
    review
        Decisions about terms, as a person left them.
    name, title, source
        Those of the taxonomy; `source` says what it was built from.
    neutral
        Name of a label for no emotion, added as the last one.

    Raises
    ------
    InputError
        When no term is kept, or the parts do not fit together.

    Examples
    --------
    >>> from affectlab.stimuli.taxonomy.review import Review, ReviewRow
    >>> rows = (
    ...     ReviewRow("joy", "keep", reason="in 9 blocks", polarity="positive"),
    ...     ReviewRow("glee", "merge", "joy", "a shade of joy"),
    ...     ReviewRow("ennui", "drop", reason="in one block"),
    ... )
    >>> made = taxonomy_of(Review(rows), name="mine", neutral="neutral").taxonomy
    >>> made.labels, made.words["joy"], len(made.history[0].changes)
    (('joy', 'neutral'), ('joy', 'glee'), 3)
    """
    entries = [_new_label(row, {}) for row in review if row.decision in ("keep", "add")]
    if not entries:
        raise InputError(f"{review.where}: no term is kept; expected at least one label")
    merged: dict[str, list[str]] = {}
    for row in review:
        if row.decision == "merge":
            merged.setdefault(row.target, []).append(row.term)
    first = {row.target: row.term for row in review if row.decision in ("keep", "add")}
    entries = [
        replace(
            entry,
            words=tuple(dict.fromkeys((first[entry.name], *merged.get(entry.name, ()))))
            if entry.name in merged or first[entry.name] != entry.name
            else (),
        )
        for entry in entries
    ]
    if neutral is not None:
        entries.append(Label(neutral, polarity="neutral"))
    history = TaxonomyRevision("1", source=source, changes=_changes(review, set()))
    taxonomy = Taxonomy(
        name, tuple(entries), title=title, source=source, neutral=neutral, history=(history,)
    )
    return Assembled(taxonomy, ())


def revised_taxonomy(
    parent: Taxonomy, review: Review, *, source: str = "", version: str | None = None
) -> Assembled:
    """Make the next version of a taxonomy from a review that names each of its labels.

    Kept labels keep all that is known of them; one with a new name has the old one as an alias. A
    merged label becomes an alias of where it went, so that answers given under the old version are
    still read. What no longer fits is left out, with a warning: a wheel on which an added label has
    no place, an opposite that is gone.

    Parameters
    ----------
    parent
        The version that was reviewed.
    review
        ``keep``, ``merge`` or ``drop`` for each of its labels, ``add`` (or ``drop``, ``merge``) for
        what was suggested.
    source
        What the decisions rest on.
    version
        Name of the new version; the next number when not given.

    Raises
    ------
    InputError
        When a label of the parent is missing from the review, an added one exists already or has no
        group where the taxonomy has levels, or nothing is left.
    """
    reviewed = {row.term for row in review}
    missing = [label for label in parent.labels if label not in reviewed]
    if missing:
        raise InputError(
            f"{review.where}: label {missing[0]!r} of {parent.name} is missing; expected a "
            "decision about each label"
        )
    for row in review:
        if row.decision == "add" and row.term in parent.labels:
            raise InputError(f"{review.where}: {row.term!r} is a label already; expected keep")
    last = next((row.target for row in review if row.term == parent.neutral), None)
    entries = [
        _kept_label(parent, row)
        if row.term in parent.labels
        else _new_label(row, _groups(parent, row, review.where))
        for row in review
        if row.decision in ("keep", "add")
    ]
    if not entries:
        raise InputError(f"{review.where}: no label is kept; expected at least one")
    if parent.neutral == parent.labels[-1]:
        # No emotion stays last, behind what is added.
        entries.sort(key=lambda entry: entry.name == last)
    name_of = {row.term: row.target for row in review if row.target}
    entries = [_with_merged(entry, parent, review) for entry in entries]
    warnings: list[str] = []
    labels = [entry.name for entry in entries]
    entries = carry_opposites(entries, name_of, labels, warnings)
    ring = carry_ring(parent, review, labels, warnings)
    reference, stands_for = carry_reference(parent, review, labels, warnings)
    neutral = name_of.get(parent.neutral or "")
    if parent.neutral is not None and neutral not in labels:
        warnings.append(f"{parent.neutral!r}, the label for no emotion, is gone")
        neutral = None
    number = version or next_version(parent.version)
    if number in {parent.version, *(one.version for one in parent.history)}:
        raise InputError(f"version {number!r} of {parent.name} exists; expected another one")
    digest = sha256(parent.to_toml().encode()).hexdigest()
    revision = TaxonomyRevision(
        number, parent.version, digest, source, _changes(review, set(parent.labels))
    )
    first = parent.history or (TaxonomyRevision(parent.version, source=parent.source),)
    taxonomy = replace(
        parent,
        entries=tuple(entries),
        version=number,
        ring=ring,
        neutral=neutral,
        reference=reference,
        stands_for=stands_for,
        history=(*first, revision),
    )
    return Assembled(taxonomy, tuple(warnings))


def next_version(version: str) -> str:
    """Count the last number of a version up; append one where there is none.

    Examples
    --------
    >>> next_version("1"), next_version("2.9"), next_version("draft")
    ('2', '2.10', 'draft.2')
    """
    found = re.fullmatch(r"(.*?)(\d+)", version, re.DOTALL)
    return f"{version}.2" if found is None else f"{found[1]}{int(found[2]) + 1:0{len(found[2])}}"


def _changes(review: Review, known: set[str]) -> tuple[LabelChange, ...]:
    changes = []
    for row in review:
        action = row.decision
        if known and action == "keep" and row.term not in known:
            action = "add"
        if action == "keep" and row.target != row.term:
            action = "rename"
        into = row.target if row.target != row.term or action == "merge" else ""
        changes.append(LabelChange(action, row.term, into, row.reason, dict(row.evidence)))
    return tuple(changes)


def _polarity(row: ReviewRow) -> _Polarity | None:
    if row.polarity and row.polarity not in _POLARITIES:
        raise unknown_name("polarity", row.polarity, _POLARITIES, repr(row.term))
    return cast("_Polarity", row.polarity) if row.polarity else None


def _new_label(row: ReviewRow, groups: Mapping[str, str]) -> Label:
    return Label(row.target, row.definition, _polarity(row), groups=groups)


def _kept_label(parent: Taxonomy, row: ReviewRow) -> Label:
    old = parent.label(row.term)
    aliases = old.aliases if row.target == row.term else (*old.aliases, row.term)
    return replace(
        old,
        name=row.target,
        aliases=tuple(one for one in dict.fromkeys(aliases) if one != row.target),
        definition=row.definition or old.definition,
        polarity=_polarity(row) or old.polarity,
        groups={**old.groups, **row.groups},
    )


def _groups(parent: Taxonomy, row: ReviewRow, where: str) -> dict[str, str]:
    """Groups of an added label: as the review says, or its polarity where groups are polarities."""
    groups: dict[str, str] = {}
    for level in parent.levels:
        group = row.groups.get(level)
        if group is None and row.polarity and set(parent.groups(level)) <= set(_POLARITIES):
            group = row.polarity
        if group is None:
            told = "; ".join(f"{name}=…" for name in parent.levels)
            raise InputError(
                f"{where}: {row.term!r} has no group at level {level!r} of {parent.name}; "
                f"expected groups such as {told}"
            )
        groups[level] = group
    return groups


def _with_merged(entry: Label, parent: Taxonomy, review: Review) -> Label:
    """Take in what was merged into a label: labels with their aliases and words, and terms."""
    aliases, words = list(entry.aliases), list(entry.words)
    for row in review:
        if row.decision != "merge" or row.target != entry.name:
            continue
        aliases.append(row.term)
        if row.term in parent.labels:
            old = parent.label(row.term)
            aliases += old.aliases
            words += (row.term, *old.words) if words or old.words else ()
    return replace(
        entry,
        aliases=tuple(one for one in dict.fromkeys(aliases) if one != entry.name),
        words=tuple(dict.fromkeys(words)),
    )
