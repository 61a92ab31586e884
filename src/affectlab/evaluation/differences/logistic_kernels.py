"""Least-squares fits of a logistic curve, one per bootstrap replicate.

For given middle and width the two ends of the curve follow from a linear fit, so that the search
runs over two numbers; and the best curve is the one whose values correlate best with the scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats


@kernel
def bin_lanes(
    order: NDArray[Any],
    end: NDArray[Any],
    weights: NDArray[np.float32],
    y: Floats,
    total: Floats,
    products: Floats,
) -> None:
    """Sum weights, and weights times y, over bins of neighbouring items.

    Parameters
    ----------
    order
        Items by rising x, shape (n,).
    end
        Where each bin ends in ``order``, shape (bins,).
    weights
        Shape (n, lanes).
    y
        Shape (n,).
    total, products
        Overwritten: sums of weights, and of weights times y, shape (lanes, bins).
    """
    lanes = weights.shape[1]
    ones = np.zeros(lanes)
    with_y = np.zeros(lanes)
    first = 0
    for k in range(end.size):
        for b in range(lanes):
            ones[b] = 0.0
            with_y[b] = 0.0
        for j in range(first, end[k]):
            row = weights[order[j]]
            height = y[order[j]]
            for b in range(lanes):
                ones[b] += row[b]
                with_y[b] += row[b] * height
        for b in range(lanes):
            total[b, k] = ones[b]
            products[b, k] = with_y[b]
        first = end[k]


@kernel
def logistic_moments(
    x: Floats, w: Floats, wy: Floats, middle: float, width: float, m: Floats
) -> float:
    """Sum the products of the curve, its two derivatives, and y; give the squared correlation.

    Parameters
    ----------
    x, w, wy
        Places, weights, and weights times y, shape (n,); y is centred on its weighted mean.
    middle, width
        Of the curve s = 1 / (1 + exp(-(x - middle) / width)).
    m
        Overwritten: sums of w v_i v_j (upper triangle) for v = (1, s, ds/dmiddle, ds/dlog width),
        and of w y v_i in the last column, shape (4, 5); s is less 1 where most of it is near 1.

    Returns
    -------
    The part of sum w y^2 that the curve explains.
    """
    m00 = m01 = m02 = m03 = m11 = m12 = m13 = m22 = m23 = m33 = 0.0
    y0 = y1 = y2 = y3 = 0.0
    places = 0.0
    for k in range(x.size):
        m00 += w[k]
        places += w[k] * x[k]
    # Where most of the curve is near 1, s - 1 takes the place of s: the same curve to a linear fit,
    # and its differences keep their digits.
    top = -1.0 if places > middle * m00 else 1.0
    m00 = 0.0
    for k in range(x.size):
        z = (x[k] - middle) / width
        s = top / (1.0 + np.exp(-top * z))
        slope = abs(s) * (1.0 - abs(s))
        a = -slope / width
        c = -slope * z
        u = w[k]
        v = wy[k]
        m00 += u
        m01 += u * s
        m02 += u * a
        m03 += u * c
        m11 += u * s * s
        m12 += u * s * a
        m13 += u * s * c
        m22 += u * a * a
        m23 += u * a * c
        m33 += u * c * c
        y0 += v
        y1 += v * s
        y2 += v * a
        y3 += v * c
    m[0, 0], m[0, 1], m[0, 2], m[0, 3], m[0, 4] = m00, m01, m02, m03, y0
    m[1, 1], m[1, 2], m[1, 3], m[1, 4] = m11, m12, m13, y1
    m[2, 2], m[2, 3], m[2, 4] = m22, m23, y2
    m[3, 3], m[3, 4] = m33, y3
    spread = m11 - m01 * m01 / m00
    shared = y1 - m01 * y0 / m00
    return shared * shared / spread if spread > 1e-14 * m00 else 0.0


@kernel
def fit_logistic(
    x: Floats,
    w: Floats,
    wy: Floats,
    start: Floats,
    bounds: Floats,
    rounds: int,
    least: float,
    out: Floats,
) -> bool:
    """Fit by damped Gauss-Newton steps over middle and log width, the ends solved for.

    Parameters
    ----------
    x, w, wy
        As for :func:`logistic_moments`.
    start
        Middle and width to start from.
    bounds
        Lowest and highest middle, lowest and highest width.
    rounds, least
        Most rounds, and the gain in the explained part up to which the fit has converged.
    out
        Overwritten: middle, width, and the explained part of sum w y^2.

    Returns
    -------
    Whether the fit converged.
    """
    m = np.empty((4, 5))
    tried = np.empty((4, 5))
    middle, width = start[0], start[1]
    best = logistic_moments(x, w, wy, middle, width, m)
    damping = 1e-3
    converged = False
    for _ in range(rounds):
        # What is left of the derivatives once the linear part (1, s) is taken out.
        n = m[0, 0]
        s11 = m[1, 1] - m[0, 1] ** 2 / n
        s12 = m[1, 2] - m[0, 1] * m[0, 2] / n
        s13 = m[1, 3] - m[0, 1] * m[0, 3] / n
        s22 = m[2, 2] - m[0, 2] ** 2 / n
        s23 = m[2, 3] - m[0, 2] * m[0, 3] / n
        s33 = m[3, 3] - m[0, 3] ** 2 / n
        t1 = m[1, 4] - m[0, 1] * m[0, 4] / n
        t2 = m[2, 4] - m[0, 2] * m[0, 4] / n
        t3 = m[3, 4] - m[0, 3] * m[0, 4] / n
        if not s11 > 1e-14 * n:
            break
        height = t1 / s11
        if height == 0.0:
            break
        a = (s22 - s12 * s12 / s11) * height * height
        c = (s33 - s13 * s13 / s11) * height * height
        d = (s23 - s12 * s13 / s11) * height * height
        p = (t2 - s12 * height) * height
        q = (t3 - s13 * height) * height
        # At a bound that the slope points across, the search goes on along the bound.
        if (middle <= bounds[0] and p < 0.0) or (middle >= bounds[1] and p > 0.0):
            a, d, p = 1.0, 0.0, 0.0
        if (width <= bounds[2] and q < 0.0) or (width >= bounds[3] and q > 0.0):
            c, d, q = 1.0, 0.0, 0.0
        moved = False
        while damping < 1e12:
            pa = a * (1.0 + damping)
            pc = c * (1.0 + damping)
            size = pa * pc - d * d
            if size > 1e-300:
                step = (p * pc - q * d) / size
                turn = (q * pa - p * d) / size
                turn = min(max(turn, -1.5), 1.5)
                new_middle = min(max(middle + step, bounds[0]), bounds[1])
                new_width = min(max(width * np.exp(turn), bounds[2]), bounds[3])
                found = logistic_moments(x, w, wy, new_middle, new_width, tried)
                if found > best:
                    moved = True
                    break
            damping *= 8.0
        if not moved:
            converged = True
            break
        gain = found - best
        middle, width, best = new_middle, new_width, found
        m[:] = tried
        damping = max(damping * 0.1, 1e-9)
        if gain <= least:
            converged = True
            break
    out[0], out[1], out[2] = middle, width, best
    return converged


@kernel
def fit_logistic_lanes(
    x: Floats,
    total: Floats,
    products: Floats,
    starts: Floats,
    bounds: Floats,
    least: Floats,
    explained: Floats,
) -> None:
    """Fit every replicate from the two best of the same starts.

    Parameters
    ----------
    x
        Places of the bins, shape (bins,).
    total, products
        What :func:`bin_lanes` gave, shape (lanes, bins); y is centred per lane here.
    starts
        Middles and widths to start from, shape (starts, 2).
    bounds
        As for :func:`fit_logistic`.
    least
        As for :func:`fit_logistic`, shape (lanes,).
    explained
        Overwritten: explained part of the centred sum of squares; ``nan`` where the fit did not
        converge; shape (lanes,).
    """
    out = np.empty(3)
    m = np.empty((4, 5))
    for b in range(explained.size):
        n = total[b].sum()
        explained[b] = np.nan
        if not n > 0.0:
            continue
        mean = products[b].sum() / n
        products[b] -= mean * total[b]
        first, second = 0, 0
        highest, next_highest = -1.0, -1.0
        for k in range(starts.shape[0]):
            found = logistic_moments(x, total[b], products[b], starts[k, 0], starts[k, 1], m)
            if found > highest:
                first, second = k, first
                highest, next_highest = found, highest
            elif found > next_highest:
                second, next_highest = k, found
        for k in (first, second):
            fitted = fit_logistic(x, total[b], products[b], starts[k], bounds, 60, least[b], out)
            if fitted and not explained[b] >= out[2]:
                explained[b] = out[2]
            if first == second:
                break
