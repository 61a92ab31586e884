"""The five frames of a transition: its ends, 1 JND from each, and the middle between those two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.stimuli.frames.pictures import UnusableError
from affectlab.stimuli.pairs import FIVE_FRAMES

__all__ = ["CROSSED", "Crossed", "FiveFrames", "five_frames"]

Crossed = Literal["even", "leave-out"]
CROSSED: tuple[Crossed, ...] = ("even", "leave-out")
"""What is done where the two frames 1 JND away have no frame between them."""

_N = len(FIVE_FRAMES)
_STEPS = {1: "step_2", 2: "step_3", 3: "step_4"}
"""Roles, by the place, of frames that are not what the names of FaceExpressions-70k promise."""


@dataclass(frozen=True)
class FiveFrames:
    """Five frames of a transition, all different, from the peak to neutral."""

    frames: tuple[int, int, int, int, int]
    """Numbers of the frames, counted from 0 at the peak."""
    note: str = ""
    """What is not as it should be; empty where both frames are 1 JND from their end."""
    roles: tuple[str, ...] = FIVE_FRAMES
    """What each frame is: the names of FaceExpressions-70k, with ``step_2``, ``step_3`` or
    ``step_4`` in place of one that a frame does not deserve."""


def five_frames(
    positions: int | Sequence[float] | Floats,
    near_peak: float,
    near_neutral: float,
    *,
    crossed: Crossed = "even",
) -> FiveFrames:
    r"""Choose the five frames of FaceExpressions-70k from a transition.

    With positions :math:`x_0 \le \dots \le x_{n-1}` of the frames, from peak to neutral, and 1 JND
    being :math:`a` from the peak and :math:`b` from neutral, these are

    .. math::
        0, \quad p = \arg\min_i |x_i - x_0 - a|, \quad
        \arg\min_{x_p < x_i < x_q} |2 x_i - x_p - x_q|,
        \quad q = \arg\min_i |x_{n-1} - x_i - b|, \quad n - 1 .

    A frame in the position of an end is never taken to be 1 JND from it: where the first other
    frame is more than 2 JNDs away, it is taken all the same, and the note says so; its role is then
    ``step_2`` or ``step_4``, as it is not 1 JND from its end.

    Where no position lies between those of :math:`p` and :math:`q`, the transition holds about 2
    JNDs or less, and five frames 1 JND apart do not exist. Then the frames nearest to equal steps
    are taken, :math:`x_0 + \frac{k}{4}(x_{n-1} - x_0)`, in five different positions, with the
    smallest sum of distances, and called ``step_2``, ``step_3`` and ``step_4``; or none, where
    `crossed` says so.

    Parameters
    ----------
    positions
        Positions of the n frames, shape (n,), not descending: how far the expression has changed
        since the peak, in any unit. A whole number n stands for frames that count as equal steps,
        as in a staircase.
    near_peak, near_neutral
        1 JND from either end, in the unit of `positions`, 0 or more; ``inf``, or anything beyond
        the other end, where the whole transition is less than 1 JND.
    crossed
        ``"even"`` or ``"leave-out"``, see above.

    Raises
    ------
    UnusableError
        When there are fewer than five frames or different positions, all frames are alike, or
        the JNDs cross and that means to leave the transition out.
    InputError
        When an argument is out of its range.

    References
    ----------
    FaceExpressions-70k, section 3.2 and figure 2.

    Examples
    --------
    >>> five_frames(90, near_peak=13.2, near_neutral=20.6).frames
    (0, 13, 40, 68, 89)
    >>> five_frames([0, 0, 1, 3, 6, 9, 11, 12, 12], near_peak=1, near_neutral=1).frames
    (0, 2, 4, 6, 8)
    >>> even = five_frames(9, near_peak=6, near_neutral=5)
    >>> even.note
    'crossed: 1 JND is frame 6 from the peak and frame 3 from neutral; equal steps instead'
    >>> even.roles
    ('peak', 'step_2', 'step_3', 'step_4', 'neutral')
    """
    x = _positions(positions)
    for name, value in (("near_peak", near_peak), ("near_neutral", near_neutral)):
        if math.isnan(value) or value < 0:
            raise InputError(f"{name} = {value!r}: expected a distance of 0 or more")
    check_choice("rule for crossed JNDs", crossed, CROSSED)
    last = x.size - 1
    away, back = x - x[0], (x[-1] - x)[::-1]
    p, q = _one_jnd(away, near_peak), last - _one_jnd(back, near_neutral)
    between = np.flatnonzero((x > x[p]) & (x < x[q]))
    if not between.size:
        found = f"1 JND is {_named(p, last)} from the peak and {_named(q, last)} from neutral"
        if crossed == "leave-out":
            raise UnusableError(f"crossed: {found}, with nothing between")
        steps = x[0] + (x[-1] - x[0]) * np.array([0.25, 0.5, 0.75])
        note = f"crossed: {found}; equal steps instead"
        return FiveFrames((0, *_distinct(x, steps), last), note, _roles(_STEPS))
    middle = int(between[_nearest(x[between], (x[p] + x[q]) / 2)])
    ends = (("the peak", near_peak, away, 1), ("neutral", near_neutral, back, 3))
    short = {
        end: place for end, distance, moved, place in ends if distance < moved[moved > 0][0] / 2
    }
    note = f"within: the first other frame from {' and from '.join(short)} is more than 1 JND away"
    roles = _roles({place: _STEPS[place] for place in short.values()})
    return FiveFrames((0, p, middle, q, last), note if short else "", roles)


def _roles(instead: Mapping[int, str]) -> tuple[str, ...]:
    """Name five frames, some by another name."""
    return tuple(instead.get(place, role) for place, role in enumerate(FIVE_FRAMES))


def _positions(positions: int | Sequence[float] | Floats) -> Floats:
    given = np.arange(positions) if isinstance(positions, int) else positions
    x = np.asarray(given, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all() or (np.diff(x) < 0).any():
        raise InputError("positions: expected one finite number per frame, not descending")
    if x.size < _N:
        raise UnusableError(f"too short: {x.size} frames; expected at least {_N}")
    if x[-1] == x[0]:
        raise UnusableError("all frames are alike; expected a face that moves")
    different = int(np.unique(x).size)
    if different < _N:
        raise UnusableError(
            f"only {different} of {x.size} frames differ; expected at least {_N}, so that no two "
            "of those that are taken look the same"
        )
    return x


def _one_jnd(moved: Floats, distance: float) -> int:
    """Give the frame nearest to a distance from the first one; none in the place of the first."""
    if distance > moved[-1]:
        return moved.size - 1
    first = int(np.argmax(moved > 0))
    return first + _nearest(moved[first:], distance)


def _nearest(x: Floats, target: float) -> int:
    """Give the place nearest to a target, the first of equals."""
    return int(np.argmin(np.abs(x - target)))


def _named(frame: int, last: int) -> str:
    return f"frame {frame}" if 0 < frame < last else "beyond all frames"


def _distinct(x: Floats, targets: Floats) -> tuple[int, int, int]:
    """Choose ascending positions between the ends, with the smallest sum of distances to targets.

    Gives the first frame of each. Of choices that are equally good the first in the order of
    frames is taken.
    """
    x, frames = np.unique(x, return_index=True)
    last = x.size - 1
    cost = np.abs(x[None, :] - targets[:, None])
    k = len(targets)
    # best[j, i] is the least cost of targets j, j+1, … with target j at frame i or later.
    best = np.full((k + 1, x.size + 1), math.inf)
    best[k] = 0.0
    for j in range(k - 1, -1, -1):
        for i in range(last - k + j, j, -1):
            best[j, i] = min(cost[j, i] + best[j + 1, i + 1], best[j, i + 1])
    chosen, i = [], 1
    for j in range(k):
        i = max(i, j + 1)
        while best[j, i] < cost[j, i] + best[j + 1, i + 1]:
            i += 1
        chosen.append(i)
        i += 1
    first, second, third = (int(frames[i]) for i in chosen)
    return first, second, third
