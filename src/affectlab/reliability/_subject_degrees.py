"""Degrees of freedom that scores and biases take from each rater's residuals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from affectlab._types import Floats
from affectlab.reliability._subject_data import Grouped

__all__ = ["bias_covariance", "bias_degrees", "pairs_of"]

_EXACT_RATERS = 64
_EXACT_PAIRS = 200_000
"""Up to here exact degrees of freedom take less than the passes over the ratings."""


def bias_degrees(data: Grouped) -> Callable[[Floats], Floats]:
    r"""Give the function from weights w_i to the degrees of freedom c_i of the biases.

    With S the precision of the biases after the scores are eliminated, and h_j the shares of the
    raters in stimulus j,

    .. math:: c_i = w_i \sum_{k \in i} (e_i - h_{j(k)})' S^+ (e_i - h_{j(k)})

    which small designs get exactly. Others get c_i = 1 - p_i, with p_i the share of rater i in the
    weight of all ratings of its group: exact where everyone rated everything, right in total for
    any group, and wrong by far less than one rating where each rater has many.
    """
    n, group = data.n_of_rater, data.group
    if data.n_raters <= _EXACT_RATERS and pairs_of(data) <= _EXACT_PAIRS:
        return lambda weight: _exact(data, weight)

    def by_share(weight: Floats) -> Floats:
        own = n * weight
        left: Floats = 1 - own / np.bincount(group, own)[group]
        return left

    return by_share


def pairs_of(data: Grouped) -> float:
    """Ordered pairs of ratings of the same stimulus, each with itself included."""
    return float((data.n_of_stimulus.astype(np.float64) ** 2).sum())


def _exact(data: Grouped, weight: Floats) -> Floats:
    from affectlab.reliability._kernels._subject import pair_sums, pair_terms

    weight = np.ascontiguousarray(weight)
    of_rating = data.stimulus
    total = np.asarray(np.bincount(of_rating, weight[data.rater], data.n_stimuli), dtype=float)
    _, crossed = pair_sums(data.start, data.rater, weight, total)
    covariance = bias_covariance(data, weight, crossed)
    within, _ = pair_terms(data.start, data.rater, weight, total, covariance, covariance)
    own = data.n_of_rater * covariance.diagonal() * weight
    both = (crossed * covariance).sum(axis=1)
    rest = weight * np.bincount(data.rater, within[of_rating], data.n_raters)
    taken: Floats = np.clip(own - 2 * both + rest, 0, 1)
    return taken


def bias_covariance(data: Grouped, weight: Floats, crossed: Floats) -> Floats:
    """S^+, S = diag(n_i w_i) - sum_j W_j h_j h_j'; the biases of a group sum to zero.

    Parameters
    ----------
    crossed
        sum_j W_j h_j h_j', shape (raters, raters).
    """
    precision = np.diag(data.n_of_rater * weight) - crossed
    covariance = np.zeros_like(precision)
    for group in range(data.group.max(initial=-1) + 1):
        members = np.flatnonzero(data.group == group)
        if members.size < 2:
            continue
        block = np.ix_(members, members)
        # S has the null vector 1; filling it up makes S invertible without changing the rest.
        fill = precision[block].diagonal().mean()
        filled = np.linalg.pinv(precision[block] + fill, rcond=1e-15, hermitian=True)
        covariance[block] = filled - 1 / (fill * members.size**2)
    return covariance
