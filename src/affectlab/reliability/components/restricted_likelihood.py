r"""The linear mixed model of crossed factors, fitted by restricted maximum likelihood.

.. math:: y = X\beta + \sum_f Z_f u_f + e, \quad u_f \sim N(0, \sigma^2\theta_f I), \quad
    e \sim N(0, \sigma^2 I)

The factor with the most levels is eliminated exactly, since its block of the normal equations is
diagonal; the levels of all others, the fixed effects and the answers stay in one dense matrix,
whose Cholesky factor gives likelihood, fixed effects and residual sum of squares at once. Repeated
answers to one cell are folded into their mean: with a factor of the cells (stimulus by rater), the
mean of n has the variance :math:`\sigma^2(\theta_c + 1/n)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from affectlab.core.estimates import NO_INTERVAL
from affectlab.core.types import Floats, Ints

_CHUNKS = 8
"""Parts that sums are taken in, whatever the number of cores: results do not depend on them."""
_MOST_BYTES = 1 << 28
"""Memory that parts of the matrix may take in all."""
_SMALLEST = 1e-10
_LARGE = 400
"""Columns of a matrix from which on several cores are worth while."""
_SHIFT = 50.0
"""Keeps logarithms above the bound of 0 that parameters have."""
_NEAR_ZERO = 1e-6
_ROUNDING = 1e-12
_MOST_PROFILED = 3_000_000
"""Answers up to which intervals are by profile likelihood."""
_FARTHEST = 40.0
"""Steps, on the scale without ends, beyond which there is no end."""
RESIDUAL = "residual"
_TOLERANCE = 1e-10
_MOST_SEARCHES = 5
_FLAT = 1e-3
"""Slope, relative to the root of the deviance, that is none."""
_STEP = 1e-3
"""Relative steps of derivatives."""
_SAME = 1e-8
"""Degrees of freedom that differ by less are the same."""


@dataclass(frozen=True)
class Factor:
    """Levels of a random factor, one for each answer."""

    name: str
    level: Ints
    n_levels: int


@dataclass(frozen=True, eq=False)
class MixedModel:
    """Answers with their factors, ready to be fitted.

    ``factors[0]`` has the most levels and is eliminated. ``cells`` is the factor whose levels
    repeated answers share, where it is part of the model.
    """

    factors: tuple[Factor, ...]
    places: Ints
    """Column of each cell in the dense matrix, for every factor but the first: (cells, others)."""
    start: Ints
    """Cells are sorted by level of the first factor: where each begins."""
    dense: Floats
    """Fixed effects and the mean answer of each cell: (cells, p + 1)."""
    size: Floats
    """Answers of each cell."""
    within: float
    """Sum of squares of answers about the means of their cells."""
    cells: str | None
    """Name of the factor of the cells."""
    n: int
    centre: float

    @classmethod
    def of(
        cls,
        value: Floats,
        factors: Sequence[Factor],
        fixed: Floats | None = None,
        cells: str | None = None,
    ) -> MixedModel:
        """Arrange answers.

        Parameters
        ----------
        value
            Answers, shape (n,).
        factors
            Random factors; the order is kept in results.
        fixed
            Columns of fixed effects beside the mean, shape (n, columns).
        cells
            Name of the effect of each combination of levels, where answers are repeated.
        """
        # Levels without answers say nothing.
        present = [np.unique(one.level, return_inverse=True) for one in factors]
        factors = tuple(
            Factor(one.name, level, known.size)
            for one, (known, level) in zip(factors, present, strict=True)
        )
        factors = tuple(sorted(factors, key=lambda one: -one.n_levels))
        n = value.size
        centre = float(value.mean()) if n else 0.0
        fixed = np.empty((n, 0)) if fixed is None else fixed
        keys = np.stack([one.level for one in factors], axis=1).astype(np.int64)
        code = _combined(factors)
        if fixed.shape[1] and cells is None:
            # Answers whose fixed effects differ are no repeats of each other.
            row = row_codes(fixed)
            code = code * (int(row.max()) + 1) + row
        _, first, cell = np.unique(code, return_index=True, return_inverse=True)
        size = np.bincount(cell).astype(np.float64)
        mean = np.bincount(cell, value - centre) / size
        within = float((((value - centre) - mean[cell]) ** 2).sum())
        keys = keys[first]
        offsets = np.concatenate([[0], np.cumsum([one.n_levels for one in factors[1:]])[:-1]])
        places = keys[:, 1:] + offsets[: len(factors) - 1].astype(np.int64)
        start = np.searchsorted(keys[:, 0], np.arange(factors[0].n_levels + 1)).astype(np.int64)
        dense = np.column_stack([np.ones(size.size), fixed[first], mean])
        return cls(
            factors,
            np.ascontiguousarray(places),
            start,
            np.ascontiguousarray(dense),
            size,
            within,
            cells,
            n,
            centre,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the components beside the residual, as the parameters are ordered."""
        own = tuple(one.name for one in self.factors)
        return own if self.cells is None else (*own, self.cells)

    @property
    def n_fixed(self) -> int:
        """Fixed effects, the mean among them."""
        return int(self.dense.shape[1]) - 1

    @property
    def spread(self) -> float:
        """Standard deviation of all answers."""
        return math.sqrt((self.within + self.size @ self.dense[:, -1] ** 2) / (self.n - 1))

    @cached_property
    def _groups(self) -> tuple[Floats, Floats, Floats]:
        """Where no cell has an effect of its own: base matrix, sizes of levels, their products.

        The matrix for any variances is a weighted sum of these.
        """
        of_level = np.add.reduceat(self.size, self.start[:-1])
        sizes, group = np.unique(of_level, return_inverse=True)
        products = np.zeros((sizes.size, self.width, self.width))
        for g in range(sizes.size):
            levels = np.flatnonzero(group == g)
            products[g] = self._products(self.size, np.ones(of_level.size), levels)
        counts = np.bincount(group).astype(np.float64)
        return products, sizes, counts

    @property
    def width(self) -> int:
        """Columns of the dense matrix."""
        return sum(one.n_levels for one in self.factors[1:]) + int(self.dense.shape[1])

    @cached_property
    def _grouped(self) -> bool:
        """Whether the products of levels of one size fit into memory."""
        n_sizes = np.unique(np.add.reduceat(self.size, self.start[:-1])).size
        return self.cells is None and n_sizes * self.width**2 * 8 <= 2 * _MOST_BYTES

    @cached_property
    def _base(self) -> Floats:
        return self._cells(self.size)

    def _cells(self, weight: Floats) -> Floats:
        from affectlab.reliability.components.schur_kernels import cell_products

        total = np.zeros((self.width, self.width))
        cell_products(self.places, self.dense, weight, total)
        return total

    def _products(self, weight: Floats, share: Floats, levels: Ints) -> Floats:
        from affectlab.core.compiled import in_threads
        from affectlab.reliability.components.schur_kernels import level_products

        width = self.width
        n_parts = max(1, min(_CHUNKS, _MOST_BYTES // (width * width * 8), levels.size // 64 + 1))
        parts = np.array_split(levels, n_parts)
        totals = [np.zeros((width, width)) for _ in parts]

        def one(k: int) -> None:
            level_products(self.start, self.places, self.dense, weight, share, parts[k], totals[k])

        in_threads(one, range(n_parts))
        found = totals[0]
        for more in totals[1:]:
            found += more
        return found

    def solve(self, theta: Floats) -> Solution:
        """Evaluate the model for variances relative to that of the residual."""
        from scipy.linalg import cholesky

        own = theta[: len(self.factors)]
        of_cell = theta[len(self.factors)] if self.cells is not None else 0.0
        first = float(own[0])
        weight = self.size if self.cells is None else self.size / (1 + self.size * of_cell)
        if self._grouped:
            products, sizes, counts = self._groups
            share = first / (1 + first * sizes)
            matrix = self._base + np.tensordot(share, products, axes=1)
            log_first = float((counts * np.log1p(first * sizes)).sum())
        else:
            of_level = np.add.reduceat(weight, self.start[:-1])
            share = first / (1 + first * of_level)
            matrix = self._cells(weight) if self.cells is not None else self._base.copy()
            matrix += self._products(weight, share, np.arange(share.size))
            log_first = float(np.log1p(first * of_level).sum())
        n_dense = self.dense.shape[1]
        scale = np.ones(self.width)
        at = 0
        for one, relative in zip(self.factors[1:], own[1:], strict=True):
            scale[at : at + one.n_levels] = np.sqrt(relative)
            at += one.n_levels
        matrix *= scale[:, None]
        matrix *= scale
        matrix[np.arange(at), np.arange(at)] += 1.0
        try:
            factor = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            # No residual is left, or fixed effects cannot be told apart.
            return Solution(self, theta, np.inf, 0.0, np.empty((0, 0)))
        diagonal = np.diagonal(factor)
        logs = log_first + 2 * float(np.log(diagonal[: at + n_dense - 1]).sum())
        if self.cells is not None:
            logs += float(np.log1p(self.size * of_cell).sum())
        rest = float(diagonal[-1] ** 2) + self.within
        return Solution(self, theta, logs, rest, factor[at:, at:])


def row_codes(columns: Floats) -> Ints:
    """One number for each different row of a matrix."""
    code = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        value = np.unique(column, return_inverse=True)[1]
        code = np.unique(code * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1]
    return code


def _combined(factors: Sequence[Factor]) -> Ints:
    """One number for each combination of levels, rising with the first factor."""
    code = factors[0].level.astype(np.int64)
    for one in factors[1:]:
        # Numbers stay small enough whatever the number of factors.
        code = np.unique(code * one.n_levels + one.level, return_inverse=True)[1]
    return code


@dataclass(frozen=True, eq=False)
class Solution:
    """The model at given relative variances."""

    model: MixedModel = field(repr=False)
    theta: Floats
    logs: float
    """Sum of the logarithms of determinants."""
    rest: float
    """Residual sum of squares."""
    factor: Floats
    """Cholesky factor of fixed effects and answers."""

    @property
    def freedom(self) -> int:
        """Answers less fixed effects."""
        return self.model.n - self.model.n_fixed

    @property
    def residual(self) -> float:
        """Variance of the residual that is most likely at these ratios."""
        return self.rest / self.freedom

    def deviance(self, residual: float | None = None) -> float:
        """Minus twice the restricted log-likelihood; the residual's variance given, or the best."""
        if not np.isfinite(self.logs):
            return np.inf
        n = self.freedom
        if residual is None:
            if self.rest <= 0:
                return -np.inf
            return self.logs + n * (1 + math.log(2 * math.pi * self.rest / n))
        return self.logs + n * math.log(2 * math.pi * residual) + self.rest / residual

    def fixed(self) -> tuple[Floats, Floats]:
        """Fixed effects, the mean first, and their covariance over the residual's variance."""
        from scipy.linalg import solve_triangular

        p = self.model.n_fixed
        lower = self.factor[:p, :p]
        effects = solve_triangular(lower.T, self.factor[p, :p], lower=False)
        inverse = solve_triangular(lower, np.eye(p), lower=True)
        effects[0] += self.model.centre
        return effects, inverse.T @ inverse

    def variance(self, name: str) -> float:
        """Give the variance of a factor, or of the residual."""
        if name == RESIDUAL:
            return self.residual
        return float(self.theta[self.model.names.index(name)]) * self.residual

    def ratio(self, name: str, others: Sequence[str]) -> float:
        """Give one variance over itself and others."""
        return self.variance(name) / sum(self.variance(one) for one in (name, *others))

    @property
    def method(self) -> str:
        """How variances were estimated."""
        return "REML"

    @property
    def interval_method(self) -> str:
        """How their intervals are made, or why there are none."""
        if self.model.n <= _MOST_PROFILED:
            return "interval by profile likelihood"
        return f"{NO_INTERVAL}more than 3 million answers"

    def variance_interval(self, name: str, confidence: float) -> tuple[float, float]:
        """Give the profile interval of a variance."""
        if self.model.n > _MOST_PROFILED:
            return np.nan, np.nan
        with one_core(self.model):
            return profile_interval(
                of_variance(self, name), self.variance(name), self.deviance(), _cut(confidence)
            )

    def ratio_interval(
        self, name: str, others: Sequence[str], confidence: float
    ) -> tuple[float, float]:
        """Give the profile interval of one variance over itself, others and the residual."""
        from scipy.special import expit, logit

        value = self.ratio(name, others)
        if self.model.n > _MOST_PROFILED or value >= 1 - _ROUNDING:
            return np.nan, np.nan
        with one_core(self.model):
            return profile_interval(
                of_ratio(self, name, others),
                value,
                self.deviance(),
                _cut(confidence),
                link=logit,
                inverse=expit,
            )

    def estimates(self) -> FixedEffects:
        """Fixed effects, the mean first, with what their degrees of freedom follow from.

        The variances are told apart by standard deviations relative to that of the residual, and
        the logarithm of the residual's variance. Those that are 0 are left out: there, deviance and
        covariance have no slope.
        """
        effects, unit = self.fixed()
        covariance = unit * self.residual
        root = np.sqrt(self.theta)
        free = np.flatnonzero(root).tolist()
        steps = _STEP * np.maximum(root, 0.1)

        @cache
        def around(*moves: int) -> tuple[float, float, Floats]:
            """Logarithms, residual sum of squares and covariance, some steps away."""
            moved = self.model.solve((root + steps * moves) ** 2)
            return moved.logs, moved.rest, moved.fixed()[1]

        def moved(at: int, sign: int, and_at: int = -1, and_sign: int = 0) -> tuple[int, ...]:
            moves = np.zeros(root.size, dtype=np.int64)
            moves[at] += sign
            if and_at >= 0:
                moves[and_at] += and_sign
            return tuple(moves.tolist())

        def deviance(*moves: int) -> float:
            logs, rest, _ = around(*moves)
            return logs + rest / self.residual

        n = len(free)
        slopes = np.empty((n + 1, *unit.shape))
        curvature = np.empty((n + 1, n + 1))
        slopes[n], curvature[n, n] = covariance, self.rest / self.residual
        for a, i in enumerate(free):
            up, down = around(*moved(i, 1)), around(*moved(i, -1))
            slopes[a] = (up[2] - down[2]) * self.residual / (2 * steps[i])
            slope = (up[1] - down[1]) / (2 * steps[i])
            curvature[a, n] = curvature[n, a] = -slope / self.residual
            for b, j in enumerate(free[: a + 1]):
                corners = [
                    sign * and_sign * deviance(*moved(i, sign, j, and_sign))
                    for sign in (1, -1)
                    for and_sign in (1, -1)
                ]
                curvature[a, b] = curvature[b, a] = sum(corners) / (4 * steps[i] * steps[j])
        method = f"{self.method}, degrees of freedom by Satterthwaite"
        return FixedEffects(effects, covariance, slopes, curvature, method)


@dataclass(frozen=True, eq=False)
class FixedEffects:
    """Fixed effects, and the degrees of freedom of their combinations (Satterthwaite).

    Without `slopes` the covariance is taken as known, and the degrees of freedom are infinite.
    """

    effects: Floats
    """Shape (p,)."""
    covariance: Floats
    """Shape (p, p)."""
    slopes: Floats
    """Derivatives of the covariance by the parameters of the variances, shape (q, p, p)."""
    curvature: Floats
    """Second derivatives of the deviance by the same parameters, shape (q, q)."""
    method: str
    """How they were estimated, and tests are made."""

    @cached_property
    def _of_variances(self) -> Floats:
        """Covariance of the parameters of the variances, where there is information on them."""
        size, direction = np.linalg.eigh(self.curvature)
        known = size > _SMALLEST * size.max(initial=0.0)
        scaled: Floats = direction[:, known] * np.sqrt(2 / size[known])
        return scaled @ scaled.T

    def combined(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Give estimates, standard errors and degrees of freedom of combinations (k, p) of them."""
        variance = np.einsum("kp,pq,kq->k", rows, self.covariance, rows)
        gradient = np.einsum("kp,vpq,kq->kv", rows, self.slopes, rows)
        spread = np.einsum("kv,vw,kw->k", gradient, self._of_variances, gradient)
        with np.errstate(divide="ignore"):
            freedom = 2 * variance**2 / spread
        return rows @ self.effects, np.sqrt(variance), freedom

    def joint(self, rows: Floats) -> tuple[float, float]:
        """Give the F statistic of combinations that are all 0, and its denominator's freedom.

        Independent combinations have each their own degrees of freedom; those of F follow from the
        mean of squares of t variables (Fai and Cornelius 1996).
        """
        covariance = rows @ self.covariance @ rows.T
        _, direction = np.linalg.eigh((covariance + covariance.T) / 2)
        value, error, freedom = self.combined(direction.T @ rows)
        statistic = float(np.mean((value / error) ** 2))
        if not np.isfinite(freedom).all() or np.ptp(freedom) < _SAME:
            return statistic, float(freedom.mean())
        if freedom.min() <= 2:
            return statistic, 2.0
        mean = float((freedom / (freedom - 2)).sum())
        return statistic, 2 * mean / (mean - value.size)


def minimise(deviance: Callable[[Floats], float], start: Floats) -> tuple[Floats, float]:
    """Find the parameters of the least deviance, none below 0.

    A start on the bound is moved off it.
    """
    from scipy.optimize import minimize

    if start.size == 0:
        return start, deviance(start)
    place, least = np.maximum(start, 1e-2), np.inf
    for _ in range(_MOST_SEARCHES):
        # A search for an end may ask for variances at which nothing can be solved: no slope there.
        with np.errstate(invalid="ignore"):
            best = minimize(
                deviance,
                place,
                method="L-BFGS-B",
                bounds=[(0.0, None)] * start.size,
                options={"ftol": _TOLERANCE, "gtol": 1e-6, "maxiter": 200},
            )
        # A step that a bound cuts short can end a search on a slope: it begins anew there.
        downhill = np.where(best.x > 0, np.abs(best.jac), -best.jac).max()
        if not downhill > _FLAT * math.sqrt(1 + abs(best.fun)) or best.fun >= least:
            break
        place, least = np.maximum(best.x, 1e-2), best.fun
    return best.x, float(best.fun)


def fit(model: MixedModel, start: Floats | None = None) -> Solution:
    """Fit by restricted maximum likelihood.

    Standard deviations relative to that of the residual are the parameters: in them the deviance
    is smooth at 0 and about quadratic.
    """
    first = np.ones(len(model.names)) if start is None else np.sqrt(start)
    with one_core(model):
        root, _ = minimise(lambda root: model.solve(root**2).deviance(), first)
        root[root**2 < _SMALLEST] = 0.0
        return model.solve(root**2)


def _cut(confidence: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(1, 1 - confidence))


@contextmanager
def one_core(model: MixedModel) -> Iterator[None]:
    """Keep matrices that are small to one core: several are in each other's way."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1 if model.width < _LARGE else None, user_api="blas"):
        yield


Constrained = Callable[[float], float]


def of_variance(solution: Solution, name: str) -> Constrained:
    """The least deviance where a component, or the residual, has a given variance."""
    model = solution.model
    start = np.sqrt(solution.theta)
    if name == RESIDUAL:

        def with_residual(value: float) -> float:
            scaled = start * np.sqrt(solution.residual / value)
            return minimise(lambda root: model.solve(root**2).deviance(value), scaled)[1]

        return with_residual
    at = model.names.index(name)
    others = np.delete(start, at)

    def with_variance(value: float) -> float:
        def deviance(free: Floats) -> float:
            residual = solution.residual * float(np.exp(free[0] - _SHIFT))
            return model.solve(np.insert(free[1:] ** 2, at, value / residual)).deviance(residual)

        return minimise(deviance, np.concatenate([[_SHIFT], others]))[1]

    return with_variance


def of_ratio(solution: Solution, name: str, noise: Sequence[str]) -> Constrained:
    """The least deviance where the variance of one component over all has a given share.

    `noise` are the other components that count, the residual always among them.
    """
    model = solution.model
    at = model.names.index(name)
    counted = np.array([one in noise for one in model.names if one != name], dtype=np.float64)
    others = np.delete(np.sqrt(solution.theta), at)

    def with_share(value: float) -> float:
        odds = value / (1 - value)

        def deviance(free: Floats) -> float:
            own = odds * (1 + float(counted @ free**2))
            return model.solve(np.insert(free**2, at, own)).deviance()

        return minimise(deviance, others)[1]

    return with_share


def profile_interval(
    constrained: Constrained,
    value: float,
    least: float,
    cut: float,
    *,
    link: Callable[[float], float] = np.log,
    inverse: Callable[[float], float] = np.exp,
) -> tuple[float, float]:
    """Find where the deviance is `cut` above the least one, on both sides of the estimate.

    Parameters
    ----------
    constrained
        The least deviance where the quantity has a value.
    value, least
        The estimate and its deviance.
    cut
        Quantile of the chi-squared distribution with one degree of freedom.
    link, inverse
        From the quantity, above 0, to a scale without ends, and back.
    """
    from scipy.optimize import brentq

    def above(place: float) -> float:
        return constrained(float(inverse(place))) - least - cut

    start = float(link(max(value, _NEAR_ZERO)))
    ends = []
    for sign in (-1.0, 1.0):
        step, near, far = 0.25, start, start
        while above(far := near + sign * step) < 0:
            near, step = far, step * 2
            if step > _FARTHEST:
                break
        else:
            ends.append(float(inverse(brentq(above, near, far, xtol=1e-5))))
            continue
        ends.append(0.0 if sign < 0 else float(inverse(np.inf)))
    return ends[0], ends[1]
