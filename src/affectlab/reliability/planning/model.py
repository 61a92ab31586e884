"""What a planned study is expected to look like: stimuli, raters, and the scale they answer on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from affectlab.core.errors import InputError, check_number
from affectlab.core.types import Floats
from affectlab.ratings import Answers, Ratings, Scale, answers_of, of_known_raters
from affectlab.reliability.agreement import (
    RatingSums,
    additive_variances,
    identifiable,
    noise_spread,
)
from affectlab.reliability.components import MOST_LEVELS, crossed, fit
from affectlab.reliability.one_label import one_label
from affectlab.reliability.planning.wording import UNBOUNDED, model_text, pilot_note, undone_note


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
            check_number(name, getattr(self, name), 0)
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
        scale = UNBOUNDED if self.scale is None else str(self.scale)
        noise = (self.inconsistency, self.inconsistency_sd)
        spreads = model_text(self.stimulus_sd, self.rater_bias_sd, noise, scale, self.missing)
        return f"{spreads} ({self.note})"


# What lies behind answers that were rounded and cut off at the ends of the scale.


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
    apart = total > 0 and missed > _FITTED * total
    note = undone_note(model.note, missed / total if apart else 0.0)
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
    of_stimulus = float((of_stimuli**2).sum()) / (stimuli - 1) - residual / raters
    of_rater = float((of_raters**2).sum()) / (raters - 1) - residual / stimuli
    return mean, np.sqrt(np.maximum([of_stimulus, of_rater, residual], 0))


# The model of a planned study, fitted to a pilot.


@of_known_raters
def plan_model(pilot: Ratings | ArrayLike, *, label: str | None = None) -> PlanModel:
    """Fit the model of a planned study to a pilot.

    Components come from restricted maximum likelihood (see Notes). Rounding and the ends of the
    scale are then undone: the qualities, biases and noise before rounding are those whose simulated
    answers have the components that were found.

    Parameters
    ----------
    pilot
        Ratings of one label (main trials with a valid answer; the first where a rater repeats), or
        an array of shape (raters, stimuli) with ``nan`` where there is no rating.
    label
        Which label, where the pilot has several.

    Returns
    -------
    A model whose ``note`` names the pilot and what was adjusted. ``missing`` is 0: gaps of a pilot
    may be its design. The distribution of qualities is that of the pilot's mean scores, with the
    spread that is left after their error, and stretched towards the ends of the scale, where
    answers cannot follow quality.

    Raises
    ------
    InputError
        If the pilot has several labels and none is chosen, or cannot tell raters and stimuli apart.

    Notes
    -----
    Planning needs the spread of biases and noise over *future* raters, not the values of those in
    the pilot, and the mixed model of :func:`variance_components` has the former as parameters. It
    pools a variance of raters that would be negative with the noise. Both spreads are enlarged by
    what the root of an estimate from few raters lacks on average. How much noise differs between
    raters follows from moments, less what their sampling adds; it needs stimuli of three raters.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> stimuli, bias = rng.normal(50, 15, 200), rng.normal(0, 5, (25, 1))
    >>> pilot = stimuli + bias + rng.normal(0, 10, (25, 200))
    >>> model = plan_model(pilot)
    >>> round(model.inconsistency)
    10
    """
    return fit_plan_model(one_label(answers_of(pilot), label, "pilot"))


def fit_plan_model(part: Answers) -> PlanModel:
    """Fit the model to the answers on one label."""
    n_raters, n_stimuli = np.unique(part.rater).size, np.unique(part.unit).size
    if not identifiable(part):
        raise InputError(
            f"pilot with {n_raters} raters, {n_stimuli} stimuli "
            f"and {part.value.size} ratings cannot tell raters, stimuli and noise apart; expected "
            "at least two of each, with several ratings per stimulus and per rater"
        )
    if min(n_raters, n_stimuli) > MOST_LEVELS:
        raise InputError(
            f"pilot with {n_raters:,} raters and {n_stimuli:,} stimuli: expected at most "
            f"{MOST_LEVELS:,} of one of them, as a part of the stimuli has"
        )
    mean, of_stimuli, of_raters, residual = _components(part)
    larger = _few_raters(of_raters, residual, part.value.size, n_raters)
    notes = [pilot_note(n_raters)]
    scale = part.scale
    if scale is not None and not scale.declared:
        notes.append("scale inferred")
    spread = noise_spread(part, residual)
    model = PlanModel(
        stimulus_sd=math.sqrt(of_stimuli),
        rater_bias_sd=larger * math.sqrt(of_raters),
        scale=scale,
        mean=mean,
        shape=_shape(part, of_stimuli),
        note="; ".join(notes),
        **noise_of(larger * math.sqrt(residual), spread),
    )
    if scale is None or (scale.low is None and scale.high is None and scale.step is None):
        return model
    return undo_scale(model, spread)


def replicate(model: PlanModel, part: Answers, rng: np.random.Generator) -> Answers:
    """Draw the answers of a pilot anew: the same raters on the same stimuli, by name only."""
    quality = model.draw_stimuli(rng, (len(part.units),))
    bias = model.draw_bias(rng, (len(part.raters),))
    noise = model.draw_noise_sd(rng, (len(part.raters),))
    felt = quality[part.unit] + bias[part.rater]
    felt += noise[part.rater] * rng.standard_normal(felt.size)
    return replace(part, value=model.answer(felt))


def _components(part: Answers) -> tuple[float, float, float, float]:
    """Mean, and variances of stimuli, raters and noise."""
    mean, sums = float(part.value.mean()), RatingSums.of(part)
    additive = additive_variances(sums)
    if additive is not None:
        return mean, *additive, 0.0
    found = fit(crossed(sums.value, stimulus=sums.unit, rater=sums.rater))
    return mean, found.variance("stimulus"), found.variance("rater"), found.residual


def _few_raters(of_raters: float, residual: float, n_ratings: int, n_raters: int) -> float:
    r"""By how much the standard deviation of ratings is to be larger than the root of its square.

    Of an estimate of V with variance v, the root is too small by :math:`v / 8 V^2` on average.
    """
    total = of_raters + residual
    if total == 0:
        return 1.0
    of_means = of_raters + residual * n_raters / n_ratings
    variance = 2 * of_means**2 / (n_raters - 1) + 2 * residual**2 / n_ratings
    return 1 + variance / (8 * total**2)


def _shape(part: Answers, stimulus_variance: float) -> tuple[float, ...]:
    """Mean scores of the pilot's stimuli, drawn together to the variance that is not error."""
    _, unit = np.unique(part.unit, return_inverse=True)
    scores = np.bincount(unit, part.value) / np.bincount(unit)
    variance = float(scores.var())
    if variance == 0 or stimulus_variance <= 0:
        return ()
    middle = scores.mean()
    drawn = middle + (scores - middle) * math.sqrt(min(stimulus_variance / variance, 1.0))
    return tuple(drawn.tolist())
