"""Weighted sums of products of two variables, many sets of weights side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab._compiled import kernel
from affectlab._types import Floats

__all__ = ["moment_lanes"]


@kernel
def moment_lanes(
    x: Floats, y: Floats, apart: float, weights: NDArray[np.float32], out: Floats
) -> None:
    """Sum weights times 1, x, y, xx, yy, xy, e^2 and |e|, where e = x - y + apart.

    Parameters
    ----------
    x, y
        Shape (n,), near their means, so that squares keep their digits.
    apart
        What was taken from x more than from y.
    weights
        Shape (n, lanes).
    out
        Overwritten, shape (8, lanes).
    """
    lanes = weights.shape[1]
    out[:] = 0.0
    for k in range(x.size):
        row = weights[k]
        a = x[k]
        b = y[k]
        e = a - b + apart
        aa = a * a
        bb = b * b
        ab = a * b
        ee = e * e
        size = abs(e)
        for lane in range(lanes):
            w = float(row[lane])
            out[0, lane] += w
            out[1, lane] += w * a
            out[2, lane] += w * b
            out[3, lane] += w * aa
            out[4, lane] += w * bb
            out[5, lane] += w * ab
            out[6, lane] += w * ee
            out[7, lane] += w * size
