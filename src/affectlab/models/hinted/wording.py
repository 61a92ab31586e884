"""Sentences of hinted annotation."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.words import percent, plural
from affectlab.models.ask import in_flight_sentence

EVERY_LABEL = "every label has its target"


def too_little(given_up: int, labels: int) -> str:
    """Say that no label is left for which hints bring enough."""
    others = ", all others have their target" if given_up < labels else ""
    return f"hints bring too little: {plural(given_up, 'label')} given up{others}"


def all_done(n: int, what: str) -> str:
    """Say that the rounds or the pictures of the plan are used up."""
    return f"the plan has no more than {plural(n, what)}"


def covered(met: int, labels: int, rounds: int, stopped: str) -> str:
    """Say how many labels are covered, and why the loop ended."""
    after = plural(rounds, "round")
    return f"{met} of {plural(labels, 'label')} covered after {after}: {stopped}"


def followed(n: int, share: float, low: float, high: float) -> str:
    """Say how often hints were followed, with an interval."""
    pictures = plural(n, "hinted picture")
    return f"hints followed: {percent(share)} of {pictures} ({percent(low)} to {percent(high)})"


def cautions(given_up: Sequence[str], in_flight: Sequence[str], n_broken: int) -> tuple[str, ...]:
    """Say what was given up, and what was asked about again."""
    said = []
    if n_broken:
        lines = plural(n_broken, "line")
        said = [f"{lines} of the ledger could not be read; what they held was asked about again"]
    if in_flight:
        waiting = in_flight_sentence(in_flight, "picture")
        said.append(f"{waiting}; the annotator was asked about them again")
    if given_up:
        said.append(f"given up, since hints were rarely followed: {', '.join(given_up)}")
    return tuple(said)
