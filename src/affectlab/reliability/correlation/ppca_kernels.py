"""Small dense algebra of one left-out rater.

The matrices are thin. Library products would start threads for each of them, and wait for these
longer than the work takes when other processes use the cores.
"""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats


@kernel
def cross_products(x: Floats, y: Floats, out: Floats) -> None:
    """X'Y + Y'X of demeaned columns; x and y are (examples, labels), out (labels, labels)."""
    n, n_labels = x.shape
    x_mean, y_mean = np.zeros(n_labels), np.zeros(n_labels)
    for j in range(n):
        for a in range(n_labels):
            x_mean[a] += x[j, a]
            y_mean[a] += y[j, a]
    x_mean /= n
    y_mean /= n
    product = np.zeros((n_labels, n_labels))
    centred = np.empty(n_labels)
    for j in range(n):
        for b in range(n_labels):
            centred[b] = y[j, b] - y_mean[b]
        for a in range(n_labels):
            left = x[j, a] - x_mean[a]
            row = product[a]
            for b in range(n_labels):
                row[b] += left * centred[b]
    for a in range(n_labels):
        for b in range(n_labels):
            out[a, b] = product[a, b] + product[b, a]


@kernel
def project(values: Floats, vectors: Floats, out: Floats) -> None:
    """Scores of demeaned values on the columns of ``vectors``.

    ``values`` has shape (examples, labels), ``out`` (components, examples).
    """
    n, n_labels = values.shape
    mean = np.zeros(n_labels)
    for j in range(n):
        for a in range(n_labels):
            mean[a] += values[j, a]
    mean /= n
    score = np.empty(n_labels)
    for j in range(n):
        score[:] = 0.0
        for a in range(n_labels):
            value = values[j, a] - mean[a]
            for c in range(n_labels):
                score[c] += value * vectors[a, c]
        for c in range(n_labels):
            out[c, j] = score[c]


@kernel
def partial_out(left_out: Floats, in_sample: Floats) -> None:
    """Take the in-sample scores of the components before out of both sides, in place.

    Both sides have shape (components, examples). The in-sample scores are made orthogonal one after
    the other, twice, which is enough up to rounding; scores that depend on those before add no
    direction.
    """
    n_components, n = in_sample.shape
    basis = np.zeros((n_components, n))
    used = np.zeros(n_components, np.bool_)
    largest = 0.0
    for c in range(n_components):
        size = 0.0
        for j in range(n):
            size += in_sample[c, j] * in_sample[c, j]
        largest = max(largest, size)
    for c in range(n_components):
        rest = in_sample[c]
        for _ in range(2):
            for a in range(c):
                if used[a]:
                    _remove(rest, basis[a])
        for a in range(c):
            if used[a]:
                _remove(left_out[c], basis[a])
        size = 0.0
        for j in range(n):
            size += rest[j] * rest[j]
        if size > 1e-20 * largest:
            used[c] = True
            length = np.sqrt(size)
            for j in range(n):
                basis[c, j] = rest[j] / length


@kernel
def _remove(values: Floats, direction: Floats) -> None:
    """Take the part along a unit vector out of values."""
    # Four sums side by side: one sum would wait for each of its additions.
    n = values.size
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = n - n % 4
    for j in range(0, whole, 4):
        first += values[j] * direction[j]
        second += values[j + 1] * direction[j + 1]
        third += values[j + 2] * direction[j + 2]
        fourth += values[j + 3] * direction[j + 3]
    for j in range(whole, n):
        first += values[j] * direction[j]
    along = (first + second) + (third + fourth)
    for j in range(n):
        values[j] -= along * direction[j]
