"""Simulated studies for planning: what a number of raters gives, for many numbers at once.

Every replicate draws one study with the largest number of raters; a smaller number is its first
raters. Curves over the number of raters are therefore smooth, and cost little more than a point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from affectlab.core.arrays import blocks_of, ratio
from affectlab.core.types import Floats, Ints
from affectlab.reliability.planning.model import PlanModel
from affectlab.reliability.rank_correlation import grouped_spearman

_BLOCK = 1 << 20
"""Answers that are held at once, about."""
_EXACT = 1e-12


@dataclass(frozen=True)
class StudyDesign:
    """Who rates what in a simulated study."""

    n_stimuli: int
    batch: int
    """Stimuli that share a panel of raters."""

    @property
    def panels(self) -> Ints:
        """Panel of every stimulus, shape (n_stimuli,)."""
        return np.arange(self.n_stimuli) // self.batch


def _studies(
    model: PlanModel, design: StudyDesign, n_raters: int, n_sim: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Draw answers and whether they are given, both (replicates, stimuli, raters), in blocks."""
    panels = design.panels
    n_panels = int(panels[-1]) + 1
    for size in blocks_of(n_sim, design.n_stimuli * n_raters, _BLOCK):
        quality = model.draw_stimuli(rng, (size, design.n_stimuli))
        bias = model.draw_bias(rng, (size, n_panels, n_raters))
        noise = model.draw_noise_sd(rng, (size, n_panels, n_raters))
        felt = rng.standard_normal((size, design.n_stimuli, n_raters))
        felt *= noise[:, panels]
        felt += bias[:, panels]
        felt += quality[:, :, None]
        yield model.answer(felt), _given(model, felt.shape, rng)


def _given(model: PlanModel, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.bool_]:
    if model.missing == 0:
        return np.ones(shape, dtype=np.bool_)
    return rng.random(shape) >= model.missing


def interval_widths(
    model: PlanModel,
    design: StudyDesign,
    raters: Ints,
    confidence: float,
    assurance: float | None,
    n_sim: int,
    rng: np.random.Generator,
) -> Floats:
    """Width of Student's interval of the scores, shape (n_sim, candidates).

    Mean over the stimuli with two ratings or more, or the quantile ``assurance`` over them.
    """
    most = int(raters[-1])
    critical = np.full(most + 1, np.nan)
    critical[2:] = stdtrit(np.arange(1.0, most), (1 + confidence) / 2)
    found = []
    for answers, given in _studies(model, design, most, n_sim, rng):
        n, _, variance = _moments(answers, given, raters)
        width = 2 * critical[n.astype(np.int64)] * np.sqrt(variance / n)
        undefined = np.isnan(width)
        if assurance is None:
            total, defined = np.where(undefined, 0, width).sum(axis=1), (~undefined).sum(axis=1)
            found.append(ratio(total, defined))
        else:
            # A stimulus without an interval has none that is narrow enough.
            width[undefined] = np.inf
            found.append(np.quantile(width, assurance, axis=1, method="higher"))
    return np.concatenate(found)


def split_half_correlations(
    model: PlanModel, design: StudyDesign, raters: Ints, n_sim: int, rng: np.random.Generator
) -> Floats:
    """Spearman between mean scores of two halves of the ratings, shape (n_sim, candidates).

    Each stimulus' ratings are split by itself: of every two neighbouring raters one goes to each
    half, at random. An odd rater out is left out, so that halves are equal.
    """
    halves = raters // 2
    most = 2 * int(halves[-1])
    found = []
    for answers, given in _studies(model, design, most, n_sim, rng):
        size = answers.shape[0]
        x = answers.reshape(size, design.n_stimuli, -1, 2)
        present = given.reshape(x.shape)
        swap = rng.random(x.shape[:3]) < 0.5
        scores = []
        for first, second in ((0, 1), (1, 0)):
            values = np.where(swap, x[..., first], x[..., second])
            counts = np.where(swap, present[..., first], present[..., second])
            scores.append(_means(values, counts, halves))
        group = np.broadcast_to(
            np.arange(size)[:, None, None] * halves.size + np.arange(halves.size), scores[0].shape
        )
        both = ~np.isnan(scores[0] + scores[1])
        value, _ = grouped_spearman(
            scores[0][both], scores[1][both], group[both], size * halves.size
        )
        found.append(value.reshape(size, halves.size))
    return np.concatenate(found)


def detections(
    model: PlanModel,
    difference: float,
    paired: bool,
    raters: Ints,
    confidence: float,
    n_sim: int,
    rng: np.random.Generator,
) -> Floats:
    """Whether a two-sided t-test tells two stimuli apart, shape (n_sim, candidates) of 0 and 1.

    ``paired``: the same raters rate both, and their differences are tested; otherwise Welch's test.
    """
    most = int(raters[-1])
    found = []
    for size in blocks_of(n_sim, 2 * most, _BLOCK):
        middle = _between_ends(model, model.draw_stimuli(rng, (size, 1)), difference)
        people = (size, most) if paired else (size, 2 * most)
        bias = model.draw_bias(rng, people)
        noise = model.draw_noise_sd(rng, people)
        if paired:
            bias, noise = np.tile(bias, 2), np.tile(noise, 2)
        side = np.repeat([-0.5, 0.5], most) * difference
        felt = middle + side + bias + noise * rng.standard_normal((size, 2 * most))
        answers, given = model.answer(felt), _given(model, felt.shape, rng)
        first, second = answers[:, :most], answers[:, most:]
        if paired:
            both = given[:, :most] & given[:, most:]
            n, mean, variance = _moments(second - first, both, raters)
            found.append(_significant(mean, variance / n, n - 1, confidence))
        else:
            n_1, mean_1, variance_1 = _moments(first, given[:, :most], raters)
            n_2, mean_2, variance_2 = _moments(second, given[:, most:], raters)
            square, freedom = _welch(variance_1 / n_1, variance_2 / n_2, n_1, n_2)
            freedom = np.where((n_1 > 1) & (n_2 > 1), freedom, 0)
            found.append(_significant(mean_2 - mean_1, square, freedom, confidence))
    return np.concatenate(found)


def _welch(share_1: Floats, share_2: Floats, n_1: Floats, n_2: Floats) -> tuple[Floats, Floats]:
    """Squared standard error of a difference of means, and its degrees of freedom."""
    square = share_1 + share_2
    bottom = share_1**2 / np.maximum(n_1 - 1, 1) + share_2**2 / np.maximum(n_2 - 1, 1)
    return square, np.divide(square**2, bottom, out=n_1 + n_2 - 2, where=bottom > 0)


def _between_ends(model: PlanModel, middle: Floats, difference: float) -> Floats:
    """Move pairs of stimuli inside the scale, so that the difference can be seen."""
    low, high = model.ends
    return np.clip(middle, low + difference / 2, high - difference / 2)


def _moments(x: Floats, given: NDArray[np.bool_], raters: Ints) -> tuple[Floats, Floats, Floats]:
    """Number (at least 1), mean and variance of the first raters, shape (..., candidates)."""
    centre = np.median(x, axis=-1, keepdims=True)
    kept = np.where(given, x - centre, 0.0)
    n = np.maximum(np.cumsum(given, axis=-1)[..., raters - 1], 1).astype(np.float64)
    s1 = np.cumsum(kept, axis=-1)[..., raters - 1]
    s2 = np.cumsum(kept * kept, axis=-1)[..., raters - 1]
    variance = np.maximum(s2 - s1**2 / n, 0) / np.maximum(n - 1, 1)
    variance[variance < _EXACT * s2] = 0
    return n, s1 / n + centre, variance


def _means(x: Floats, given: NDArray[np.bool_], raters: Ints) -> Floats:
    """Mean of the first raters, shape (..., candidates); ``nan`` where none of them answered."""
    total = np.cumsum(np.where(given, x, 0.0), axis=-1)[..., raters - 1]
    return ratio(total, np.cumsum(given, axis=-1, dtype=np.int64)[..., raters - 1])


def _significant(mean: Floats, square: Floats, freedom: Floats, confidence: float) -> Floats:
    """Whether mean / sqrt(square) is beyond Student's critical value; not with no freedom."""
    t = np.divide(
        np.abs(mean),
        np.sqrt(square),
        out=np.where(np.abs(mean) > _EXACT, np.inf, 0.0),
        where=square > 0,
    )
    tail = 1 - stdtr(np.maximum(freedom, 1), t)
    beyond: Floats = ((2 * tail < 1 - confidence) & (freedom > 0)).astype(np.float64)
    return beyond


def coefficients_of_means(
    model: PlanModel,
    design: StudyDesign,
    raters: Ints,
    absolute: bool,
    n_sim: int,
    rng: np.random.Generator,
) -> Floats:
    """Reliability of the mean of k raters, shape (n_sim, candidates), whose mean is the value.

    The mean scores of k raters are compared with those of k others: with covariance c, variances
    v and means m, the coefficient is 2 c / (v_1 + v_2), and, absolute, 2 c / (v_1 + v_2 +
    (m_1 - m_2)^2). Sums are taken over studies before they are divided.
    """
    most = int(raters[-1])
    top, bottom = [], []
    for answers, given in _studies(model, design, 2 * most, n_sim, rng):
        scores = [
            _means(answers[:, :, side], given[:, :, side], raters)
            for side in (slice(0, most), slice(most, None))
        ]
        both = ~np.isnan(scores[0] + scores[1])
        n_both = np.maximum(both.sum(axis=1), 2)
        means = [np.where(both, one, 0).sum(axis=1) / n_both for one in scores]
        first, second = (
            np.where(both, one - mean[:, None], 0) for one, mean in zip(scores, means, strict=True)
        )
        top.append(2 * (first * second).sum(axis=1) / (n_both - 1))
        size = (first**2 + second**2).sum(axis=1) / (n_both - 1)
        bottom.append(size + (means[0] - means[1]) ** 2 if absolute else size)
    above, below = np.concatenate(top), np.concatenate(bottom)
    size = below.mean(axis=0)
    value = ratio(above.mean(axis=0), size)
    spread: Floats = value + ratio(above - value * below, size)
    return spread


def alpha_widths(
    model: PlanModel,
    design: StudyDesign,
    raters: Ints,
    confidence: float,
    n_sim: int,
    rng: np.random.Generator,
) -> Floats:
    """Width of the interval of Krippendorff's interval alpha, shape (n_sim, candidates).

    The width is that of a normal interval with the standard deviation of alpha over studies with
    other stimuli and other raters; the mean over studies is the value.
    """
    most = int(raters[-1])
    parts = []
    for answers, given in _studies(model, design, most, n_sim, rng):
        x = np.where(given, answers - float(model.mean or 0), 0.0)
        m = np.cumsum(given, axis=2, dtype=np.float64)[:, :, raters - 1]
        s1 = np.where(m > 1, np.cumsum(x, axis=2)[:, :, raters - 1], 0.0)
        s2 = np.where(m > 1, np.cumsum(x * x, axis=2)[:, :, raters - 1], 0.0)
        m = np.where(m > 1, m, 0)
        squares = np.maximum(s2 - s1**2 / np.maximum(m, 1), 0)
        n = m.sum(axis=1)
        within = ratio(m * squares, m - 1).clip(0).sum(axis=1) / np.maximum(n, 1)
        total = s2.sum(axis=1) - s1.sum(axis=1) ** 2 / np.maximum(n, 1)
        parts.append(1 - ratio(within * (n - 1), total))
    alpha = np.concatenate(parts)
    error = np.nanstd(alpha, axis=0, ddof=1)
    deviation = (alpha - np.nanmean(alpha, axis=0)) ** 2 * alpha.shape[0] / (alpha.shape[0] - 1)
    # The mean over studies is the standard deviation, and their spread its Monte Carlo error.
    relative = ratio(deviation, error)
    widths: Floats = ndtri((1 + confidence) / 2) * (error + relative)
    return widths


def group_detections(
    model: PlanModel,
    design: StudyDesign,
    difference: float,
    correlation: float,
    raters: Ints,
    confidence: float,
    n_sim: int,
    rng: np.random.Generator,
) -> Floats:
    """Whether a t-test tells two halves of the stimuli apart, shape (n_sim, candidates).

    Mean scores are tested over stimuli: Welch's test of groups, and where ``correlation`` is above
    0, the test of differences of pairs. Both halves are dealt to all panels of raters.
    """
    half, most = design.n_stimuli // 2, int(raters[-1])
    panels = np.arange(half) // max(design.batch // 2, 1)
    parts = []
    for size in blocks_of(n_sim, 2 * half * most, _BLOCK):
        mean = float(model.mean or 0)
        first, other = (model.draw_stimuli(rng, (size, half)) - mean for _ in range(2))
        second = correlation * first + np.sqrt(1 - correlation**2) * other
        bias = model.draw_bias(rng, (size, int(panels[-1]) + 1, most))[:, panels]
        noise = model.draw_noise_sd(rng, (size, int(panels[-1]) + 1, most))[:, panels]
        scores = []
        for quality, sign in ((first, -0.5), (second, 0.5)):
            felt = (mean + sign * difference + quality)[:, :, None] + bias
            answers = model.answer(felt + noise * rng.standard_normal((size, half, most)))
            scores.append(_means(answers, _given(model, answers.shape, rng), raters))
        tested = [scores[1] - scores[0]] if correlation else scores
        n = [np.maximum((~np.isnan(one)).sum(axis=1), 2).astype(np.float64) for one in tested]
        shares = [np.nanvar(one, axis=1, ddof=1) / m for one, m in zip(tested, n, strict=True)]
        means = [np.nanmean(one, axis=1) for one in tested]
        square, freedom = (shares[0], n[0] - 1) if correlation else _welch(*shares, *n)
        apart = means[0] if correlation else means[1] - means[0]
        parts.append(_significant(apart, square, freedom, confidence))
    return np.concatenate(parts)
