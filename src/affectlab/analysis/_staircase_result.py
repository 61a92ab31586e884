"""What a run over the frames of a transition found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from affectlab._words import number, plural
from affectlab.analysis._quest_stored import plain_fields
from affectlab.estimates import Estimate

if TYPE_CHECKING:
    from affectlab.analysis._staircase import FrameStaircase

__all__ = ["StaircaseResult", "staircase_result"]


@dataclass(frozen=True)
class StaircaseResult:
    """The frame that is one just noticeable difference (JND) away from the anchor.

    Distances are frames from the anchor and need not be whole. An end of the interval may lie
    beyond the sequence: it is not cut. Where the answers do not bound the distance, there is no
    interval (``nan``).
    """

    anchor: str
    """The end of the transition that was compared with."""
    frame: int | None
    """Number of the frame nearest to 1 JND, counted from 0; ``None`` where no frame is."""
    distance: float
    """Frames from the anchor to 1 JND, ``nan`` where no frame of the sequence is 1 JND away."""
    low: float
    """Lower end of the credible interval of the distance."""
    high: float
    """Upper end of the credible interval of the distance."""
    sd: float
    """Posterior standard deviation of the log10 distance."""
    frames: tuple[int | None, int | None]
    """Frames nearest to `low` and `high`; ``None`` where that lies outside the sequence."""
    beyond: float
    """Posterior probability that even the farthest frame is less than 1 JND away."""
    within: float
    """Posterior probability that even the nearest frame is more than 1 JND away."""
    n_trials: int
    """Comparisons of the anchor with another frame."""
    n_different: int
    """How many of these were answered with "different"."""
    n_catch: int
    """Comparisons of the anchor with itself."""
    n_false_alarms: int
    """How many of these were answered with "different"."""
    status: str = "ok"
    """``ok``, or what stands in the way of a result."""

    @property
    def ok(self) -> bool:
        """Whether the run ended and found a frame."""
        return self.status == "ok"

    @property
    def estimate(self) -> Estimate:
        """The distance as an estimate, with the standard error of its logarithm carried over."""
        method = f"frames from {self.anchor} to 1 JND, QUEST"
        se = self.distance * math.log(10) * self.sd
        return Estimate(
            self.distance,
            se,
            self.low,
            self.high,
            method,
            n_items=1,
            n_raters=min(1, self.n_trials),
            n_ratings=self.n_trials,
            status=self.status,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON, with ``None`` for ``nan``."""
        return plain_fields(asdict(self))

    def __repr__(self) -> str:
        found = "no frame" if self.frame is None else f"frame {self.frame}"
        reach = f"{number(self.distance, 1)} [{number(self.low, 1)}, {number(self.high, 1)}]"
        state = "" if self.ok else f"; {self.status}"
        return f"StaircaseResult({self.anchor}: {found}, {reach} frames away{state})"


def staircase_result(run: FrameStaircase, confidence: float) -> StaircaseResult:
    """Give what a run found, with the credible interval that leaves equal tails."""
    state = run.quest
    low, high = (10**end for end in state.interval(confidence))
    distance, sd = 10**state.mean, state.sd
    if not state.n_trials or any(state.cut_off):
        # Here they would say where the grid ends, not what was answered.
        low = high = sd = math.nan
    status = _status(run, distance)
    if status != "ok":
        distance = math.nan
    if state.n_trials and not run.done:
        left = f"unfinished: {state.n_trials} of {plural(run.trials, 'trial')}"
        status = left if status == "ok" else f"{left}; {status}"
    answers = list(zip(run.frames, run.different, strict=True))
    compared = [different for frame, different in answers if frame != run.anchor_frame]
    caught = [different for frame, different in answers if frame == run.anchor_frame]
    return StaircaseResult(
        anchor=run.anchor,
        frame=run.frame_at(distance),
        distance=distance,
        low=low,
        high=high,
        sd=sd,
        frames=(run.frame_at(low), run.frame_at(high)),
        beyond=1 - state.cumulative(math.log10(run.n_frames - 1)),
        within=state.cumulative(0.0),
        n_trials=len(compared),
        n_different=sum(compared),
        n_catch=len(caught),
        n_false_alarms=sum(caught),
        status=status,
    )


def _status(run: FrameStaircase, distance: float) -> str:
    """Say whether a frame of the sequence is 1 JND away, or why none is."""
    farthest = run.n_frames - 1
    if not run.n_trials:
        return "undefined: no answers yet"
    if distance > farthest:
        return f"beyond: the farthest frame, {farthest} away, is less than 1 JND away"
    if distance < 1:
        return "within: the frame next to the anchor is more than 1 JND away"
    if any(run.quest.cut_off):
        return "undefined: the answers do not bound 1 JND yet"
    return "ok"
