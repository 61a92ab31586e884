"""Frames that are taken from a transition, and what takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from affectlab.errors import InputError, unknown_name
from affectlab.stimuli._sequences import FIVE_FRAMES
from affectlab.stimuli.frames._differences import Difference, Looks, difference_of
from affectlab.stimuli.frames._direction import (
    DIRECTIONS,
    Direction,
    peak_to_neutral,
    typical_ends,
)
from affectlab.stimuli.frames._pictures import UnusableError, View
from affectlab.stimuli.frames._transition import Transition

__all__ = ["Chosen", "Sampling", "check_filmed", "ordered"]

_FEWEST = len(FIVE_FRAMES)


@dataclass(frozen=True)
class Chosen:
    """Frames that are taken from a transition."""

    order: tuple[int, ...]
    """Frames of the transition as filmed, from the peak to neutral, counted from 0."""
    places: tuple[int, ...]
    """Those that are taken: numbers in `order`, counted from 0, ascending."""
    roles: tuple[str, ...] = ()
    """What each of them is; empty for candidates."""
    note: str = ""
    """What is not as it should be."""

    @property
    def filmed(self) -> tuple[int, ...]:
        """The frames that are taken, by their numbers as filmed."""
        return tuple(self.order[place] for place in self.places)


class Sampling(Protocol):
    """Takes frames from transitions."""

    def choose(self, transition: Transition, view: View) -> Chosen:
        """Choose the frames; an UnusableError leaves the transition out."""
        ...

    def settings(self, transition: Transition | None = None) -> dict[str, Any]:
        """Say what the choice depends on: for all transitions, or for one of them."""
        ...


def check_filmed(direction: str, ends: int | None, difference: str | Difference) -> None:
    """Check what was said of the films.

    Raises
    ------
    InputError
        When a name is not known, or there is no frame at the ends.
    """
    difference_of(difference)
    if direction not in DIRECTIONS:
        raise unknown_name("direction", direction, DIRECTIONS)
    if ends is not None and ends < 1:
        raise InputError(f"ends = {ends}: expected at least 1 frame")


def ordered(looks: Looks, direction: Direction, ends: int | None) -> list[int]:
    """Order the frames of a transition from the peak to neutral, cut at typical ends.

    Raises
    ------
    UnusableError
        When it does not have five frames, or no such order.
    """
    if len(looks) < _FEWEST:
        raise UnusableError(f"too short: {len(looks)} frames; expected at least {_FEWEST}")
    order = typical_ends(looks, peak_to_neutral(looks, direction), ends)
    if len(order) < _FEWEST:
        raise UnusableError(
            f"too short: {len(order)} frames from peak to neutral; expected at least {_FEWEST}"
        )
    return order
