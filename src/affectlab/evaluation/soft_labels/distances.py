"""How far a predicted distribution over labels is from that of people, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import as_floats
from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.evaluation.soft_labels.distributions import checked_rows
from affectlab.taxonomy import CostMatrix

_ROWS_PER_TASK = 512
_TRIANGLE = 1e-12


def cross_entropy(people: ArrayLike, predicted: ArrayLike, *, floor: float = 0.0) -> Floats:
    r"""Compute the cross-entropy of predictions, in nats.

    :math:`H(p, q) = -\sum_l p_l \ln q_l`, with :math:`0 \ln 0 = 0`. It is infinite where q gives 0
    to a label that somebody chose, and never below the entropy of p.

    Parameters
    ----------
    people, predicted
        p and q, shape (n, k): rows that sum to 1, or ``nan``.
    floor
        Smallest share that a prediction gives to a label; smaller ones are raised to it and the
        row is made to sum to 1 again. Below 1/k.

    Returns
    -------
    Shape (n,), in [0, inf].

    Examples
    --------
    >>> cross_entropy([[0.5, 0.5, 0]], [[0.25, 0.25, 0.5]]).round(4).tolist()
    [1.3863]
    >>> cross_entropy([[0.5, 0.5]], [[1, 0]]).tolist()
    [inf]
    """
    p, q = _pair(people, predicted)
    return _cross_entropy(p, raised(q, floor))


def kullback_leibler(people: ArrayLike, predicted: ArrayLike, *, floor: float = 0.0) -> Floats:
    r"""Compute the Kullback-Leibler divergence :math:`\sum_l p_l \ln (p_l / q_l)`, in nats.

    The cross-entropy less the entropy of p: what the prediction loses to a perfect one.

    Parameters
    ----------
    people, predicted, floor
        As for ``cross_entropy``.

    Returns
    -------
    Shape (n,), in [0, inf].

    Examples
    --------
    >>> kullback_leibler([[0.5, 0.5, 0]], [[0.25, 0.25, 0.5]]).round(4).tolist()
    [0.6931]
    """
    p, q = _pair(people, predicted)
    return _kullback_leibler(p, raised(q, floor))


def jensen_shannon(people: ArrayLike, predicted: ArrayLike) -> Floats:
    r"""Compute the Jensen-Shannon divergence to base 2.

    :math:`J = \tfrac12 K(p, m) + \tfrac12 K(q, m)` in bits with :math:`m = (p + q)/2`. Its square
    root is a metric.

    Parameters
    ----------
    people, predicted
        As for ``cross_entropy``.

    Returns
    -------
    Shape (n,), in [0, 1]: 0 for equal distributions, 1 for those that share no label.

    References
    ----------
    Lin (1991), IEEE Transactions on Information Theory 37. Endres and Schindelin (2003), same, 49.

    Examples
    --------
    >>> jensen_shannon([[0.5, 0.5, 0], [1, 0, 0]], [[0.5, 0.5, 0], [0, 0.5, 0.5]]).tolist()
    [0.0, 1.0]
    """
    return _jensen_shannon(*_pair(people, predicted))


def earth_movers_distance(
    people: ArrayLike, predicted: ArrayLike, costs: CostMatrix | ArrayLike
) -> Floats:
    r"""Compute the earth mover's distance between distributions over labels, exactly.

    :math:`\min_F \sum_{lm} F_{lm} d_{lm}` over all ways F to turn p into q. With the costs W of a
    taxonomy the ground distance is :math:`d = W - 1`: staying costs nothing (W has 1 on its
    diagonal, so that moving no mass would cost 1), and a neighbour on the wheel is one step away.
    It is the distance by which EMC weighs mistakes, so that for one label against another the
    result is the denominator of EMC.

    Parameters
    ----------
    people, predicted
        p and q, shape (n, k): rows that sum to 1, or ``nan``.
    costs
        A :class:`~affectlab.taxonomy.CostMatrix`, its labels in the order of the columns, or an
        array of ground distances of shape (k, k) with 0 on the diagonal.

    Returns
    -------
    Shape (n,), from 0 to the largest ground distance. Where the ground distances obey the triangle
    inequality (rings with polarity and groups do; costs from data need not) it is a metric.

    Raises
    ------
    InputError
        When shapes do not fit, or a ground distance is negative or not 0 on the diagonal.

    Notes
    -----
    Source: Rubner, Tomasi and Guibas (2000), International Journal of Computer Vision 40; costs
    from to-err-like-human, equation 1. Solved by successive shortest paths, not approximated.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> wheel = load_taxonomy("mikels").cost_matrix()
    >>> joy, half, fear = np.eye(8)[0], np.eye(8)[0] / 2 + np.eye(8)[4] / 2, np.eye(8)[4]
    >>> earth_movers_distance([joy, joy], [fear, half], wheel).tolist()
    [7.0, 3.5]
    """
    p, q = _pair(people, predicted)
    return transported(p, q, ground_distance(costs, p.shape[1]))


def ground_distance(costs: CostMatrix | ArrayLike, k: int) -> Floats:
    """Distances between labels, shape (k, k): W - 1, or the array that is given."""
    if isinstance(costs, CostMatrix):
        distance = costs.matrix - 1.0
    else:
        distance = as_floats(costs, "costs: expected a CostMatrix or an array of distances")
    if distance.shape != (k, k):
        shape = " x ".join(map(str, distance.shape)) or "a single number"
        raise InputError(f"costs: shape is {shape}; expected {k} x {k}, one row per label")
    if not bool((np.isfinite(distance) & (distance >= 0)).all()) or np.diagonal(distance).any():
        raise InputError("costs: expected finite distances of at least 0, and 0 on the diagonal")
    return np.ascontiguousarray(distance)


def transported(p: Floats, q: Floats, distance: Floats) -> Floats:
    """Earth mover's distance of checked rows."""
    from affectlab.core.compiled import in_threads
    from affectlab.evaluation.soft_labels.transport import transport_costs

    p, q = np.ascontiguousarray(p), np.ascontiguousarray(q)
    out = np.empty(p.shape[0])
    metric = _is_metric(distance)

    def work(start: int) -> None:
        rows = slice(start, start + _ROWS_PER_TASK)
        transport_costs(p[rows], q[rows], distance, metric, out[rows])

    in_threads(work, range(0, p.shape[0], _ROWS_PER_TASK))
    return out


def _is_metric(distance: Floats) -> bool:
    """Whether no detour over a third label is shorter."""
    tolerance = _TRIANGLE * max(float(distance.max(initial=0.0)), 1.0)
    return all(
        bool((distance <= row[:, None] + distance[label][None, :] + tolerance).all())
        for label, row in enumerate(distance.T)
    )


def raised(q: Floats, floor: float) -> Floats:
    """Raise shares below the floor to it, and make rows sum to 1 again."""
    if not 0 <= floor < 1 / q.shape[1]:
        raise InputError(f"floor {floor!r}: expected at least 0 and below 1/{q.shape[1]}")
    if floor == 0:
        return q
    lifted = np.maximum(q, floor)
    total: Floats = lifted / lifted.sum(axis=1, keepdims=True)
    return total


def _pair(people: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    p, q = checked_rows(people), checked_rows(predicted)
    if p.shape != q.shape:
        raise InputError(f"people have shape {p.shape}, predictions {q.shape}; expected the same")
    return p, q


def _cross_entropy(p: Floats, q: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(p > 0, -p * np.log(q), 0.0)
    part[np.isnan(p) | np.isnan(q)] = np.nan
    # A certain prediction of what happened gives -0.
    total: Floats = np.maximum(part.sum(axis=1), 0.0)
    return total


def _kullback_leibler(p: Floats, q: Floats) -> Floats:
    from scipy.special import rel_entr

    total: Floats = np.maximum(rel_entr(p, q).sum(axis=1), 0.0)
    return total


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    from scipy.special import rel_entr

    middle = (p + q) / 2
    total = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / (2 * np.log(2))
    within: Floats = np.clip(total, 0.0, 1.0)
    return within


@dataclass(frozen=True)
class SoftMetric:
    """A measure of distributions."""

    title: str
    """Its name in a sentence."""
    function: Callable[[Floats, Floats, Any, float], Floats]
    """Of people, predictions, ground distances and the floor; checked rows to shape (n,)."""
    needs_costs: bool = False
    floored: bool = False
    """Whether the floor changes it."""
    largest: float = np.inf
    """Value that it cannot exceed."""

    options: tuple[str, ...] = ()
    """Its unit, and what else is to be known of it."""

    @property
    def what(self) -> tuple[str, ...]:
        """Its name and its options."""
        return self.title, *self.options


SOFT_METRICS: dict[str, SoftMetric] = {
    "cross_entropy": SoftMetric(
        "cross-entropy",
        lambda p, q, _, floor: _cross_entropy(p, raised(q, floor)),
        floored=True,
        options=("nats",),
    ),
    "kullback_leibler": SoftMetric(
        "Kullback-Leibler divergence",
        lambda p, q, _, floor: _kullback_leibler(p, raised(q, floor)),
        floored=True,
        options=("nats",),
    ),
    "jensen_shannon": SoftMetric(
        "Jensen-Shannon divergence",
        lambda p, q, *_: _jensen_shannon(p, q),
        largest=1.0,
        options=("base 2",),
    ),
    "jensen_shannon_distance": SoftMetric(
        "Jensen-Shannon distance",
        lambda p, q, *_: np.sqrt(_jensen_shannon(p, q)),
        largest=1.0,
        options=("base 2",),
    ),
    "earth_movers_distance": SoftMetric(
        "earth mover's distance",
        lambda p, q, distance, _: transported(p, q, distance),
        needs_costs=True,
    ),
    "brier": SoftMetric(
        "Brier score",
        lambda p, q, *_: ((p - q) ** 2).sum(axis=1),
        largest=2.0,
        options=("sum over labels",),
    ),
    "mean_absolute_difference": SoftMetric(
        "mean absolute difference",
        lambda p, q, *_: np.abs(p - q).mean(axis=1),
        largest=1.0,
        options=("over labels",),
    ),
}
"""Measures by name; for all of them less is better."""
