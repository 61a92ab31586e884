"""Interrater correlation of many ratings with few distinct values, without sorting."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Floats, Ints
from affectlab.ratings import Ratings

__all__ = ["Correlations", "by_counting", "rounding_digits"]

_FEW_ANSWERS = 1 << 15
"""Below this, loading compiled code takes longer than the work."""
_MOST_WORDS = 1 << 24
_MOST_VALUES = 1024
_MOST_CELLS = 1 << 23


@dataclass(frozen=True)
class Correlations:
    """Correlations of raters with the others; arrays have shape (labels x raters,)."""

    labels: tuple[str, ...]
    raters: tuple[str, ...]
    value: Floats
    """``nan`` where a side is constant."""
    n: Ints
    """Examples that the rater shares with others."""
    rated: Ints
    """Ratings of the rater, shared or not."""
    items: Ints
    """Examples with two ratings or more, shape (labels,)."""


def rounding_digits(largest: float) -> int:
    """Decimals that are kept of means of the others: 12 significant digits of the largest value.

    Equal means then tie exactly: ranks would otherwise be ordered by rounding noise.
    """
    return 12 - (int(np.floor(np.log10(largest))) + 1 if largest > 0 else 0)


def by_counting(data: Ratings, used: NDArray[np.bool_]) -> Correlations | None:
    """Compute all correlations from counts of pairs of values.

    Parameters
    ----------
    data
        Ratings that are answers.
    used
        Which labels count.

    Returns
    -------
    ``None`` where there are few ratings, too many distinct values, or a panel so sparse that one
    bit per label, unit and rater is too much.
    """
    n_labels, n_units, n_raters = data.n_labels, data.n_stimuli, data.n_raters
    value = np.asarray(data.value, dtype=np.float64)
    n_words = n_labels * n_units * (n_raters // 64 + 1)
    if value.size < _FEW_ANSWERS or n_words > _MOST_WORDS:
        return None
    from affectlab._compiled import in_threads, n_threads
    from affectlab.reliability._kernels._correlation import (
        code_pairs,
        count_codes,
        mark_first,
        spearman_of_tables,
    )

    label, unit, rater = data.label_code, data.stimulus_code, data.rater_code
    n_groups = n_labels * n_raters
    total, size = np.zeros(n_labels * n_units), np.zeros(n_labels * n_units, dtype=np.int32)
    first = np.empty(value.size, dtype=np.bool_)
    seen = np.zeros((n_labels * n_units, n_raters // 64 + 1), dtype=np.uint64)
    n_shares = n_threads()
    rated = np.zeros((n_shares, n_groups), dtype=np.int64)

    def mark(k: int) -> None:
        from_unit, to_unit = k * n_units // n_shares, (k + 1) * n_units // n_shares
        mark_first(
            label,
            unit,
            rater,
            value,
            used,
            from_unit,
            to_unit,
            n_labels,
            n_raters,
            seen,
            total,
            size,
            rated[k],
            first,
        )

    in_threads(mark, range(n_shares))
    largest = max(abs(float(value.max())), abs(float(value.min())))
    factor = 10.0 ** rounding_digits(largest)
    codes: NDArray[np.int16] = np.empty((2, value.size), dtype=np.int16)
    ends = np.linspace(0, value.size, n_shares + 1).astype(np.int64)
    shares = [slice(start, stop) for start, stop in pairwise(ends.tolist())]
    distinct: list[tuple[Floats, Floats] | None] = [None] * len(shares)

    def number(k: int) -> None:
        rows = shares[k]
        x, y = np.empty(_MOST_VALUES), np.empty(_MOST_VALUES)
        n_x, n_y = code_pairs(
            label[rows],
            unit[rows],
            value[rows],
            first[rows],
            n_labels,
            total,
            size,
            factor,
            codes[0, rows],
            codes[1, rows],
            x,
            y,
        )
        distinct[k] = (x[:n_x], y[:n_y]) if n_x >= 0 else None

    in_threads(number, range(len(shares)))
    numbered = [found for found in distinct if found is not None]
    if len(numbered) < len(shares):
        return None
    x, y = (np.unique(np.concatenate(parts)) for parts in zip(*numbered, strict=True))
    if n_groups * x.size * y.size > _MOST_CELLS:
        return None
    tables = np.zeros((len(shares), n_groups, x.size, y.size), dtype=np.int32)

    def count(k: int) -> None:
        rows = shares[k]
        x_place, y_place = np.searchsorted(x, numbered[k][0]), np.searchsorted(y, numbered[k][1])
        x_code, y_code = codes[0, rows], codes[1, rows]
        count_codes(label[rows], rater[rows], n_raters, x_code, y_code, x_place, y_place, tables[k])

    in_threads(count, range(len(shares)))
    rho, n = np.empty(n_groups), np.empty(n_groups, dtype=np.int64)
    spearman_of_tables(tables.sum(axis=0, dtype=np.int32), rho, n)
    items = (size.reshape(n_units, n_labels) >= 2).sum(axis=0).astype(np.int64)
    names = tuple(data.label_names), tuple(data.rater_names)
    return Correlations(*names, rho, n, rated.sum(axis=0), items)
