"""Inner loops of training heads on a processor, on float32 numbers or on the bits of bf16.

NumPy has no bf16: its numbers are held as uint16, the upper half of a float32. Each loop does what
would take several passes over memory, and a draw of random numbers, in torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import overload

from affectlab.models.heads._train_random import MIX

__all__ = ["adam", "adam_mixed", "back_through", "output_pass", "relu_dropout"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_C0, _C1, _C2 = (np.uint32(factor) for factor in MIX)


def _compiled(function: _Function) -> _Function:
    """As :func:`affectlab._compiled.kernel`, for arithmetic that may be done several at a time.

    Checks of division by zero and the order of sums would keep processors from it.
    """
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract"},
    }
    try:
        return cast(_Function, njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(_Function, njit(**options)(function))


def _number(held: Any) -> Any:
    """Give the number that is held as itself, or as bits of bf16."""
    raise NotImplementedError("compiled code only")


def _held(number: Any, like: Any) -> Any:
    """Hold a number as itself, or as bits of bf16, rounded to the nearest, ties to even."""
    raise NotImplementedError("compiled code only")


@overload(_number, inline="always")
def _number_of(held: Any) -> Any:
    def widened(held: Any) -> Any:
        return np.uint32(np.uint32(held) << np.uint32(16)).view(np.float32)

    def same(held: Any) -> Any:
        return held

    return widened if held == types.uint16 else same


# Numba finds arguments by their names, whether a way needs them or not.
@overload(_held, inline="always")
def _held_as(number: Any, like: Any) -> Any:  # noqa: ARG001
    def rounded(number: Any, like: Any) -> Any:  # noqa: ARG001
        bits = np.float32(number).view(np.uint32)
        even = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(1))
        return np.uint16(np.uint32(bits + np.uint32(0x7FFF) + even) >> np.uint32(16))

    def same(number: Any, like: Any) -> Any:  # noqa: ARG001
        return number

    return rounded if like == types.uint16 else same


@_compiled
def _mixed(counter: Any, key: Any) -> Any:
    """Hash a counter with a key, as :func:`affectlab.models.heads._train_random.keep_mask` does."""
    x = np.uint32(np.uint32(counter) * _C0 + key)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * _C1)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(15))) * _C2)
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))


@_compiled
def relu_dropout(h: Any, key: Any, threshold: Any, scale: Any) -> None:
    """Put ReLU and dropout on outputs of a layer, in place.

    Parameters
    ----------
    h
        Shape (rows, units).
    key
        Key of the step and the layer, uint32.
    threshold
        How many of 65,536 values leave a unit out, uint32.
    scale
        What kept units are multiplied by, float32.
    """
    rows, width = h.shape
    half = (width + 1) // 2
    zero = np.float32(0)
    for r in range(rows):
        lower = h[r, :half]
        upper = h[r, half:]
        start = r * half
        for c in range(width - half):
            x = _mixed(start + c, key)
            a = _number(lower[c])
            b = _number(upper[c])
            # Written so that nan stays, and is noticed.
            if a <= zero or np.uint32(x & np.uint32(0xFFFF)) < threshold:
                a = zero
            if b <= zero or np.uint32(x >> np.uint32(16)) < threshold:
                b = zero
            lower[c] = _held(a * scale, lower[c])
            upper[c] = _held(b * scale, upper[c])
        if 2 * half > width:
            c = half - 1
            x = _mixed(start + c, key)
            a = _number(lower[c])
            if a <= zero or np.uint32(x & np.uint32(0xFFFF)) < threshold:
                a = zero
            lower[c] = _held(a * scale, lower[c])


@_compiled
def back_through(d: Any, h: Any, scale: Any, sums: Any, bias: Any) -> None:
    """Take gradients back through dropout and ReLU in place, and sum them over rows.

    Parameters
    ----------
    d
        Gradients of the outputs `h`; those of what came before ReLU are put there.
    sums
        Work space, float32, shape (units,).
    bias
        Gradient of the bias is put here, shape (units,).
    """
    rows, width = d.shape
    zero = np.float32(0)
    sums[:] = zero
    for r in range(rows):
        row = d[r]
        out = h[r]
        for c in range(width):
            g = _number(row[c]) * scale
            if _number(out[c]) <= zero:
                g = zero
            row[c] = _held(g, row[c])
            sums[c] += g
    for c in range(width):
        bias[c] = _held(sums[c], bias[c])


@_compiled
def output_pass(
    h: Any,
    w: Any,
    b: Any,
    y: Any,
    scale: Any,
    gw: Any,
    gb: Any,
    dh: Any,
    bias: Any,
    of_weight: Any,
    of_bias: Any,
) -> Any:
    """Give the sum of squared errors, and take the gradients of their mean back through the output.

    Parameters
    ----------
    h
        Last hidden outputs, shape (rows, units).
    w, b
        Weights and bias of the output, float32.
    y
        Targets, float32, shape (rows,).
    scale
        What kept units were multiplied by.
    gw, gb
        Gradients of `w` and `b` are put here.
    dh
        Gradients of what came before ReLU are put here, shape (rows, units).
    bias
        Gradient of the bias before ReLU is put here, shape (units,).
    of_weight, of_bias
        Work space, float32, shape (units,).
    """
    rows, width = h.shape
    zero = np.float32(0)
    of_weight[:] = zero
    of_bias[:] = zero
    total = 0.0
    of_output = zero
    twice = np.float32(2.0 / rows)
    for r in range(rows):
        out = h[r]
        into = dh[r]
        said = zero
        for c in range(width):
            said += _number(out[c]) * w[c]
        error = np.float32(said + b[0] - y[r])
        total += float(error) * float(error)
        g = np.float32(error * twice)
        of_output += g
        for c in range(width):
            a = _number(out[c])
            of_weight[c] += a * g
            back = g * w[c] * scale
            if a <= zero:
                back = zero
            into[c] = _held(back, into[c])
            of_bias[c] += back
    for c in range(width):
        gw[c] = _held(of_weight[c], gw[c])
        bias[c] = _held(of_bias[c], bias[c])
    gb[0] = _held(of_output, gb[0])
    return total


@_compiled
def adam(
    p: Any, m: Any, v: Any, g: Any, keep1: Any, keep2: Any, step: Any, root: Any, eps: Any
) -> None:
    """Update float32 weights by Adam, in place.

    Parameters
    ----------
    p, m, v, g
        Weights, first and second moments, gradients.
    keep1, keep2
        1 - beta1 and 1 - beta2.
    step
        Learning rate over the correction of the first moment.
    root
        1 over the root of the correction of the second moment.
    """
    for i in range(p.size):
        gi = g[i]
        mi = m[i] + (gi - m[i]) * keep1
        vi = v[i] + (gi * gi - v[i]) * keep2
        m[i] = mi
        v[i] = vi
        p[i] -= step * mi / (np.sqrt(vi) * root + eps)


@_compiled
def adam_mixed(
    p: Any,
    m: Any,
    v: Any,
    g: Any,
    low: Any,
    keep1: Any,
    keep2: Any,
    step: Any,
    root: Any,
    eps: Any,
) -> None:
    """As :func:`adam` with gradients in bf16; the weights are also put into `low`, in bf16."""
    for i in range(p.size):
        gi = _number(g[i])
        mi = m[i] + (gi - m[i]) * keep1
        vi = v[i] + (gi * gi - v[i]) * keep2
        m[i] = mi
        v[i] = vi
        pi = p[i] - step * mi / (np.sqrt(vi) * root + eps)
        p[i] = pi
        low[i] = _held(pi, low[i])
