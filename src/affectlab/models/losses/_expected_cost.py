"""Deciding for the label whose mistakes would be mildest, from probabilities of any model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.models.losses._costs import Costs, costs_among

__all__ = ["expected_cost_labels", "expected_costs"]

_OFF = 1e-3
"""How far a row may sum off 1: half precision rounds."""
_SAME = 1e-12
"""Relative difference below which two expected costs are the same."""


def expected_costs(proba: ArrayLike, costs: Costs, labels: Sequence[str]) -> Floats:
    r"""Compute what deciding for each label is expected to cost.

    .. math:: c_{nk} = \sum_y p_{ny} W_{yk}

    Parameters
    ----------
    proba
        Probabilities, shape (n, C), rows summing to 1.
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels, in the order of the columns of `proba`. Costs are found by name.

    Returns
    -------
    ndarray
        Shape (n, C), at least 1: a right label costs 1, as in the mean emotional distance.

    Raises
    ------
    InputError
        When probabilities are negative, not finite, do not sum to 1, or do not fit the labels, or
        a label is not known or has no costs.

    Examples
    --------
    >>> expected_costs([[0.4, 0.3, 0.3]], "mikels", ["awe", "fear", "anger"]).round(2).tolist()
    [[4.3, 3.9, 4.3]]
    """
    among = costs_among(costs, labels)
    found: Floats = _checked(proba, labels) @ among.matrix
    return found


def expected_cost_labels(proba: ArrayLike, costs: Costs, labels: Sequence[str]) -> list[str]:
    """Decide for the label that is expected to cost least.

    The most probable label is right most often; this one keeps mistakes mild. The two differ where
    several labels that are near to each other share more than one that is far from them has alone.

    Parameters
    ----------
    proba, costs, labels
        As for :func:`expected_costs`.

    Returns
    -------
    list of str
        n names among `labels`; of labels that cost the same, the more probable one.

    Raises
    ------
    InputError
        As :func:`expected_costs`.

    Examples
    --------
    Awe is most probable, but it would be the opposite of what is felt with 60 %:

    >>> expected_cost_labels([[0.4, 0.3, 0.3]], "mikels", ["awe", "fear", "anger"])
    ['fear']
    """
    shares = _checked(proba, labels)
    given = shares @ costs_among(costs, labels).matrix
    least = given.min(axis=1, keepdims=True)
    chosen = np.where(given <= least * (1 + _SAME), shares, -1.0).argmax(axis=1)
    return [labels[place] for place in chosen]


def _checked(proba: ArrayLike, labels: Sequence[str]) -> Floats:
    try:
        shares = np.asarray(proba, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("probabilities: expected a table of numbers") from None
    if shares.ndim != 2 or shares.shape[1] != len(labels):
        raise InputError(
            f"probabilities: shape {shares.shape}; expected (n, {len(labels)}), one column for "
            "each label"
        )
    bad = ~np.isfinite(shares).all(axis=1) | (shares < 0).any(axis=1)
    bad |= np.abs(shares.sum(axis=1) - 1) > _OFF
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"probabilities, row {row}: {np.array2string(shares[row], precision=4, threshold=8)}; "
            "expected numbers from 0 to 1 that sum to 1"
        )
    return shares
