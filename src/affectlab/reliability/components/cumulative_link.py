r"""The cumulative link mixed model of crossed factors, by maximum likelihood (Laplace).

.. math:: P(y \le k) = F(\tau_k - \eta), \quad \eta = X\beta + \sum_f \sigma_f Z_f v_f, \quad
    v_f \sim N(0, I)

with F of the normal (probit) or the logistic distribution. The effects v are integrated out about
their mode: minus the log-likelihood is

.. math:: h(\hat v) + \tfrac12 \log|H|, \quad
    h(v) = -\sum_i \log P_i + \tfrac12 v'v, \quad H = Z'WZ + I,

where W are the second derivatives of :math:`-\log P_i` in :math:`\eta_i`. The block of H of the
factor with the most levels is diagonal and is eliminated, as in the linear model. All derivatives
but the last are by formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.facts import Formula, IntervalFact
from affectlab.core.types import Bools, Floats, Ints
from affectlab.reliability.components.restricted_likelihood import RESIDUAL, Factor, FixedEffects
from affectlab.reliability.components.wording import laplace

Ordinal: TypeAlias = Literal["probit", "logit"]

_BEYOND = 1e6
"""Threshold below the lowest and above the highest answer."""
_LEAST = 1e-300
_NO_VARIANCE = 1e-3
"""Standard deviations up to which a factor has none."""
_SOLVED = 1e-9
_MOST_STEPS = 100
_STEP = 1e-4
_LEAST_INFORMATION = 1e-3
"""Curvature below which a search has followed a likelihood that rises without end."""


@dataclass(frozen=True, eq=False)
class _Derivatives:
    """What an answer's probability is, and how its logarithm changes."""

    loss: Floats
    """Minus the logarithm of the probability."""
    g: Floats
    """Derivatives of `loss` by the predictor: the first, second and third."""
    w: Floats
    third: Floats
    of_thresholds: tuple[tuple[Floats, Floats, Floats], ...]
    """Derivatives of `loss`, `g` and `w` by the threshold above the answer, and the one below."""


def _density(x: Floats, link: Ordinal) -> tuple[Floats, Floats, Floats]:
    """Give the density with its first and second derivative."""
    from scipy.special import expit

    if link == "logit":
        f = expit(x) * expit(-x)
        return f, -f * np.tanh(x / 2), f * (1 - 6 * f)
    f = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return f, -x * f, (x**2 - 1) * f


def _derivatives(above: Floats, below: Floats, link: Ordinal) -> _Derivatives:
    """Take derivatives of minus log P, P between two distances from the predictor."""
    from scipy.special import expit, ndtr

    cumulative = expit if link == "logit" else ndtr
    # Small probabilities are differences of tails, not of what is near 1.
    flip = below > 0
    p = np.where(
        flip,
        cumulative(-below) - cumulative(-above),
        cumulative(above) - cumulative(below),
    )
    p = np.maximum(p, _LEAST)
    upper, lower = (tuple(part / p for part in _density(at, link)) for at in (above, below))
    g = upper[0] - lower[0]
    change = upper[1] - lower[1]
    w = g**2 - change
    third = 3 * g * w - g**3 + upper[2] - lower[2]
    of_thresholds = []
    for (f, f1, f2), sign in ((upper, 1.0), (lower, -1.0)):
        of_g = f1 - g * f
        of_thresholds.append((-sign * f, sign * of_g, sign * (2 * g * of_g - f2 + change * f)))
    return _Derivatives(-np.log(p), g, w, third, tuple(of_thresholds))


@dataclass(frozen=True, eq=False)
class CumulativeModel:
    """Ordered answers with their factors, ready to be fitted."""

    category: Ints
    """Answers, from 0, shape (n,); every category occurs."""
    values: tuple[str, ...]
    """What the categories are called."""
    factors: tuple[Factor, ...]
    """The first has the most levels."""
    fixed: Floats
    """Fixed effects, without a mean, shape (n, p)."""
    link: Ordinal

    @classmethod
    def of(
        cls, value: Floats, factors: Sequence[Factor], fixed: Floats | None, link: Ordinal
    ) -> CumulativeModel:
        """Arrange answers, as :meth:`MixedModel.of` does."""
        values, category = np.unique(value, return_inverse=True)
        ordered = tuple(sorted(factors, key=lambda one: -one.n_levels))
        fixed = np.empty((value.size, 0)) if fixed is None else fixed
        names = tuple(f"{one:g}" for one in values)
        return cls(category.reshape(-1), names, ordered, fixed, link)

    @property
    def n_thresholds(self) -> int:
        """One less than categories."""
        return len(self.values) - 1

    @property
    def width(self) -> int:
        """Levels of all factors but the first."""
        return sum(one.n_levels for one in self.factors[1:])

    @property
    def residual(self) -> float:
        """Variance of the residual of the latent scale."""
        return 1.0 if self.link == "probit" else math.pi**2 / 3

    @cached_property
    def _places(self) -> list[Ints]:
        """Column of each answer in the dense matrix, for each factor but the first."""
        offsets = np.cumsum([0, *(one.n_levels for one in self.factors[1:-1])])
        return [one.level + offset for one, offset in zip(self.factors[1:], offsets, strict=False)]

    def start(self) -> Floats:
        """Parameters to begin with: thresholds as without effects, some variance."""
        from scipy.special import logit, ndtri

        share = np.cumsum(np.bincount(self.category))[:-1] / self.category.size
        thresholds = ndtri(share) if self.link == "probit" else logit(share)
        deviations = np.full(len(self.factors), 0.5 * math.sqrt(self.residual))
        return np.concatenate([thresholds, np.zeros(self.fixed.shape[1]), deviations])

    def evaluate(self, parameters: Floats, modes: Floats) -> tuple[float, Floats]:
        """Give minus the log-likelihood with its gradient.

        Parameters
        ----------
        parameters
            Thresholds, fixed effects, and standard deviations of factors.
        modes
            Where the search for the modes of the effects begins; they are written there.
        """
        n_tau, n_beta = self.n_thresholds, self.fixed.shape[1]
        thresholds, beta = parameters[:n_tau], parameters[n_tau : n_tau + n_beta]
        deviations = parameters[n_tau + n_beta :]
        ends = np.concatenate([[-_BEYOND], thresholds, [_BEYOND]])
        above, below = ends[self.category + 1], ends[self.category]
        offset = self.fixed @ beta
        state = self._mode(above - offset, below - offset, deviations, modes)
        d, system = state
        leverage, diagonals = self._leverage(system, deviations)
        pull = system.solve(self._sums(0.5 * leverage * d.third, deviations))
        through = self._spread(pull, deviations)
        gradient = np.empty(parameters.size)
        # Both thresholds of an answer move it.
        of_ends = np.zeros(n_tau + 2)
        for (of_loss, of_g, of_w), shift in zip(d.of_thresholds, (1, 0), strict=True):
            part = of_loss + 0.5 * leverage * of_w - through * of_g
            of_ends += np.bincount(self.category + shift, part, n_tau + 2)
        gradient[:n_tau] = of_ends[1:-1]
        direct = d.g + 0.5 * leverage * d.third - through * d.w
        gradient[n_tau : n_tau + n_beta] = direct @ self.fixed
        at = 0
        for k, one in enumerate(self.factors):
            own = slice(at, at + one.n_levels)
            v, q = modes[own], pull[own]
            total = one.n_levels - v @ v - diagonals[own].sum() + 2 * (v @ q)
            gradient[n_tau + n_beta + k] = total / deviations[k]
            at += one.n_levels
        loss = float(d.loss.sum()) + 0.5 * float(modes @ modes) + 0.5 * system.log_determinant
        return loss, gradient

    def _spread(self, effects: Floats, deviations: Floats) -> Floats:
        """Predictor of each answer from effects."""
        made = np.zeros(self.category.size)
        at = 0
        for one, deviation in zip(self.factors, deviations, strict=True):
            made += deviation * effects[at : at + one.n_levels][one.level]
            at += one.n_levels
        return made

    def _sums(self, of_answers: Floats, deviations: Floats) -> Floats:
        """Sums over the answers of each level."""
        return np.concatenate(
            [
                deviation * np.bincount(one.level, of_answers, one.n_levels)
                for one, deviation in zip(self.factors, deviations, strict=True)
            ]
        )

    def _mode(
        self, above: Floats, below: Floats, deviations: Floats, modes: Floats
    ) -> tuple[_Derivatives, _System]:
        """Find the modes of the effects by Newton's method, and write them."""

        def at(effects: Floats) -> tuple[float, _Derivatives]:
            predictor = self._spread(effects, deviations)
            d = _derivatives(above - predictor, below - predictor, self.link)
            return float(d.loss.sum()) + 0.5 * float(effects @ effects), d

        loss, d = at(modes)
        for _ in range(_MOST_STEPS):
            system = self._system(d.w, deviations)
            step = system.solve(self._sums(d.g, deviations) + modes)
            largest = float(np.abs(step).max())
            share = 1.0
            while True:
                trial, moved = at(modes - share * step)
                # Within rounding of the least, losses are no guide.
                if trial <= loss + 1e-9 * abs(loss) or share < _SOLVED:
                    break
                share /= 2
            modes -= share * step
            loss, d = trial, moved
            if largest < _SOLVED:
                break
        return d, self._system(d.w, deviations)

    def _system(self, weight: Floats, deviations: Floats) -> _System:
        first = self.factors[0]
        width = self.width
        scale = np.repeat(deviations[1:], [one.n_levels for one in self.factors[1:]])
        diagonal = 1 + deviations[0] ** 2 * np.bincount(first.level, weight, first.n_levels)
        cross = np.zeros((first.n_levels, width))
        dense = np.zeros((width, width))
        for own in self._places:
            cross += np.bincount(first.level * width + own, weight, cross.size).reshape(cross.shape)
            for other in self._places:
                dense += np.bincount(own * width + other, weight, dense.size).reshape(dense.shape)
        cross *= deviations[0] * scale
        dense *= scale[:, None] * scale
        dense[np.arange(width), np.arange(width)] += 1.0
        return _System.of(diagonal, cross, dense)

    def _leverage(self, system: _System, deviations: Floats) -> tuple[Floats, Floats]:
        """Give z'H⁻¹z of each answer, and the diagonal of H⁻¹."""
        first, inverse = self.factors[0].level, system.inverse
        mixed = system.shares @ inverse
        own = 1 / system.diagonal + (mixed * system.shares).sum(axis=1)
        made = deviations[0] ** 2 * own[first]
        for place, deviation in zip(self._places, deviations[1:], strict=True):
            made -= 2 * deviations[0] * deviation * mixed[first, place]
            for other, second in zip(self._places, deviations[1:], strict=True):
                made += deviation * second * inverse[place, other]
        return made, np.concatenate([own, np.diagonal(inverse)])


@dataclass(frozen=True, eq=False)
class _System:
    """The matrix H, its first block eliminated."""

    diagonal: Floats
    shares: Floats
    """The first block's inverse times the block beside it."""
    lower: Floats
    """Cholesky factor of the Schur complement."""

    @classmethod
    def of(cls, diagonal: Floats, cross: Floats, dense: Floats) -> _System:
        from scipy.linalg import cholesky

        shares = cross / diagonal[:, None]
        return cls(diagonal, shares, cholesky(dense - cross.T @ shares, lower=True))

    def solve(self, right: Floats) -> Floats:
        """Solve H x = right."""
        from scipy.linalg import cho_solve

        n = self.diagonal.size
        last = cho_solve((self.lower, True), right[n:] - self.shares.T @ right[:n])
        return np.concatenate([right[:n] / self.diagonal - self.shares @ last, last])

    @property
    def log_determinant(self) -> float:
        """Logarithm of the determinant of H."""
        of_last = 2 * float(np.log(np.diagonal(self.lower)).sum())
        return float(np.log(self.diagonal).sum()) + of_last

    @cached_property
    def inverse(self) -> Floats:
        """The last block of the inverse of H."""
        from scipy.linalg import cho_solve

        made: Floats = cho_solve((self.lower, True), np.eye(self.lower.shape[0]))
        return made


@dataclass(frozen=True, eq=False)
class _ContainedEffects(FixedEffects):
    """Fixed effects whose tests know of how few levels of a random factor they are contained in.

    Maximum likelihood takes the variance of n levels, p fixed effects out, for smaller by
    (n - p) / n than restricted maximum likelihood does.
    """

    levels: Floats
    """Levels of the factor that contains each effect, infinite where none does, shape (p,)."""
    freedom: Floats
    """Levels less the fixed effects that are constant within them, shape (p,)."""

    def combined(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        value, error, _ = super().combined(rows)
        used = rows != 0
        freedom = np.where(used, self.freedom, np.inf)
        with np.errstate(invalid="ignore"):
            smaller = np.where(np.isfinite(self.levels), self.freedom / self.levels, 1.0)
        return (
            value,
            error / np.sqrt(np.where(used, smaller, 1.0).min(axis=1)),
            freedom.min(axis=1),
        )


@dataclass(frozen=True, eq=False)
class CumulativeSolution:
    """A fitted cumulative link mixed model."""

    model: CumulativeModel
    log_likelihood: float
    thresholds: Floats
    beta: Floats
    deviations: Floats
    """Standard deviations of the factors, as the model orders them."""
    covariance: Floats
    """Of thresholds, fixed effects and standard deviations; 0 of those without variance."""

    def variance(self, name: str) -> float:
        """Give the variance of a factor, or of the residual, on the latent scale."""
        if name == RESIDUAL:
            return self.model.residual
        names = [one.name for one in self.model.factors]
        return float(self.deviations[names.index(name)] ** 2)

    def share(self, name: str) -> float:
        """Give the share of the sum of all variances."""
        names = (*(one.name for one in self.model.factors), RESIDUAL)
        return self.variance(name) / sum(map(self.variance, names))

    def ratio(self, name: str, weights: Mapping[str, float]) -> float:
        """Give one variance over that of the residual and weighted others."""
        others = sum(weight * self.variance(one) for one, weight in weights.items())
        return self.variance(name) / (self.model.residual + others)

    @property
    def method(self) -> str:
        """How variances were estimated."""
        return laplace(self.model.link)

    @property
    def interval_method(self) -> IntervalFact:
        """How their intervals are made, or why there are none."""
        return IntervalFact("analytic", formula=Formula.DELTA)

    def variance_interval(self, name: str, confidence: float) -> tuple[float, float]:
        """Give the interval of a variance, from the error of its logarithm."""
        if name == RESIDUAL:
            return np.nan, np.nan
        return self._interval(name, {}, confidence)

    def ratio_interval(
        self, name: str, weights: Mapping[str, float], confidence: float
    ) -> tuple[float, float]:
        """Give the interval of one variance over that of the residual and weighted others.

        From the error of its logarithm.
        """
        return self._interval(name, {**weights, RESIDUAL: 1.0}, confidence)

    def _interval(
        self, name: str, weights: Mapping[str, float], confidence: float
    ) -> tuple[float, float]:
        """Put an interval around the logarithm of a variance, over others where there are any."""
        from scipy.special import ndtri

        names = [one.name for one in self.model.factors]
        own = names.index(name)
        if self.deviations[own] == 0:
            return np.nan, np.nan
        rest = sum(weight * self.variance(one) for one, weight in weights.items()) or 1.0
        slopes = np.array([weights.get(one, 0.0) for one in names]) * -2 * self.deviations / rest
        slopes[own] += 2 / self.deviations[own]
        last = self.covariance[-len(names) :, -len(names) :]
        half = float(ndtri((1 + confidence) / 2) * np.sqrt(slopes @ last @ slopes))
        centre = math.log(self.deviations[own] ** 2 / rest)
        return math.exp(centre - half), math.exp(centre + half)

    def centred_thresholds(self) -> tuple[Floats, Floats]:
        """Thresholds about their mean, with standard errors."""
        n = self.thresholds.size
        rows = np.eye(n) - 1 / n
        covariance = rows @ self.covariance[:n, :n] @ rows
        return rows @ self.thresholds, np.sqrt(np.maximum(np.diagonal(covariance), 0.0))

    def estimates(self) -> FixedEffects:
        """Fixed effects, with minus the mean of thresholds for the mean of the latent scale."""
        n_tau, n_beta = self.thresholds.size, self.beta.size
        rows = np.zeros((1 + n_beta, self.covariance.shape[0]))
        rows[0, :n_tau] = -1 / n_tau
        rows[1:, n_tau : n_tau + n_beta] = np.eye(n_beta)
        effects = np.concatenate([[-self.thresholds.mean()], self.beta])
        covariance = rows @ self.covariance @ rows.T
        known = np.empty((0, 1 + n_beta, 1 + n_beta))
        method = f"{self.method}, containment"
        return _ContainedEffects(
            effects, covariance, known, np.empty((0, 0)), method, *self._strata()
        )

    def _strata(self) -> tuple[Floats, Floats]:
        """Levels and degrees of freedom of the factor that contains the mean and each effect.

        It is the one with the fewest levels of those within which the effect is constant.
        """
        columns = np.insert(self.model.fixed, 0, 1.0, axis=1)
        levels, freedom = np.full((2, columns.shape[1]), np.inf)
        for one in self.model.factors:
            first = columns[np.unique(one.level, return_index=True)[1]]
            within = (first[one.level] == columns).all(axis=0)
            left = len(first) - np.linalg.matrix_rank(first[:, within])
            closer = within & (len(first) < levels)
            levels[closer], freedom[closer] = len(first), max(left, 1)
        return levels, freedom


def fit_cumulative(model: CumulativeModel) -> CumulativeSolution | None:
    """Fit by maximum likelihood; None where the likelihood has no maximum.

    Logarithms of the distances of thresholds keep them in order.
    """
    from scipy.optimize import minimize

    n_tau = model.n_thresholds
    modes = np.zeros(sum(one.n_levels for one in model.factors))

    def natural(free: Floats) -> Floats:
        thresholds = free[0] + np.concatenate([[0.0], np.cumsum(np.exp(free[1:n_tau]))])
        return np.concatenate([thresholds, free[n_tau:]])

    def objective(free: Floats) -> tuple[float, Floats]:
        loss, gradient = model.evaluate(natural(free), modes)
        own = gradient.copy()
        beyond = np.cumsum(gradient[:n_tau][::-1])[::-1]
        own[0], own[1:n_tau] = beyond[0], beyond[1:] * np.exp(free[1:n_tau])
        return loss, own

    first = model.start()
    first[1:n_tau] = np.log(np.diff(first[:n_tau]))
    n_factors = len(model.factors)
    bounds = [(None, None)] * (first.size - n_factors) + [(_NO_VARIANCE / 10, None)] * n_factors
    best = minimize(
        objective,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-13, "gtol": 1e-6, "maxiter": 500},
    )
    parameters = natural(best.x)
    free = np.ones(parameters.size, dtype=bool)
    free[-n_factors:] = parameters[-n_factors:] > _NO_VARIANCE
    curvature = _curvature(model, parameters, modes, free)
    if np.linalg.eigvalsh(curvature)[0] < _LEAST_INFORMATION:
        return None
    # One step of Newton's method ends the search.
    loss, gradient = model.evaluate(parameters, modes)
    parameters[free] -= np.linalg.solve(curvature, gradient[free])
    loss, _ = model.evaluate(parameters, modes)
    covariance = np.zeros((parameters.size, parameters.size))
    covariance[np.ix_(free, free)] = np.linalg.inv(curvature)
    parameters[~free] = 0.0
    n_beta = model.fixed.shape[1]
    return CumulativeSolution(
        model,
        -loss,
        parameters[:n_tau],
        parameters[n_tau : n_tau + n_beta],
        parameters[n_tau + n_beta :],
        covariance,
    )


def _curvature(model: CumulativeModel, parameters: Floats, modes: Floats, free: Bools) -> Floats:
    """Second derivatives of minus the log-likelihood, from differences of the gradient."""
    places = np.flatnonzero(free)
    made = np.empty((places.size, places.size))
    for row, place in enumerate(places):
        ends = []
        for sign in (1.0, -1.0):
            moved = parameters.copy()
            moved[place] += sign * _STEP
            ends.append(model.evaluate(moved, modes)[1][places])
        made[row] = (ends[0] - ends[1]) / (2 * _STEP)
    return (made + made.T) / 2
