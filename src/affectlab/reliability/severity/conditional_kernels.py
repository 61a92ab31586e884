"""Moments of ordered answers to a stimulus whose sum is known."""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints

_PAIRS_UP_TO = 20
"""Raters of a stimulus up to which covariances are exact; those of more take the sum as normal."""


@kernel
def moments(
    start: Ints,
    rater: Ints,
    total: Ints,
    weight: Floats,
    log_weight: Floats,
    chance: Floats,
    information: Floats,
) -> float:
    """Compute chances of answers given their sum, and the covariance of what they count.

    Parameters
    ----------
    start
        Cases are stimuli with the same raters and the same sum; where each begins, shape
        (cases + 1,).
    rater
        Raters of each case in turn.
    total
        Sum of the categories of each case, from 0.
    weight
        Stimuli that are such a case.
    log_weight
        Logarithm of the weight of each category, ``-inf`` where a rater has none, shape (raters,
        categories).
    chance
        Is filled with the chance of each category given the sum, shape (len(rater), categories).
    information
        Is filled with the covariance of the counts of categories, shape (raters x categories,
        raters x categories).

    Returns
    -------
    The sum over stimuli of the logarithm of what makes chances add up to 1.
    """
    n_categories = log_weight.shape[1]
    information[:] = 0.0
    normaliser = 0.0
    for case in range(total.size):
        first, n, s = start[case], start[case + 1] - start[case], total[case]
        p = np.empty((n, n_categories))
        # Chances at the level at which this sum is to be expected: nothing under- or overflows.
        theta, log_norm = 0.0, 0.0
        low, high = -60.0, 60.0
        for _ in range(200):
            mean, variance, log_norm = 0.0, 0.0, 0.0
            for r in range(n):
                top = -np.inf
                for k in range(n_categories):
                    top = max(top, log_weight[rater[first + r], k] + k * theta)
                norm, own, square = 0.0, 0.0, 0.0
                for k in range(n_categories):
                    p[r, k] = np.exp(log_weight[rater[first + r], k] + k * theta - top)
                    norm += p[r, k]
                for k in range(n_categories):
                    p[r, k] /= norm
                    own += k * p[r, k]
                    square += k * k * p[r, k]
                mean += own
                variance += square - own * own
                log_norm += top + np.log(norm)
            if abs(mean - s) < 1e-6:
                break
            if mean < s:
                low = theta
            else:
                high = theta
            step = theta + (s - mean) / max(variance, 1e-12)
            theta = step if low < step < high else (low + high) / 2
        # Sums of the raters before each, and of those from each on.
        before = np.zeros((n + 1, s + 1))
        after = np.zeros((n + 1, s + 1))
        before[0, 0] = after[n, 0] = 1.0
        for r in range(n):
            for k in range(min(n_categories, s + 1)):
                if p[r, k] > 0:
                    before[r + 1, k:] += p[r, k] * before[r, : s + 1 - k]
        for r in range(n - 1, -1, -1):
            for k in range(min(n_categories, s + 1)):
                if p[r, k] > 0:
                    after[r, k:] += p[r, k] * after[r + 1, : s + 1 - k]
        all_of_it = before[n, s]
        normaliser += weight[case] * (np.log(all_of_it) + log_norm - s * theta)
        mean_of, squares = np.zeros(n), 0.0
        for r in range(n):
            own = chance[first + r]
            square = 0.0
            for k in range(n_categories):
                own[k] = 0.0
                if k <= s and p[r, k] > 0:
                    for m in range(s - k + 1):
                        own[k] += before[r, m] * after[r + 1, s - k - m]
                    own[k] *= p[r, k] / all_of_it
                mean_of[r] += k * own[k]
                square += k * k * own[k]
            squares += square - mean_of[r] ** 2
        for r in range(n):
            one = rater[first + r] * n_categories
            for k in range(n_categories):
                e = weight[case] * chance[first + r, k]
                information[one + k, one + k] += e
                for m in range(n_categories):
                    information[one + k, one + m] -= e * chance[first + r, m]
            between = before[r].copy()
            for q in range(r + 1, n):
                other = rater[first + q] * n_categories
                if n > _PAIRS_UP_TO:
                    for k in range(n_categories):
                        for m in range(n_categories):
                            both = chance[first + r, k] * (k - mean_of[r])
                            both *= chance[first + q, m] * (m - mean_of[q])
                            both *= weight[case] / squares
                            information[one + k, other + m] -= both
                            information[other + m, one + k] -= both
                    continue
                rest = np.zeros(2 * n_categories - 1)
                for d in range(min(2 * n_categories - 1, s + 1)):
                    for m in range(s - d + 1):
                        rest[d] += between[m] * after[q + 1, s - d - m]
                for k in range(n_categories):
                    for m in range(n_categories):
                        both = p[r, k] * p[q, m] * rest[k + m] / all_of_it
                        both -= chance[first + r, k] * chance[first + q, m]
                        both *= weight[case]
                        information[one + k, other + m] += both
                        information[other + m, one + k] += both
                grown = np.zeros(s + 1)
                for k in range(min(n_categories, s + 1)):
                    if p[q, k] > 0:
                        grown[k:] += p[q, k] * between[: s + 1 - k]
                between = grown
    return normaliser
