"""The Weibull psychometric function, read at a stated share of answers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError

__all__ = ["LOG10", "check_shape", "hazard", "log_scale", "number_of", "psychometric_function"]

LOG10 = math.log(10)
_LARGEST = 700.0
"""Largest exponent taken: beyond it the curve has long reached its end."""


def number_of(name: str, given: object) -> float:
    """Read a finite number, or say what was given instead."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        value = float(given)
        if math.isfinite(value):
            return value
    raise InputError(f"{name} is {given!r}; expected a number")


def check_shape(share: float, slope: float, lapse: float, guess_rate: float, share_is: str) -> None:
    """Refuse numbers that make no psychometric function with a threshold at `share`."""
    for name, value in (("lapse", lapse), ("guess_rate", guess_rate)):
        if not 0 <= number_of(name, value) < 1:
            raise InputError(f"{name} is {value:g}; expected a share from 0 to below 1")
    if number_of("slope", slope) <= 0:
        raise InputError(f"slope is {slope:g}; expected a number above 0, like 3.5")
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
