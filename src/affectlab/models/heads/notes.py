"""What a reader should know of heads that were trained: which saw little, or were not done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.core.words import joined, plural

__all__ = ["judging_notes", "learning_notes"]

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
    by_status: dict[str, list[str]] = {}
    for row in labels:
        if row["status"] is not None:
            by_status.setdefault(row["status"], []).append(row["label"])
    return [f"no rank correlation for {joined(own)}: {why}" for why, own in by_status.items()]


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
            + (", or take more of them with --cap 0" if stage["cap"] is not None else "")
        )
    if drawn and not stage["binarised"]:
        notes.append(
            f"for {_those(len(drawn), labels)} balancing left less than a quarter of the rated "
            "rows; --cap 0 takes all"
        )
    if going:
        notes.append(
            f"{_those(len(going), labels)} got better up to the end of {stage['epochs']} epochs: "
            "take more with --epochs, or a higher --learning-rate"
        )
    return notes


def _those(n: int, labels: tuple[str, ...]) -> str:
    return f"{n} of {plural(len(labels), 'head')}"
