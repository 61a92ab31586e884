"""Sentences of models that learn from raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from affectlab.core.words import joined, plural, shown

MEASURES = "How near models come to answers that were kept aside (less is better)."
NO_ANSWER = "y has no answer; expected at least one that is not nan"
TOO_FEW_ANSWERS = (
    "too few answers to keep some aside: expected stimuli in several groups, and raters who answer "
    "about several of them"
)


def no_answers(name: str) -> str:
    """Say that `fit` was given no answers."""
    return f"{name} requires y to be passed, but the target y is None"


def items_outside(n: int) -> str:
    """Say what items have to be."""
    return f"items: expected the row of X that each answer is about, from 0 to {n - 1}"


def no_class(value: Any) -> str:
    """Say that an answer is none of the classes."""
    return f"y has the answer {value!r}, which is none of classes; expected one of them"


def not_of_each(what: str, shape: tuple[int, ...], n: int) -> str:
    """Say that there is not one of something for each row."""
    return f"{what}: shape {shape}; expected one for each of {n} rows"


def too_many_levels(n: int, most: int) -> str:
    """Say that a scale has too many levels."""
    return (
        f"answers have {n} levels; expected at most {most}: categories, yes or no, or a rating "
        "scale such as 0-7"
    )


def no_features(rated: Sequence[str], known: Sequence[str]) -> str:
    """Say that no stimulus has features."""
    return (
        f"no rated stimulus (such as {joined([shown(one, 40) for one in rated])}) has features "
        f"(such as {joined([shown(one, 40) for one in known]) or 'none'}); expected the same names"
    )


def without_features(n: int) -> str:
    """Say how many stimuli have no features."""
    return f"{plural(n, 'rated stimulus', 'rated stimuli')} without features: left out"


def too_few_groups(n: int, n_splits: int, what: str) -> str:
    """Say that there are fewer groups than parts."""
    return (
        f"{n} groups of {what} cannot be kept aside in {n_splits} parts; expected n_splits from 2 "
        f"to {n}"
    )


def gains_caption(confidence: float) -> str:
    """Caption of the table of gains."""
    return (
        "What is gained over labels of all raters together (above 0: better). All intervals of "
        f"gains over soft labels together hold with {100 * confidence:g} %."
    )


def difference(measure: str) -> str:
    """Name of the difference of a measure."""
    return f"difference in {measure}"


def gain(how: str, measures: Sequence[str]) -> str:
    """Say whether a way of learning gains anything."""
    if not measures:
        return f"{how}: no gain over majority and soft labels is shown."
    return f"{how}: better than majority and soft labels in {joined(measures)}."
