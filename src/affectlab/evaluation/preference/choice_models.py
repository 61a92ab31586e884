"""Models of a choice between two: strengths of systems, the effect of position, and ties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined

Model: TypeAlias = Literal["bradley-terry", "thurstone"]
Ties: TypeAlias = Literal["half", "drop", "davidson", "threshold"]

_ROUNDS = 200
_SMALL = 1e-10
_SINGULAR = 1e-9


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
        kinds, kind = np.unique(
            np.column_stack([a, b, np.where(turned, -left, left), tie]), axis=0, return_inverse=True
        )
        kind = kind.ravel()
        a, b = kinds[:, :2].T.astype(np.int64)
        weight = np.bincount(kind, minlength=len(kinds)).astype(np.float64)
        return cls(a, b, kinds[:, 2], kinds[:, 3] > 0, weight), kind

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
class Fit:
    """Parameters of largest likelihood, and what each kind of choice says of them."""

    model: ChoiceModel
    votes: Votes
    n_systems: int
    parameters: Floats
    """Strengths with mean 0, then the effect of position, then the parameter of ties; ``nan`` where
    the choices do not determine them."""

    @classmethod
    def undefined(cls, model: ChoiceModel, votes: Votes, n_systems: int) -> Fit:
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

    def information(self, weight: Floats, rows: Ints | slice = slice(None)) -> Floats:
        """Negative second derivative of the choices of these kinds, (parameters, parameters)."""
        return _information(self.design[rows], self.pulls[1][rows], weight, self.model)


def _design(votes: Votes, k: int, model: ChoiceModel) -> Floats:
    n, rows = k + model.position + model.with_ties, np.arange(votes.first.size)
    design = np.zeros((rows.size, n))
    design[rows, votes.first], design[rows, votes.second] = 1.0, -1.0
    if model.position:
        design[:, k] = votes.left
    return design


def _information(design: Floats, bend: Floats, weight: Floats, model: ChoiceModel) -> Floats:
    out = (design * (weight * bend[:, 0, 0])[:, None]).T @ design
    if model.with_ties:
        cross = (weight * bend[:, 0, 1]) @ design
        out[-1] += cross
        out[:, -1] += cross
        out[-1, -1] += weight @ bend[:, 1, 1]
    return out


def fit_choices(votes: Votes, n_systems: int, model: ChoiceModel) -> Fit:
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
        information = _information(design, bend, votes.weight, model) + mean
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
            return Fit(model, votes, n_systems, at)
    return Fit.undefined(model, votes, n_systems)


def without_clusters(fit: Fit, kind: Ints, cluster: Ints) -> tuple[Floats, Ints]:
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
    k, with_ties = fit.n_systems, fit.model.with_ties
    whole = fit.information(fit.votes.weight)
    whole[:k, :k] += 1.0 / k
    inverse, scores = np.linalg.inv(whole), fit.scores()
    slope, bend = fit.pulls
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    contents = Counter(tuple(np.sort(part)) for part in np.split(kind[order], starts[1:]))
    left_out = np.full((len(contents), fit.parameters.size), np.nan)
    for row, key in enumerate(contents):
        kinds, often = np.unique(key, return_counts=True)
        if len(kinds) * (1 + with_ties) < fit.parameters.size:
            # The same by the few derivatives of the cluster, and the inverse of all information.
            design, weighed = fit.design[kinds], often * bend[kinds, 0, 0]
            pull = often * slope[kinds, 0]
            inner = np.diag(weighed)
            if with_ties:
                of_ties = np.zeros_like(design)
                of_ties[:, -1] = 1.0
                design, pull = (
                    np.vstack([design, of_ties]),
                    np.append(pull, often * slope[kinds, 1]),
                )
                cross, own = (np.diag(often * bend[kinds, at, 1]) for at in (0, 1))
                inner = np.block([[inner, cross], [cross, own]])
            rest = np.eye(len(inner)) - inner @ design @ inverse @ design.T
            if np.linalg.eigvals(rest).real.min() > _SINGULAR:
                step = inverse @ design.T @ np.linalg.solve(rest, pull)
                left_out[row] = fit.parameters - step
            continue
        rest = whole - fit.information(often.astype(np.float64), kinds)
        if np.linalg.eigvalsh(rest)[0] > _SINGULAR:
            left_out[row] = fit.parameters - np.linalg.solve(rest, often @ scores[kinds])
    return left_out, np.array(list(contents.values()))


def compared_groups(wins: Floats) -> Ints:
    """Number the groups of systems between which there is no comparison, shape (systems,)."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    group: Ints = connected_components(csr_matrix(wins > 0), connection="weak")[1]
    return group


def why_undefined(wins: Floats, systems: Sequence[str]) -> str:
    """Say why there is no finite scale; empty where there is one.

    There is one when every system has a chain of wins over every other one (Ford 1957).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    groups = int(compared_groups(wins).max()) + 1
    if groups > 1:
        return f"undefined: {groups} groups of systems were never compared with each other"
    won = csr_matrix(wins > 0)
    parts, of = connected_components(won, connection="strong")
    if parts == 1:
        return ""
    # Of a part that no other wins over, nobody knows how far ahead it is.
    for part in range(parts):
        inside = of == part
        name = joined(np.array(systems, dtype=object)[inside][:5].tolist())
        if not (wins[np.ix_(~inside, inside)] > 0).any():
            return f"undefined: {name} never lost to the others (prior gives a finite scale)"
    return "undefined: no chain of wins over all (prior gives a finite scale)"
