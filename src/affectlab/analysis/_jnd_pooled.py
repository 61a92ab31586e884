"""Just noticeable differences of many runs, pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab._words import number, plural
from affectlab.analysis._quest_function import number_of
from affectlab.analysis._quest_stored import plain_fields
from affectlab.analysis._staircase import FrameStaircase
from affectlab.errors import InputError
from affectlab.estimates import Estimate, Estimates

__all__ = ["PooledJnd", "pooled_jnd", "pooled_jnds"]

_STEP = 0.01
"""Distance of the thresholds that are told apart, in log10 units."""
_SPREADS = 60
"""Spreads between runs that are told apart."""
_END = 0.01
"""Height at an end of the grid from which the posterior counts as cut off; its peak has 1."""


@dataclass(frozen=True)
class PooledJnd:
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
    status: str = "ok"
    """``ok``, or what stands in the way of a result."""

    @property
    def ok(self) -> bool:
        """Whether the runs bound the distance."""
        return self.status == "ok"

    @property
    def estimate(self) -> Estimate:
        """The distance as an estimate; items are runs, and raters are not known (0)."""
        return Estimate(
            self.distance,
            self.distance * math.log(10) * self.sd,
            self.low,
            self.high,
            _METHOD,
            n_items=self.n_runs,
            n_ratings=self.n_trials,
            status=self.status,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON, with ``None`` for ``nan``."""
        return plain_fields(asdict(self))

    def __repr__(self) -> str:
        reach = f"{number(self.distance, 1)} [{number(self.low, 1)}, {number(self.high, 1)}] frames"
        state = "" if self.ok else f"; {self.status}"
        return f"PooledJnd({reach}, {plural(self.n_runs, 'run')}{state})"


_METHOD = "frames to 1 JND, runs pooled"


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
    if number_of("spread", spread) <= 0:
        raise InputError(f"spread is {spread!r}; expected a number above 0, like 0.2")
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
    ends = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    mean = float(place @ grid)
    distance, sd = 10**mean, math.sqrt(float(place @ (grid - mean) ** 2))
    least, most = (float(10**end) for end in _quantiles(grid, place, ends))
    status = _status(runs, place, distance)
    if status != "ok":
        distance = sd = least = most = math.nan
    width = joint.sum(axis=1)
    known = len(runs) > 1 and status == "ok"
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
    return Estimates.build(
        {name: [key[k] for key in groups] for k, name in enumerate(by)},
        **{
            field: [getattr(estimate, field) for estimate in found]
            for field in ("value", "se", "low", "high", "n_items", "n_ratings", "status")
        },
        method=_METHOD,
    )


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


def _status(runs: Sequence[FrameStaircase], place: Floats, distance: float) -> str:
    """Say whether the runs bound the common distance, or in which direction they do not."""
    if not any(run.n_trials for run in runs):
        return "undefined: no answers yet"
    farthest = max(run.n_frames for run in runs) - 1
    if place[-1] > _END * place.max() or distance > farthest:
        return f"beyond: the farthest frame, {farthest} away, is less than 1 JND away"
    if place[0] > _END * place.max() or distance < 1:
        return "within: the frame next to the anchor is more than 1 JND away"
    return "ok"
