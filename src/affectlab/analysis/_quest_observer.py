"""Observers whose psychometric function is known, for tests and to rehearse a study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Bools, Floats
from affectlab.analysis._quest_function import check_shape, number_of, psychometric_function

__all__ = ["SimulatedObserver", "simulate_observer"]


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
