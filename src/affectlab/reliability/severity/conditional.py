r"""Conditional maximum likelihood for ordered answers of raters to stimuli.

With :math:`\eta_{rk}` the logarithm of the weight of category k of rater r, the chance of the
answers to a stimulus given their sum is free of how the stimulus is:

.. math:: P(x \mid \textstyle\sum_r x_r = s) = \frac{\exp \sum_r \eta_{r x_r}}
    {\sum_{y : \sum y_r = s} \exp \sum_r \eta_{r y_r}} .

Where :math:`\eta` is linear in the parameters, its logarithm is concave.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from affectlab.core.types import Bools, Floats, Ints

_ROUNDS = 60
_SOLVED = 1e-8
_FLAT = 1e-7
"""Curvature, beside the largest, below which the likelihood tells nothing."""
_FAR = 25.0
"""Parameters beyond which a search follows a likelihood that rises without end."""


@dataclass(frozen=True, eq=False)
class OrderedAnswers:
    """Answers, sorted by stimulus."""

    stimulus: Ints
    """Shape (n,)."""
    rater: Ints
    category: Ints
    """From 0, each of which occurs."""
    owner: Ints
    """Who has the thresholds that the answer is given by: 0 where all share them, else a rater."""

    @property
    def n_raters(self) -> int:
        """One more than the largest code."""
        return int(self.rater.max(initial=-1)) + 1

    @property
    def n_categories(self) -> int:
        """One more than the highest category."""
        return int(self.category.max(initial=-1)) + 1

    @cached_property
    def counts(self) -> Floats:
        """How often each rater gives each category, shape (raters, categories)."""
        shape = self.n_raters, self.n_categories
        code = self.rater * self.n_categories + self.category
        return np.bincount(code, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    def where(self, kept: Bools) -> OrderedAnswers:
        """Keep some answers, with the codes they have."""
        return replace(
            self,
            stimulus=self.stimulus[kept],
            rater=self.rater[kept],
            category=self.category[kept],
            owner=self.owner[kept],
        )

    def ends(self) -> tuple[Ints, Ints]:
        """Lowest and highest category that each answer could have been, by who has thresholds."""
        size = int(self.owner.max(initial=-1)) + 1
        low = np.full(size, self.category.max(initial=0))
        high = np.zeros(size, dtype=np.int64)
        np.minimum.at(low, self.owner, self.category)
        np.maximum.at(high, self.owner, self.category)
        return low[self.owner], high[self.owner]


def telling(answers: OrderedAnswers) -> Bools:
    """Say which answers tell raters apart, shape (n,).

    Others are to stimuli with one answer, or on which all are at the same end; or of raters who are
    at one end on all others.
    """
    kept = np.ones(answers.category.size, dtype=np.bool_)
    while True:
        part = answers.where(kept)
        low, high = part.ends()
        drop = np.zeros(part.category.size, dtype=np.bool_)
        for end in (low, high):
            inside = part.category != end
            for code in (part.stimulus, part.rater):
                drop |= np.bincount(code, inside)[code] == 0
        drop |= np.bincount(part.stimulus)[part.stimulus] < 2
        if not drop.any():
            return kept
        kept[np.flatnonzero(kept)[drop]] = False


def n_groups(answers: OrderedAnswers, *, ordered: bool) -> int:
    """Count the groups of raters that nothing links.

    Parameters
    ----------
    answers
        Those that tell raters apart.
    ordered
        Whether raters have to be linked in both directions: one could have been higher and the
        other lower with the same sum. Else any stimulus in common links them.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    low, high = answers.ends()
    rater = answers.rater
    stimulus = answers.n_raters + answers.stimulus
    gives, takes = answers.category > low, answers.category < high
    if not ordered:
        gives = takes = np.ones(rater.size, dtype=np.bool_)
    ends = np.concatenate([rater[gives], stimulus[takes]])
    others = np.concatenate([stimulus[gives], rater[takes]])
    size = int(stimulus.max()) + 1
    graph = csr_array((np.ones(ends.size), (ends, others)), shape=(size, size))
    _, of = connected_components(graph, connection="strong")
    return np.unique(of[np.unique(rater)]).size


@dataclass(frozen=True, eq=False)
class Cases:
    """Stimuli with the same raters and the same sum, together."""

    start: Ints
    rater: Ints
    total: Ints
    weight: Floats
    place: Ints
    """Of each answer, its place in `rater`."""

    @classmethod
    def of(cls, answers: OrderedAnswers) -> Cases:
        """Put alike stimuli together."""
        order = np.lexsort((answers.rater, answers.stimulus))
        stimulus, rater = answers.stimulus[order], answers.rater[order]
        bounds = np.flatnonzero(np.diff(stimulus, prepend=-1, append=-1))
        sums = np.add.reduceat(answers.category[order], bounds[:-1])
        known: dict[tuple[bytes, int], int] = {}
        case = np.empty(sums.size, dtype=np.int64)
        first = list[int]()
        for j, (begin, end) in enumerate(itertools.pairwise(bounds)):
            key = rater[begin:end].tobytes(), int(sums[j])
            case[j] = known.setdefault(key, len(known))
            if case[j] == len(first):
                first.append(j)
        size = np.diff(bounds)
        start = np.concatenate([[0], np.cumsum(size[first])])
        of_case = np.concatenate([rater[bounds[j] : bounds[j + 1]] for j in first])
        place = np.empty(order.size, dtype=np.int64)
        within = np.arange(order.size) - np.repeat(bounds[:-1], size)
        place[order] = np.repeat(start[case], size) + within
        return cls(start, of_case, sums[first], np.bincount(case).astype(np.float64), place)


@dataclass(frozen=True, eq=False)
class Weights:
    """How the logarithms of the weights of categories follow from parameters."""

    design: Floats
    """Shape (raters x categories, parameters)."""
    used: Bools
    """Whether a rater gives a category at all, shape (raters, categories)."""
    sums: Floats
    """Combinations of parameters that are 0, shape (constraints, parameters)."""

    def of(self, parameters: Floats) -> Floats:
        """Logarithms of weights, ``-inf`` where a rater never gives a category."""
        value = (self.design @ parameters).reshape(self.used.shape)
        return np.where(self.used, value, -np.inf)

    @cached_property
    def free(self) -> Floats:
        """Directions in which parameters can move, shape (parameters, free)."""
        from scipy.linalg import null_space

        if not self.sums.size:
            return np.eye(self.design.shape[1])
        return np.asarray(null_space(self.sums), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ConditionalFit:
    """Parameters of largest conditional likelihood."""

    parameters: Floats
    covariance: Floats
    """Of the parameters, which add up as the constraints say."""
    log_likelihood: float
    n_free: int
    log_weight: Floats
    chance: Floats
    """Chance of each category of each answer given the sum of its stimulus, (answers, k)."""

    def combined(self, rows: Floats) -> tuple[Floats, Floats]:
        """Give combinations of parameters with their standard errors."""
        variance = ((rows @ self.covariance) * rows).sum(axis=1)
        return rows @ self.parameters, np.sqrt(np.maximum(variance, 0.0))


def fit_conditional(answers: OrderedAnswers, weights: Weights) -> ConditionalFit | None:
    """Fit by Newton's method; None where the likelihood has no maximum."""
    from affectlab.reliability.severity.conditional_kernels import moments

    cases = Cases.of(answers)
    size = weights.design.shape[0]
    counts = answers.counts.ravel()
    into = weights.design @ weights.free
    chance = np.empty((cases.rater.size, answers.n_categories))
    information = np.empty((size, size))

    def evaluate(parameters: Floats) -> float:
        log_weight = weights.of(parameters)
        given = np.where(weights.used, log_weight, 0.0).ravel()
        arrays = cases.start, cases.rater, cases.total, cases.weight
        return float(counts @ given) - moments(*arrays, log_weight, chance, information)

    parameters = np.zeros(weights.design.shape[1])
    best = evaluate(parameters)
    weight = np.repeat(cases.weight, np.diff(cases.start))
    for _ in range(_ROUNDS):
        expected = np.zeros((answers.n_raters, answers.n_categories))
        np.add.at(expected, cases.rater, chance * weight[:, None])
        gradient = into.T @ (counts - expected.ravel())
        curvature = into.T @ information @ into
        values = np.linalg.eigvalsh(curvature)
        if values[0] <= _FLAT * values[-1]:
            return None
        step = np.linalg.solve(curvature, gradient)
        share = 1.0
        while True:
            moved = parameters + share * (weights.free @ step)
            value = evaluate(moved)
            if value >= best - 1e-9 * abs(best) or share < _SOLVED:
                break
            share /= 2
        parameters, best = moved, value
        if np.abs(parameters).max() > _FAR:
            return None
        if np.abs(step).max() < _SOLVED:
            break
    covariance = weights.free @ np.linalg.inv(curvature) @ weights.free.T
    return ConditionalFit(
        parameters,
        covariance,
        best,
        weights.free.shape[1],
        weights.of(parameters),
        chance[cases.place],
    )
