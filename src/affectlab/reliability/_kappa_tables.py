"""Weighted kappa from tables of paired answers, and such tables for all pairs of raters at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from affectlab._types import Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.ratings import Scale
from affectlab.ratings.arrays import Answers

__all__ = [
    "KappaTable",
    "Weights",
    "disagreement_weights",
    "kappa_of_tables",
    "kappa_status",
    "levels_of",
    "pairwise_tables",
    "to_levels",
]

Weights: TypeAlias = Literal["quadratic", "linear", "nominal"]


_BLOCK = 1 << 22
"""Cells of tables that are held at once."""

_NO_ITEMS = "undefined: no common items"


@dataclass(frozen=True)
class KappaTable:
    """Kappa of every table; all fields have the shape of the leading axes."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    n: Ints
    status: list[str]


def disagreement_weights(weights: str, n_levels: int) -> Floats:
    """Build w: 0 on the diagonal, [i != j], |i - j| or (i - j)^2 off it."""
    steps = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels))).astype(np.float64)
    if weights == "quadratic":
        return steps**2
    if weights == "linear":
        return steps
    if weights == "nominal":
        return (steps > 0).astype(np.float64)
    raise unknown_name("weights", str(weights), ("quadratic", "linear", "nominal"))


def kappa_of_tables(tables: Ints, weights: str, confidence: float = 0.95) -> KappaTable:
    r"""Compute weighted kappa with its large-sample standard error.

    .. math:: \kappa = 1 - \sum_{ij} w_{ij} o_{ij} / \sum_{ij} w_{ij} e_{ij}

    The standard error is that of Fleiss, Cohen and Everitt (1969, Psychological Bulletin 72),
    written with weights of disagreement.

    Parameters
    ----------
    tables
        Counts o, shape (k, levels, levels): first rater in rows, second in columns.
    weights
        ``"quadratic"``, ``"linear"`` or ``"nominal"``.
    confidence
        Coverage of the normal interval, cut to [-1, 1].

    Returns
    -------
    Kappa is ``nan`` with a status where there are no common items or where both raters gave one
    and the same value throughout.
    """
    w = disagreement_weights(weights, tables.shape[-1])
    n = tables.sum(axis=(1, 2))
    share = tables / np.maximum(n, 1)[:, None, None]
    rows, columns = share.sum(axis=2), share.sum(axis=1)
    against_columns = columns @ w
    against_rows = rows @ w
    observed = np.einsum("kij,ij->k", share, w)
    expected = np.einsum("ki,ki->k", rows, against_columns)
    defined = expected > 0
    ratio = np.divide(observed, expected, out=np.full(n.size, np.nan), where=defined)
    influence = w - ratio[:, None, None] * (against_columns[:, :, None] + against_rows[:, None, :])
    influence += observed[:, None, None]
    spread = np.einsum("kij,kij->k", share, influence**2)
    se = np.full(n.size, np.nan)
    se[defined] = np.sqrt(np.maximum(spread[defined], 0) / n[defined]) / expected[defined]
    value = 1 - ratio
    half = ndtri((1 + confidence) / 2) * se
    return KappaTable(
        value,
        se,
        np.maximum(value - half, -1),
        np.minimum(value + half, 1),
        n.astype(np.int64),
        kappa_status(n, defined),
    )


def kappa_status(n: Ints, defined: NDArray[np.bool_]) -> list[str]:
    """Say why kappa is not defined."""
    if defined.all():
        return ["ok"] * n.size
    status = np.where(defined, "ok", "undefined: one category")
    return list(np.where(n == 0, _NO_ITEMS, status).tolist())


def levels_of(scale: Scale | str | ArrayLike) -> Floats:
    """Give the values of a declared scale, ascending: from a scale, its short form, or a list."""
    if isinstance(scale, str):
        scale = Scale.parse(scale)
    if isinstance(scale, Scale):
        return np.asarray(scale.levels(), dtype=np.float64)
    levels = np.asarray(scale, dtype=np.float64)
    if levels.ndim != 1 or levels.size < 2 or not (np.diff(levels) > 0).all():
        raise InputError(f"levels {scale!r}: expected at least two values in rising order")
    return levels


def to_levels(values: Floats, levels: Floats, *, truncate: bool = False) -> tuple[Ints, Ints]:
    """Place values on the levels of the scale.

    Parameters
    ----------
    values
        Shape (n,), finite.
    levels
        Shape (levels,), ascending.
    truncate
        Drop the fraction, as ``int()`` does, in place of taking the nearest level (a value half way
        goes to the higher one).

    Returns
    -------
    The position of each value on the scale, and the indices of the values that are off it.
    """
    if truncate:
        values = np.trunc(values)
    position = np.searchsorted((levels[1:] + levels[:-1]) / 2, values, side="right")
    off = np.flatnonzero((values < levels[0] - 1e-9) | (values > levels[-1] + 1e-9))
    return position.astype(np.int64), off


def pairwise_tables(
    answers: Answers, position: Ints, n_levels: int, weights: str, confidence: float
) -> KappaTable:
    """Compute kappa of all pairs of raters on all labels.

    Parameters
    ----------
    answers, position
        The answers, and the level of each.
    n_levels, weights, confidence
        As for :func:`kappa_of_tables`.

    Returns
    -------
    Shape (labels x pairs,), label after label, with the pairs of a label in the order of
    ``np.triu_indices(n_raters, 1)``.
    """
    n_raters = len(answers.raters)
    n_pairs = n_raters * (n_raters - 1) // 2
    size = len(answers.labels) * n_pairs
    value, se, low, high = (np.full(size, np.nan) for _ in range(4))
    n = np.zeros(size, dtype=np.int64)
    status = np.full(size, _NO_ITEMS, dtype=object)
    start = 0
    for label, part in enumerate(answers.by_label()):
        at = position[start : start + part.unit.size]
        start += part.unit.size
        for pairs, counts in _pair_tables(part, at, n_levels, n_pairs):
            rows = label * n_pairs + pairs
            found = kappa_of_tables(counts, weights, confidence)
            value[rows], se[rows], low[rows], high[rows] = (
                found.value,
                found.se,
                found.low,
                found.high,
            )
            n[rows], status[rows] = found.n, found.status
    return KappaTable(value, se, low, high, n, status.tolist())


def _pair_tables(
    part: Answers, position: Ints, n_levels: int, n_pairs: int
) -> Iterator[tuple[Ints, Ints]]:
    """Count the paired answers to one label, for every pair of raters.

    Answers to one unit that are k apart (sorted by rater) make one vector of pairs, and counting is
    one bincount over (pair, level of the first, level of the second). Work grows with the pairs
    that exist, so a sparse panel costs no more than its common ratings. Where the tables would not
    fit, the codes are sorted and counted in blocks of the pairs that have common items.

    Yields
    ------
    Pairs, shape (k,), and their tables, shape (k, levels, levels).
    """
    codes = _pair_codes(part, position, n_levels)
    cells = n_levels**2
    rows = max(1, _BLOCK // cells)
    if n_pairs <= rows:
        counts = np.zeros(n_pairs * cells, dtype=np.int64)
        for code in codes:
            counts += np.bincount(code, minlength=counts.size)
        yield np.arange(n_pairs), counts.reshape(n_pairs, n_levels, n_levels)
        return
    ordered = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *codes]))
    pair = ordered // cells
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    ends = np.append(first, ordered.size)
    for start in range(0, first.size, rows):
        stop = min(start + rows, first.size)
        block = slice(ends[start], ends[stop])
        place = np.repeat(np.arange(stop - start), np.diff(ends[start : stop + 1]))
        counts = np.bincount(
            ordered[block] + (place - pair[block]) * cells, minlength=(stop - start) * cells
        )
        yield pair[first[start:stop]], counts.reshape(stop - start, n_levels, n_levels)


def _pair_codes(part: Answers, position: Ints, n_levels: int) -> Iterator[Ints]:
    """Give (pair, level, level) as one integer for every two answers to a unit."""
    n_raters = len(part.raters)
    codes = np.arange(n_raters)
    before = codes * (2 * n_raters - codes - 3) // 2 - 1
    first = before[part.rater] * n_levels**2 + position * n_levels
    second = part.rater * n_levels**2 + position
    for lag in range(1, part.unit.size):
        same = part.unit[lag:] == part.unit[:-lag]
        if not same.any():
            return
        code = first[:-lag] + second[lag:]
        yield code if same.all() else code[same]
