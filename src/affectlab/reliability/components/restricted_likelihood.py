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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.types import Bools, Floats, Ints
from affectlab.reliability.components.wording import satterthwaite

_CHUNKS = 8
"""Parts that sums are taken in, whatever the number of cores: results do not depend on them."""
_MOST_BYTES = 1 << 28
"""Memory that parts of the matrix may take in all."""
_SMALLEST = 1e-10
_SMALL = 60
"""Columns of a matrix up to which plain loops are faster than calls."""
_LEAST_SCALE = 0.3
_LARGE = 400
"""Columns of a matrix from which on several cores are worth while."""
_SHIFT = 50.0
"""Keeps logarithms above the bound of 0 that parameters have."""
_NEAR_ZERO = 1e-9
"""Where the search for the end of an interval begins at an estimate of 0, in the size that the
quantity has."""
MOST_PROFILED = 3_000_000
"""Answers up to which intervals are by profile likelihood."""
_FARTHEST = 40.0
"""Steps, on the scale without ends, beyond which there is no end."""
_OFF_ZERO, _STEP_OFF = 1e-2, 1e-3
RESIDUAL = "residual"
_TOLERANCE = 1e-10
_MOST_SEARCHES = 5
_FLAT = 1e-3
"""Slope, relative to the root of the deviance, that is none."""
_STEP = 1e-3
"""Relative steps of derivatives."""
_SAME = 1e-8
"""Degrees of freedom that differ by less are the same."""


_MOST_STEPS, _SETTLED = 20, 1e-7
"""Steps towards an end of an interval, and how small the last one is."""

Quantity = Callable[[Floats], tuple[float, Floats]]
"""From the logarithms of variances to that of a quantity, and its slopes."""
Constrained = Callable[[float], float]
"""From a quantity to the least deviance where it has that value."""


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
    def products_of_levels(self) -> tuple[Floats, Floats, Floats]:
        """Products of levels by their sizes, these sizes, and how many levels have each.

        Where no cell has an effect of its own, the matrix for any variances is the base and a
        weighted sum of these. Of each, the lower triangle is kept, row by row.
        """
        of_level = np.add.reduceat(self.size, self.start[:-1])
        sizes, group = np.unique(of_level, return_inverse=True)
        products = np.empty((sizes.size, self.width * (self.width + 1) // 2))
        for g in range(sizes.size):
            levels = np.flatnonzero(group == g)
            products[g] = self._products(self.size, np.ones(of_level.size), levels)[self._lower]
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
        return self.cells is None and n_sizes * self.width**2 * 4 <= 2 * _MOST_BYTES

    @cached_property
    def _lower(self) -> Bools:
        """Where the lower triangle is, row by row."""
        return np.tri(self.width, dtype=np.bool_)

    def _sum_of_products(self, weight: Floats) -> Floats:
        """Weighted sum of the products of levels by size, in a lower triangle."""
        total = np.zeros((self.width, self.width))
        total[self._lower] = weight @ self.products_of_levels[0]
        return total

    @cached_property
    def base(self) -> Floats:
        """Products of the columns of all cells, in a lower triangle."""
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

    def _reduced(self, theta: Floats) -> tuple[Floats, float]:
        """Products of all columns less what the first factor explains, and its logarithms.

        The products are in the lower triangle.
        """
        first = float(theta[0])
        if self._grouped:
            _, sizes, counts = self.products_of_levels
            matrix = self.base + self._sum_of_products(first / (1 + first * sizes))
            return matrix, float((counts * np.log1p(first * sizes)).sum())
        of_cell = float(theta[len(self.factors)]) if self.cells is not None else 0.0
        weight = self.size / (1 + self.size * of_cell)
        of_level = np.add.reduceat(weight, self.start[:-1])
        share = first / (1 + first * of_level)
        matrix = self._cells(weight) if self.cells is not None else self.base.copy()
        matrix += self._products(weight, share, np.arange(share.size))
        logs = float(np.log1p(first * of_level).sum() + np.log1p(self.size * of_cell).sum())
        return matrix, logs

    def _columns(self, theta: Floats) -> tuple[Floats, int]:
        """Standard deviation of each column, 1 of fixed effects and answers; where these begin."""
        sizes = [one.n_levels for one in self.factors[1:]]
        scale, at = np.ones(self.width), sum(sizes)
        scale[:at] = np.repeat(np.sqrt(theta[1 : len(self.factors)]), sizes)
        return scale, at

    def solve(self, theta: Floats, *, slopes: bool = False) -> Solution:
        """Evaluate the model for variances relative to that of the residual.

        Slopes are given where they are asked for and :attr:`has_slopes`.
        """
        from scipy.linalg import cholesky

        matrix, logs = self._reduced(theta)
        scale, at = self._columns(theta)
        matrix *= scale[:, None]
        matrix *= scale
        matrix[np.arange(at), np.arange(at)] += 1.0
        # Beside it the sum of squares of means may be 0.
        matrix[-1, -1] += self.within
        try:
            # Transposed, the matrix is in the order of LAPACK, which then needs no copy.
            upper = cholesky(matrix.T, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            # No residual is left, or fixed effects cannot be told apart.
            return Solution(self, theta, np.inf, 0.0, np.empty((0, 0)))
        diagonal = np.diagonal(upper)
        logs += 2 * float(np.log(diagonal[:-1]).sum())
        rest = float(diagonal[-1] ** 2)
        change = self._slopes(theta, scale, upper) if slopes and self.has_slopes else None
        return Solution(self, theta, logs, rest, upper[at:, at:].T.copy(), change)

    def _slopes(self, theta: Floats, scale: Floats, upper: Floats) -> Floats:
        r"""Slopes of logarithms and of the residual sum of squares by relative SDs.

        With the matrix A of :meth:`solve`, b the coefficients of the answers on its other columns,
        and v = (-b, 1), the logarithms change by :math:`\mathrm{tr}(A_{11}^{-1} dA_{11})` and the
        sum of squares by :math:`v^\top dA\, v`. A level of relative SD s has the columns of s
        times its own, beside a 1 on the diagonal; as :math:`A_{11} A_{11}^{-1}` is the identity and
        A v is 0 but for the answers, its shares are 2/s times one less its diagonal element of
        :math:`A_{11}^{-1}`, and -2/s times the square of its element of v.

        Returns
        -------
        Shape (2, components).
        """
        from scipy.linalg import solve_triangular
        from scipy.linalg.lapack import dpotri

        _, sizes, counts = self.products_of_levels
        root, n = np.sqrt(theta), self.width - 1
        factor = upper[:n, :n]
        # Its upper triangle; the lower one is 0.
        inverse = dpotri(factor)[0]
        of_level = np.diagonal(inverse)
        v = np.append(-solve_triangular(factor, upper[:n, n], check_finite=False), 1.0)
        first = 1 + theta[0] * sizes
        change = self._sum_of_products(2 * root[0] / first**2)
        change *= scale
        change *= scale[:, None]
        # Both triangles count, the diagonal once.
        change[np.arange(n + 1), np.arange(n + 1)] /= 2
        found = np.zeros((2, root.size))
        found[0, 0] = 2 * np.einsum("ij,ji", change[:n, :n], inverse)
        found[0, 0] += (counts * 2 * root[0] * sizes / first).sum()
        found[1, 0] = 2 * v @ change @ v
        ends = np.cumsum([one.n_levels for one in self.factors[1:]])
        for k, (end, one) in enumerate(zip(ends, self.factors[1:], strict=True), start=1):
            own = slice(end - one.n_levels, end)
            if root[k] > 0:
                found[:, k] = (1 - of_level[own]).sum(), -(v[own] ** 2).sum()
                found[:, k] *= 2 / root[k]
        return found

    @property
    def has_slopes(self) -> bool:
        """Whether products of levels are at hand, from which slopes follow."""
        return self._grouped


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
    slopes: Floats | None = field(default=None, repr=False)
    """Slopes of ``logs`` and ``rest`` by relative standard deviations, shape (2, components)."""

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

    def share(self, name: str) -> float:
        """Give the share of the sum of all variances."""
        return self.variance(name) / sum(map(self.variance, (*self.model.names, RESIDUAL)))

    def ratio(self, name: str, weights: Mapping[str, float]) -> float:
        """Give one variance over that of the residual and weighted others."""
        others = sum(weight * self.variance(one) for one, weight in weights.items())
        return self.variance(name) / (self.residual + others)

    @property
    def method(self) -> str:
        """How variances were estimated."""
        return "REML"

    @property
    def interval_method(self) -> IntervalFact | Reason:
        """How their intervals are made, or why there are none."""
        if self.model.n <= MOST_PROFILED:
            return IntervalFact("analytic", formula=Formula.PROFILE_LIKELIHOOD)
        return Reason(Cause.MANY_ANSWERS, MOST_PROFILED, of="answers")

    def variance_interval(self, name: str, confidence: float) -> tuple[float, float]:
        """Give the profile interval of a variance."""
        own = np.zeros(len(self.model.names) + 1)
        # The logarithm of a variance is that of its relative one and of the residual's.
        own[-1] = 1.0
        if name != RESIDUAL:
            own[self.model.names.index(name)] = 1.0
        return self._interval(
            lambda place: (float(own @ place), own),
            lambda: of_variance(self, name),
            self.variance(name),
            confidence,
            self.model.spread**2,
        )

    def ratio_interval(
        self, name: str, weights: Mapping[str, float], confidence: float
    ) -> tuple[float, float]:
        """Give the profile interval of one variance over that of the residual and others."""
        at = self.model.names.index(name)
        counted = np.array([weights.get(one, 0.0) for one in self.model.names])

        def log_ratio(place: Floats) -> tuple[float, Floats]:
            noise = counted * np.exp(place[:-1])
            slope = np.append(-noise / (1 + noise.sum()), 0.0)
            slope[at] += 1.0
            return float(place[at] - math.log1p(noise.sum())), slope

        return self._interval(
            log_ratio,
            lambda: of_ratio(self, name, weights),
            self.ratio(name, weights),
            confidence,
            1.0,
        )

    def _interval(
        self,
        quantity: Quantity,
        constrained: Callable[[], Constrained],
        value: float,
        confidence: float,
        size: float,
    ) -> tuple[float, float]:
        """Find both ends: from the curvature where the model is large, else by search."""
        if self.model.n > MOST_PROFILED:
            return np.nan, np.nan
        cut = _cut(confidence)
        with one_core(self.model):
            if self.model.has_slopes and self.model.width > _SMALL and self.theta.all():
                low, high = (self._end(quantity, sign, cut) for sign in (-1.0, 1.0))
                if low is not None and high is not None:
                    return low, high
            return profile_interval(constrained(), value, self.deviance(), cut, size)

    def _about(self, place: Floats) -> tuple[float, Floats]:
        """Deviance and its slopes at logarithms of relative variances and of the residual's."""
        theta, residual = np.exp(place[:-1]), float(np.exp(place[-1]))
        found = self.model.solve(theta, slopes=True)
        if found.slopes is None:
            return np.inf, np.zeros(place.size)
        by_logs, by_rest = found.slopes
        slope = (by_logs + by_rest / residual) * np.sqrt(theta) / 2
        return found.deviance(residual), np.append(slope, found.freedom - found.rest / residual)

    @cached_property
    def _local(self) -> tuple[Floats, Floats, Floats]:
        """Logarithms of the variances at the estimate, and there slopes and curvature."""
        place = np.log(np.append(self.theta, self.residual))
        slope = self._about(place)[1]
        steps = _STEP * np.eye(place.size)
        curvature = np.array([self._about(place + step)[1] - slope for step in steps]) / _STEP
        return place, slope, (curvature + curvature.T) / 2

    def _end(self, quantity: Quantity, sign: float, cut: float) -> float | None:
        r"""Find an end of a profile interval in steps of Newton; ``None`` where they do not settle.

        At an end the slopes g of the deviance D are a multiple of those of the quantity, a, and D
        is the least one and the cut, T. With curvature H, the step to where both would hold is
        :math:`\lambda H^{-1}a - H^{-1}g`,
        :math:`\lambda^2 = (2(T - D) + g^\top H^{-1}g) / a^\top H^{-1}a` (as in Venzon and
        Moolgavkar 1988). The curvature follows from changes of slopes, by the update of Broyden,
        Fletcher, Goldfarb and Shanno; where the steps end does not depend on it.
        """
        place, slope, curvature = self._local
        value = self.deviance()
        target = value + cut
        for _ in range(_MOST_STEPS):
            own = quantity(place)[1]
            by_slope, by_own = np.linalg.solve(curvature, np.column_stack([slope, own])).T
            size = (2 * (target - value) + slope @ by_slope) / (own @ by_own)
            if not size > 0:
                return None
            step = sign * math.sqrt(size) * by_own - by_slope
            place = place + step
            if np.abs(place - self._local[0]).max() > _FARTHEST:
                return None
            if np.abs(step).max() <= _SETTLED:
                return math.exp(quantity(place)[0])
            value, after = self._about(place)
            change, slope = after - slope, after
            if not np.isfinite(value) or change @ step <= 0:
                return None
            bent = curvature @ step
            curvature = (
                curvature
                + np.outer(change, change) / (change @ step)
                - np.outer(bent, bent) / (step @ bent)
            )
        return None

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

        def deviance(*moves: int) -> float:
            logs, rest, _ = around(*moves)
            return logs + rest / self.residual

        n, axis = len(free), np.eye(root.size, dtype=np.int64)
        slopes = np.empty((n + 1, *unit.shape))
        curvature = np.empty((n + 1, n + 1))
        slopes[n], curvature[n, n] = covariance, self.rest / self.residual
        for a, i in enumerate(free):
            up, down = around(*axis[i]), around(*-axis[i])
            slopes[a] = (up[2] - down[2]) * self.residual / (2 * steps[i])
            slope = (up[1] - down[1]) / (2 * steps[i])
            curvature[a, n] = curvature[n, a] = -slope / self.residual
            for b, j in enumerate(free[: a + 1]):
                corners = [
                    sign * and_sign * deviance(*(sign * axis[i] + and_sign * axis[j]))
                    for sign in (1, -1)
                    for and_sign in (1, -1)
                ]
                curvature[a, b] = curvature[b, a] = sum(corners) / (4 * steps[i] * steps[j])
        method = satterthwaite(self.method)
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


Search = Callable[[Floats], tuple[float, Floats]]
"""From free parameters to the deviance and its slopes; no slopes where the model has none."""


def _deviance(
    model: MixedModel, root: Floats, residual: float | None = None
) -> tuple[float, Floats, Solution]:
    """The deviance at relative SDs, its slopes by them, and the solution."""
    found = model.solve(root**2, slopes=True)
    value = found.deviance(residual)
    if found.slopes is None or not np.isfinite(value):
        return value, np.zeros(root.size), found
    by_logs, by_rest = found.slopes
    return value, by_logs + by_rest / (residual or found.residual), found


def minimise(model: MixedModel, deviance: Search, start: Floats) -> tuple[Floats, float]:
    """Find the parameters of the least deviance, none below 0.

    Where a standard deviation is 0 the deviance has no slope by it, so that a search which comes
    there stays: it is taken up again from where the deviance falls as it leaves 0. A step that a
    bound cuts short can end a search on a slope: it begins anew there.
    """
    from scipy.optimize import minimize

    if start.size == 0:
        return start, deviance(start)[0]
    place, least = np.maximum(start, _OFF_ZERO), np.inf
    for _ in range(_MOST_SEARCHES):
        # A search for an end may ask for variances at which nothing can be solved: no slope there.
        with np.errstate(invalid="ignore", over="ignore"):
            best = minimize(
                deviance if model.has_slopes else lambda free: deviance(free)[0],
                place,
                jac=model.has_slopes or None,
                method="L-BFGS-B",
                bounds=[(0.0, None)] * start.size,
                options={"ftol": _TOLERANCE, "gtol": 1e-6, "maxiter": 200},
            )
        if best.fun >= least:
            break
        place, least = best.x.copy(), best.fun
        downhill = np.where(best.x > 0, np.abs(best.jac), -best.jac).max()
        if downhill > _FLAT * math.sqrt(1 + abs(best.fun)):
            place = np.maximum(place, _OFF_ZERO)
            continue
        for k in np.flatnonzero(best.x < _STEP_OFF):
            moved = best.x.copy()
            moved[k] = _STEP_OFF
            if deviance(moved)[0] < best.fun:
                place[k] = _OFF_ZERO
        if (place == best.x).all():
            break
    return best.x, float(best.fun)


def fit(model: MixedModel, start: Floats | None = None) -> Solution:
    """Fit by restricted maximum likelihood.

    Standard deviations relative to that of the residual are the parameters: in them the deviance
    is smooth at 0 and about quadratic.
    """
    first = np.ones(len(model.names)) if start is None else np.sqrt(start)
    with one_core(model):
        root, _ = minimise(model, lambda root: _deviance(model, root)[:2], first)
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


def of_variance(solution: Solution, name: str) -> Constrained:
    """The least deviance where a component, or the residual, has a given variance."""
    model = solution.model
    start = np.sqrt(solution.theta)
    if name == RESIDUAL:

        def with_residual(value: float) -> float:
            scaled = start * np.sqrt(solution.residual / value)
            return minimise(model, lambda root: _deviance(model, root, value)[:2], scaled)[1]

        return with_residual
    at = model.names.index(name)
    others = np.delete(start, at)

    def with_variance(value: float) -> float:
        def deviance(free: Floats) -> tuple[float, Floats]:
            residual = solution.residual * float(np.exp(free[0] - _SHIFT))
            own = np.sqrt(value / residual)
            found, slopes, at_root = _deviance(model, np.insert(free[1:], at, own), residual)
            of_residual = at_root.freedom - at_root.rest / residual - slopes[at] * own / 2
            return found, np.append(of_residual, np.delete(slopes, at))

        return minimise(model, deviance, np.append(_SHIFT, others))[1]

    return with_variance


def of_ratio(solution: Solution, name: str, weights: Mapping[str, float]) -> Constrained:
    """The least deviance where the variance of one component over that of others is given.

    `weights` says how much of each other component counts beside the residual, which counts once.
    """
    model = solution.model
    at = model.names.index(name)
    counted = np.array([weights.get(one, 0.0) for one in model.names if one != name])
    others = np.delete(np.sqrt(solution.theta), at)
    if others.size == 1 and model.has_slopes and model.width <= _SMALL:
        return _of_ratio_of_two(solution, at, float(counted[0]))

    def with_odds(odds: float) -> float:
        def deviance(free: Floats) -> tuple[float, Floats]:
            own = np.sqrt(odds * (1 + float(counted @ free**2)))
            found, slopes, _ = _deviance(model, np.insert(free, at, own))
            return found, np.delete(slopes, at) + slopes[at] * odds * counted * free / own

        return minimise(model, deviance, others)[1]

    return with_odds


def _of_ratio_of_two(solution: Solution, at: int, counted: float) -> Constrained:
    """The same for two crossed factors with few levels of one, in compiled code."""
    from affectlab.reliability.components.schur_kernels import least_deviance_at_odds

    model, freedom = solution.model, solution.freedom
    products, sizes, counts = model.products_of_levels
    n_levels = model.factors[1].n_levels
    scale = max(float(np.sqrt(solution.theta[1 - at])), _LEAST_SCALE)
    constant = freedom * (1 + math.log(2 * math.pi / freedom))

    def with_odds(odds: float) -> float:
        found = least_deviance_at_odds(
            model.base, products, sizes, counts, n_levels, model.within, freedom,
            odds, counted, at == 0, scale,
        )  # fmt: skip
        return float(found) + constant

    return with_odds


def profile_interval(
    constrained: Constrained, value: float, least: float, cut: float, size: float = 1.0
) -> tuple[float, float]:
    """Find where the deviance is `cut` above the least one, on both sides of the estimate.

    Parameters
    ----------
    constrained
        The least deviance where the quantity, which is not below 0, has a value.
    value, least
        The estimate and its deviance.
    cut
        Quantile of the chi-squared distribution with one degree of freedom.
    size
        How large the quantity may be, such as the variance of all answers.
    """
    from scipy.optimize import brentq

    def above(place: float) -> float:
        # The root of a rise that is about quadratic is about straight.
        rise = constrained(math.exp(place)) - least
        return math.sqrt(max(rise, 0.0)) - math.sqrt(cut)

    start = math.log(value if value > 0 else _NEAR_ZERO * size)
    ends = []
    for sign in (-1.0, 1.0):
        near, step = start, 0.5
        while step <= _FARTHEST:
            far = near + sign * step
            height = above(far)
            if height >= 0:
                ends.append(math.exp(brentq(above, near, far, xtol=1e-7, rtol=1e-9)))
                break
            near, step = far, 2 * step
        else:
            ends.append(0.0 if sign < 0 else math.inf)
    return ends[0], ends[1]
