"""Five frames of a transition, by what people saw or by a difference of pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Rare
from affectlab.stimuli.frames.differences import Difference, Looks, difference_of, name_of
from affectlab.stimuli.frames.direction import DIRECTIONS, Direction, peak_to_neutral, typical_ends
from affectlab.stimuli.frames.five_frames import CROSSED, Crossed, FiveFrames, five_frames
from affectlab.stimuli.frames.jnds import SequenceJnd
from affectlab.stimuli.frames.pictures import UnusableError, View
from affectlab.stimuli.frames.transition import Transition
from affectlab.stimuli.pairs import FIVE_FRAMES

__all__ = [
    "Along",
    "Candidates",
    "Chosen",
    "FiveFrameSampling",
    "Sampling",
    "check_filmed",
    "evenly",
    "ordered",
]

# Frames that are taken from a transition, and what takes them.


_MIN_FRAMES = len(FIVE_FRAMES)


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
    check_choice("direction", direction, DIRECTIONS)
    if ends is not None and ends < 1:
        raise InputError(f"ends = {ends}: expected at least 1 frame")


def ordered(looks: Looks, direction: Direction, ends: int | None) -> list[int]:
    """Order the frames of a transition from the peak to neutral, cut at typical ends.

    Raises
    ------
    UnusableError
        When it does not have five frames, or no such order.
    """
    if len(looks) < _MIN_FRAMES:
        raise UnusableError(f"too short: {len(looks)} frames; expected at least {_MIN_FRAMES}")
    order = typical_ends(looks, peak_to_neutral(looks, direction), ends)
    if len(order) < _MIN_FRAMES:
        raise UnusableError(
            f"too short: {len(order)} frames from peak to neutral; expected at least {_MIN_FRAMES}"
        )
    return order


Along = Literal["steps", "ends"]
_ALONG: tuple[Along, ...] = ("steps", "ends")


@dataclass(frozen=True)
class FiveFrameSampling:
    """Takes the five frames of FaceExpressions-70k; see :func:`five_frames`.

    With `staircases`, 1 JND is what people saw. Without, it is stated in terms of a difference of
    pictures, which is a stand-in: it makes steps even, but says nothing of what people notice.

    Parameters
    ----------
    direction, ends
        See :func:`peak_to_neutral` and :func:`typical_ends`. With `staircases` the ends are those
        that were judged, the first frame and the last.
    difference
        ``"ssim"``, ``"rmse"``, or a function of two pictures.
    staircases
        Distances of 1 JND by name of the sequence; see :func:`read_jnds`. The transition then has
        to have the frames that were judged.
    jnds
        JNDs from the peak to neutral: 1 JND is this part of the whole difference.
    jnd
        1 JND in the unit of the difference, instead of `jnds`.
    along
        ``"steps"``: a frame's position is the sum of the differences of neighbouring frames since
        the peak, and the middle lies halfway in it. ``"ends"``: 1 JND from an end is the first
        frame that differs from that end by so much, and the middle lies halfway in frames; noise
        of the camera, which adds up from frame to frame, does not matter then.
    crossed
        What is done where the JNDs cross.

    Raises
    ------
    InputError
        When a setting is out of its range, or two do not go together.

    References
    ----------
    FaceExpressions-70k, section 3.2: about 5-6 JNDs from peak to neutral.

    Examples
    --------
    >>> FiveFrameSampling(difference="rmse").settings()["jnds"]
    5.5
    """

    direction: Direction = "peak-neutral"
    ends: int | None = None
    difference: str | Difference = "ssim"
    staircases: Mapping[str, SequenceJnd] | None = None
    jnds: float = 5.5
    jnd: float | None = None
    along: Annotated[Along, Rare] = "steps"
    crossed: Annotated[Crossed, Rare] = "even"

    def __post_init__(self) -> None:
        check_filmed(self.direction, self.ends, self.difference)
        check_choice("way to measure along", self.along, _ALONG)
        check_choice("rule for crossed JNDs", self.crossed, CROSSED)
        if not 1 <= self.jnds < math.inf:
            raise InputError(f"jnds = {self.jnds!r}: expected JNDs from peak to neutral, 1 or more")
        if self.jnd is not None and not 0 < self.jnd < math.inf:
            raise InputError(f"jnd = {self.jnd!r}: expected a difference above 0")
        if self.staircases is not None and self.ends not in (None, 1):
            raise InputError(
                f"ends = {self.ends}: the ends of sequences that staircases were run on stay as "
                "they were judged; expected 1"
            )

    def choose(self, transition: Transition, view: View) -> Chosen:
        """Choose five frames of a transition.

        Raises
        ------
        UnusableError
            When the transition does not have five such frames.
        InputError
            When staircases were run on other frames.
        """
        looks = Looks(transition, view, difference_of(self.difference))
        order = ordered(looks, self.direction, self._ends)
        if self.staircases is not None:
            found = self._by_staircases(transition, self.staircases, len(order))
        elif self.along == "steps":
            found = self._by_steps(looks, order)
        else:
            found = self._from_ends(looks, order)
        return Chosen(tuple(order), found.frames, found.roles, found.note)

    def settings(self, transition: Transition | None = None) -> dict[str, Any]:
        """Say what the choice depends on: for all transitions, or for one of them."""
        if transition is not None:
            found = (self.staircases or {}).get(transition.name)
            return {} if found is None else {"jnd": [found.near_peak, found.near_neutral]}
        ends = "auto" if self._ends is None else self._ends
        told: dict[str, Any] = {"frames": "five", "direction": self.direction, "ends": ends}
        if self.staircases is None or self.direction in ("neutral-peak-neutral", "find"):
            told["difference"] = name_of(difference_of(self.difference))
        if self.staircases is None:
            jnds = self.jnds if self.jnd is None else None
            told |= {"jnds": jnds, "jnd": self.jnd, "along": self.along}
        return told | {"staircases": self.staircases is not None, "crossed": self.crossed}

    @property
    def _ends(self) -> int | None:
        return self.ends if self.staircases is None else 1

    def _by_staircases(
        self, transition: Transition, staircases: Mapping[str, SequenceJnd], n: int
    ) -> FiveFrames:
        found = staircases.get(transition.name)
        if found is None:
            raise UnusableError("no staircase was run on it")
        if found.n_frames != n:
            raise InputError(
                f"{transition.name!r} has {n} frames from peak to neutral, but the staircases were "
                f"run on {found.n_frames}; expected the frames that were judged, such as the "
                "candidates.csv of the study"
            )
        if found.near_peak is None or found.near_neutral is None:
            lacking = "the peak" if found.near_peak is None else "neutral"
            raise UnusableError(f"no staircase from {lacking} found 1 JND")
        return five_frames(n, found.near_peak, found.near_neutral, crossed=self.crossed)

    def _by_steps(self, looks: Looks, order: Sequence[int]) -> FiveFrames:
        steps = looks.steps()
        first, last = min(order), max(order)
        along = steps[first:last] if order[0] == first else steps[first:last][::-1]
        positions: Floats = np.concatenate([[0.0], np.cumsum(along)])
        jnd = positions[-1] / self.jnds if self.jnd is None else self.jnd
        return five_frames(positions, jnd, jnd, crossed=self.crossed)

    def _from_ends(self, looks: Looks, order: Sequence[int]) -> FiveFrames:
        from_peak = looks.from_frame(order[0])[list(order)]
        from_neutral = looks.from_frame(order[-1])[list(order)][::-1]
        whole = float(from_peak[-1])
        if whole == 0:
            raise UnusableError("peak and neutral are alike; expected a face that moves")
        jnd = whole / self.jnds if self.jnd is None else self.jnd
        near = [
            float(np.argmax(away >= jnd)) if (away >= jnd).any() else math.inf
            for away in (from_peak, from_neutral)
        ]
        return five_frames(len(order), near[0], near[1], crossed=self.crossed)


# Frames at even times, for a staircase to choose from.


_FEWEST_CANDIDATES = len(FIVE_FRAMES)


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
        if self.count < _FEWEST_CANDIDATES:
            raise InputError(f"{self.count} candidates; expected at least {_FEWEST_CANDIDATES}")

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
