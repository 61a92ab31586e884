"""Models of a choice between two: strengths of systems, the effect of position, and ties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined

Model: TypeAlias = Literal["bradley-terry", "thurstone"]
Ties: TypeAlias = Literal["half", "drop", "davidson", "threshold"]

_ROUNDS = 200
_SMALL = 1e-10
_SINGULAR = 1e-9
_BLOCK = 1 << 22
"""Numbers that are held at once while clusters are left out."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Choices that were made alike, and how often: of a tie, `first` and `second` are in order."""

    first: Ints
    """The system that was chosen, or one of both."""
    second: Ints
    left: Floats
    """1 where the first stood on the left, -1 where the second did, 0 where not known."""
    tie: Bools
    weight: Floats

    @classmethod
    def count(cls, first: Ints, second: Ints, left: Floats, tie: Bools) -> tuple[Votes, Ints]:
        """Count single choices; and say of which kind each of them is."""
        turned = tie & (first > second)
        a, b = np.where(turned, second, first), np.where(turned, first, second)
        # One number for each kind: sorting rows would take ten times as long.
        k = max(a.max(initial=0), b.max(initial=0)) + 1
        side = np.where(turned, -left, left).astype(np.int64) + 1
        code, kind, times = np.unique(
            ((a * k + b) * 3 + side) * 2 + tie, return_inverse=True, return_counts=True
        )
        pair, tied = np.divmod(code, 2)
        pair, side = np.divmod(pair, 3)
        a, b = np.divmod(pair, k)
        return cls(a, b, side.astype(np.float64) - 1, tied > 0, times.astype(np.float64)), kind

    def joined(self, other: Votes) -> Votes:
        """These kinds of choices, then those of another."""
        names = ("first", "second", "left", "tie", "weight")
        return Votes(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in names))

    def wins(self, k: int, ties: float) -> Floats:
        """How often the row was chosen over the column, shape (k, k); a tie is `ties` for both."""
        wins = np.zeros((k, k))
        np.add.at(wins, (self.first, self.second), np.where(self.tie, ties, 1.0) * self.weight)
        np.add.at(wins, (self.second, self.first), np.where(self.tie, ties, 0.0) * self.weight)
        return wins


# The chance of a win, by how far ahead a system is.


Curve: TypeAlias = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""The logarithm of a chance, the derivative of that, and the negative of the second one."""


def _logistic(x: Floats) -> tuple[Floats, Floats, Floats]:
    from scipy.special import expit, log_expit

    slope = expit(-x)
    return log_expit(x), slope, slope * (1 - slope)


def _normal(x: Floats) -> tuple[Floats, Floats, Floats]:
    from scipy.special import log_ndtr

    # phi / Phi, by logarithms, so that it holds far out in the tail.
    log = log_ndtr(x)
    slope = np.exp(-0.5 * x**2 - 0.5 * np.log(2 * np.pi) - log)
    return log, slope, slope * (slope + x)


_CURVES: dict[Model, Curve] = {"bradley-terry": _logistic, "thurstone": _normal}


# What ties say: log-likelihoods of choices with first and second derivatives by u and tau.


Terms: TypeAlias = tuple[Floats, Floats, Floats]
"""Shapes (n,), (n, 2) and, of the negative second ones, (n, 2, 2)."""


def _shared(curve: Curve, u: Floats, _tau: float, tie: Bools) -> Terms:
    """Half a win for both; where ties are dropped there are none."""
    share = np.where(tie, 0.5, 1.0)
    log, first, second = curve(u)
    back, back_first, back_second = curve(-u)
    slope, bend = np.zeros((u.size, 2)), np.zeros((u.size, 2, 2))
    slope[:, 0] = share * first - (1 - share) * back_first
    bend[:, 0, 0] = share * second + (1 - share) * back_second
    return share * log + (1 - share) * back, slope, bend


def _davidson(_curve: Curve, u: Floats, tau: float, tie: Bools) -> Terms:
    """Weights exp(u / 2), exp(-u / 2) and exp(tau): an exponential family."""
    from scipy.special import logsumexp

    weights = np.column_stack([u / 2, -u / 2, np.full(u.size, tau)])
    total = logsumexp(weights, axis=1)
    forth, back, both = np.exp(weights - total[:, None]).T
    mean = np.column_stack([(forth - back) / 2, both])
    seen = np.column_stack([np.where(tie, 0.0, 0.5), tie])
    bend = -mean[:, :, None] * mean[:, None, :]
    bend[:, 0, 0] += (forth + back) / 4
    bend[:, 1, 1] += both
    return np.where(tie, tau, u / 2) - total, seen - mean, bend


def _threshold(curve: Curve, u: Floats, tau: float, tie: Bools) -> Terms:
    """A win from tau on, the other's below -tau, and a tie between."""
    if tau <= 0:
        return np.full(u.size, -np.inf), np.zeros((u.size, 2)), np.zeros((u.size, 2, 2))
    log, first, second = curve(u - tau)
    slope = first[:, None] * np.array([1.0, -1.0])
    bend = second[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    # Of a tie, from the side where both chances are below one half: no digits are lost.
    x = -np.abs(u[tie])
    upper, lower = curve(x + tau)[0], curve(x - tau)[0]
    log[tie] = upper + np.log1p(-np.exp(lower - upper))
    (up, up_slope), (down, down_slope) = (
        _density(curve, at, log[tie]) for at in (u[tie] + tau, u[tie] - tau)
    )
    of_tie = np.column_stack([up - down, up + down])
    own, cross = up_slope - down_slope, up_slope + down_slope
    slope[tie] = of_tie
    bend[tie] = of_tie[:, :, None] * of_tie[:, None, :]
    bend[tie] -= np.moveaxis(np.array([[own, cross], [cross, own]]), -1, 0)
    return log, slope, bend


def _density(curve: Curve, x: Floats, log_of: Floats) -> tuple[Floats, Floats]:
    """Density and its derivative, over a chance that is given by its logarithm."""
    log, slope, bend = curve(x)
    share = np.exp(log - log_of)
    return slope * share, (slope**2 - bend) * share


@dataclass(frozen=True)
class TieRule:
    """What becomes of ties."""

    terms: Callable[[Curve, Floats, float, Bools], Terms]
    start: float | None = None
    """Where a search for the parameter of ties begins; None where there is none."""


_TIES: dict[Ties, TieRule] = {
    "half": TieRule(_shared),
    "drop": TieRule(_shared),
    "davidson": TieRule(_davidson, 0.0),
    "threshold": TieRule(_threshold, 0.5),
}


@dataclass(frozen=True)
class ChoiceModel:
    r"""Chances of a choice from :math:`u = s_i - s_j + \delta`, where :math:`\delta` is the effect
    of standing on the left, and from a parameter :math:`\tau` of ties.
    """

    model: Model
    ties: Ties
    position: bool

    @property
    def with_ties(self) -> bool:
        """Whether ties have a parameter."""
        return _TIES[self.ties].start is not None

    def terms(self, u: Floats, tau: float, tie: Bools) -> Terms:
        """Log-likelihood of each choice, with first and second derivatives by u and tau."""
        return _TIES[self.ties].terms(_CURVES[self.model], u, tau, tie)

    def chances(self, u: Floats, tau: float) -> tuple[Floats, Floats]:
        """Chances that the first of two is chosen where one is, and of a tie."""
        n = np.zeros(u.shape, dtype=bool).ravel()
        first, second = (np.exp(self.terms(at.ravel(), tau, n)[0]) for at in (u, -u))
        decided = first + second
        return (first / decided).reshape(u.shape), (1 - decided).reshape(u.shape)


@dataclass(frozen=True, eq=False)
class ChoiceFit:
    """Parameters of largest likelihood, and what each kind of choice says of them."""

    model: ChoiceModel
    votes: Votes
    n_systems: int
    parameters: Floats
    """Strengths with mean 0, then the effect of position, then the parameter of ties; ``nan`` where
    the choices do not determine them."""

    @classmethod
    def undefined(cls, model: ChoiceModel, votes: Votes, n_systems: int) -> ChoiceFit:
        """Say that the choices determine nothing."""
        n = n_systems + model.position + model.with_ties
        return cls(model, votes, n_systems, np.full(n, np.nan))

    @property
    def strength(self) -> Floats:
        """Shape (systems,)."""
        return self.parameters[: self.n_systems]

    @property
    def tau(self) -> float:
        """Parameter of ties; 0 where there is none."""
        return float(self.parameters[-1]) if self.model.with_ties else 0.0

    @cached_property
    def design(self) -> Floats:
        """Derivatives of u by the parameters, shape (kinds of choices, parameters)."""
        return _design(self.votes, self.n_systems, self.model)

    @cached_property
    def pulls(self) -> tuple[Floats, Floats]:
        """First and negative second derivatives of each kind of choice by u and tau."""
        return self.model.terms(self.design @ self.parameters, self.tau, self.votes.tie)[1:]

    def scores(self) -> Floats:
        """Derivative of the log-likelihood of one choice of each kind, (kinds, parameters)."""
        slope = self.pulls[0]
        scores = self.design * slope[:, :1]
        if self.model.with_ties:
            scores[:, -1] += slope[:, 1]
        return scores

    def information(self, weight: Floats) -> Floats:
        """Negative second derivative of choices of all kinds, (parameters, parameters)."""
        return _information(self.votes, self.n_systems, self.model, self.pulls[1], weight)

    @property
    def information_of_each(self) -> Any:
        """The same of one choice of each kind, sparse, (kinds, parameters x parameters)."""
        from scipy.sparse import csr_array

        place, value = _entries(self.votes, self.n_systems, self.model, self.pulls[1])
        kinds = np.broadcast_to(np.arange(self.votes.weight.size), place.shape)
        shape = self.votes.weight.size, self.parameters.size**2
        return csr_array((value.ravel(), (kinds.ravel(), place.ravel())), shape=shape)


def _design(votes: Votes, k: int, model: ChoiceModel) -> Floats:
    n, rows = k + model.position + model.with_ties, np.arange(votes.first.size)
    design = np.zeros((rows.size, n))
    design[rows, votes.first], design[rows, votes.second] = 1.0, -1.0
    if model.position:
        design[:, k] = votes.left
    return design


def _entries(votes: Votes, k: int, model: ChoiceModel, bend: Floats) -> tuple[Ints, Floats]:
    """Entries of the information of each kind of choice that are not 0, which may repeat.

    Returns
    -------
    Places in the flattened matrix, and values, shape (entries, kinds).
    """
    n, ones = k + model.position + model.with_ties, np.ones(votes.weight.size)
    # The parameters of a choice: whether they act by u or tau, and how much.
    acting = [(votes.first, 0, ones), (votes.second, 0, -ones)]
    if model.position:
        acting.append((np.full_like(votes.first, k), 0, votes.left))
    if model.with_ties:
        acting.append((np.full_like(votes.first, n - 1), 1, ones))
    places, values = zip(
        *(
            (a * n + b, by_a * by_b * bend[:, of_a, of_b])
            for (a, of_a, by_a), (b, of_b, by_b) in product(acting, repeat=2)
        ),
        strict=True,
    )
    return np.array(places), np.array(values)


def _information(votes: Votes, k: int, model: ChoiceModel, bend: Floats, weight: Floats) -> Floats:
    place, value = _entries(votes, k, model, bend)
    n = k + model.position + model.with_ties
    total = np.bincount(place.ravel(), (value * weight).ravel(), n * n)
    return total.astype(np.float64, copy=False).reshape(n, n)


def fit_choices(votes: Votes, n_systems: int, model: ChoiceModel) -> ChoiceFit:
    """Find the parameters of largest likelihood.

    The likelihood is concave, so that damped Newton steps find its maximum from anywhere.
    """
    design = _design(votes, n_systems, model)
    at = np.zeros(design.shape[1])
    if model.with_ties:
        at[-1] = _TIES[model.ties].start
    mean = np.zeros((at.size, at.size))
    # Strengths have no zero of their own: the ones fix their mean.
    mean[:n_systems, :n_systems] = 1.0 / n_systems

    def terms(at: Floats) -> tuple[float, Floats, Floats]:
        log, slope, bend = model.terms(
            design @ at, float(at[-1]) if model.with_ties else 0.0, votes.tie
        )
        return float(votes.weight @ log), slope, bend

    now, slope, bend = terms(at)
    for _ in range(_ROUNDS):
        gradient = (votes.weight * slope[:, 0]) @ design
        if model.with_ties:
            gradient[-1] += votes.weight @ slope[:, 1]
        information = _information(votes, n_systems, model, bend, votes.weight) + mean
        if np.linalg.eigvalsh(information)[0] < _SINGULAR:
            break
        step = np.linalg.solve(information, gradient)
        size = 1.0
        after = terms(at + step)
        while size > _SMALL and not after[0] >= now - 1e-14 * abs(now):
            size /= 2
            after = terms(at + size * step)
        at = at + size * step
        at[:n_systems] -= at[:n_systems].mean()
        now, slope, bend = after
        if np.abs(step).max() * size < _SMALL * max(1.0, np.abs(at).max()):
            return ChoiceFit(model, votes, n_systems, at)
    return ChoiceFit.undefined(model, votes, n_systems)


def without_clusters(fit: ChoiceFit, kind: Ints, cluster: Ints) -> tuple[Floats, Ints]:
    """Estimate the parameters without each cluster of choices, by one Newton step from all.

    Parameters
    ----------
    fit
        Parameters from all choices.
    kind
        Kind of each choice, a row of the votes, shape (n,).
    cluster
        Code of the cluster of each choice, shape (n,).

    Returns
    -------
    Parameters without a cluster, ``nan`` where they are not determined, shape (c, parameters); and
    how many clusters hold just these choices, shape (c,).

    References
    ----------
    MacKinnon, Nielsen and Webb (2023), "Fast and reliable jackknife and bootstrap methods for
    cluster-robust inference", Journal of Applied Econometrics 38.
    """
    n_kinds, n = fit.votes.weight.size, fit.parameters.size
    key, often = np.unique(cluster * n_kinds + kind, return_counts=True)
    of, kinds = np.divmod(key, n_kinds)
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    size = np.diff(np.append(starts, of.size))
    whole = fit.information(fit.votes.weight)
    whole[: fit.n_systems, : fit.n_systems] += 1.0 / fit.n_systems
    inverse = np.linalg.inv(whole).astype(np.float64, copy=False)
    large = size * (1 + fit.model.with_ties) >= n
    values, times, places = list[Floats](), list[Ints](), list[Ints]()
    for r in np.unique(size[~large]).tolist():
        clusters = np.flatnonzero(size == r)
        entries = starts[clusters, None] + np.arange(r)
        # Clusters of the same choices are left out once.
        content = kinds[entries] * (often.max() + 1) + often[entries]
        _, first, alike = np.unique(
            content if r > 1 else content[:, 0], axis=0, return_index=True, return_counts=True
        )
        for block in np.array_split(first, 1 + first.size * r * n // _BLOCK):
            at = entries[block]
            values.append(_without_few(fit, inverse, kinds[at], often[at]))
        times.append(alike)
        places.append(clusters[first])
    clusters = np.flatnonzero(large)
    for block in np.array_split(clusters, 1 + clusters.size * n**2 // _BLOCK):
        rows, often_of = np.isin(of, of[starts[block]]), often
        which = np.repeat(np.arange(block.size), size[block])
        values.append(_without_many(fit, whole, which, kinds[rows], often_of[rows], block.size))
    times.append(np.ones(clusters.size, dtype=np.int64))
    places.append(clusters)
    order = np.argsort(np.concatenate(places))
    return np.concatenate(values)[order], np.concatenate(times)[order]


def _without_few(fit: ChoiceFit, inverse: Floats, kinds: Ints, often: Ints) -> Floats:
    """Leave out clusters of few kinds of choices: by their own derivatives, and the inverse of all
    information, after Woodbury.

    Parameters
    ----------
    kinds, often
        Kinds of choices of each cluster, and how often each was made, shape (clusters, kinds).
    """
    slope, bend = (often[(..., *(None,) * (part.ndim - 1))] * part[kinds] for part in fit.pulls)
    design, pull = fit.design[kinds], slope[:, :, 0]
    inner = _diagonal(bend[:, :, 0, 0])
    if fit.model.with_ties:
        of_ties = np.zeros_like(design)
        of_ties[:, :, -1] = 1.0
        design = np.concatenate([design, of_ties], axis=1)
        pull = np.concatenate([pull, slope[:, :, 1]], axis=1)
        cross = _diagonal(bend[:, :, 0, 1])
        inner = np.block([[inner, cross], [cross, _diagonal(bend[:, :, 1, 1])]])
    reach = design @ inverse
    rest = np.eye(pull.shape[1]) - inner @ (reach @ design.swapaxes(1, 2))
    least = rest[:, 0, 0] if rest.shape[1] == 1 else np.linalg.eigvals(rest).real.min(axis=1)
    known = least > _SINGULAR
    left_out = np.full((len(kinds), fit.parameters.size), np.nan)
    steps = np.linalg.solve(rest[known], pull[known, :, None])
    left_out[known] = fit.parameters - (steps.swapaxes(1, 2) @ reach[known])[:, 0]
    return left_out


def _diagonal(values: Floats) -> Floats:
    """Diagonal matrices, shape (n, k, k), of rows of values, shape (n, k)."""
    return values[:, :, None] * np.eye(values.shape[1])


def _without_many(
    fit: ChoiceFit, whole: Floats, cluster: Ints, kinds: Ints, often: Ints, n_clusters: int
) -> Floats:
    """Leave out clusters of many kinds of choices: by the information of all others."""
    from scipy.sparse import csr_array

    n = fit.parameters.size
    choices = csr_array(
        (often.astype(np.float64), (cluster, kinds)), shape=(n_clusters, fit.votes.weight.size)
    )
    rest = whole - (choices @ fit.information_of_each).toarray().reshape(-1, n, n)
    known = np.ones(n_clusters, dtype=np.bool_)
    try:
        np.linalg.cholesky(rest - _SINGULAR * np.eye(n))
    except np.linalg.LinAlgError:
        known = np.linalg.eigvalsh(rest)[:, 0] > _SINGULAR
    left_out = np.full((n_clusters, n), np.nan)
    scores = np.asarray(choices @ fit.scores())[known, :, None]
    left_out[known] = fit.parameters - np.linalg.solve(rest[known], scores)[:, :, 0]
    return left_out


def compared_groups(wins: Floats) -> Ints:
    """Number the groups of systems between which there is no comparison, shape (systems,)."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    group: Ints = connected_components(csr_matrix(wins > 0), connection="weak")[1]
    return group


def why_undefined(wins: Floats, systems: Sequence[str]) -> Reason | None:
    """Give the reason why there is no finite scale, if there is none.

    There is one when every system has a chain of wins over every other one (Ford 1957).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    won = csr_matrix(wins > 0)
    parts, of = connected_components(won, connection="strong")
    if parts == 1:
        return None
    groups = int(compared_groups(wins).max()) + 1
    if groups > 1:
        return Reason(Cause.SEPARATE_SYSTEMS, groups)
    # Of a part that no other wins over, nobody knows how far ahead it is.
    for part in range(parts):
        inside = of == part
        name = joined(np.array(systems, dtype=object)[inside][:5].tolist())
        if not (wins[np.ix_(~inside, inside)] > 0).any():
            return Reason(Cause.NEVER_LOST, of=name)
    return Reason(Cause.NO_CHAIN_OF_WINS)
