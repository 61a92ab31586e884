"""What a planned study is expected to look like: stimuli, raters, and the scale they answer on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.ratings import Scale

__all__ = ["PlanModel"]


@dataclass(frozen=True)
class PlanModel:
    r"""Stimuli and raters of a study that is being planned.

    .. math:: x_{ij} = \mathrm{scale}(s_j + b_i + v_i e_{ij}), \quad
        s_j \sim (\mu, \sigma_s), \; b_i \sim N(0, \sigma_b), \;
        v_i \sim \mathrm{lognormal}, \; e_{ij} \sim N(0, 1),

    where *scale* rounds to the steps of the scale and keeps answers between its ends.

    Attributes
    ----------
    stimulus_sd
        Spread of the true quality of stimuli, in points.
    rater_bias_sd
        Spread of the raters' biases, in points.
    inconsistency
        Mean over raters of the standard deviation of their noise, in points.
    inconsistency_sd
        Spread over raters of that standard deviation; 0 for raters alike.
    scale
        Scale, or text such as ``"0-100 interval"``; ``None`` for numbers without ends or steps.
    mean
        Mean quality; by default the middle of the scale, or 0.
    missing
        Probability that an answer is not given or not usable.
    shape
        Qualities of known stimuli, for a distribution that is not normal: quality is drawn along
        and between them, shifted and stretched to ``mean`` and ``stimulus_sd``.
    note
        Where the numbers come from.

    Examples
    --------
    >>> PlanModel(stimulus_sd=20, rater_bias_sd=6, inconsistency=12).rating_sd
    13.4...
    """

    stimulus_sd: float
    rater_bias_sd: float
    inconsistency: float
    inconsistency_sd: float = 0.0
    scale: Scale | str | None = None
    mean: float | None = None
    missing: float = 0.0
    shape: tuple[float, ...] = ()
    note: str = "given"

    def __post_init__(self) -> None:
        for name in ("stimulus_sd", "rater_bias_sd", "inconsistency", "inconsistency_sd"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} {value!r}: expected a number of 0 or more")
        if not 0 <= self.missing < 1:
            raise InputError(f"missing {self.missing!r}: expected a share from 0 to below 1")
        if self.inconsistency_sd > 0 and self.inconsistency == 0:
            raise InputError("inconsistency_sd above 0 with inconsistency 0: expected both or none")
        if isinstance(self.scale, str):
            object.__setattr__(self, "scale", Scale.parse(self.scale))
        scale = self.scale
        if isinstance(scale, Scale) and scale.kind in ("nominal", "text"):
            raise InputError(f"scale {scale}: expected one on which means make sense")
        if self.mean is None:
            low, high = self.ends
            middle = (low + high) / 2 if math.isfinite(high - low) else 0.0
            object.__setattr__(self, "mean", middle)
        elif not math.isfinite(self.mean):
            raise InputError(f"mean {self.mean!r}: expected a finite number")
        if self.shape and np.ptp(self.shape) == 0:
            raise InputError("shape: expected qualities that differ")

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest answer."""
        scale = self.scale if isinstance(self.scale, Scale) else Scale("interval")
        low = -math.inf if scale.low is None else scale.low
        return low, math.inf if scale.high is None else scale.high

    @property
    def residual_sd(self) -> float:
        """Root mean square over raters of the standard deviation of their noise."""
        return math.hypot(self.inconsistency, self.inconsistency_sd)

    @property
    def rating_sd(self) -> float:
        """Standard deviation of the answers to one stimulus, before rounding and the ends."""
        return math.hypot(self.rater_bias_sd, self.residual_sd)

    # -- drawing -----------------------------------------------------------------------------------

    def draw_stimuli(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw true qualities."""
        unit = self.unit_quality(rng.random(shape)) if self.shape else rng.standard_normal(shape)
        drawn: Floats = float(self.mean or 0) + self.stimulus_sd * unit
        return drawn

    def unit_quality(self, share: Floats) -> Floats:
        """Quantiles of the distribution of quality, with mean 0 and standard deviation 1."""
        unit: Floats
        if not self.shape:
            unit = ndtri(share)
            return unit
        # Straight between the known values: those of the study to come are others.
        known = np.sort(self.shape)
        a, b = known[:-1] - known.mean(), known[1:] - known.mean()
        mean = float((a + b).mean()) / 2
        variance = float((a * a + a * b + b * b).mean()) / 3 - mean**2
        quality = np.interp(share, np.linspace(0, 1, known.size), known - known.mean())
        unit = (quality - mean) / math.sqrt(variance)
        return unit

    def draw_bias(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw the biases of raters."""
        return self.rater_bias_sd * rng.standard_normal(shape)

    def draw_noise_sd(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw the inconsistencies of raters."""
        if self.inconsistency_sd == 0:
            return np.full(shape, self.inconsistency)
        log_variance = math.log1p((self.inconsistency_sd / self.inconsistency) ** 2)
        centre = math.log(self.inconsistency) - log_variance / 2
        drawn: Floats = np.exp(centre + math.sqrt(log_variance) * rng.standard_normal(shape))
        return drawn

    def answer(self, felt: Floats) -> Floats:
        """Round to the steps of the scale and keep within its ends; in place."""
        scale = self.scale
        if not isinstance(scale, Scale):
            return felt
        if scale.step is not None:
            low = scale.low or 0.0
            felt -= low
            felt /= scale.step
            np.rint(felt, out=felt)
            felt *= scale.step
            felt += low
        if scale.low is not None or scale.high is not None:
            np.clip(felt, scale.low, scale.high, out=felt)
        return felt

    def __str__(self) -> str:
        scale = "numbers without ends" if self.scale is None else str(self.scale)
        noise = f"{self.inconsistency:.3g}"
        if self.inconsistency_sd:
            noise += f" ± {self.inconsistency_sd:.3g}"
        gaps = f", {self.missing:.0%} missing" if self.missing else ""
        return (
            f"stimuli SD {self.stimulus_sd:.3g}, rater bias SD {self.rater_bias_sd:.3g}, "
            f"inconsistency {noise}; {scale}{gaps} ({self.note})"
        )
