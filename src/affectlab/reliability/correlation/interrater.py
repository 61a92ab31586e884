"""Interrater correlation: how well each rater goes along with the mean of the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import check_confidence
from affectlab.core.statistic import student
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import Answers, answers_of, numeric_part, require_order
from affectlab.reliability.rank_correlation import (
    fisher_interval,
    grouped_means,
    grouped_spearman,
    rounding_digits,
)

__all__ = [
    "Correlations",
    "by_counting",
    "interrater_correlation",
]

# Interrater correlation of many ratings with few distinct values, without sorting.


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
    from affectlab.core.compiled import in_threads, n_threads
    from affectlab.reliability.correlation.interrater_kernels import (
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


_METHOD = "interrater correlation (Spearman with the mean of the others)"


def interrater_correlation(
    ratings: Ratings | ArrayLike,
    *,
    exclude: Collection[str] = ("neutral",),
    by_rater: bool = False,
    min_items: int = 2,
    confidence: float = 0.95,
) -> Estimates:
    r"""Compute the interrater correlation of each label.

    For label e and rater r, with :math:`J_r` the examples that r and somebody else rated,

    .. math::

        \rho_{er} = \mathrm{Spearman}_{j \in J_r}
            \Bigl(x_{rje},\; \tfrac{1}{n_{je} - 1} \sum_{s \ne r} x_{sje}\Bigr),

    and the value is the mean of :math:`\rho_{er}` over the raters for whom it is defined.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    exclude
        Labels that are left out; ``neutral`` by default, as in the paper.
    by_rater
        Give the correlation of every rater instead of the means.
    min_items
        Examples that a rater must share with others for a correlation.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Estimates in [-1, 1]. By ``label``: the interval is Student's, from the spread over raters;
    ``n_raters`` counts the raters with a defined correlation and the extra column ``n_undefined``
    the others who rated. By ``label`` and ``rater``: one row per rater who rated the label, with
    Fisher's interval (Bonett and Wright 2000).

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 4.1.

    Examples
    --------
    >>> table = interrater_correlation([[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 5]])
    >>> round(table["rating"].value, 4)
    0.755
    >>> interrater_correlation([[1, 2, 3, 4], [1, 1, 1, 1]])["rating"].status
    'undefined: no rater with a defined correlation'
    """
    check_confidence(confidence)
    require_order(ratings, "interrater correlation")
    found = _correlations(ratings, exclude)
    value = np.where(found.n >= max(min_items, 2), found.value, np.nan)
    if by_rater:
        return _rater_table(found, value, confidence)
    used = [k for k, name in enumerate(found.labels) if name not in exclude]
    return _label_table(found, value, used, confidence)


def _correlations(data: Ratings | ArrayLike, exclude: Collection[str]) -> Correlations:
    """Correlate by counting where that is possible, otherwise by ranking sorted answers."""
    if isinstance(data, Ratings):
        data = numeric_part(data).answers()
        counted = by_counting(data, _used_labels(data.label_names, exclude))
        if counted is not None:
            return counted
    answers = answers_of(data)
    used = _used_labels(answers.labels, exclude)
    return _by_rater(answers.take(used[answers.label]))


def _used_labels(labels: Sequence[str], exclude: Collection[str]) -> NDArray[np.bool_]:
    for name in exclude:
        if name not in labels and name != "neutral":
            raise unknown_name("label", name, labels, "exclude")
    return np.array([name not in exclude for name in labels], dtype=np.bool_)


def _by_rater(answers: Answers) -> Correlations:
    n_raters = len(answers.raters)
    n_groups = len(answers.labels) * n_raters
    rated = np.bincount(answers.label * n_raters + answers.rater, minlength=n_groups)
    kept = answers.take(answers.cell_sizes() >= 2)
    others = _mean_of_others(kept)
    group = kept.label * n_raters + kept.rater
    value, n = grouped_spearman(kept.value, others, group, n_groups)
    items = np.array([_n_shared(part) for part in answers.by_label()], dtype=np.int64)
    return Correlations(answers.labels, answers.raters, value, n, rated, items)


def _mean_of_others(answers: Answers) -> Floats:
    """Mean of the other ratings of the same unit and label, for every rating, rounded."""
    cell = answers.cell
    total = np.bincount(cell, weights=answers.value)[cell]
    mean = (total - answers.value) / (np.bincount(cell)[cell] - 1)
    return np.round(mean, rounding_digits(float(np.abs(answers.value).max(initial=0.0))))


def _label_table(
    found: Correlations, value: Floats, used: list[int], confidence: float
) -> Estimates:
    import polars as pl

    shape = (len(found.labels), len(found.raters))
    value = value.reshape(shape)[used]
    n, rated = (part.reshape(shape)[used] for part in (found.n, found.rated))
    defined = ~np.isnan(value)
    k, mean, sd = grouped_means(value[defined], np.nonzero(defined)[0], len(used))
    several = np.maximum(k, 2)
    se, low, high = student(mean, sd / np.sqrt(several), several - 1, confidence, (-1, 1))
    status = np.where(k > 0, "ok", "undefined: no rater with a defined correlation")
    table = Estimates.build(
        {"label": [found.labels[at] for at in used]},
        value=mean,
        se=se,
        low=low,
        high=high,
        method=f"{_METHOD}, mean over raters; spread over raters",
        n_items=found.items[used],
        n_raters=k,
        n_ratings=np.where(defined, n, 0).sum(axis=1),
        status=status.tolist(),
    )
    n_undefined = ((rated > 0) & ~defined).sum(axis=1)
    return table.with_columns(pl.Series("n_undefined", n_undefined, dtype=pl.Int64))


def _n_shared(part: Answers) -> int:
    """Units with at least two ratings of one label."""
    return int((np.bincount(part.unit) >= 2).sum())


def _rater_table(found: Correlations, value: Floats, confidence: float) -> Estimates:
    rows = np.flatnonzero(found.rated > 0)
    label, rater = np.divmod(rows, len(found.raters))
    value, n = value[rows], found.n[rows]
    se, low, high = fisher_interval(value, n, confidence)
    status = np.where(n < 2, "undefined: fewer than two examples shared", "ok")
    status = np.where((n >= 2) & np.isnan(value), "undefined: constant ratings", status)
    return Estimates.build(
        {
            "label": [found.labels[k] for k in label],
            "rater": [found.raters[k] for k in rater],
        },
        value=value,
        se=se,
        low=low,
        high=high,
        method=f"{_METHOD}; Fisher's interval",
        n_items=n,
        n_raters=1,
        n_ratings=n,
        status=status.tolist(),
    )
