"""How relevant each label is to a true label: the order in which a model should rank them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from affectlab._types import Floats
from affectlab.errors import unknown_name
from affectlab.models.losses._costs import Costs, costs_among

__all__ = ["Order", "rank_relevance"]

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
    if order not in get_args(Order):
        raise unknown_name("order", order, get_args(Order))
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
