"""Five frames of a transition, by what people saw or by a difference of pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.stimuli.frames._chosen import Chosen, check_filmed, ordered
from affectlab.stimuli.frames._differences import Difference, Looks, difference_of, name_of
from affectlab.stimuli.frames._direction import Direction
from affectlab.stimuli.frames._five_frames import CROSSED, Crossed, FiveFrames, five_frames
from affectlab.stimuli.frames._jnds import SequenceJnd
from affectlab.stimuli.frames._pictures import UnusableError, View
from affectlab.stimuli.frames._transition import Transition

__all__ = ["Along", "FiveFrameSampling"]

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
    along: Along = "steps"
    crossed: Crossed = "even"

    def __post_init__(self) -> None:
        check_filmed(self.direction, self.ends, self.difference)
        if self.along not in _ALONG:
            raise unknown_name("way to measure along", self.along, _ALONG)
        if self.crossed not in CROSSED:
            raise unknown_name("rule for crossed JNDs", self.crossed, CROSSED)
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
