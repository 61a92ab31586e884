"""What a reader should know of heads that were trained: which saw little, or were not done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from affectlab.core.facts import Reason
from affectlab.core.wording import reason_text
from affectlab.core.words import joined, plural

if TYPE_CHECKING:
    from affectlab.models.heads.calibration import Intervals, ScaleMap
    from affectlab.ratings import Ratings

__all__ = [
    "bin_names",
    "few_identities_notes",
    "judging_notes",
    "learning_notes",
    "neutral_sentence",
    "unsure_notes",
]

_MANY_IDENTITIES = 30
"""Identities from which intervals for new ones can be told."""
_FEW = 100
"""Rows that a head should have learned from, at least."""
_SMALL_PART = 0.25
"""Share of the rated rows that balancing should leave, at least."""
_LAST = 0.02
"""Share of the epochs that are the last ones."""


def judging_notes(labels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which labels have no rank correlation, and why.

    Parameters
    ----------
    labels
        Rows of :func:`head_agreement`.
    """
    by_reason: dict[Reason, list[str]] = {}
    for row in labels:
        if reason := Reason.of_row(row["reason"]):
            by_reason.setdefault(reason, []).append(row["label"])
    return [
        f"no rank correlation for {joined(own)}: {reason_text(why)}"
        for why, own in by_reason.items()
    ]


def learning_notes(stage: Mapping[str, Any], labels: tuple[str, ...]) -> list[str]:
    """Say which heads saw little, or were not done.

    Parameters
    ----------
    stage
        What the last stage of training did.
    """
    few, drawn, going = [], [], []
    for place, label in enumerate(labels):
        learned = stage["rows_per_head"][place]
        used = learned + stage["validation_rows_per_head"][place]
        if not learned:
            continue
        if learned < _FEW:
            few.append((learned, label))
        if stage["cap"] is not None and used < _SMALL_PART * stage["n_rated"][place]:
            drawn.append(label)
        if stage["best_epoch"][place] > (1 - _LAST) * stage["epochs"]:
            going.append(label)
    notes = []
    if few:
        least, label = min(few)
        notes.append(
            f"{_those(len(few), labels)} learned from fewer than {_FEW} rows, {label} from "
            f"{least}: rate more stimuli"
            + (", or take more of them with --config cap=0" if stage["cap"] is not None else "")
        )
    if drawn and not stage["binarised"]:
        notes.append(
            f"for {_those(len(drawn), labels)} balancing left less than a quarter of the rated "
            "rows; --config cap=0 takes all"
        )
    if going:
        notes.append(
            f"{_those(len(going), labels)} got better up to the end of {stage['epochs']} epochs: "
            "take more with --epochs, or a higher learning_rate (--config)"
        )
    return notes


def _those(n: int, labels: tuple[str, ...]) -> str:
    return f"{n} of {plural(len(labels), 'head')}"


def neutral_sentence(scale_map: ScaleMap) -> str:
    """Say what will be seen of the neutral stimuli, and of all others."""
    said = (
        "The neutral mean is 0 before ratings are clipped to 0 to 7; what lies below 0 then counts "
        "as 0, so that the mean rating of neutral stimuli stays a little above it"
    )
    if any(knots is not None for knots in scale_map.knots):
        said += (
            "; after a map that was fitted to people, all ratings are lower than theirs by what "
            "the map gives neutral stimuli"
        )
    return said


def few_identities_notes(ratings: Ratings) -> list[str]:
    """Say when intervals rest on many pictures of few people."""
    if "identity" not in ratings.stimuli.columns:
        return []
    people = ratings.stimuli["identity"].n_unique()
    if people >= _MANY_IDENTITIES or ratings.n_stimuli < 2 * people:
        return []
    return [
        f"intervals are calibrated on {plural(ratings.n_stimuli, 'stimulus', 'stimuli')} of "
        f"{plural(people, 'identity', 'identities')}: for new ones they may hold less often than "
        f"they say; expected {_MANY_IDENTITIES} identities or more"
    ]


def unsure_notes(found: Intervals | None) -> list[str]:
    """Say where there are too few ratings for an interval."""
    if found is None or not found.unsure:
        return []
    bins = sum(map(len, found.half))
    return [
        f"{found.unsure} of {bins} bins of labels and scores have too few ratings for "
        f"{found.level:g}: their intervals are the whole scale"
    ]


def bin_names(edges: tuple[float, ...]) -> list[str]:
    """Name the bins of predictions."""
    if not edges:
        return ["any score"]
    inner = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"below {edges[0]:g}", *inner, f"from {edges[-1]:g}"]
