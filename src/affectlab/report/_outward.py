"""Finding several outliers that may hide each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from affectlab._types import Floats, Ints

__all__ = ["outward"]

_SHARE = 3
"""At most one in three can be an outlier: more would be the panel itself."""
_AT_ONCE = 50


def outward(members: Ints, p_values: Callable[[Ints], Floats], *, level: float) -> list[int]:
    """Find the members of a group that are unlike the rest.

    As in the generalised test of extreme Studentised deviates, the most extreme member is taken
    away, then the next, and so on, and each is tested when its turn comes. All are outliers up to
    the last one whose test is significant, also those before it that looked harmless because others
    like them were still there.

    Parameters
    ----------
    members
        Numbers of the members.
    p_values
        Gives the p value of each of the members named, from those that are named with it.
    level
        Chance of finding any outlier where there is none: each step divides it by the number of
        members that are left.

    References
    ----------
    Rosner (1983), Technometrics 25.

    Examples
    --------
    >>> import numpy as np
    >>> far = np.array([0.5, 0.001, 0.4, 0.6])
    >>> outward(np.arange(4), lambda left: far[left], level=0.05)
    [1]
    """
    left, taken, last = np.asarray(members), [], 0
    for step in range(1, min(len(members) // _SHARE, _AT_ONCE) + 1):
        p = p_values(left)
        if np.isnan(p).all():
            break
        place = int(np.nanargmin(p))
        taken.append(int(left[place]))
        if p[place] * np.count_nonzero(~np.isnan(p)) < level:
            last = step
        left = np.delete(left, place)
    return taken[:last]
