"""What lies behind answers that were rounded and cut off at the ends of the scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
from scipy.special import ndtri

from affectlab._types import Floats
from affectlab.reliability._components import Components
from affectlab.reliability._plan_model import PlanModel

__all__ = ["noise_of", "undo_scale"]

_SEED = 20240229
_RATERS, _STIMULI = 60, 1000
_TURNS, _ROUNDS = 3, 15
_FITTED = 0.02
"""Largest part of the spread of ratings by which simulated components may miss those found."""
_GRID, _NODES, _REACH = 1001, 201, 3.0


def undo_scale(model: PlanModel, log_spread: float) -> PlanModel:
    """Find the model before rounding and ends whose answers have the components of ``model``.

    Qualities of stimuli are those whose mean answers are the scores in ``model.shape``; mean and
    spreads then follow by a fixed point. The two take turns, over the same random numbers.

    Parameters
    ----------
    model
        Mean and spreads of answers, and scores of stimuli, as they are on the scale.
    log_spread
        SD over raters of the logarithm of their noise SD.
    """
    study = _Study.draw(model, log_spread)
    wanted = np.array([model.stimulus_sd, model.rater_bias_sd, model.residual_sd])
    wanted_mean, scores = float(model.mean or 0), np.array(model.shape)
    mean, sds, missed = wanted_mean, wanted, 0.0
    for _ in range(_TURNS):
        start = sds
        if scores.size:
            quality = _behind(model, scores, float(np.hypot(sds[1], sds[2])))
            model = replace(model, shape=tuple(quality.tolist()))
            mean, start = float(quality.mean()), np.array([quality.std(), sds[1], sds[2]])
        mean, sds, missed = _fixed_point(
            study.components(model), (mean, start), (wanted_mean, wanted)
        )
    total = float(np.sqrt((wanted**2).sum()))
    note = model.note + "; rounding and ends of the scale undone"
    if total > 0 and missed > _FITTED * total:
        note += f", spread matched within {missed / total:.0%}"
    stimulus_sd, rater_bias_sd, residual_sd = sds.tolist()
    return replace(
        model,
        stimulus_sd=stimulus_sd,
        rater_bias_sd=rater_bias_sd,
        mean=mean,
        note=note,
        **noise_of(residual_sd, log_spread),
    )


class Noise(TypedDict):
    """Noise of raters, under the names of :class:`PlanModel`."""

    inconsistency: float
    inconsistency_sd: float


def noise_of(residual_sd: float, spread: float) -> Noise:
    """Mean and spread of the noise SD, from its root mean square and the SD of its logarithm."""
    mean = residual_sd * math.exp(-(spread**2) / 2)
    return Noise(inconsistency=mean, inconsistency_sd=mean * math.sqrt(math.expm1(spread**2)))


def _behind(model: PlanModel, scores: Floats, noise_sd: float) -> Floats:
    """Qualities whose mean answer, with normal noise around them, is the score."""
    if noise_sd == 0:
        return scores
    low, high = model.ends
    reach = _REACH * noise_sd
    grid = np.linspace(
        (low if math.isfinite(low) else scores.min()) - reach,
        (high if math.isfinite(high) else scores.max()) + reach,
        _GRID,
    )
    nodes = noise_sd * ndtri((np.arange(_NODES) + 0.5) / _NODES)
    expected = np.maximum.accumulate(model.answer(grid[:, None] + nodes).mean(axis=1))
    quality: Floats = np.interp(scores, expected, grid)
    return quality if np.ptp(quality) > 0 else scores


@dataclass(frozen=True)
class _Study:
    """Random numbers of a study, each with mean 0 and SD 1."""

    order: np.ndarray[tuple[int], np.dtype[np.int64]]
    bias: Floats
    noise: Floats

    @classmethod
    def draw(cls, model: PlanModel, log_spread: float) -> _Study:
        rng = np.random.default_rng(_SEED)
        bias = rng.standard_normal((_RATERS, 1))
        relative = replace(model, **noise_of(1.0, log_spread)).draw_noise_sd(rng, (_RATERS, 1))
        relative /= np.sqrt((relative**2).mean())
        return cls(
            rng.permutation(_STIMULI),
            (bias - bias.mean()) / bias.std(ddof=1),
            relative * rng.standard_normal((_RATERS, _STIMULI)),
        )

    def components(self, model: PlanModel) -> Callable[[float, Floats], tuple[float, Floats]]:
        """Give the function from mean and SDs to mean and SDs of the answers."""
        quality = model.unit_quality((self.order + 0.5) / _STIMULI)
        quality = (quality - quality.mean()) / quality.std(ddof=1)

        def simulated(mean: float, sds: Floats) -> tuple[float, Floats]:
            felt = mean + sds[0] * quality + sds[1] * self.bias + sds[2] * self.noise
            return _balanced(model.answer(felt))

        return simulated


def _fixed_point(
    simulated: Callable[[float, Floats], tuple[float, Floats]],
    start: tuple[float, Floats],
    wanted: tuple[float, Floats],
) -> tuple[float, Floats, float]:
    """Mean and SDs whose simulated mean and SDs are those wanted, and the largest miss."""
    mean, sds = start
    best = (math.inf, mean, sds)
    total = float(np.sqrt((wanted[1] ** 2).sum()))
    for _ in range(_ROUNDS):
        got_mean, got = simulated(mean, sds)
        missed = max(abs(got_mean - wanted[0]), float(np.abs(got - wanted[1]).max()))
        if missed < best[0]:
            best = (missed, mean, sds)
        ratio = np.divide(wanted[1], got, out=np.ones(3), where=got > 1e-3 * total)
        mean = mean + wanted[0] - got_mean
        sds = sds * np.clip(ratio, 0.5, 2.0)
    return best[1], best[2], best[0]


def _balanced(table: Floats) -> tuple[float, Floats]:
    """Mean and square roots of the components of a complete (raters, stimuli) table."""
    raters, stimuli = table.shape
    mean = float(table.mean())
    of_stimuli, of_raters = table.mean(axis=0) - mean, table.mean(axis=1) - mean
    left = float(((table - mean - of_stimuli - of_raters[:, None]) ** 2).sum())
    residual = left / ((raters - 1) * (stimuli - 1))
    found = Components(
        mean,
        float((of_stimuli**2).sum()) / (stimuli - 1) - residual / raters,
        float((of_raters**2).sum()) / (raters - 1) - residual / stimuli,
        residual,
    )
    sds = np.sqrt(np.maximum([found.stimulus, found.rater, found.residual], 0))
    return mean, sds
