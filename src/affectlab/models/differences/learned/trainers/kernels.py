"""Inner loops of learning: coordinates in turn, each solved exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["dual_epoch", "margins", "non_negative"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _compiled(function: _Function) -> _Function:
    """As `affectlab.core.compiled.kernel`, with sums in any order, several terms at a time."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract", "nsz"},
    }
    try:
        return cast(_Function, njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(_Function, njit(**options)(function))


@_compiled
def dual_epoch(
    x: Any,
    rows: Any,
    aims: Any,
    mean: Any,
    inverse: Any,
    squares: Any,
    order: Any,
    cost: float,
    epsilon: float,
    constant: float,
    dual: Any,
    weights: Any,
    offset: float,
) -> float:
    """Pass once over the pairs, and solve the dual for each with all others as they are.

    Coordinate descent for support vector regression (Ho and Lin 2012, Algorithm 4, with the loss
    whose dual is bounded by the cost). `weights` are those of the numbers less their mean and are
    kept equal to the sum over pairs; standardising is folded into `inverse`, one over variances, so
    that no standardised copy of the numbers is needed.
    """
    for place in range(order.size):
        at = order[place]
        row = rows[at]
        total = offset
        for k in range(weights.size):
            total += weights[k] * (x[row, k] - mean[k])
        slope = total - aims[at]
        square = squares[at]
        old = dual[at]
        if slope + epsilon < square * old:
            new = old - (slope + epsilon) / square
        elif slope - epsilon > square * old:
            new = old - (slope - epsilon) / square
        else:
            new = 0.0
        new = min(max(new, -cost), cost)
        step = new - old
        if step != 0.0:
            dual[at] = new
            for k in range(weights.size):
                weights[k] += step * inverse[k] * (x[row, k] - mean[k])
            offset += step * constant
    return offset


@_compiled
def margins(x: Any, rows: Any, mean: Any, weights: Any, offset: float, found: Any) -> None:
    """Give the value of a linear function of the numbers less their mean for each row."""
    for at in range(rows.size):
        total = offset
        for k in range(weights.size):
            total += weights[k] * (x[rows[at], k] - mean[k])
        found[at] = total


@_compiled
def non_negative(
    matrix: Any, aims: Any, penalty: float, weights: Any, tolerance: float, most: int
) -> int:
    """Minimise w' (A + p I) w / 2 - b' w over w >= 0, from where the weights are.

    Coordinates in turn; the number of rounds is given, `most` where it has not ended.
    """
    n = weights.size
    slope = -aims.copy()
    for k in range(n):
        if weights[k] != 0.0:
            for m in range(n):
                slope[m] += weights[k] * matrix[k, m]
            slope[k] += penalty * weights[k]
    for done in range(most):
        largest = 0.0
        for k in range(n):
            curve = matrix[k, k] + penalty
            new = max(0.0, weights[k] - slope[k] / curve)
            step = new - weights[k]
            if step != 0.0:
                weights[k] = new
                for m in range(n):
                    slope[m] += step * matrix[k, m]
                slope[k] += step * penalty
                largest = max(largest, abs(step))
        if largest <= tolerance:
            return done + 1
    return most
