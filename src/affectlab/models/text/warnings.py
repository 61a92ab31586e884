"""Warnings when what is chosen on texts could not be tested on them any more."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from affectlab.core.words import count, percent

__all__ = [
    "SeenInTrainingWarning",
    "TestSplitWarning",
    "TruncatedTextWarning",
    "fingerprint",
    "fingerprints",
    "warn_of_seen",
    "warn_of_test",
    "warn_of_truncated",
]

_TOO_MANY = 0.05
"""Share of texts that may occur in training by chance: short ones such as "Thank you!" do."""
_WORDS = re.compile(r"[^a-z0-9]+")


class TestSplitWarning(UserWarning):
    """Something is fitted on a split named test."""

    __test__ = False


class SeenInTrainingWarning(UserWarning):
    """Something is fitted on texts that the model was trained on."""


def warn_of_test(split: str, what: str) -> list[str]:
    """Warn when the name of a split has the word test in it, and give what was said."""
    if "test" not in _WORDS.split(split.lower()):
        return []
    said = (
        f"{what} are fitted on {split!r}: what is fitted on a test split cannot be tested on it; "
        "use a dev split"
    )
    warnings.warn(said, TestSplitWarning, stacklevel=3)
    return [said]


def fingerprints(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Hash texts, sorted and without repeats, so that they can be recognised but not read."""
    return np.unique(np.array([fingerprint(text) for text in texts], dtype="<u8"))


def fingerprint(text: str) -> int:
    """Hash a text."""
    return int.from_bytes(blake2b(text.strip().encode(), digest_size=8).digest(), "little")


def warn_of_seen(texts: Iterable[str], trained: NDArray[np.uint64] | None, what: str) -> list[str]:
    """Warn when more texts were seen in training than chance explains; give what was said."""
    if trained is None or not trained.size:
        return []
    own = fingerprints(texts)
    share = float(np.isin(own, trained, assume_unique=True).mean()) if own.size else 0.0
    if share <= _TOO_MANY:
        return []
    said = (
        f"{what} are fitted on texts of which {percent(share)} were seen in training: they will be "
        "too sure of themselves; use texts that were kept aside"
    )
    warnings.warn(said, SeenInTrainingWarning, stacklevel=3)
    return [said]


# The warning about texts that are longer than what a model reads.


class TruncatedTextWarning(UserWarning):
    """Some texts are longer than what a model reads."""


def warn_of_truncated(n_long: int, n: int, limit: int) -> None:
    """Warn of texts whose ends are not read."""
    if n_long:
        warnings.warn(
            f"{count(n_long)} of {count(n)} texts are longer than {count(limit)} tokens; "
            "what comes after them is not read",
            TruncatedTextWarning,
            stacklevel=3,
        )
