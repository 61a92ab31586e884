"""The interval of a share of independent cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.inference import check_confidence
from affectlab.core.types import Floats


def wilson_interval(
    k: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[np.float64 | Floats, np.float64 | Floats]:
    r"""Give the Wilson score interval of ``k`` out of ``n``.

    With :math:`\hat p = k/n` and :math:`z` the normal quantile of the confidence,

    .. math:: \frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    It stays in [0, 1] and says something at 0 of n and n of n, where the usual interval has no
    width.

    Parameters
    ----------
    k
        Cases counted, 0 to ``n``; any shape that broadcasts with `n`. Need not be whole, so that a
        share with an effective number of cases has an interval, too.
    n
        Cases in all.
    confidence
        Coverage that is aimed at, in (0, 1).

    Returns
    -------
    low, high
        Of the broadcast shape, in [0, 1]; ``nan`` where ``n`` is 0.

    Raises
    ------
    InputError
        When a count is negative or no number, or ``k`` is above ``n``.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    Journal of the American Statistical Association, 22.

    Examples
    --------
    >>> low, high = wilson_interval([0, 5, 10], 10)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237, 0.722], [0.278, 0.763, 1.0])
    """
    from scipy.special import ndtri

    check_confidence(confidence)
    count, total = _numbers("k", k), _numbers("n", n)
    try:
        count, total = np.broadcast_arrays(count, total)
    except ValueError:
        raise InputError(
            f"k has shape {count.shape} and n {total.shape}; expected shapes that fit each other"
        ) from None
    if (count > total).any():
        at = np.unravel_index(int(np.argmax(count > total)), count.shape)
        raise InputError(f"k is {count[at]:g} of n {total[at]:g}; expected at most n")
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        share = count / total
        centre = share + z2 / (2 * total)
        half = np.sqrt(z2 * (share * (1 - share) / total + z2 / (4 * total**2)))
        width = 1 + z2 / total
        # The ends are exact where rounding would leave a hair.
        low = np.where(count == 0, 0.0, (centre - half) / width)
        high = np.where(count == total, 1.0, (centre + half) / width)
    empty = total == 0
    return np.where(empty, np.nan, low)[()], np.where(empty, np.nan, high)[()]


def _numbers(name: str, given: ArrayLike) -> Floats:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {given!r}; expected counts") from None
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        raise InputError(f"{name} holds {numbers[wrong].flat[0]:g}; expected counts from 0 on")
    return numbers
