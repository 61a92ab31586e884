"""Frames at even times, for a staircase to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.errors import InputError
from affectlab.stimuli._sequences import FIVE_FRAMES
from affectlab.stimuli.frames._chosen import Chosen, check_filmed, ordered
from affectlab.stimuli.frames._differences import Difference, Looks, difference_of, name_of
from affectlab.stimuli.frames._direction import Direction
from affectlab.stimuli.frames._pictures import View
from affectlab.stimuli.frames._transition import Transition

__all__ = ["Candidates", "evenly"]

_FEWEST = len(FIVE_FRAMES)


@dataclass(frozen=True)
class Candidates:
    """Takes frames at even times from the peak to neutral, for a staircase to choose from.

    A staircase counts distances in frames, so that these have to mean the same time everywhere,
    also where a video has a varying frame rate.

    Parameters
    ----------
    count
        Most frames of a sequence, at least 5; a shorter transition gives all that it has.
    direction, ends, difference
        As in :class:`FiveFrameSampling`.

    Examples
    --------
    >>> Candidates(41).settings()["count"]
    41
    """

    count: int
    direction: Direction = "peak-neutral"
    ends: int | None = None
    difference: str | Difference = "ssim"

    def __post_init__(self) -> None:
        check_filmed(self.direction, self.ends, self.difference)
        if self.count < _FEWEST:
            raise InputError(f"{self.count} candidates; expected at least {_FEWEST}")

    def choose(self, transition: Transition, view: View) -> Chosen:
        """Choose frames of a transition; an UnusableError leaves it out."""
        looks = Looks(transition, view, difference_of(self.difference))
        order = ordered(looks, self.direction, self.ends)
        times = transition.frames.times_ms
        known = [times[index] for index in order]
        after = [
            float(place) if time is None else abs(time - (known[0] or 0.0))
            for place, time in enumerate(known)
        ]
        return Chosen(tuple(order), tuple(evenly(after, self.count)))

    def settings(self, transition: Transition | None = None) -> dict[str, Any]:
        """Say what the choice depends on: for all transitions, or for one of them."""
        if transition is not None:
            return {}
        return {
            "frames": "candidates",
            "count": self.count,
            "direction": self.direction,
            "ends": "auto" if self.ends is None else self.ends,
            "difference": name_of(difference_of(self.difference)),
        }


def evenly(times: Sequence[float], count: int) -> list[int]:
    """Choose frames nearest to even times, all different, the first and the last among them.

    Parameters
    ----------
    times
        Times of frames, ascending.
    count
        How many to choose; all where there are not more.

    Examples
    --------
    >>> evenly([0, 1, 2, 3, 4, 5, 6, 7, 8], 5)
    [0, 2, 4, 6, 8]
    >>> evenly([0, 10, 20, 30, 32, 34, 36, 38, 40], 5)
    [0, 1, 2, 3, 8]
    """
    n = len(times)
    if n <= count:
        return list(range(n))
    even = np.linspace(times[0], times[-1], count)
    chosen: list[int] = []
    for place, time in enumerate(even):
        nearest = int(np.argmin(np.abs(np.asarray(times) - time)))
        least = chosen[-1] + 1 if chosen else 0
        # Enough frames have to be left for the times that follow.
        chosen.append(min(max(nearest, least), n - count + place))
    return chosen
