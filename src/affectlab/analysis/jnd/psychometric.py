"""The Weibull psychometric function, read at a stated share of answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_number
from affectlab.core.types import Bools, Floats

LOG10 = math.log(10)
_LARGEST = 700.0
"""Largest exponent taken: beyond it the curve has long reached its end."""


def number_of(name: str, given: Any) -> float:
    """Read a finite number, or say what was given instead."""
    check_number(name, given)
    return float(given)


def check_shape(share: float, slope: float, lapse: float, guess_rate: float, share_is: str) -> None:
    """Refuse numbers that make no psychometric function with a threshold at `share`."""
    for name, value in (("lapse", lapse), ("guess_rate", guess_rate)):
        check_number(name, value, 0, 1, below=True)
    check_number("slope", slope, 0, above=True)
    ceiling = 1 - lapse * (1 - guess_rate)
    if not guess_rate < number_of(share_is, share) < ceiling:
        raise InputError(
            f"{share_is} is {share:g}; expected a share between the guess rate, {guess_rate:g}, "
            f"and the ceiling that lapses leave, {ceiling:g}"
        )


def log_scale(share: float, lapse: float, guess_rate: float) -> float:
    """Give ln κ, which puts the threshold at `share` of the answers."""
    missed = (1 - share - lapse * (1 - guess_rate)) / ((1 - lapse) * (1 - guess_rate))
    return math.log(-math.log(missed))


def hazard(x: Floats | float, threshold: Floats, slope: float, log_kappa: float) -> Floats:
    """Give κ 10^{β(x - T)}, from 0 (where x is -inf) to a very large number."""
    found: Floats = np.exp(np.minimum(LOG10 * slope * (x - threshold) + log_kappa, _LARGEST))
    return found


def psychometric_function(
    intensities: ArrayLike,
    threshold: ArrayLike,
    *,
    slope: float = 3.5,
    lapse: float = 0.01,
    guess_rate: float = 0.5,
    at: float = 0.75,
) -> Floats:
    r"""Give the probability of a correct answer, or of a "yes", at an intensity.

    .. math::
        \Psi(x) = \delta\gamma + (1 - \delta)
            \left[1 - (1 - \gamma)\, e^{-\kappa\, 10^{\beta (x - T)}}\right]

    :math:`x` and the threshold :math:`T` are in log10 units, :math:`\beta` is the slope,
    :math:`\gamma` the guess rate (1/2 with two alternatives, the false alarm rate where the answer
    is yes or no), :math:`\delta` the share of trials that are answered blindly, with success at the
    guess rate. :math:`\kappa` follows from :math:`\Psi(T) =` `at`. The curve rises from
    :math:`\gamma` to :math:`1 - \delta(1 - \gamma)`; where others write the ceiling as
    :math:`1 - \lambda`, :math:`\lambda = \delta(1 - \gamma)`.

    Parameters
    ----------
    intensities
        Log10 intensities, any shape; ``-inf`` for nothing to be seen.
    threshold
        Log10 intensity at which the share `at` is reached; broadcasts with `intensities`.
    slope
        Steepness :math:`\beta` per log10 unit, above 0.
    lapse
        Share of trials answered blindly, in [0, 1).
    guess_rate
        Share of correct (or "yes") answers when there is nothing to be seen, in [0, 1).
    at
        Share of correct (or "yes") answers that defines the threshold, between the guess rate and
        the ceiling. It is not corrected for guessing.

    Returns
    -------
    Probabilities, of the broadcast shape.

    Raises
    ------
    InputError
        When a number is out of its range, or the curve never reaches `at`.

    References
    ----------
    Watson, A. B., & Pelli, D. G. (1983). QUEST: A Bayesian adaptive psychometric method.
    Perception & Psychophysics 33, 113-120.

    Examples
    --------
    Two alternatives, and a threshold at ten frames:

    >>> psychometric_function([-np.inf, 0.0, 1.0, 2.0], 1.0).round(3).tolist()
    [0.5, 0.5, 0.75, 0.995]
    """
    check_shape(at, slope, lapse, guess_rate, "at")
    x = np.asarray(intensities, dtype=np.float64)
    where = np.asarray(threshold, dtype=np.float64)
    if np.isnan(x).any() or not np.isfinite(where).all():
        raise InputError("an intensity or threshold is no number; expected log10 units")
    rise = -np.expm1(-hazard(x, where, slope, log_scale(at, lapse, guess_rate)))
    probability: Floats = guess_rate + (1 - guess_rate) * (1 - lapse) * rise
    return probability


# Observers whose psychometric function is known, for tests and to rehearse a study.


@dataclass(frozen=True, eq=False)
class SimulatedObserver:
    """Answers by chance, with the probabilities of a psychometric function."""

    threshold: float
    """Log10 intensity at which the share `at` of answers is correct, or "yes"."""
    slope: float
    """Slope per log10 unit."""
    lapse: float
    """Share of trials answered blindly."""
    guess_rate: float
    """Share of correct (or "yes") answers when there is nothing to be seen."""
    at: float
    """Share that defines the threshold."""
    generator: np.random.Generator
    """Where the chance comes from; every answer takes one draw."""

    def probability(self, intensities: ArrayLike) -> Floats:
        """Give the probability of a correct (or "yes") answer at log10 intensities."""
        return psychometric_function(
            intensities,
            self.threshold,
            slope=self.slope,
            lapse=self.lapse,
            guess_rate=self.guess_rate,
            at=self.at,
        )

    def answers(self, intensities: ArrayLike) -> Bools:
        """Answer one trial at each log10 intensity."""
        probability = self.probability(intensities)
        drawn: Bools = self.generator.random(probability.shape) < probability
        return drawn

    def __call__(self, intensity: float) -> bool:
        """Answer one trial: whether correctly, or with "yes"."""
        return bool(self.answers(intensity))


def simulate_observer(
    threshold: float,
    slope: float = 3.5,
    lapse: float = 0.01,
    guess_rate: float = 0.5,
    *,
    at: float = 0.75,
    seed: int | np.random.Generator | None = 0,
) -> SimulatedObserver:
    """Make an observer with a known threshold.

    Parameters
    ----------
    threshold
        Log10 intensity at which the share `at` of answers is correct, or "yes".
    slope, lapse, guess_rate, at
        As in :func:`psychometric_function`. To see what a wrong assumption does, give the observer
        other ones than the staircase.
    seed
        Same seed, same answers.

    Returns
    -------
    An observer that is called with a log10 intensity and answers ``True`` or ``False``.

    Called with a log10 intensity it answers ``True`` or ``False``; ``answers(intensities)``
    answers many, ``probability(intensities)`` gives the chances.

    Raises
    ------
    InputError
        When a number is out of its range.

    Examples
    --------
    >>> observer = simulate_observer(np.log10(12), guess_rate=0.05, seed=1)
    >>> observer(np.log10(60)), observer(np.log10(2))
    (True, False)
    >>> float(observer.answers(np.full(1000, np.log10(12))).mean())
    0.73
    """
    check_shape(at, slope, lapse, guess_rate, "at")
    place = number_of("threshold", threshold)
    rng = np.random.default_rng(seed)
    return SimulatedObserver(place, float(slope), float(lapse), float(guess_rate), float(at), rng)
