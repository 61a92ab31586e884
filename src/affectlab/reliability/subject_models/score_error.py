"""How far the mean of a stimulus' raters may lie from the mean of all raters there could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import Scale

PRIOR_DF = 8.0
"""Degrees of freedom that the error of the label counts for, beside those of the stimulus."""


@dataclass(frozen=True, eq=False)
class Spread:
    """How the variance of answers follows from their mean, up to a factor, for each stimulus.

    Between two bounds it is (mu - low)(high - mu), as of yes/no: nobody can differ where the mean
    is at a bound. With one bound it is the distance from that, with none it is constant.
    """

    low: Floats
    """Lower bound of the scale, -inf where there is none; shape (stimuli,)."""
    high: Floats
    exact: Bools
    """Whether the factor is 1, as of yes/no."""

    @classmethod
    def of(cls, scales: Sequence[Scale] | None, label: Ints) -> Spread:
        """Take the scales of labels; bounds that only the answers suggest are none."""
        if scales is None:
            n = label.size
            return cls(np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n, dtype=np.bool_))
        bounded = [one.declared or one.step is not None for one in scales]
        ends = [
            (
                one.low if has and one.low is not None else -np.inf,
                one.high if has and one.high is not None else np.inf,
            )
            for one, has in zip(scales, bounded, strict=True)
        ]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        exact = np.array([one.kind == "binary" for one in scales], dtype=np.bool_)
        return cls(low[label], high[label], exact[label])

    def terms(self, mean: Floats) -> tuple[Floats, Floats, Floats]:
        """Give the variance at a mean, its slope, and half its curvature."""
        below, above = np.isfinite(self.low), np.isfinite(self.high)
        up = np.where(below, mean - np.where(below, self.low, 0.0), 1.0)
        down = np.where(above, np.where(above, self.high, 0.0) - mean, 1.0)
        both = below & above
        slope = np.where(both, down - up, below.astype(np.float64) - above)
        return up * down, slope, np.where(both, -1.0, 0.0)

    def around(self, mean: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Give the ends of all mu with (mean - mu)^2 <= share * V(mu), which are on the scale."""
        level, slope, curve = self.terms(mean)
        turn = 1 - share * curve
        half = np.sqrt((share * slope) ** 2 + 4 * turn * share * level) / (2 * turn)
        middle = mean + share * slope / (2 * turn)
        return np.maximum(middle - half, self.low), np.minimum(middle + half, self.high)


def pooled_interval(
    value: Floats,
    rater: Ints,
    stimulus: Ints,
    label: Ints,
    spread: Spread,
    confidence: float,
) -> tuple[Floats, Floats, Floats]:
    r"""Give standard errors and intervals of means, about other raters.

    Answers x of raters drawn at random have the variance :math:`\phi_j V(\mu_j)`, with V the
    :class:`Spread`. Of a label, :math:`\phi` is the ratio of the sums of :math:`s_j^2` and of
    unbiased estimates of :math:`V(\mu_j)`; that of a stimulus is moderated towards it:

    .. math:: \phi_j = \frac{d_0 \phi \hat V_j + (n_j - 1) s_j^2}{(d_0 + n_j - 1) \hat V_j}

    The interval holds every :math:`\mu` with
    :math:`(\bar x_j - \mu)^2 \le t^2 \phi_j V(\mu) / n_j`, so that it ends on the scale, and of
    yes/no is Wilson's. What raters bring to all stimuli is in :math:`s_j^2`, and makes the
    :math:`s_j^2` of a label alike: :math:`\phi` has as few degrees of freedom as raters' own
    mean deviations, and the spread of their mean squares, tell.

    Parameters
    ----------
    value, rater, stimulus
        One answer of a rater to a stimulus (of a label), with codes without gaps.
    label
        Label of each stimulus, shape (stimuli,).
    """
    from scipy.special import ndtri, stdtrit

    n = np.bincount(stimulus, minlength=label.size).astype(np.float64)
    mean = np.bincount(stimulus, value, label.size) / n
    away = value - mean[stimulus]
    squares = np.bincount(stimulus, away**2, label.size)
    own_df = n - 1
    level, _, curve = spread.terms(mean)
    n_labels = int(label.max(initial=-1)) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(own_df > 0, squares / own_df, 0.0)
        unbiased = level - curve * variance / n
        pooled_df = np.bincount(label, own_df, n_labels)
        known = np.bincount(label, own_df * unbiased, n_labels)
        factor = np.where(known > 0, np.bincount(label, squares, n_labels) / known, np.nan)
        # Deviations in units of what the mean predicts, of stimuli that several rated.
        unit = np.sqrt(unbiased * own_df / n)[stimulus]
        used = (own_df > 0)[stimulus] & (unit > 0)
        shared = _shared_df(away[used] / unit[used], rater[used], label[stimulus[used]], n_labels)
        label_df = np.fmin(shared, pooled_df)
        total = PRIOR_DF + own_df
        moderated = (PRIOR_DF * factor[label] + own_df * variance / unbiased) / total
        moderated = np.where(unbiased > 0, moderated, factor[label])
        # The error of the stimulus is a part of that of its label, so that both err together.
        apart = own_df / total * np.sqrt(1 / np.maximum(own_df, 1))
        freedom = 1 / (apart + PRIOR_DF / total * np.sqrt(1 / label_df[label])) ** 2
        moderated = np.where(spread.exact, 1.0, moderated)
        tail = (1 + confidence) / 2
        quantile = np.where(spread.exact, ndtri(tail), stdtrit(np.maximum(freedom, 1), tail))
        low, high = spread.around(mean, quantile**2 * moderated / n)
    return (high - low) / (2 * quantile), low, high


def _shared_df(unit: Floats, rater: Ints, label: Ints, n_labels: int) -> Floats:
    """Degrees of freedom of the error of each label, as far as raters are few."""
    n_raters = int(rater.max(initial=-1)) + 1
    code = label * np.int64(n_raters) + rater
    shape = (n_labels, n_raters)
    count, sums, squares = (
        np.bincount(code, weights, n_labels * n_raters).reshape(shape)
        for weights in (None, unit, unit**2)
    )
    share = count / count.sum(axis=1, keepdims=True)
    bias, own = sums / np.maximum(count, 1), squares / np.maximum(count, 1)
    together = (share * own).sum(axis=1)
    raters = 1 / (share**2).sum(axis=1)
    scatter = (share**2 * (own - together[:, None]) ** 2).sum(axis=1) / together**2
    biased = np.clip((share * bias**2).sum(axis=1) / together * raters / (raters - 1), 0, 1)
    relative = np.maximum(scatter * raters / (raters - 1), 2 * biased**2 / (raters - 1))
    found: Floats = np.maximum(2 / relative, np.maximum(raters - 1, 1))
    return found
