"""The movement of a slider: whether it can be what a slider did, and how far it went."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from affectlab.protocols import Protocol
from affectlab.study.errors import invalid

__all__ = ["LONGEST_MS", "MOST_PLACES", "check_movement", "travelled"]

MOST_PLACES = 2000
"""Places of a slider that one answer may hold; pages thin out what is more."""
LONGEST_MS = 86_400_000


def check_movement(
    protocol: Protocol, value: object, movement: Sequence[Sequence[float]] | None
) -> None:
    """Refuse a movement that no slider of the protocol made, or that does not end at the answer.

    A confirmation of where the slider stands is a place like any other, so that a slider that must
    be touched has one place at least.

    Parameters
    ----------
    value
        The answer.
    movement
        Pairs of milliseconds since the pictures were shown and value.

    Raises
    ------
    StudyError
        When it cannot be.
    """
    wanted = protocol.input
    if not wanted.log_movement:
        return
    if movement is None:
        raise invalid("movement: expected the places of the slider, in pairs of ms and value.")
    if len(movement) > MOST_PLACES:
        raise invalid(f"movement: expected at most {MOST_PLACES} places.")
    if not movement:
        if wanted.must_touch or value != wanted.start:
            raise invalid("movement: expected a place; the slider must be moved or confirmed.")
        return
    for place in movement:
        if len(place) != 2 or not all(_finite(part) for part in place):
            raise invalid("movement: expected pairs of two numbers, ms and value.")
        if not 0 <= place[0] <= LONGEST_MS or not protocol.scale.allows(place[1]):
            raise invalid(f"movement: expected ms from 0 to {LONGEST_MS} and {protocol.scale}.")
    if any(later[0] < earlier[0] for earlier, later in pairwise(movement)):
        raise invalid("movement: expected its places in the order of time.")
    if movement[-1][1] != value:
        raise invalid("movement: expected its last place to be the answer.")


def travelled(movement: Sequence[Sequence[float]], start: float) -> float:
    """Give the length of the way of a slider, in points of the scale.

    Examples
    --------
    >>> travelled([[300, 40.0], [450, 60.0], [900, 55.0]], start=0.0)
    65.0
    """
    places = [start, *(place[1] for place in movement)]
    return math.fsum(abs(later - earlier) for earlier, later in pairwise(places))


def _finite(part: object) -> bool:
    number = isinstance(part, (int, float)) and not isinstance(part, bool)
    return number and math.isfinite(part)  # type: ignore[arg-type]
