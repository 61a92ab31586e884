"""What a new version takes over from its parent, beside labels: opposites, wheel, derived costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from affectlab.stimuli.taxonomy._review import Review
from affectlab.taxonomy import Label, Taxonomy

__all__ = ["carry_opposites", "carry_reference", "carry_ring"]


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
