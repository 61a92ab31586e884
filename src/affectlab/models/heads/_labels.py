"""Which labels a bank has heads for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab.errors import InputError
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["labels_of", "taxonomy_of"]


def taxonomy_of(given: str | Path | Taxonomy | Sequence[str]) -> Taxonomy:
    """Give the taxonomy that is meant: by name, by file, or made of a list of labels."""
    if isinstance(given, str | Path | Taxonomy):
        return load_taxonomy(given)
    return Taxonomy.from_labels(given, name="heads")


def labels_of(taxonomy: Taxonomy, labels: Sequence[str] | None) -> tuple[str, ...]:
    """Give canonical names of labels, in the order given; None: all of the taxonomy.

    Raises
    ------
    InputError
        When a label is not known, occurs twice, or there is none.
    """
    if labels is None:
        return taxonomy.labels
    if isinstance(labels, str) or not len(labels):
        raise InputError("labels: expected a list of names, at least one")
    found = tuple(taxonomy.name_of(label) for label in labels)
    if len(set(found)) < len(found):
        twice = next(name for place, name in enumerate(found) if name in found[:place])
        raise InputError(f"labels: {twice!r} occurs twice; expected each label once")
    return found
