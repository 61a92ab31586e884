"""Costs of mistakes among the labels of a data set, in its order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.taxonomy import CostMatrix, Taxonomy, load_taxonomy

__all__ = [
    "Costs",
    "Order",
    "costs_among",
    "expected_cost_labels",
    "expected_costs",
    "rank_relevance",
    "soft_labels",
]

Costs: TypeAlias = CostMatrix | Taxonomy | str | Path
"""A cost matrix, or a taxonomy (its name or file) whose own costs are taken."""


def costs_among(costs: Costs, labels: Sequence[str]) -> CostMatrix:
    """Give the costs of some labels, rows and columns in the order given.

    Parameters
    ----------
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels as a data set orders them; two at least.

    Returns
    -------
    CostMatrix
        Its labels are named as `costs` names them.

    Raises
    ------
    InputError
        When a label is not known or has no costs, or fewer than two are given.

    Examples
    --------
    >>> costs_among("mikels", ["fear", "amusement"]).matrix.tolist()
    [[1.0, 8.0], [8.0, 1.0]]
    """
    if isinstance(labels, str):
        raise InputError(f"labels: expected a list of names, not the one text {labels!r}")
    if len(labels) < 2:
        raise InputError(f"labels: {len(labels)} given; expected two at least, to be mistaken")
    if isinstance(costs, CostMatrix):
        return costs.reorder(labels)
    taxonomy = load_taxonomy(costs)
    return taxonomy.cost_matrix().reorder([taxonomy.name_of(name) for name in labels])


# Deciding for the label whose mistakes would be mildest, from probabilities of any model.


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


# How relevant each label is to a true label: the order in which a model should rank them.


Order: TypeAlias = Literal["true", "random", "reversed"]

_HIGHEST = 8.0
"""Cost that has relevance 0: the highest on Mikels' wheel."""


def rank_relevance(
    costs: Costs, labels: Sequence[str], order: Order = "true", *, seed: int = 0
) -> Floats:
    """Make a table of how relevant each label is where another is true.

    Parameters
    ----------
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels, in the order of rows and columns wanted. Costs are found by name.
    order
        ``"true"``: relevance 8 - W_yk of label k where y is true, with the costs W.
        ``"random"``: the same numbers, those of the wrong labels shuffled in each row.
        ``"reversed"``: the order of the wrong labels turned round in each row, the largest and the
        smallest number kept. In all of them the true label stays first, alone.
    seed
        Of ``"random"``. The same seed gives the same relevance to the same pair of labels,
        whatever the order of `labels`.

    Returns
    -------
    ndarray
        Shape (C, C), true labels in rows. Only the order within a row counts; where costs are above
        8, numbers are below 0.

    Raises
    ------
    InputError
        When a label is not known or has no costs.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, section 4.4 and Table 3.

    Examples
    --------
    >>> rank_relevance("mikels", ["amusement", "anger", "awe"])[0].tolist()
    [7.0, 3.0, 5.0]
    >>> rank_relevance("mikels", ["amusement", "anger", "awe"], "reversed")[0].tolist()
    [7.0, 5.0, 3.0]
    """
    check_choice("order", order, get_args(Order))
    among = costs_among(costs, labels)
    found: Floats = _HIGHEST - among.matrix
    if order == "true":
        return found
    wrong = ~np.eye(len(found), dtype=bool)
    if order == "reversed":
        others = found[wrong].reshape(len(found), -1)
        turned = others.max(axis=1, keepdims=True) + others.min(axis=1, keepdims=True) - others
        found[wrong] = turned.ravel()
        return found
    # By name, so that data sets that order the same labels differently share one random order.
    by_name = np.argsort(np.array(among.labels), kind="stable")
    random = np.random.default_rng(seed)
    for row in by_name:
        columns = by_name[by_name != row]
        found[row, columns] = found[row, random.permutation(columns)]
    return found


# Targets that give mild mistakes a share.


def soft_labels(costs: Costs, labels: Sequence[str], temperature: float = 1.0) -> Floats:
    r"""Make a distribution over labels for each true label: the cheaper a mistake, the larger.

    .. math:: q_{yk} = \exp(-W_{yk} / T) \Big/ \sum_j \exp(-W_{yj} / T)

    Parameters
    ----------
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels, in the order of rows and columns wanted. Costs are found by name.
    temperature
        T, above 0: small values leave nearly all to the true label.

    Returns
    -------
    ndarray
        Shape (C, C), true labels in rows, which sum to 1.

    Raises
    ------
    InputError
        When a label is not known or has no costs, or `temperature` is not above 0.

    References
    ----------
    The form is that of Bertinetto et al. (2020), Making Better Mistakes, section 3.2, with the
    costs of Zhao et al. (2024), To Err Like Human, equation 1.

    Examples
    --------
    >>> soft_labels("mikels", ["awe", "excitement", "anger"]).round(3).tolist()[0]
    [0.73, 0.268, 0.002]
    """
    if not (isinstance(temperature, int | float) and 0 < temperature < math.inf):
        raise InputError(f"temperature = {temperature}: expected a finite number above 0")
    # The true label costs 1, the least: no exponent is above 0.
    shares = np.exp((1.0 - costs_among(costs, labels).matrix) / temperature)
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found
