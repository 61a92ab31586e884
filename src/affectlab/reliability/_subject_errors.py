"""How uncertain the scores, biases and inconsistencies of the ``reml`` subject model are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab._types import Floats
from affectlab.reliability._subject_data import Grouped
from affectlab.reliability._subject_degrees import bias_covariance, pairs_of
from affectlab.reliability._subject_fit import Fit

__all__ = ["Errors", "reml_errors"]

_DENSE_RATERS = 256
_DENSE_PAIRS = 30_000_000
"""Up to here covariances between raters are used; above, raters count as uncorrelated."""


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard errors, and the degrees of freedom of their intervals."""

    score_se: Floats
    score_df: Floats
    bias_se: Floats
    bias_df: Floats
    variance_df: Floats
    """Degrees of freedom of the chi-squared interval of v_i^2."""


def reml_errors(data: Grouped, fit: Fit, total: Floats, sums: Floats) -> Errors:
    r"""Compute the errors of scores with estimated weights.

    With C the covariance of the estimated :math:`\log v_i^2` (inverse of the REML information,
    prior included), :math:`h_j` the shares of the raters in stimulus j, and S the precision of the
    biases after the scores are eliminated:

    .. math::

        \mathrm{se}_j^2 = \frac{1 + 2 (\sum_i h_{ij} C_{ii} - h_j' C h_j)}{W_j} + h_j' S^+ h_j,
        \qquad \nu_j = \frac{2}{h_j' C h_j}

    The factor makes up for weights that are themselves estimates (Meier 1953; Kackar and Harville
    1984), the last term for the biases, and :math:`\nu_j` is Satterthwaite's.

    Parameters
    ----------
    total, sums
        W_j, and the sums per rater that ``describe`` gives.
    """
    leverage, squared = sums[:, 0], sums[:, 1]
    left = np.maximum(data.n_of_rater - leverage, np.finfo(float).tiny)
    # The bias of a rater takes a part of what the scores leave.
    kept = np.clip(fit.df / left, 0, 1)
    if data.n_raters <= _DENSE_RATERS and pairs_of(data) <= _DENSE_PAIRS:
        terms = _dense_terms(data, fit, total, leverage, kept)
    else:
        terms = _diagonal_terms(data, fit, total, squared, kept, left)
    own, both, bias, log_variance, bias_variance = terms
    # A first-order correction beyond the error itself says only that the error is unknown.
    score_se = np.sqrt((1 + 2 * np.clip(own - both, 0, 1)) / _positive(total) + np.maximum(bias, 0))
    return Errors(
        score_se,
        2 / _positive(both),
        np.sqrt(np.maximum(bias_variance, 0)),
        np.maximum(fit.df, 1),
        2 / _positive(log_variance),
    )


def _positive(values: Floats) -> Floats:
    """Leave out what a collapsed fit, whose information is singular, can make of a variance."""
    return np.where(values > 0, values, np.nan)


def _dense_terms(
    data: Grouped, fit: Fit, total: Floats, leverage: Floats, kept: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    from affectlab.reliability._kernels._subject import pair_sums, pair_terms, weighted_terms

    weight = fit.weight_bias[:, 0].copy()
    shares, crossed = pair_sums(data.start, data.rater, weight, total)
    information = shares + np.diag(data.n_of_rater - 2 * leverage)
    information *= np.sqrt(np.outer(kept, kept)) / 2
    information[np.diag_indices_from(information)] += fit.prior_df / 2
    covariance = _inverse(information)
    of_bias = bias_covariance(data, weight, crossed)
    both, bias = pair_terms(data.start, data.rater, weight, total, covariance, of_bias)
    log_variance = covariance.diagonal().copy()
    terms = np.column_stack([log_variance] * 3)
    own = weighted_terms(data.start, data.rater, weight, total, terms)[:, 0]
    return own, both, bias, log_variance, of_bias.diagonal().copy()


def _diagonal_terms(
    data: Grouped, fit: Fit, total: Floats, squared: Floats, kept: Floats, left: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    from affectlab.reliability._kernels._subject import weighted_terms

    weight = fit.weight_bias[:, 0].copy()
    log_variance = 2 / np.maximum(kept * squared + fit.prior_df, np.finfo(float).tiny)
    bias_variance = 1 / (weight * left)
    terms = np.column_stack([log_variance, log_variance, bias_variance])
    out = weighted_terms(data.start, data.rater, weight, total, terms)
    return out[:, 0], out[:, 1], out[:, 2], log_variance, bias_variance


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric matrix; directions without information get a pseudo-inverse."""
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
