"""Inner loops of the logistic regression of many labels at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import LANES, kernel
from affectlab.core.types import Floats, Ints

__all__ = ["coupled_epoch", "epoch", "gradient"]

_Singles = NDArray[np.float32]

_STEPS = 30
"""Most steps towards the maximum along one coordinate; three are usual."""
_CLOSE = 1e-4
"""Relative size of a step after which there is no other."""


@kernel
def _risen(old: Any, z: Any, step: Any) -> Any:
    """Ascend along one dual coordinate.

    The dual variable of a text and a label is a probability p, held as its logit t. The score z
    falls by `step` per unit of p, and the maximum lies where t = z: between the old t and the old
    z. Newton steps are taken as long as they stay inside what is known to hold the maximum, and
    else it is halved; where `step` is large, Newton alone would jump from end to end.
    """
    one = np.float32(1.0)
    low = min(old, z)
    high = max(old, z)
    p = one / (one + np.exp(-old))
    aim = z + step * p
    t = old
    for _ in range(_STEPS):
        above = t + step * p - aim
        if above > 0:
            high = t
        else:
            low = t
        following = t - above / (one + step * p * (one - p))
        if following < low or following > high:
            following = np.float32(0.5) * (low + high)
        moved = abs(following - t)
        t = following
        if moved <= _CLOSE * (one + abs(t)):
            break
        p = one / (one + np.exp(-t))
    return t


@kernel
def epoch(
    pointer: NDArray[np.int32],
    column: NDArray[np.int32],
    data: _Singles,
    weights: _Singles,
    logit: _Singles,
    bias: _Singles,
    length: _Singles,
    cost: Any,
    pull: _Singles,
    order: Ints,
) -> float:
    """Ascend the dual once along every text, `LANES` labels side by side.

    Parameters
    ----------
    pointer, column, data
        The texts in compressed rows.
    weights
        Shape (features, LANES); changed.
    logit
        Logits t of the dual variables, shape (texts, LANES); changed.
    bias
        Shape (LANES,); changed.
    length
        x x of every text, shape (texts,).
    cost
        Weight of the loss against the penalty.
    pull
        What each bias falls by per unit of p, shape (LANES,).
    order
        Texts in the order of this epoch.

    Returns
    -------
    Sum of the changes of p.
    """
    one = np.float32(1.0)
    z = np.empty(LANES, np.float32)
    change = np.empty(LANES, np.float32)
    moved = 0.0
    for place in range(order.size):
        text = order[place]
        for lane in range(LANES):
            z[lane] = bias[lane]
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for lane in range(LANES):
                z[lane] += value * weights[feature, lane]
        step = cost * length[text]
        for lane in range(LANES):
            old = logit[text, lane]
            t = _risen(old, z[lane], step + pull[lane])
            logit[text, lane] = t
            by = one / (one + np.exp(-old)) - one / (one + np.exp(-t))
            change[lane] = cost * by
            bias[lane] += pull[lane] * by
            moved += abs(by)
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for lane in range(LANES):
                weights[feature, lane] += value * change[lane]
    return moved


@kernel
def coupled_epoch(
    pointer: NDArray[np.int32],
    column: NDArray[np.int32],
    data: _Singles,
    weights: _Singles,
    logit: _Singles,
    bias: _Singles,
    length: _Singles,
    cost: Any,
    pull: _Singles,
    order: Ints,
    mix: _Singles,
) -> float:
    """Ascend the dual as :func:`epoch` does, for labels whose weights pull at each other.

    The weights are ``cost`` X' (y - p) ``mix``, where ``mix``, shape (labels, labels), is the
    inverse of the penalty's matrix over labels; biases are not coupled. Labels are taken one after
    the other, each with the scores as those before it left them, so that every step ascends.
    """
    one = np.float32(1.0)
    n_labels = mix.shape[0]
    z = np.empty(n_labels, np.float32)
    shared = np.empty(n_labels, np.float32)
    moved = 0.0
    for place in range(order.size):
        text = order[place]
        for label in range(n_labels):
            z[label] = bias[label]
            shared[label] = np.float32(0.0)
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                z[label] += value * weights[feature, label]
        for label in range(n_labels):
            old = logit[text, label]
            t = _risen(old, z[label], cost * length[text] * mix[label, label] + pull[label])
            logit[text, label] = t
            by = one / (one + np.exp(-old)) - one / (one + np.exp(-t))
            moved += abs(by)
            bias[label] += pull[label] * by
            for other in range(n_labels):
                gain = cost * by * mix[label, other]
                shared[other] += gain
                z[other] += length[text] * gain
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                weights[feature, label] += value * shared[label]
    return moved


@kernel
def gradient(
    pointer: NDArray[np.int32],
    column: NDArray[np.int32],
    data: _Singles,
    weights: _Singles,
    logit: _Singles,
    bias: _Singles,
    slope: _Singles,
    bias_slope: Floats,
) -> None:
    """Write the sum over texts of (sigma(z) - p) x into ``slope``, shape (features, labels).

    That is the gradient of the loss and of the penalty, whose part is held in the dual variables.
    The sum of sigma(z) - p itself goes into ``bias_slope``, shape (labels,).
    """
    one = np.float32(1.0)
    n_labels = bias.size
    slope[:] = np.float32(0.0)
    bias_slope[:] = 0.0
    z = np.empty(n_labels, np.float32)
    for text in range(pointer.size - 1):
        for label in range(n_labels):
            z[label] = bias[label]
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                z[label] += value * weights[feature, label]
        for label in range(n_labels):
            held = one / (one + np.exp(-logit[text, label]))
            z[label] = one / (one + np.exp(-z[label])) - held
            bias_slope[label] += z[label]
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                slope[feature, label] += value * z[label]
