"""Costs of mistakes from a wheel, from groups, from another taxonomy, and from data.

Every function gives 1 on the diagonal and at least 2 elsewhere. Costs from data are rescaled to
[2, `highest`], where `highest` is 8 unless said otherwise: the range of the costs on Mikels' wheel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError
from affectlab.taxonomy.cost_matrix import (
    SMALLEST,
    CostMatrix,
    check_labels,
    refuse,
    refuse_uneven,
    square,
)

Matrix = NDArray[np.float64]


def cost_from_ring(
    ring: Sequence[str], polarity: Mapping[str, str | None], *, lam: float = 4.0
) -> CostMatrix:
    """Costs from the steps around a wheel and from polarity.

    ``W_ij = 1 + steps(i, j)`` where the polarities are the same, ``lam + steps(i, j)`` otherwise,
    with ``steps(i, j) = min(|i - j|, k - |i - j|)`` for k labels. Polarities are compared as they
    are named: two ambiguous labels share one.

    Parameters
    ----------
    ring
        The k labels in their order around the wheel.
    polarity
        Polarity of each label; every label needs one.
    lam
        What replaces the 1 when polarities differ; at least 1.

    Raises
    ------
    InputError
        When a label has no polarity or `lam` is below 1.

    Notes
    -----
    Source: to-err-like-human, equation 1, with lam = 4.

    Examples
    --------
    >>> sides = {"joy": "positive", "awe": "positive", "fear": "negative"}
    >>> cost_from_ring(["joy", "awe", "fear"], sides).cost("awe", "fear")
    5.0
    """
    names = check_labels(ring)
    without = [name for name in names if polarity.get(name) is None]
    if without:
        raise InputError(
            f"polarity: label {without[0]!r} has none; costs on a wheel need one for every label"
        )
    if not 1 <= lam < math.inf:
        raise InputError(f"lam = {lam}: expected a finite number of at least 1")
    place = np.arange(len(names))
    apart = np.abs(place[:, None] - place[None, :])
    steps = np.minimum(apart, len(names) - apart)
    side = np.array([polarity[name] for name in names])
    same = side[:, None] == side[None, :]
    return CostMatrix(names, np.where(same, 1.0, lam) + steps, f"ring, lam {lam:g}")


def cost_from_groups(labels: Sequence[str], levels: Sequence[Mapping[str, str]]) -> CostMatrix:
    """Costs from the tree that nested levels of groups make.

    W_ij = 2 + the number of levels at which i and j are in different groups: 2 for two labels of
    the finest group, one more for each level that must be climbed until they meet.

    Parameters
    ----------
    labels
        The k labels.
    levels
        Group of each label, one mapping per level, from fine to coarse.

    Raises
    ------
    InputError
        When a label has no group, or a level does not hold the groups of the one before whole.

    Examples
    --------
    >>> sides = {"joy": "positive", "fear": "negative", "rage": "negative"}
    >>> cost_from_groups(["joy", "fear", "rage"], [sides]).matrix.tolist()
    [[1.0, 3.0, 3.0], [3.0, 1.0, 2.0], [3.0, 2.0, 1.0]]
    """
    names = check_labels(labels)
    if not levels:
        raise InputError("levels: expected at least one level of groups")
    costs = np.full((len(names), len(names)), SMALLEST)
    below: Sequence[str] = names
    for number, level in enumerate(levels, start=1):
        missing = [name for name in names if name not in level]
        if missing:
            raise InputError(f"levels: label {missing[0]!r} has no group at level {number}")
        above = [level[name] for name in names]
        parent: dict[str, str] = {}
        for group, wider in zip(below, above, strict=True):
            if parent.setdefault(group, wider) != wider:
                raise InputError(
                    f"levels: {group!r} is split between {parent[group]!r} and {wider!r} at level "
                    f"{number}; levels must nest, from fine to coarse"
                )
        group_array = np.array(above)
        costs += group_array[:, None] != group_array[None, :]
        below = above
    np.fill_diagonal(costs, 1)
    return CostMatrix(names, costs, f"groups, {len(levels)} level{'s' if len(levels) > 1 else ''}")


def cost_from_reference(
    labels: Sequence[str], reference: CostMatrix, stands_for: Mapping[str, Sequence[str]]
) -> CostMatrix:
    """Costs derived from those of another taxonomy, through the labels that each label stands for.

    W_ij is the mean reference cost over all pairs of different labels, one that i stands for and
    one that j stands for; 2 when there is no such pair because both stand for the same one label.
    Labels that both taxonomies have keep their reference costs.

    Parameters
    ----------
    labels
        The k labels.
    reference
        Costs of the other taxonomy.
    stands_for
        The reference labels that each label stands for, at least one.

    Raises
    ------
    InputError
        When a label stands for nothing, or for a label that the reference has not.

    Notes
    -----
    Source: to-err-like-human, section 3.1, on Ekman's six: reference costs where emotions are
    shared, opposites by polarity. The mean is our reading. With Mikels' wheel, joy stands for its
    positive half, so that it costs 6.5 or 7 to take joy for a negative emotion; surprise, of either
    polarity, stands for the whole wheel and costs 5, between the same polarity (at most 4) and the
    opposite one.

    Examples
    --------
    >>> base = CostMatrix(("awe", "fun", "fear"), [[1, 2, 5], [2, 1, 6], [5, 6, 1]])
    >>> cost_from_reference(["joy", "fear"], base, {"joy": ["awe", "fun"], "fear": ["fear"]}).cost(
    ...     "joy", "fear"
    ... )
    5.5
    """
    names = check_labels(labels)
    empty = [name for name in names if not stands_for.get(name)]
    if empty:
        raise InputError(f"stands_for: label {empty[0]!r} stands for no label of the reference")
    share = np.zeros((len(names), len(reference.labels)))
    for row, name in enumerate(names):
        for other in stands_for[name]:
            share[row, reference.index(other)] = 1
    different = 1 - np.eye(len(reference.labels))
    pairs = share @ different @ share.T
    total = share @ (reference.matrix * different) @ share.T
    costs = ratio(total, pairs, SMALLEST)
    np.fill_diagonal(costs, 1)
    return CostMatrix(names, _symmetric(costs), f"from reference costs ({reference.kind})")


def cost_from_confusions(
    confusions: ArrayLike, labels: Sequence[str], *, highest: float = 8.0
) -> CostMatrix:
    """Costs from how often people take one label for another.

    With P the rows of S divided by their sums and s_ij = (P_ij + P_ji) / 2,
    W_ij = highest - (highest - 2) * s_ij / max s, the maximum taken off the diagonal: the pair that
    is confused most costs 2, a pair never confused costs `highest`. Without any confusion every
    pair costs `highest`.

    Parameters
    ----------
    confusions
        S, k by k: counts or weights, one row per label meant, one column per label chosen.
    labels
        The k labels, in the order of rows and columns.
    highest
        Cost of labels that are never confused, above 2.

    Raises
    ------
    InputError
        When a count is negative or a row is empty.

    Examples
    --------
    >>> seen = [[8, 2, 0], [2, 8, 0], [0, 0, 9]]
    >>> cost_from_confusions(seen, ["fear", "shock", "joy"]).matrix[0].tolist()
    [1.0, 2.0, 8.0]
    """
    names = check_labels(labels)
    counts = square(confusions, names, "confusions")
    refuse(counts < 0, counts, names, "confusions", "no negative number")
    sums = counts.sum(axis=1)
    if np.any(sums == 0):
        raise InputError(
            f"confusions: the row of {names[int(np.argmin(sums))]!r} is empty; "
            "expected at least one answer for every label"
        )
    rates = counts / sums[:, None]
    closeness = _symmetric(rates)
    np.fill_diagonal(closeness, 0)
    most = closeness.max()
    relative = closeness / most if most > 0 else closeness
    return _rescaled(1 - relative, names, highest, "human confusions")


def cost_from_correlation(
    correlation: ArrayLike, labels: Sequence[str], *, highest: float = 8.0
) -> CostMatrix:
    """Costs from the correlation between labels.

    W_ij = 2 + (highest - 2) * (1 - r_ij) / 2: 2 at a correlation of 1, `highest` at -1.

    Parameters
    ----------
    correlation
        R, k by k, symmetric, in [-1, 1].
    labels
        The k labels, in the order of rows and columns.
    highest
        Cost at a correlation of -1, above 2.

    Raises
    ------
    InputError
        When R is not symmetric, or a correlation is undefined or off [-1, 1].

    Examples
    --------
    >>> cost_from_correlation([[1, 0], [0, 1]], ["joy", "fear"]).cost("joy", "fear")
    5.0
    """
    names = check_labels(labels)
    values = square(correlation, names, "correlation")
    refuse_uneven(values, names, "correlation", 1e-6, 1e-9)
    refuse(np.abs(values) > 1 + 1e-9, values, names, "correlation", "-1 to 1")
    return _rescaled((1 - np.clip(values, -1, 1)) / 2, names, highest, "correlation")


def cost_from_differences(
    differences: ArrayLike,
    labels: Sequence[str],
    *,
    largest: float | None = None,
    highest: float = 8.0,
) -> CostMatrix:
    """Costs from measured differences between expressions.

    W_ij = 2 + (highest - 2) * D_ij / largest: 2 where no difference is seen, `highest` at the
    largest one.

    Parameters
    ----------
    differences
        D, k by k, symmetric, not negative; the diagonal is not used.
    labels
        The k labels, in the order of rows and columns.
    largest
        The difference that costs `highest`, such as the end of the scale; the largest difference
        measured when not given.
    highest
        Cost of the largest difference, above 2.

    Raises
    ------
    InputError
        When D is not symmetric, is negative, exceeds `largest`, or holds no difference at all.

    Examples
    --------
    >>> seen = [[0, 30, 60], [30, 0, 45], [60, 45, 0]]
    >>> cost_from_differences(seen, ["calm", "smile", "grin"]).cost("calm", "smile")
    5.0
    """
    names = check_labels(labels)
    values = square(differences, names, "differences").copy()
    np.fill_diagonal(values, 0)
    refuse(values < 0, values, names, "differences", "no negative number")
    refuse_uneven(values, names, "differences", 1e-6, 1e-9)
    top = float(values.max()) if largest is None else largest
    if not 0 < top < math.inf:
        raise InputError(f"differences: the largest is {top:g}; expected a positive number")
    if values.max() > top:
        raise InputError(f"differences: {values.max():g} exceeds the largest allowed, {top:g}")
    return _rescaled(values / top, names, highest, "measured differences")


def _rescaled(distance: Matrix, labels: tuple[str, ...], highest: float, kind: str) -> CostMatrix:
    """Map distances in [0, 1] to costs in [2, highest]."""
    if not SMALLEST < highest < math.inf:
        raise InputError(f"highest = {highest}: expected a finite number above 2")
    costs = SMALLEST + (highest - SMALLEST) * _symmetric(distance)
    np.fill_diagonal(costs, 1)
    return CostMatrix(labels, costs, kind)


def _symmetric(values: Matrix) -> Matrix:
    symmetric: Matrix = (values + values.T) / 2
    return symmetric
