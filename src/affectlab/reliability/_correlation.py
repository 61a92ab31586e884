"""Interrater correlation: how well each rater goes along with the mean of the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab.errors import unknown_name
from affectlab.estimates import Estimates
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import Answers, answers_of, require_order
from affectlab.reliability._correlation_counts import Correlations, by_counting, rounding_digits
from affectlab.reliability._fisher import fisher_interval
from affectlab.reliability._ranks import grouped_spearman

__all__ = ["interrater_correlation"]

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
    if isinstance(data, Ratings) and data.scale.kind != "text":
        data = data.answers()
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
    k = defined.sum(axis=1)
    total = np.where(defined, value, 0).sum(axis=1)
    mean = np.divide(total, k, out=np.full(k.size, np.nan), where=k > 0)
    squares = np.where(defined, (value - mean[:, None]) ** 2, 0).sum(axis=1)
    several = np.maximum(k, 2)
    se = np.where(k > 1, np.sqrt(squares / (several - 1) / several), np.nan)
    half = stdtrit(several - 1, (1 + confidence) / 2) * se
    status = np.where(k > 0, "ok", "undefined: no rater with a defined correlation")
    table = Estimates.build(
        {"label": [found.labels[at] for at in used]},
        value=mean.tolist(),
        se=se.tolist(),
        low=np.maximum(mean - half, -1).tolist(),
        high=np.minimum(mean + half, 1).tolist(),
        method=f"{_METHOD}, mean over raters; spread over raters",
        n_items=found.items[used].tolist(),
        n_raters=k.tolist(),
        n_ratings=np.where(defined, n, 0).sum(axis=1).tolist(),
        status=status.tolist(),
    )
    n_undefined = ((rated > 0) & ~defined).sum(axis=1)
    return Estimates(
        table.frame.with_columns(pl.Series("n_undefined", n_undefined, dtype=pl.Int64)), table.keys
    )


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
        value=value.tolist(),
        se=se.tolist(),
        low=low.tolist(),
        high=high.tolist(),
        method=f"{_METHOD}; Fisher's interval",
        n_items=n.tolist(),
        n_raters=1,
        n_ratings=n.tolist(),
        status=status.tolist(),
    )
