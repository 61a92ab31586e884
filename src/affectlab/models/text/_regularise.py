"""Which labels should look alike: relations that pull the weights of two labels together."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.taxonomy import Taxonomy

__all__ = ["LabelPenalty", "label_relations", "laplacian"]

LabelPenalty: TypeAlias = Literal["none", "sentiment", "correlation"]


def label_relations(
    penalty: LabelPenalty | ArrayLike, taxonomy: Taxonomy, targets: Floats
) -> Floats | None:
    r"""Say how strongly the weights of each two labels pull at each other.

    A back end adds :math:`\tfrac\gamma2 \sum_{i<j} R_{ij} \lVert w_i - w_j \rVert^2` to its loss,
    with w the weights of a label in its last layer.

    Parameters
    ----------
    penalty
        ``"sentiment"``: 1 for labels of the same polarity. ``"correlation"``: the correlation of
        two labels over the training texts, 0 where it is negative, since a penalty that pushes
        labels apart has no minimum. ``"none"``, or a matrix R of one's own.
    targets
        Of the training texts, shape (n, labels).

    Returns
    -------
    ndarray or None
        R, symmetric, zeros on the diagonal, shape (labels, labels); None without penalty.

    Raises
    ------
    InputError
        When the name is not known, labels have no polarity, or a matrix does not fit.

    References
    ----------
    The code published with Demszky et al. (2020) has both as options, off by default.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> mikels = load_taxonomy("mikels")
    >>> label_relations("sentiment", mikels, np.zeros((1, 8))).sum(axis=0)
    array([3., 3., 3., 3., 3., 3., 3., 3.])
    """
    k = len(taxonomy)
    if not isinstance(penalty, str):
        return _checked(penalty, k)
    if penalty not in get_args(LabelPenalty):
        raise unknown_name("label penalty", penalty, get_args(LabelPenalty))
    if penalty == "none":
        return None
    relations: Floats
    if penalty == "sentiment":
        sides = [taxonomy.polarity[label] for label in taxonomy.labels]
        if None in sides:
            raise InputError(
                f"label penalty 'sentiment': label {taxonomy.labels[sides.index(None)]!r} of "
                f"{taxonomy.name} has no polarity"
            )
        relations = np.array([[float(a == b) for b in sides] for a in sides])
    else:
        spread = targets.std(axis=0)
        scaled = (targets - targets.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        relations = np.maximum(scaled.T @ scaled / len(targets), 0.0)
    np.fill_diagonal(relations, 0.0)
    return relations


def _checked(given: Any, k: int) -> Floats:
    matrix = np.array(given, dtype=np.float64)
    if matrix.shape != (k, k):
        raise InputError(f"label penalty: shape {matrix.shape}; expected {(k, k)}")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and np.allclose(matrix, matrix.T)):
        raise InputError("label penalty: expected a symmetric matrix of numbers from 0 on")
    np.fill_diagonal(matrix, 0.0)
    return matrix


def laplacian(relations: Floats) -> Floats:
    """Give the matrix L with sum over i<j of R_ij |w_i - w_j|² = trace of W L W'."""
    found: Floats = np.diag(relations.sum(axis=0)) - relations
    return found
