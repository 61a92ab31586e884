"""Ranks and correlations within groups, for many groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from affectlab._types import Floats, Ints

__all__ = ["grouped_midranks", "grouped_spearman"]

_TABLE = 1 << 24
_FEW = 4096
"""Up to here looking values up is faster than sorting them."""


def grouped_midranks(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Rank values within each group, ties sharing their average rank.

    Few distinct values are ranked by counting; otherwise by one sort.

    Parameters
    ----------
    values, group
        Shape (n,); group codes below ``n_groups``.

    Returns
    -------
    Ranks from 1, shape (n,).
    """
    distinct, code = _distinct(values)
    if distinct.size * n_groups <= max(_TABLE, values.size):
        counts = np.bincount(
            group * distinct.size + code, minlength=n_groups * distinct.size
        ).reshape(n_groups, distinct.size)
        midranks = np.cumsum(counts, axis=1) - (counts - 1) / 2
        ranks: Floats = midranks[group, code]
        return ranks
    order = np.lexsort((code, group))
    sorted_group, sorted_code = group[order], code[order]
    new = np.concatenate([[True], (np.diff(sorted_group) != 0) | (np.diff(sorted_code) != 0)])
    start = np.flatnonzero(new)
    end = np.append(start[1:], values.size)
    of_group = np.searchsorted(sorted_group, np.arange(n_groups))
    midrank = (start + 1 + end) / 2 - of_group[sorted_group[start]]
    out = np.empty(values.size)
    out[order] = midrank[np.cumsum(new) - 1]
    return out


def _distinct(values: Floats) -> tuple[Floats, Ints]:
    """Distinct values, ascending, and the position of each value among them."""
    distinct = np.unique(values)
    if distinct.size <= _FEW:
        return distinct, np.searchsorted(distinct, values)
    distinct, code = np.unique(values, return_inverse=True)
    return distinct, code.astype(np.int64)


def grouped_spearman(x: Floats, y: Floats, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """Compute Spearman's correlation of x and y within each group.

    Returns
    -------
    Correlations, ``nan`` where a group has fewer than two pairs or a constant side; and the number
    of pairs; both of shape (n_groups,).
    """
    n = np.bincount(group, minlength=n_groups)
    centre = (n + 1) / 2
    a = grouped_midranks(x, group, n_groups) - centre[group]
    b = grouped_midranks(y, group, n_groups) - centre[group]
    saa, sbb, sab = (
        np.bincount(group, weights=product, minlength=n_groups) for product in (a * a, b * b, a * b)
    )
    scale = np.sqrt(saa * sbb)
    value = np.divide(sab, scale, out=np.full(n_groups, np.nan), where=scale > 0)
    return np.clip(value, -1, 1), n
