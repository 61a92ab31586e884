"""Which frames of what was filmed make the transition, and in which order."""

from __future__ import annotations

from typing import Literal

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.stimuli.frames.differences import Looks
from affectlab.stimuli.frames.pictures import UnusableError

__all__ = ["DIRECTIONS", "Direction", "peak_to_neutral", "typical_ends"]

Direction = Literal["peak-neutral", "neutral-peak", "neutral-peak-neutral", "find"]
DIRECTIONS: tuple[Direction, ...] = (
    "peak-neutral",
    "neutral-peak",
    "neutral-peak-neutral",
    "find",
)
"""Ways in which a transition can have been filmed."""

_ENDS = 5
"""Frames at each end that peak and neutral are chosen from, where nobody says otherwise."""
_BETWEEN = 3
"""Frames of the five that are not at the ends."""


def peak_to_neutral(looks: Looks, direction: Direction) -> list[int]:
    """Order the frames of a transition from the peak to neutral.

    ``peak-neutral`` and ``neutral-peak`` are taken at their word. In ``neutral-peak-neutral`` the
    peak (the apex) is the frame that differs most from the first, and the transition is what comes
    after it. ``find`` supposes only that the film begins with the face at rest: where the last
    frame differs from the first less than half as much as the apex does, the face has come back
    and it is taken as the former, otherwise the transition runs from the apex back to the first
    frame.

    Parameters
    ----------
    looks
        The frames as a difference sees them.
    direction
        One of :data:`DIRECTIONS`.

    Returns
    -------
    Numbers of frames as filmed, counted from 0, the peak first.

    Raises
    ------
    UnusableError
        When no frame differs from the first, or the face does not come back.
    """
    check_choice("direction", direction, DIRECTIONS)
    n = len(looks)
    if direction == "peak-neutral":
        return list(range(n))
    if direction == "neutral-peak":
        return list(range(n - 1, -1, -1))
    if not n:
        raise UnusableError("there are no frames")
    away = looks.from_frame(0)
    apex = int(np.argmax(away))
    if away[apex] == 0:
        raise UnusableError("all frames are alike; expected a face that moves")
    back = away[-1] < away[apex] / 2
    if not back and direction == "neutral-peak-neutral":
        raise UnusableError(
            f"the face does not come back to rest: the last frame differs from the first "
            f"{away[-1] / away[apex]:.0%} as much as frame {apex}, the apex"
        )
    return list(range(apex, n)) if back else list(range(apex, -1, -1))


def typical_ends(looks: Looks, order: list[int], ends: int | None) -> list[int]:
    """Cut a transition at a typical frame of its beginning and its end.

    Faces are held at the peak and at rest for some frames, in some of which the eyes are shut or
    the picture is blurred. Of the first `ends` frames, and of the last, the one is taken that
    differs least from the others together.

    Parameters
    ----------
    order
        Frames from the peak to neutral.
    ends
        Frames to choose from at each end; 1 takes the first and the last. None: 5 where there are
        13 or more frames, so that three lie between, otherwise 1.

    Raises
    ------
    UnusableError
        When both ends together have more frames than the transition.

    References
    ----------
    FaceExpressions-70k, section 3.2: the peak from the first five frames, neutral from the last.
    """
    if ends is None:
        ends = _ENDS if len(order) >= 2 * _ENDS + _BETWEEN else 1
    if ends < 1:
        raise InputError(f"ends = {ends}: expected at least 1 frame")
    if ends == 1:
        return order
    if len(order) < 2 * ends + _BETWEEN:
        raise UnusableError(
            f"too short: {len(order)} frames; expected at least {2 * ends + _BETWEEN}, three "
            f"between {ends} at each end"
        )
    first = int(np.argmin(looks.among(order[:ends]).sum(axis=0)))
    last = len(order) - ends + int(np.argmin(looks.among(order[-ends:]).sum(axis=0)))
    return order[first : last + 1]
