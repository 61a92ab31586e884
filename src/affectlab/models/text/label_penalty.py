"""Which labels belong together, and which apart: relations that a penalty on a model follows."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.taxonomy import Taxonomy

__all__ = ["LabelPenalty", "label_relations", "laplacian"]

LabelPenalty: TypeAlias = Literal["none", "sentiment", "correlation"]


def label_relations(
    penalty: LabelPenalty | ArrayLike,
    taxonomy: Taxonomy,
    targets: Floats,
    *,
    signed: bool = False,
) -> Floats | None:
    r"""Say how strongly each two labels belong together, or apart.

    Networks (``embedding``, ``transformer``) use signed relations on probabilities and
    add :math:`\gamma\,\frac{1}{nk^2} \sum_t \sum_{i,j} R_{ij} (p_{ti} - p_{tj})^2` to their loss,
    the mean over the n texts of a batch and all pairs of the k labels: related labels are pulled to
    the same probability, and those with negative R pushed to different ones.

    ``linear`` adds :math:`\tfrac\gamma2 \sum_{i<j} R_{ij} \lVert w_i - w_j \rVert^2`, with w the
    weights of a label. Weights have no bound, so that a penalty that pushed them apart would have
    no minimum: R is 0 where it would be negative. This form is affectlab's own.

    Parameters
    ----------
    penalty
        ``"sentiment"``: 1 for labels of the same polarity, and -1 (signed) or 0 for others.
        ``"correlation"``: the correlation of two labels over the training texts, as it is (signed)
        or 0 where it is negative. ``"none"``, or a matrix R of one's own.
    targets
        Of the training texts, shape (n, labels).
    signed
        Give relations that push apart, too. Neutral labels then have none, neither by sentiment
        nor by correlation.

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
    The signed form is that of the code published with Demszky et al. (2020), GoEmotions, where
    both relations are options and off by default. There, correlations come from a file; here, from
    the training texts.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> mikels = load_taxonomy("mikels")
    >>> label_relations("sentiment", mikels, np.zeros((1, 8))).sum(axis=0)
    array([3., 3., 3., 3., 3., 3., 3., 3.])
    >>> label_relations("sentiment", mikels, np.zeros((1, 8)), signed=True).sum(axis=0)
    array([-1., -1., -1., -1., -1., -1., -1., -1.])
    """
    k = len(taxonomy)
    if not isinstance(penalty, str):
        return _checked(penalty, k, signed)
    check_choice("label penalty", penalty, get_args(LabelPenalty))
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
        relations = np.array([[1.0 if a == b else -1.0 for b in sides] for a in sides])
    else:
        spread = targets.std(axis=0)
        scaled = (targets - targets.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        relations = scaled.T @ scaled / len(targets)
    if signed:
        neutral = np.array(
            [
                label == taxonomy.neutral or taxonomy.polarity[label] == "neutral"
                for label in taxonomy.labels
            ]
        )
        relations[neutral] = 0.0
        relations[:, neutral] = 0.0
    else:
        relations = np.maximum(relations, 0.0)
    np.fill_diagonal(relations, 0.0)
    return relations


def _checked(given: Any, k: int, signed: bool) -> Floats:
    matrix = np.array(given, dtype=np.float64)
    if matrix.shape != (k, k):
        raise InputError(f"label penalty: shape {matrix.shape}; expected {(k, k)}")
    if not (np.isfinite(matrix).all() and np.allclose(matrix, matrix.T)):
        raise InputError("label penalty: expected a symmetric matrix of numbers")
    if not signed and (matrix < 0).any():
        raise InputError(
            "label penalty: a number below 0; expected 0 or more, since weights that are pushed "
            "apart have no bound"
        )
    np.fill_diagonal(matrix, 0.0)
    return matrix


def laplacian(relations: Floats) -> Floats:
    """Give the matrix L with sum over i<j of R_ij |w_i - w_j|² = trace of W L W'."""
    found: Floats = np.diag(relations.sum(axis=0)) - relations
    return found
