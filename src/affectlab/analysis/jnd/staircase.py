"""The just noticeable difference on the frames of a transition between two expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import polars as pl

from affectlab.analysis.jnd.json_state import PlainState, flags_of, opened
from affectlab.analysis.jnd.psychometric import number_of
from affectlab.analysis.jnd.quest import Method, Quest, QuestSettings, check_method
from affectlab.analysis.jnd.wording import (
    STAIRCASES,
    distance_text,
    frames_statistic,
    frames_text,
)
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimate
from affectlab.core.facts import Cause, Reason, Status
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Key, Table, YesNo
from affectlab.core.wording import status_text
from affectlab.core.words import plural

# What a run over the frames of a transition found.


class JndStatus(StrEnum):
    """Whether a run, or several, found a frame that is one just noticeable difference away."""

    OK = "ok"
    UNFINISHED = "unfinished"
    """Trials are left."""
    BEYOND = "beyond"
    """Even the farthest frame is less than 1 JND away."""
    WITHIN = "within"
    """Even the nearest frame is more than 1 JND away."""
    CLOSE = "close"
    """The frames 1 JND from either end leave none between them."""
    UNDEFINED = "undefined"
    """The answers do not say."""


@dataclass(frozen=True)
class StaircaseResult(PlainState):
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
    status: JndStatus = JndStatus.OK
    """``ok``, or what stands in the way of a result."""
    reason: Reason | None = None
    """Why the status is not ``ok``."""

    @property
    def ok(self) -> bool:
        """Whether the run ended and found a frame."""
        return self.status is JndStatus.OK

    @property
    def estimate(self) -> Estimate:
        """The distance as an estimate, with the standard error of its logarithm carried over."""
        return Estimate(
            self.distance,
            frames_statistic(self.anchor),
            ("QUEST",),
            self.distance * math.log(10) * self.sd,
            self.low,
            self.high,
            n_items=1,
            n_raters=min(1, self.n_trials),
            n_ratings=self.n_trials,
            status=Status.OK if self.ok else Status.UNDEFINED,
            reason=self.reason,
        )

    def __repr__(self) -> str:
        found = "no frame" if self.frame is None else f"frame {self.frame}"
        reach = distance_text(self.distance, self.low, self.high)
        state = "" if self.ok else f"; {status_text(self.status, self.reason)}"
        return f"StaircaseResult({self.anchor}: {found}, {reach} frames away{state})"


def staircase_result(run: FrameStaircase, confidence: float) -> StaircaseResult:
    """Give what a run found, with the credible interval that leaves equal tails."""
    state = run.quest
    low, high = (10**end for end in state.interval(confidence))
    distance, sd = 10**state.mean, state.sd
    if not state.n_trials or any(state.cut_off):
        # Here they would say where the grid ends, not what was answered.
        low = high = sd = math.nan
    status, reason = _status(run, distance)
    if status is not JndStatus.OK:
        distance = math.nan
    if state.n_trials and not run.done:
        status = JndStatus.UNFINISHED
        reason = Reason(Cause.UNFINISHED, state.n_trials, run.trials, "trials")
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
        reason=reason,
    )


def _status(run: FrameStaircase, distance: float) -> tuple[JndStatus, Reason | None]:
    """Say whether a frame of the sequence is 1 JND away, and why none is."""
    status, reason = status_of([run], distance > run.n_frames - 1, distance < 1)
    if status is JndStatus.OK and any(run.quest.cut_off):
        return JndStatus.UNDEFINED, Reason(Cause.UNBOUNDED_JND)
    return status, reason


def status_of(
    runs: Sequence[FrameStaircase], beyond: bool, within: bool
) -> tuple[JndStatus, Reason | None]:
    """Say whether answers leave 1 JND within the frames, or on which side of them it is."""
    if not any(run.n_trials for run in runs):
        return JndStatus.UNDEFINED, Reason(Cause.NONE, of="answers yet")
    if beyond:
        farthest = max(run.n_frames for run in runs) - 1
        return JndStatus.BEYOND, Reason(Cause.FARTHEST_WITHIN_JND, n=farthest)
    if within:
        return JndStatus.WITHIN, Reason(Cause.NEAREST_BEYOND_JND)
    return JndStatus.OK, None


_JNDS = 5.5
"""Just noticeable differences from one end to the other, as observed on faces (section 3.2)."""
_ENDS = ("peak", "neutral")
_ROOM = 1.0
"""How far the grid of thresholds goes beyond the frames on either side, in log10 units."""


@dataclass(frozen=True)
class FrameStaircase(PlainState):
    """One run: which frame to show beside the anchor next, and which is 1 JND away.

    The anchor is one end of a transition of `n_frames` frames and stays fixed. A trial shows it
    beside another frame; the answer is "different" or "same". The intensity is the distance of the
    two frames, on a log10 scale. An update gives a new object; settings and answers are the whole
    state. Begin with :meth:`begin`, or with :meth:`runs` for both ends.

    **What the threshold means.** Every pair does differ, so "different" is the correct answer, and
    1 JND is the distance at which 75 % of the answers are "different". The share is not corrected
    for guessing. The guess rate is the false alarm rate: how often two equal pictures are called
    different. It is assumed and hardly matters, because trials are placed where about 75 % are
    detected; what does matter is that an observer who likes to say "different" has a shorter JND. A
    trial that shows the anchor beside itself (a catch trial) leaves the estimate as it is; these
    are counted apart, and say what the false alarm rate is.

    References
    ----------
    FaceExpressions-70k, section 3.2 and appendix A.2: 50 trials, a 75 % threshold, one run from
    each end.
    Watson, A. B., & Pelli, D. G. (1983). QUEST: A Bayesian adaptive psychometric method.
    Perception & Psychophysics 33, 113-120.

    Examples
    --------
    A transition of 90 frames from peak (frame 0) to neutral (frame 89), and an observer who needs
    14 frames:

    >>> from affectlab.analysis import simulate_observer
    >>> run = FrameStaircase.begin(90, "neutral")
    >>> run.next_frame()
    75
    >>> observer = simulate_observer(math.log10(14), guess_rate=0.05, seed=2)
    >>> while not run.done:
    ...     frame = run.next_frame()
    ...     run = run.update(frame, observer(run.intensity(frame)))
    >>> run.result()
    StaircaseResult(neutral: frame 75, 13.8 [12.3, 15.6] frames away)
    """

    _schema: ClassVar[str] = "affectlab/frame-staircase/1"
    n_frames: int
    """Frames of the transition, both ends counted."""
    anchor: str
    """Name of the end that stays fixed."""
    ends: tuple[str, str]
    """Names of the first and the last frame."""
    trials: int
    """Comparisons after which the run is done; catch trials are not counted."""
    method: Method
    """How the next frame follows from what is known; see :meth:`Quest.next_intensity`."""
    settings: QuestSettings
    """Prior and psychometric function, in log10 frames."""
    frames: tuple[int, ...] = ()
    """Frame shown beside the anchor in every trial, in order."""
    different: tuple[bool, ...] = ()
    """Whether each was called different."""

    def __post_init__(self) -> None:
        for name, least in (("n_frames", 2), ("trials", 1)):
            check_number(name, getattr(self, name), least, whole=True)
            object.__setattr__(self, name, int(getattr(self, name)))
        named = isinstance(self.ends, tuple) and all(isinstance(end, str) for end in self.ends)
        if not named or len(self.ends) != 2 or self.ends[0] == self.ends[1]:
            raise InputError(
                f"ends is {self.ends!r}; expected two names, of the first and of the last frame"
            )
        check_choice("anchor", self.anchor, self.ends)
        check_method(self.method)

    @classmethod
    def begin(
        cls,
        n_frames: int,
        anchor: str = "peak",
        *,
        ends: tuple[str, str] = _ENDS,
        trials: int = 50,
        threshold: float = 0.75,
        slope: float = 3.5,
        lapse: float = 0.01,
        guess_rate: float = 0.1,
        guess: float | None = None,
        sd: float = 1.0,
        grain: float = 0.01,
        method: Method = "mean",
    ) -> FrameStaircase:
        """Begin a run.

        Parameters
        ----------
        n_frames
            Frames of the transition, both ends counted.
        anchor
            Name of the end that stays fixed, one of `ends`.
        ends
            Names of the first and the last frame.
        trials
            Comparisons after which the run is done.
        threshold
            Share of "different" answers that defines 1 JND.
        slope
            Slope of the psychometric function per log10 unit of distance.
        lapse
            Share of trials answered blindly.
        guess_rate
            False alarm rate: share of "different" answers to two equal pictures. Give 0.5 if the
            question has two alternatives of which one is right.
        guess
            Distance in frames where 1 JND may be. If not given, the sequence is taken to hold the
            5.5 JNDs that the paper observed.
        sd
            Standard deviation of the guess in log10 units: 1 is a factor of ten either way.
        grain
            Distance of the thresholds that are told apart, in log10 units.
        method
            How the next frame is chosen.

        Raises
        ------
        InputError
            When a number is out of its range, or `anchor` is none of `ends`.
        """
        check_number("n_frames", n_frames, 2, whole=True)
        farthest = n_frames - 1
        expected = max(1.0, farthest / _JNDS) if guess is None else number_of("guess", guess)
        check_number("guess", expected, 10**-_ROOM, farthest * 10**_ROOM)
        settings = QuestSettings(
            guess=math.log10(expected),
            sd=sd,
            threshold=threshold,
            slope=slope,
            lapse=lapse,
            guess_rate=guess_rate,
            low=-_ROOM,
            high=math.log10(farthest) + _ROOM,
            grain=grain,
        )
        return cls(n_frames, anchor, ends, trials, method, settings)

    @classmethod
    def runs(
        cls, n_frames: int, anchors: Sequence[str] | None = None, **settings: Any
    ) -> dict[str, FrameStaircase]:
        """Begin one run for each anchor, with the settings of :meth:`begin`.

        Parameters
        ----------
        n_frames
            Frames of the transition, both ends counted.
        anchors
            Names of the ends to begin from; both if not given.
        settings
            As in :meth:`begin`.

        Examples
        --------
        >>> list(FrameStaircase.runs(90, trials=30))
        ['peak', 'neutral']
        """
        names = settings.get("ends", _ENDS) if anchors is None else anchors
        return {anchor: cls.begin(n_frames, anchor, **settings) for anchor in names}

    def __repr__(self) -> str:
        done = f"{self.n_trials} of {plural(self.trials, 'trial')}"
        return f"FrameStaircase({plural(self.n_frames, 'frame')} from {self.anchor}, {done})"

    @property
    def anchor_frame(self) -> int:
        """Number of the frame that stays fixed."""
        return 0 if self.anchor == self.ends[0] else self.n_frames - 1

    @property
    def n_trials(self) -> int:
        """Comparisons so far, without catch trials."""
        return self.quest.n_trials

    @property
    def done(self) -> bool:
        """Whether all comparisons have been made."""
        return self.n_trials >= self.trials

    @cached_property
    def quest(self) -> Quest:
        """What is known of the threshold, in log10 frames; catch trials are left out."""
        trials = [
            (self.intensity(frame), different)
            for frame, different in zip(self.frames, self.different, strict=True)
            if frame != self.anchor_frame
        ]
        shown, answers = zip(*trials, strict=True) if trials else ((), ())
        return Quest(self.settings, shown, answers)

    @property
    def distances(self) -> tuple[int, ...]:
        """Distance from the anchor of every frame shown, in order; 0 in catch trials."""
        return tuple(abs(frame - self.anchor_frame) for frame in self.frames)

    def intensity(self, frame: int) -> float:
        """Give the log10 distance of a frame from the anchor; ``-inf`` for the anchor itself."""
        check_number("frame", frame, 0, self.n_frames - 1, whole=True)
        distance = abs(int(frame) - self.anchor_frame)
        return math.log10(distance) if distance else -math.inf

    def next_frame(self) -> int:
        """Give the frame to show beside the anchor next: the nearest to what is suggested.

        Raises
        ------
        InputError
            When the run is done.
        """
        if self.done:
            raise InputError(f"the run is done after {plural(self.trials, 'trial')}")
        # What can be shown is limited to the sequence; what is thought of the threshold is not.
        shown = _distances(self.n_frames)
        return self._frame(1 + shown.index(self.quest.next_intensity(self.method, shown)))

    def _frame(self, distance: int) -> int:
        return distance if self.anchor_frame == 0 else self.anchor_frame - distance

    def frame_at(self, distance: float) -> int | None:
        """Give the frame nearest to a distance from the anchor; ``None`` outside the sequence."""
        if not 1 <= distance <= self.n_frames - 1:
            return None
        return self._frame(round(distance))

    def update(self, frame: int, different: bool) -> FrameStaircase:
        """Give the run after one more answer.

        Parameters
        ----------
        frame
            Frame that was shown beside the anchor, whether or not it was the one suggested; the
            anchor itself for a catch trial.
        different
            Whether the answer was "different".

        Raises
        ------
        InputError
            When there is no such frame, or the run is done.
        """
        intensity = self.intensity(frame)
        if not isinstance(different, (bool, np.bool_)):
            raise InputError(f"different is {different!r}; expected True or False")
        if self.done:
            raise InputError(f"the run is done after {plural(self.trials, 'trial')}")
        catch = frame == self.anchor_frame
        state = self.quest if catch else self.quest.update(intensity, different)
        new = replace(
            self,
            frames=(*self.frames, int(frame)),
            different=(*self.different, bool(different)),
        )
        new.__dict__["quest"] = state
        return new

    def simulate(self, observer: Callable[[float], bool]) -> FrameStaircase:
        """Give the run after an observer answered all trials that are left.

        Parameters
        ----------
        observer
            Called with the log10 distance; says whether it sees a difference, as
            :func:`simulate_observer` does.
        """
        run = self
        while not run.done:
            frame = run.next_frame()
            run = run.update(frame, bool(observer(run.intensity(frame))))
        return run

    def result(self, confidence: float = 0.95) -> StaircaseResult:
        """Give the frame 1 JND away from the anchor, with its credible interval.

        The distance is ten to the posterior mean of the log10 distance. Where it lies beyond the
        farthest frame, or within the one next to the anchor, there is no such frame: distance and
        frame are not given, and the status says why. A run that is not done gives what it has.
        """
        return staircase_result(self, confidence)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FrameStaircase:
        """Take back what :meth:`to_dict` gave.

        Raises
        ------
        InputError
            When the data are something else.
        """
        names = ("n_frames", "anchor", "ends", "trials", "method")
        kept = opened(data, cls._schema, (*names, "settings", "frames", "different"))
        different = flags_of("answers", kept["different"])
        frames = kept["frames"]
        if not isinstance(frames, (list, tuple)) or len(frames) != len(different):
            raise InputError("stored frames do not fit the answers; expected one answer per frame")
        ends = tuple(kept["ends"]) if isinstance(kept["ends"], (list, tuple)) else kept["ends"]
        run = cls(
            **{name: kept[name] for name in names} | {"ends": ends},
            settings=QuestSettings.from_dict(kept["settings"]),
            frames=tuple(frames),
            different=different,
        )
        compared = [frame for frame in frames if run.intensity(frame) > -math.inf]
        if len(compared) > run.trials:
            raise InputError(
                f"stored run has {len(compared)} answers; expected at most {run.trials}, its trials"
            )
        return run


@lru_cache(maxsize=128)
def _distances(n_frames: int) -> tuple[float, ...]:
    """Give the log10 distances from an end to all other frames, the nearest first."""
    return tuple(math.log10(distance) for distance in range(1, n_frames))


def staircase_runs(runs: Sequence[FrameStaircase], confidence: float = 0.95) -> Result:
    """Collect the trials of runs, and declare the figure of them.

    Parameters
    ----------
    runs
        Runs over the frames of transitions, from one or from both ends.
    confidence
        Of the credible interval of 1 JND.

    Returns
    -------
    A table of trials in their order: ``run`` (from 0), ``anchor``, ``distance`` in frames (0 in
    catch trials) and ``different``; a sentence for each run.

    Raises
    ------
    InputError
        When there is no run.

    Examples
    --------
    >>> run = FrameStaircase.begin(90).simulate(lambda intensity: intensity > 1)
    >>> staircase_runs([run]).to_frame().height
    50
    """
    if not runs:
        raise InputError("there is no run; expected at least one")
    rows = [
        (place, run.anchor, distance, different)
        for place, run in enumerate(runs)
        for distance, different in zip(run.distances, run.different, strict=True)
    ]
    schema = {"run": pl.Int64, "anchor": pl.String, "distance": pl.Int64, "different": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    columns = (Key("run"), Key("anchor"), Count("distance", "frames away"), YesNo("different"))
    results = [run.result(confidence) for run in runs]
    notes = [_jnd_in_words(found) for found in results]
    thresholds = [
        {
            "title": f"anchor: {run.anchor}",
            "note": note,
            "grid": (10**run.quest.grid).tolist(),
            "posterior": run.quest.posterior.tolist(),
            "value": found.distance,
            "low": found.low,
            "high": found.high,
        }
        for run, found, note in zip(runs, results, notes, strict=True)
    ]
    sentences = tuple(f"From {run.anchor}: {note}." for run, note in zip(runs, notes, strict=True))
    figure = Figure(
        "staircases",
        "staircases",
        "trials",
        STAIRCASES,
        description=" ".join(sentences),
        options={"thresholds": thresholds},
    )
    table = Table("trials", "Trials.", frame, columns)
    return Result((table,), sentences, (figure,))


def _jnd_in_words(found: StaircaseResult) -> str:
    if math.isnan(found.distance):
        return status_text(found.status, found.reason)
    return frames_text(found.distance, found.low, found.high)
