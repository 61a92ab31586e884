r"""Variance components of small panels: their posterior under weak priors, by integration.

Of three raters, restricted likelihood often says that raters do not differ, which is a bound and no
estimate. With few variances the posterior needs no sampling: at given ratios :math:`\rho_f` of
standard deviations to that of the residual, the restricted likelihood is a function of the
residual's variance alone, so that one solution of the model serves all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from affectlab.core.facts import Formula, IntervalFact
from affectlab.core.types import Floats
from affectlab.reliability.components.restricted_likelihood import RESIDUAL, MixedModel, one_core
from affectlab.reliability.components.wording import POSTERIOR_MEDIAN

SCALE = 0.5
"""Scale of the half-Cauchy priors of standard deviations, in that of all answers."""
MOST_FACTORS = 3
_SMALLEST, _LARGEST = 3e-3, 30.0
"""Ratios of standard deviations to that of the residual that are looked at."""
_COARSE, _FINE = {1: 16, 2: 16, 3: 9}, {1: 40, 2: 24, 3: 12}
"""Points of each ratio, in the search for where the posterior lies, and in the end."""
_ROUNDS = 3
_NEGLIGIBLE = 14.0
"""Difference of the logarithm of the density from which on it counts as 0."""
_N_POINTS = 1 << 17
_WIDTH = 5.0
"""Standard errors of the residual's logarithm up to which it is integrated over."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Points of a posterior of variances with their weights."""

    model: MixedModel = field(repr=False)
    points: dict[str, Floats]
    """Variance of each factor and of the residual."""
    weight: Floats

    @property
    def method(self) -> str:
        """How variances were estimated."""
        return POSTERIOR_MEDIAN

    @property
    def interval_method(self) -> IntervalFact:
        """How their intervals are made, or why there are none."""
        return IntervalFact("analytic", formula=Formula.POSTERIOR)

    def variance(self, name: str) -> float:
        """Give the median of a variance."""
        return self._quantile(self.points[name], 0.5)

    def variance_interval(self, name: str, confidence: float) -> tuple[float, float]:
        """Give the central interval of a variance."""
        return self._interval(self.points[name], confidence)

    def share(self, name: str) -> float:
        """Give the median of a variance's share of the sum of all."""
        return self._quantile(self.points[name] / np.sum([*self.points.values()], axis=0), 0.5)

    def ratio(self, name: str, weights: Mapping[str, float]) -> float:
        """Give the median of one variance over that of the residual and weighted others."""
        return self._quantile(self._ratios(name, weights), 0.5)

    def ratio_interval(
        self, name: str, weights: Mapping[str, float], confidence: float
    ) -> tuple[float, float]:
        """Give the central interval of such a ratio."""
        return self._interval(self._ratios(name, weights), confidence)

    def _ratios(self, name: str, weights: Mapping[str, float]) -> Floats:
        others = (weight * self.points[one] for one, weight in weights.items())
        return self.points[name] / sum(others, self.points[RESIDUAL])

    def _interval(self, values: Floats, confidence: float) -> tuple[float, float]:
        tail = (1 - confidence) / 2
        return self._quantile(values, tail), self._quantile(values, 1 - tail)

    def _quantile(self, values: Floats, at: float) -> float:
        order = np.argsort(values)
        share = np.cumsum(self.weight[order])
        return float(np.interp(at, share - self.weight[order] / 2, values[order]))


def posterior(model: MixedModel) -> Posterior:
    """Integrate the restricted likelihood times priors.

    Standard deviations have independent half-Cauchy priors, whose scale is half the standard
    deviation of all answers. The model is solved on a grid of logarithms of ratios, which is
    narrowed to where the density lies; between its points, solutions are interpolated.
    """
    from scipy.ndimage import map_coordinates

    n_factors, n = len(model.names), model.n - model.n_fixed
    ends = np.tile(np.log([_SMALLEST, _LARGEST]), (n_factors, 1))
    with one_core(model):
        for _ in range(_ROUNDS):
            axes = [np.linspace(low, high, _COARSE[n_factors]) for low, high in ends]
            logs, rest = _solutions(model, axes)
            grid = np.array(np.meshgrid(*axes, indexing="ij"))
            ends = _around(axes, _log_density(model, logs, rest, grid, np.log(rest / n) / 2))
        axes = [np.linspace(low, high, _FINE[n_factors]) for low, high in ends]
        solutions = _solutions(model, axes)
    even = _even_points(_N_POINTS, n_factors + 1)
    places = even[:-1] * (_FINE[n_factors] - 1)
    logs, log_rest = (
        map_coordinates(part, places, order=3, mode="nearest")
        for part in (solutions[0], np.log(solutions[1]))
    )
    ratios = ends[:, :1] + even[:-1] * np.diff(ends, axis=1)
    of_residual = (log_rest - np.log(n)) / 2 + _WIDTH * (2 * even[-1] - 1) / np.sqrt(2 * n)
    density = _log_density(model, logs, np.exp(log_rest), ratios, of_residual)
    weight = np.exp(density - density.max())
    residual = np.exp(2 * of_residual)
    points = dict(zip(model.names, np.exp(2 * ratios) * residual, strict=True))
    return Posterior(model, {**points, RESIDUAL: residual}, weight / weight.sum())


def _solutions(model: MixedModel, axes: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Give logarithms of determinants and residual sums of squares on a grid of ratios."""
    made = [model.solve(np.exp(2 * np.array(ratios))) for ratios in product(*axes)]
    shape = tuple(axis.size for axis in axes)
    logs, rest = (np.array([getattr(one, name) for one in made]) for name in ("logs", "rest"))
    return logs.reshape(shape), rest.reshape(shape)


def _log_density(
    model: MixedModel, logs: Floats, rest: Floats, ratios: Floats, of_residual: Floats
) -> Floats:
    """Logarithm of the density of logarithms of ratios, and of the residual's deviation."""
    n = model.n - model.n_fixed
    made = -(logs + 2 * n * of_residual + rest * np.exp(-2 * of_residual)) / 2
    scale = SCALE * model.spread
    for logarithm in (*(ratios + of_residual), of_residual):
        made += logarithm - np.log1p((np.exp(logarithm) / scale) ** 2)
    return made


def _even_points(n: int, n_axes: int) -> Floats:
    """Points that fill the unit cube evenly, shape (axes, n): multiples of irrational steps.

    Powers of the root of x^(d + 1) = x + 1 (Roberts 2018), the golden ratio for d = 1.
    """
    root = 2.0
    for _ in range(50):
        root = (1 + root) ** (1 / (n_axes + 1))
    steps = root ** -np.arange(1.0, n_axes + 1)
    return (0.5 + np.outer(steps, np.arange(n))) % 1.0


def _around(axes: Sequence[Floats], density: Floats) -> Floats:
    """Give the ends of each axis between which the density is not negligible."""
    ends = []
    for k, axis in enumerate(axes):
        of_axis = density.max(axis=tuple(j for j in range(len(axes)) if j != k))
        (places,) = np.nonzero(of_axis > density.max() - _NEGLIGIBLE)
        ends.append((axis[max(places[0] - 1, 0)], axis[min(places[-1] + 1, axis.size - 1)]))
    return np.array(ends)
