"""What two runs over one transition say together: five frames, and how many JNDs it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab._words import number
from affectlab.analysis._quest_stored import plain_fields
from affectlab.analysis._staircase import FrameStaircase
from affectlab.analysis._staircase_result import StaircaseResult
from affectlab.errors import InputError

__all__ = ["TransitionJnd", "transition_jnd"]


@dataclass(frozen=True)
class TransitionJnd:
    """The frames 1 JND from either end of a transition, and the JNDs between the ends."""

    results: tuple[StaircaseResult, StaircaseResult]
    """What the runs from the first and from the last frame found."""
    frames: tuple[int, int, int, int, int] | None
    """First frame, 1 JND from it, midpoint, 1 JND from the last frame, last frame; ``None`` where
    these are not five frames in order."""
    n_jnds: float
    """Just noticeable differences from the first to the last frame; see :func:`transition_jnd`."""
    low: float
    """Lower end of the credible interval of `n_jnds`."""
    high: float
    """Upper end of the credible interval of `n_jnds`."""
    status: str = "ok"
    """``ok``, or what stands in the way of five frames or of the number of JNDs."""

    @property
    def ok(self) -> bool:
        """Whether there are five frames in order."""
        return self.status == "ok"

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON, with ``None`` for ``nan``."""
        values = {
            name: getattr(self, name) for name in ("frames", "n_jnds", "low", "high", "status")
        }
        return {"results": [result.to_dict() for result in self.results], **plain_fields(values)}

    def __repr__(self) -> str:
        ends = "–".join(result.anchor for result in self.results)
        jnds = f"{number(self.n_jnds, 1)} JNDs [{number(self.low, 1)}, {number(self.high, 1)}]"
        frames = "" if self.frames is None else f", frames {', '.join(map(str, self.frames))}"
        state = "" if self.ok else f"; {self.status}"
        return f"TransitionJnd({ends}: {jnds}{frames}{state})"


def transition_jnd(runs: Iterable[FrameStaircase], *, confidence: float = 0.95) -> TransitionJnd:
    r"""Put the runs from both ends of a transition together.

    With :math:`L` frames between the ends, and distances :math:`a` and :math:`b` of 1 JND from
    either end, the number of JNDs is

    .. math:: N = 2 + (L - a - b)\, \frac{1}{2} \left(\frac{1}{a} + \frac{1}{b}\right)

    that is, 1 JND at each end, and between them the mean rate of the two. Where the face holds
    still at both ends and moves in between, as it mostly does, :math:`N` is too small; scores of
    differences, divided by the score of 1 JND, say more (section 5.2 of FaceExpressions-70k). The
    value is the median, the interval that of both posteriors, taken as independent.

    Parameters
    ----------
    runs
        Two runs over the same frames, one from each end, in any order; such as the values of
        :meth:`FrameStaircase.runs` after their answers.
    confidence
        Probability that the interval holds.

    Raises
    ------
    InputError
        When these are not two such runs.

    References
    ----------
    FaceExpressions-70k, section 3.2: five frames per sequence, about 5-6 JNDs from peak to neutral.

    Examples
    --------
    >>> from affectlab.analysis import simulate_observer
    >>> observers = [simulate_observer(math.log10(k), guess_rate=0.1, seed=k) for k in (12, 20)]
    >>> begun = FrameStaircase.runs(90).values()
    >>> runs = [run.simulate(observer) for run, observer in zip(begun, observers)]
    >>> transition_jnd(runs)
    TransitionJnd(peak–neutral: 5.7 JNDs [5.2, 6.2], frames 0, 13, 41, 69, 89)
    """
    check_confidence(confidence)
    first, last = _both(list(runs))
    results = first.result(confidence), last.result(confidence)
    near, far = results[0].frame, results[1].frame
    lacking = [f"from {result.anchor}: {result.status}" for result in results if not result.ok]
    if near is None or far is None or lacking:
        return TransitionJnd(results, None, math.nan, math.nan, math.nan, "; ".join(lacking))
    frames = (0, near, (near + far) // 2, far, first.n_frames - 1)
    status = "ok"
    if list(frames) != sorted(set(frames)):
        status = f"close: from the ends, 1 JND is at frames {near} and {far}, with none between"
    low, value, high = _jnds_between(first, last, confidence)
    return TransitionJnd(results, frames if status == "ok" else None, value, low, high, status)


def _both(runs: list[FrameStaircase]) -> tuple[FrameStaircase, FrameStaircase]:
    """Order two runs by their anchor, the first frame before the last."""
    if len(runs) != 2 or not all(isinstance(run, FrameStaircase) for run in runs):
        raise InputError("runs are no two runs; expected one FrameStaircase from each end")
    first, last = sorted(runs, key=lambda run: run.anchor_frame)
    if first.anchor == last.anchor or first.ends != last.ends or first.n_frames != last.n_frames:
        raise InputError(
            f"runs are {first!r} and {last!r}; expected the same frames, once from each end"
        )
    return first, last


def _jnds_between(first: FrameStaircase, last: FrameStaircase, confidence: float) -> Floats:
    """Give lower end, median and upper end of the number of JNDs."""
    length = first.n_frames - 1
    a = 10 ** first.quest.grid[:, None]
    b = 10**last.quest.grid
    jnds = (2 + (length - a - b) * (1 / a + 1 / b) / 2).ravel()
    share = (first.quest.posterior[:, None] * last.quest.posterior).ravel()
    order = np.argsort(jnds)
    below = np.cumsum(share[order])
    below /= below[-1]
    tail = (1 - confidence) / 2
    at = np.searchsorted(below, [tail, 0.5, 1 - tail])
    return jnds[order][at]
