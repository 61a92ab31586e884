"""Simulated studies for planning: what a number of raters gives, for many numbers at once.

Every replicate draws one study with the largest number of raters; a smaller number is its first
raters. Curves over the number of raters are therefore smooth, and cost little more than a point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from affectlab.core.types import Floats, Ints
from affectlab.reliability.planning.model import PlanModel
from affectlab.reliability.rank_correlation import grouped_spearman

_BLOCK = 1 << 20
"""Answers that are held at once, about."""
_EXACT = 1e-12


@dataclass(frozen=True)
class Design:
    """Who rates what in a simulated study."""

    n_stimuli: int
    batch: int
    """Stimuli that share a panel of raters."""

    @property
    def panels(self) -> Ints:
        """Panel of every stimulus, shape (n_stimuli,)."""
        return np.arange(self.n_stimuli) // self.batch


def _studies(
    model: PlanModel, design: Design, n_raters: int, n_sim: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Draw answers and whether they are given, both (replicates, stimuli, raters), in blocks."""
    panels = design.panels
    n_panels = int(panels[-1]) + 1
    rows = max(1, _BLOCK // (design.n_stimuli * n_raters))
    for start in range(0, n_sim, rows):
        size = min(rows, n_sim - start)
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
    design: Design,
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
        centre = np.median(answers, axis=2, keepdims=True)
        x = np.where(given, answers - centre, 0.0)
        n = np.cumsum(given, axis=2)[:, :, raters - 1]
        s1 = np.cumsum(x, axis=2)[:, :, raters - 1]
        s2 = np.cumsum(x * x, axis=2)[:, :, raters - 1]
        several = np.maximum(n, 2)
        squares = np.maximum(s2 - s1**2 / several, 0)
        width = 2 * critical[n] * np.sqrt(squares / ((several - 1) * several))
        undefined = np.isnan(width)
        if assurance is None:
            total, defined = np.where(undefined, 0, width).sum(axis=1), (~undefined).sum(axis=1)
            found.append(_ratio(total, defined))
        else:
            # A stimulus without an interval has none that is narrow enough.
            width[undefined] = np.inf
            found.append(np.quantile(width, assurance, axis=1, method="higher"))
    return np.concatenate(found)


def _ratio(top: Floats, bottom: Floats | Ints) -> Floats:
    ratio: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    return ratio


def split_half_correlations(
    model: PlanModel, design: Design, raters: Ints, n_sim: int, rng: np.random.Generator
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
        x = np.where(given, answers, 0.0).reshape(size, design.n_stimuli, -1, 2)
        present = given.reshape(x.shape)
        swap = rng.random(x.shape[:3]) < 0.5
        scores = []
        for first, second in ((0, 1), (1, 0)):
            values = np.where(swap, x[..., first], x[..., second])
            counts = np.where(swap, present[..., first], present[..., second])
            total = np.cumsum(values, axis=2)[:, :, halves - 1]
            scores.append(_ratio(total, np.cumsum(counts, axis=2)[:, :, halves - 1]))
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
    rows = max(1, _BLOCK // (2 * most))
    found = []
    for start in range(0, n_sim, rows):
        size = min(rows, n_sim - start)
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
            share_1, share_2 = variance_1 / n_1, variance_2 / n_2
            square = share_1 + share_2
            bottom = share_1**2 / np.maximum(n_1 - 1, 1) + share_2**2 / np.maximum(n_2 - 1, 1)
            freedom = np.divide(square**2, bottom, out=n_1 + n_2 - 2, where=bottom > 0)
            freedom = np.where((n_1 > 1) & (n_2 > 1), freedom, 0)
            found.append(_significant(mean_2 - mean_1, square, freedom, confidence))
    return np.concatenate(found)


def _between_ends(model: PlanModel, middle: Floats, difference: float) -> Floats:
    """Move pairs of stimuli inside the scale, so that the difference can be seen."""
    low, high = model.ends
    return np.clip(middle, low + difference / 2, high - difference / 2)


def _moments(x: Floats, given: NDArray[np.bool_], raters: Ints) -> tuple[Floats, Floats, Floats]:
    """Number (at least 1), mean and variance of the first raters, shape (size, candidates)."""
    centre = np.median(x, axis=1, keepdims=True)
    kept = np.where(given, x - centre, 0.0)
    n = np.maximum(np.cumsum(given, axis=1)[:, raters - 1], 1).astype(np.float64)
    s1 = np.cumsum(kept, axis=1)[:, raters - 1]
    s2 = np.cumsum(kept * kept, axis=1)[:, raters - 1]
    variance = np.maximum(s2 - s1**2 / n, 0) / np.maximum(n - 1, 1)
    variance[variance < _EXACT * s2] = 0
    return n, s1 / n + centre, variance


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
