"""Just noticeable differences of many runs, pooled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.analysis.jnd.json_state import PlainState
from affectlab.analysis.jnd.staircase import FrameStaircase, JndStatus, StaircaseResult, status_of
from affectlab.analysis.jnd.wording import distance_text, end_status_text
from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence, tails
from affectlab.core.types import Floats
from affectlab.core.wording import status_text
from affectlab.core.words import plural

_STEP = 0.01
"""Distance of the thresholds that are told apart, in log10 units."""
_SPREADS = 60
"""Spreads between runs that are told apart."""
_END = 0.01
"""Height at an end of the grid from which the posterior counts as cut off; its peak has 1."""


@dataclass(frozen=True)
class PooledJnd(PlainState):
    """The distance of 1 JND that is typical of several runs, in frames."""

    distance: float
    """Distance of the typical run (the median of all that might have been made); ``nan`` where the
    runs do not bound it."""
    low: float
    """Lower end of the credible interval of `distance`."""
    high: float
    """Upper end of the credible interval of `distance`."""
    sd: float
    """Posterior standard deviation of the log10 distance."""
    spread: float
    """Standard deviation of the log10 distance from run to run, beyond what chance answers make:
    posterior mean; ``nan`` for one run."""
    spread_low: float
    """Lower end of the credible interval of `spread`."""
    spread_high: float
    """Upper end of the credible interval of `spread`."""
    n_runs: int
    """Runs that entered."""
    n_found: int
    """Runs that by themselves found a frame."""
    n_trials: int
    """Comparisons in all."""
    status: JndStatus = JndStatus.OK
    """``ok``, or what stands in the way of a result."""
    reason: Reason | None = None
    """Why the status is not ``ok``."""

    @property
    def ok(self) -> bool:
        """Whether the runs bound the distance."""
        return self.status is JndStatus.OK

    @property
    def estimate(self) -> Estimate:
        """The distance as an estimate; items are runs, and raters are not known (0)."""
        return Estimate(
            self.distance,
            "frames to 1 JND",
            ("runs pooled",),
            self.distance * math.log(10) * self.sd,
            self.low,
            self.high,
            n_items=self.n_runs,
            n_ratings=self.n_trials,
            reason=self.reason,
        )

    def __repr__(self) -> str:
        reach = distance_text(self.distance, self.low, self.high)
        state = "" if self.ok else f"; {status_text(self.status, self.reason)}"
        return f"PooledJnd({reach} frames, {plural(self.n_runs, 'run')}{state})"


def pooled_jnd(
    runs: Sequence[FrameStaircase], *, confidence: float = 0.95, spread: float = 0.2
) -> PooledJnd:
    r"""Pool runs into one distance of 1 JND, with its credible interval.

    The log10 distance of run :math:`i` is drawn around a common one, and its answers :math:`y_i`
    depend on it by the run's psychometric function:

    .. math::
        \theta_i \sim N(\mu, \tau^2), \qquad p(\mu, \tau \mid y) \propto p(\tau) \prod_i
            \int p(y_i \mid \theta_i)\, N(\theta_i; \mu, \tau^2)\, d\theta_i

    with a flat prior on :math:`\mu`. The whole likelihood of a run enters, without its prior. So a
    run that found 1 JND to lie beyond the sequence says just that, and leaving it out would make
    the distance too short.

    Parameters
    ----------
    runs
        Runs that are taken as alike: of one actor, one expression, one anchor. Frames have to mean
        the same time in all.
    confidence
        Probability that the interval holds.
    spread
        Scale of the half-normal prior of :math:`\tau`, in log10 units: with 0.2, distances up to
        1.6 times longer or shorter than the typical one are common.

    Returns
    -------
    PooledJnd
        ``distance`` with ``low``, ``high`` and ``sd``; ``spread`` from run to run with
        ``spread_low`` and ``spread_high``; ``n_runs``, ``n_found``, ``n_trials``,
        ``status``; ``estimate`` and ``to_dict()`` give the same in other forms.

    Raises
    ------
    InputError
        When there are no runs, or a number is out of its range.

    Examples
    --------
    >>> from affectlab.analysis import simulate_observer
    >>> observers = [simulate_observer(math.log10(k), guess_rate=0.1, seed=k) for k in (11, 13, 16)]
    >>> runs = [FrameStaircase.begin(90).simulate(observer) for observer in observers]
    >>> pooled_jnd(runs)
    PooledJnd(13.3 [8.2, 21.5] frames, 3 runs)
    """
    check_confidence(confidence)
    check_number("spread", spread, 0, above=True)
    runs = list(runs)
    for run in runs:
        if not isinstance(run, FrameStaircase):
            raise InputError(f"runs hold {type(run).__name__}; expected FrameStaircase")
    if not runs:
        raise InputError("there are no runs; expected at least one")
    low = min(run.settings.low for run in runs)
    high = max(run.settings.high for run in runs)
    grid = np.linspace(low, high, 1 + math.ceil((high - low) / _STEP))
    likelihoods = np.array([_likelihood(run, grid) for run in runs])
    spreads = _half_normal(spread, _SPREADS if len(runs) > 1 else 0)
    joint = _joint(likelihoods, spreads, grid[1] - grid[0])
    place = joint.sum(axis=0)
    ends = tails(confidence)
    mean = float(place @ grid)
    distance, sd = 10**mean, math.sqrt(float(place @ (grid - mean) ** 2))
    least, most = (float(10**end) for end in _quantiles(grid, place, ends))
    farthest = max(run.n_frames for run in runs) - 1
    cut_low, cut_high = place[[0, -1]] > _END * place.max()
    status, reason = status_of(runs, cut_high or distance > farthest, cut_low or distance < 1)
    if status is not JndStatus.OK:
        distance = sd = least = most = math.nan
    width = joint.sum(axis=1)
    known = len(runs) > 1 and status is JndStatus.OK
    apart = _quantiles(spreads, width, ends) if known else (math.nan, math.nan)
    return PooledJnd(
        distance=distance,
        low=least,
        high=most,
        sd=sd,
        spread=float(width @ spreads) if known else math.nan,
        spread_low=float(apart[0]),
        spread_high=float(apart[1]),
        n_runs=len(runs),
        n_found=sum(run.result().frame is not None for run in runs),
        n_trials=sum(run.n_trials for run in runs),
        status=status,
        reason=reason,
    )


def pooled_jnds(
    runs: Sequence[FrameStaircase],
    by: Mapping[str, Sequence[str]],
    *,
    confidence: float = 0.95,
    spread: float = 0.2,
) -> Estimates:
    """Pool runs group by group: per actor, per expression, per anchor.

    Parameters
    ----------
    runs
        All runs, n of them.
    by
        What to group by: a name, with one value for each run, such as ``{"actor": [...],
        "anchor": [...]}``.
    confidence, spread
        As in :func:`pooled_jnd`.

    Returns
    -------
    One row per group, in the order in which groups come up; the value is the distance in frames,
    items are runs, and raters are not known (0).

    Raises
    ------
    InputError
        When `by` is empty, or does not have one value for each run.

    Examples
    --------
    >>> from affectlab.analysis import simulate_observer
    >>> runs = [
    ...     FrameStaircase.begin(90).simulate(
    ...         simulate_observer(math.log10(frames), guess_rate=0.1, seed=k))
    ...     for k, frames in enumerate([8, 9, 20, 22])
    ... ]
    >>> table = pooled_jnds(runs, {"actor": ["Ada", "Ada", "Ben", "Ben"]})
    >>> table["Ada"].value < 12 < table["Ben"].value
    True
    """
    if not by:
        raise InputError("by is empty; expected a name with one value for each run")
    for name, values in by.items():
        if isinstance(values, str) or len(values) != len(runs):
            raise InputError(f"by: {name!r} does not fit; expected {len(runs)} values, one per run")
    groups: dict[tuple[str, ...], list[FrameStaircase]] = {}
    for key, run in zip(zip(*by.values(), strict=True), runs, strict=True):
        groups.setdefault(tuple(map(str, key)), []).append(run)
    found = [
        pooled_jnd(group, confidence=confidence, spread=spread).estimate
        for group in groups.values()
    ]
    return Estimates.collect({name: [key[k] for key in groups] for k, name in enumerate(by)}, found)


def _likelihood(run: FrameStaircase, grid: Floats) -> Floats:
    """Give the likelihood of all answers of a run for every log10 distance; the largest is 1."""
    state = run.quest
    trials, times = np.unique(
        np.array([state.intensities, state.correct], dtype=np.float64).T, axis=0, return_counts=True
    )
    found = np.zeros(grid.size)
    for (intensity, correct), n in zip(trials, times, strict=True):
        found += n * run.settings.log_likelihood(float(intensity), bool(correct), grid)
    height: Floats = np.exp(found - found.max())
    return height


def _half_normal(scale: float, n: int) -> Floats:
    """Give n equally probable values of a half-normal distribution; 0 alone for none."""
    from scipy.special import ndtri

    if not n:
        return np.zeros(1)
    found: Floats = scale * ndtri(0.5 + (np.arange(n) + 0.5) / (2 * n))
    return found


def _joint(likelihoods: Floats, spreads: Floats, step: float) -> Floats:
    """Give the joint posterior of spread (rows) and common place (columns), summing to 1."""
    from scipy.ndimage import gaussian_filter1d

    log_joint = np.empty((spreads.size, likelihoods.shape[1]))
    for row, spread in enumerate(spreads):
        # Beyond the grid a likelihood goes on as it ends: flat, as far as it says nothing.
        seen = (
            gaussian_filter1d(likelihoods, spread / step, axis=1, mode="nearest", truncate=6)
            if spread
            else likelihoods
        )
        with np.errstate(divide="ignore"):
            log_joint[row] = np.log(seen).sum(axis=0)
    height = np.exp(log_joint - log_joint.max())
    found: Floats = height / height.sum()
    return found


def _quantiles(values: Floats, share: Floats, p: Floats) -> Floats:
    """Give quantiles of a distribution on ascending values."""
    below = np.cumsum(share)
    found: Floats = np.interp(p, (below - share / 2) / below[-1], values)
    return found


# What two runs over one transition say together: five frames, and how many JNDs it holds.


@dataclass(frozen=True)
class TransitionJnd(PlainState):
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
    status: JndStatus = JndStatus.OK
    """``ok``; ``close``; or ``undefined`` where a run found no frame, of which its own status says
    why."""
    reason: Reason | None = None
    """Why there are no five frames although either run found one."""

    @property
    def ok(self) -> bool:
        """Whether there are five frames in order."""
        return self.status is JndStatus.OK

    def __repr__(self) -> str:
        ends = "–".join(result.anchor for result in self.results)
        jnds = distance_text(self.n_jnds, self.low, self.high)
        frames = "" if self.frames is None else f", frames {', '.join(map(str, self.frames))}"
        texts = [
            end_status_text(end.anchor, end.status, end.reason)
            for end in self.results
            if not end.ok
        ]
        if self.reason is not None:
            texts = [status_text(self.status, self.reason)]
        state = "" if self.ok else f"; {'; '.join(texts)}"
        return f"TransitionJnd({ends}: {jnds} JNDs{frames}{state})"


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

    Returns
    -------
    TransitionJnd
        ``frames``, the five of them; ``n_jnds`` with ``low`` and ``high``; ``results`` of
        the two runs; ``status``; ``to_dict()``.

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
    TransitionJnd(peak–neutral: 5.7 [5.2, 6.2] JNDs, frames 0, 13, 41, 69, 89)
    """
    check_confidence(confidence)
    first, last = _both(list(runs))
    results = first.result(confidence), last.result(confidence)
    near, far = results[0].frame, results[1].frame
    if near is None or far is None or not all(result.ok for result in results):
        unknown = math.nan
        return TransitionJnd(results, None, unknown, unknown, unknown, JndStatus.UNDEFINED)
    frames = (0, near, (near + far) // 2, far, first.n_frames - 1)
    low, value, high = _jnds_between(first, last, confidence)
    if list(frames) != sorted(set(frames)):
        why = Reason(Cause.NO_FRAME_BETWEEN)
        return TransitionJnd(results, None, value, low, high, JndStatus.CLOSE, why)
    return TransitionJnd(results, frames, value, low, high)


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
