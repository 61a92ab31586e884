"""The monotone logistic curve that brings a metric's predictions to the scale of the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats, Ints

_BINS = 256
"""Most bins of predictions in which replicates are fitted."""
_DISTINCT = 5
"""Fewest different predictions: one more than the curve has parameters."""
_ROUNDS = 200
"""Of a search from one start; the last fit, from the best end, may take longer."""
_LAST_ROUNDS = 5000
_TOLERANCE = 1e-11
_STARTS = ((0.1, 0.3, 0.5, 0.7, 0.9), (0.1, 0.3, 1.0, 3.0))
"""Middles as quantiles of the predictions, and widths in their standard deviations."""
_ROOM = 1.0
"""How far beyond the predictions the middle may lie, in their range."""
_WIDTHS = (1e-2, 200.0)
"""Least and largest width in the range of the predictions: a step, and practically a line."""
_LINE = 20.0
"""Width from which on the curve leaves a line by less than a ten-thousandth of its rise."""


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """A fitted logistic curve.

    Examples
    --------
    >>> fit = logistic_fit([0, 1, 2, 3, 4, 5], [2, 3, 20, 80, 97, 98])
    >>> round(fit.middle, 1), fit.predict([2.5]).round(0).tolist(), fit.rises
    (2.5, [50.0], True)
    """

    left: float
    """Score far to the left, in the unit of the scores."""
    right: float
    """Score far to the right."""
    middle: float
    """Prediction half-way between the ends."""
    width: float
    """Scale of the predictions over which the curve turns, above 0."""
    r: float
    """Pearson correlation of the fitted scores with the scores, with the sign of the curve: below
    0 where it falls; in [-1, 1]."""
    rmse: float
    """Root mean squared error of the fitted scores, over n."""
    n: int
    """Pairs that entered."""
    at_bound: bool = False
    """Whether the fit ran into a bound: the data ask for a straight line, a step or one bend."""
    reason: Reason | None = None
    """Why there is no curve."""

    @classmethod
    def none(cls, reason: Reason, n: int) -> LogisticFit:
        """Give no curve, and the reason."""
        nan = math.nan
        return cls(nan, nan, nan, nan, nan, nan, n=n, reason=reason)

    @property
    def ok(self) -> bool:
        """Whether there is a curve."""
        return self.reason is None

    @property
    def rises(self) -> bool:
        """Whether scores rise with the predictions."""
        return self.right > self.left

    def predict(self, x: ArrayLike) -> Floats:
        """Bring predictions to the scale of the scores; ``nan`` where there is no curve."""
        from scipy.special import expit

        z = (np.asarray(x, dtype=np.float64) - self.middle) / self.width
        curve: Floats = self.left + (self.right - self.left) * expit(z)
        return curve


def logistic_fit(x: ArrayLike, y: ArrayLike) -> LogisticFit:
    r"""Fit the four-parameter logistic curve by least squares.

    .. math:: f(x) = \beta_2 + \frac{\beta_1 - \beta_2}{1 + e^{-(x - \beta_3) / |\beta_4|}}

    It rises or falls everywhere, whatever its parameters, so it can stretch the axis of a metric
    but not reorder its predictions. The ends :math:`\beta_1, \beta_2` are solved for; the search
    over middle and width starts from a grid, so that no start has to be given.

    Parameters
    ----------
    x
        Predictions of a metric, shape (n,).
    y
        Scores, shape (n,). Pairs with a ``nan`` are left out.

    Returns
    -------
    The curve; its reason says so where fewer than five predictions or two scores differ, or the
    search did not converge, and its numbers are ``nan`` then.

    Raises
    ------
    InputError
        If the shapes differ, or a number is infinite.

    References
    ----------
    VQEG (2000), Final report on the validation of objective models of video quality assessment;
    the curve is the customary step before Pearson's correlation is computed.

    Examples
    --------
    >>> str(logistic_fit([1, 2, 3], [1, 2, 3]).reason)
    'fewer than five different predictions'
    """
    a, b = (np.asarray(side, dtype=np.float64) for side in (x, y))
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"expected two arrays of one shape (n,), got {a.shape} and {b.shape}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise InputError("a prediction or score is infinite; expected numbers")
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    return fit_in_bins(a, b, bins_of(a, np.argsort(a, kind="stable")))


@dataclass(frozen=True)
class Bins:
    """Neighbouring predictions put together, so that a fit takes the same time for any n."""

    x: Floats
    """Mean prediction of each bin, shape (bins,)."""
    end: Ints
    """Where each bin ends in the order of the predictions."""
    exact: bool
    """Whether every bin holds one distinct prediction."""


def bins_of(x: Floats, order: NDArray[Any]) -> Bins:
    """Cut predictions into bins: one for each distinct value, or at most 256 of equal size."""
    ordered = x[order]
    end = np.append(np.flatnonzero(ordered[1:] > ordered[:-1]) + 1, x.size)
    exact = end.size <= _BINS
    if not exact:
        end = np.unique(np.linspace(0, x.size, _BINS + 1).round().astype(np.int64)[1:])
    start = np.concatenate([[0], end[:-1]])
    if x.size == 0:
        return Bins(x, np.zeros(0, dtype=np.int64), True)
    mean = ordered[start] if exact else np.add.reduceat(ordered, start) / (end - start)
    return Bins(mean, end.astype(np.int64), exact)


def bends_of(x: Floats) -> Floats:
    """Give starts for curves of one bend: middles left and right of the predictions."""
    low, high = float(x.min()), float(x.max())
    span = high - low
    return np.array([[low - span / 2, span / 2], [high + span / 2, span / 2]])


def bounds_of(x: Floats) -> Floats:
    """Give the bounds of middle and width for predictions that are not all equal."""
    low, high = float(x.min()), float(x.max())
    span = high - low
    return np.array([low - _ROOM * span, high + _ROOM * span, _WIDTHS[0] * span, _WIDTHS[1] * span])


def fit_in_bins(x: Floats, y: Floats, bins: Bins) -> LogisticFit:
    """Fit in bins from every start of the grid, then in full from the best."""
    from affectlab.evaluation.differences.logistic_kernels import fit_logistic

    n = x.size
    if bins.exact and bins.x.size < _DISTINCT:
        return LogisticFit.none(Reason(Cause.FEWER, least=5, of="different predictions"), n)
    mean = float(y.mean())
    centred = y - mean
    total = float(centred @ centred)
    if np.ptp(y) == 0:
        return LogisticFit.none(Reason(Cause.CONSTANT, of="scores"), n)
    span = float(np.ptp(x))
    # In units of their range predictions of any size meet the same numbers.
    scaled = (x - x.min()) / span
    binned = (bins.x - x.min()) / span
    bounds = bounds_of(scaled)
    order = np.argsort(x, kind="stable")
    first = np.concatenate([[0], bins.end[:-1]])
    weight = np.diff(bins.end, prepend=0).astype(np.float64)
    height = np.add.reduceat(centred[order], first)
    found = np.array(
        [
            _search(binned, weight, height, start, bounds, _TOLERANCE * total)
            for start in _best_starts(scaled, binned, weight, height)
        ]
    )
    out = found[np.argmax(found[:, 2])]
    converged = fit_logistic(
        scaled, np.ones(n), centred, out[:2].copy(), bounds, _LAST_ROUNDS, _TOLERANCE * total, out
    )
    if not converged or not out[2] > 0:
        return LogisticFit.none(Reason(Cause.NO_BEST_CURVE, _LAST_ROUNDS), n)
    from scipy.special import expit

    curve = expit((scaled - out[0]) / out[1])
    spread = curve - curve.mean()
    rise = float(spread @ centred) / float(spread @ spread)
    left = mean - rise * float(curve.mean())
    share = min(out[2] / total, 1.0)
    near = np.isclose(out[[0, 0, 1, 1]], bounds, rtol=1e-6, atol=1e-9)
    return LogisticFit(
        left=left,
        right=left + rise,
        middle=float(x.min() + span * out[0]),
        width=float(span * out[1]),
        r=math.copysign(math.sqrt(share), rise),
        rmse=math.sqrt(total * (1 - share) / n),
        n=n,
        at_bound=bool(near.any() or out[1] >= _LINE),
    )


def _best_starts(x: Floats, binned: Floats, weight: Floats, height: Floats) -> list[Floats]:
    """Rank the grid by how much each curve explains, keep the best four, and add the bends."""
    from affectlab.evaluation.differences.logistic_kernels import logistic_moments

    moments = np.empty((4, 5))
    spread = float(x.std())
    grid = [
        np.array([middle, width * spread])
        for middle in np.quantile(x, _STARTS[0])
        for width in _STARTS[1]
    ]
    explained = [
        logistic_moments(binned, weight, height, float(at[0]), float(at[1]), moments) for at in grid
    ]
    return [*(grid[k] for k in np.argsort(explained)[::-1][:4]), *bends_of(x)]


def _search(
    x: Floats, w: Floats, wy: Floats, start: Floats, bounds: Floats, least: float
) -> Floats:
    from affectlab.evaluation.differences.logistic_kernels import fit_logistic

    out = np.empty(3)
    fit_logistic(x, w, wy, start, bounds, _ROUNDS, least, out)
    return out
