"""What a staircase takes as known, and what it thinks of the threshold beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from affectlab._types import Floats
from affectlab.analysis._quest_function import check_shape, hazard, log_scale, number_of
from affectlab.analysis._quest_stored import opened, plain
from affectlab.errors import InputError

__all__ = ["QuestSettings"]

_SCHEMA = "affectlab/quest-settings/1"
_MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class QuestSettings:
    """Prior and psychometric function of a staircase; lengths are log10 units."""

    guess: float
    """Where the threshold may lie."""
    sd: float
    """Standard deviation of that guess; ``inf`` for a prior that is flat over the grid."""
    threshold: float
    """Share of correct (or "yes") answers that defines the threshold."""
    slope: float
    """Slope of the psychometric function, taken as known."""
    lapse: float
    """Share of trials answered blindly."""
    guess_rate: float
    """Share of correct (or "yes") answers when there is nothing to be seen."""
    low: float
    """Lowest threshold that is thought possible."""
    high: float
    """Highest threshold that is thought possible."""
    grain: float
    """Distance of the thresholds that are told apart."""

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if field.name == "sd" and given == math.inf:
                continue
            object.__setattr__(self, field.name, number_of(field.name, given))
        for name in ("sd", "grain"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} is {getattr(self, name):g}; expected a number above 0")
        if not self.low < self.high:
            raise InputError(f"low is {self.low:g}; expected less than high, {self.high:g}")
        if not self.low <= self.guess <= self.high:
            raise InputError(
                f"guess is {self.guess:g}; expected a log10 intensity from low, {self.low:g}, "
                f"to high, {self.high:g}"
            )
        if (self.high - self.low) / self.grain > _MOST_POINTS:
            raise InputError(
                f"grain is {self.grain:g}; expected at most {_MOST_POINTS:,} steps "
                f"from {self.low:g} to {self.high:g}"
            )
        check_shape(self.threshold, self.slope, self.lapse, self.guess_rate, "threshold")

    @cached_property
    def grid(self) -> Floats:
        """Thresholds that are told apart, shape (n,), ascending."""
        steps = max(1, math.ceil((self.high - self.low) / self.grain - 1e-9))
        grid = np.linspace(self.low, self.high, steps + 1)
        grid.flags.writeable = False
        return grid

    @cached_property
    def edges(self) -> Floats:
        """Borders between the thresholds of the grid, shape (n + 1,)."""
        half = (self.grid[1] - self.grid[0]) / 2
        edges = np.append(self.grid - half, self.grid[-1] + half)
        edges.flags.writeable = False
        return edges

    @cached_property
    def log_prior(self) -> Floats:
        """Log of the prior on the grid, but for a constant."""
        prior: Floats = -0.5 * ((self.grid - self.guess) / self.sd) ** 2
        prior.flags.writeable = False
        return prior

    @cached_property
    def _log_kappa(self) -> float:
        return log_scale(self.threshold, self.lapse, self.guess_rate)

    @property
    def ceiling(self) -> float:
        """Highest share of correct (or "yes") answers, which lapses keep from 1."""
        return 1 - self.lapse * (1 - self.guess_rate)

    @cached_property
    def best_quantile(self) -> float:
        r"""Quantile of the posterior at which an answer tells most.

        For a psychometric function that steps from :math:`p_0` to :math:`p_1` (here floor and
        ceiling) an answer at quantile :math:`q` is correct with probability :math:`P = p_0 + q (p_1
        - p_0)`, and with the entropy :math:`H` of a yes or no, most is learnt where

        .. math:: \ln\frac{P}{1 - P} = -\frac{H(p_1) - H(p_0)}{p_1 - p_0}

        References
        ----------
        Pelli, D. G. (1987). The ideal psychometric procedure. Investigative Ophthalmology & Visual
        Science 28 (Suppl.), 366.
        """
        rise = self.ceiling - self.guess_rate
        odds = (_entropy(self.ceiling) - _entropy(self.guess_rate)) / rise
        return (1 / (1 + math.exp(odds)) - self.guess_rate) / rise

    def log_likelihood(
        self, intensity: float, correct: bool, thresholds: Floats | None = None
    ) -> Floats:
        """Give the log probability of an answer for every threshold, by default of the grid."""
        grid = self.grid if thresholds is None else thresholds
        seen = hazard(intensity, grid, self.slope, self._log_kappa)
        span = (1 - self.guess_rate) * (1 - self.lapse)
        if correct:
            with np.errstate(divide="ignore"):
                return np.log(self.guess_rate - span * np.expm1(-seen))
        if self.lapse == 0:
            return math.log(1 - self.guess_rate) - seen
        return np.log((1 - self.guess_rate) * self.lapse + span * np.exp(-seen))

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON; an infinite `sd` becomes ``None``."""
        values = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return {"schema": _SCHEMA, **values}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QuestSettings:
        """Take back what :meth:`to_dict` gave."""
        names = [field.name for field in fields(cls)]
        stored = opened(data, _SCHEMA, names)
        kept = {name: stored[name] for name in names}
        if kept["sd"] is None:
            kept["sd"] = math.inf
        return cls(**kept)


def _entropy(p: float) -> float:
    """Entropy of a yes or no with probability `p`, in nats."""
    return -sum(share * math.log(share) for share in (p, 1 - p) if share > 0)
