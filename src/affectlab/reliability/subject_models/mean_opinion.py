"""Mean opinion scores and the histogram of opinions."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Formula, IntervalFact
from affectlab.core.inference import check_confidence
from affectlab.core.statistic import student
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers, Ratings, Scale, answers_of, in_label_order, require_order
from affectlab.reliability.rank_correlation import grouped_means
from affectlab.reliability.subject_models.score_error import Spread, pooled_interval
from affectlab.reliability.subject_models.wording import MEAN_OPINION


def mean_opinion_scores(
    ratings: Ratings | ArrayLike,
    *,
    interval: Literal["pooled", "student"] = "pooled",
    confidence: float = 0.95,
) -> Estimates:
    r"""Estimate the score of every stimulus on every label by the mean of its raters.

    The score is the mean of all raters there could be, on the label's scale; the interval is about
    other raters.

    .. math::

        \bar x_j = \frac{1}{n_j} \sum_i x_{ij}, \quad
        s_j = \sqrt{\frac{\sum_i (x_{ij} - \bar x_j)^2}{n_j - 1}}

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    interval
        How far raters differ on a stimulus is moderated by how far they differ on all stimuli of
        the label at such a level (``pooled``), and the interval ends on the scale; of yes/no it is
        Wilson's. ``student`` takes each stimulus alone, as ITU-T P.910 does, :math:`\bar x_j \pm
        t \, s_j / \sqrt{n_j}` with n - 1 degrees of freedom, and leaves the scale with few raters.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Estimates by ``label`` and ``stimulus``, in the unit of the scale, one row for each that was
    rated, with ``sd`` as an extra column. Where only one rater answered, ``sd`` is ``nan``, and so
    are ``se`` and interval of ``student``.

    Raises
    ------
    InputError
        If the values have no order.

    References
    ----------
    ITU-T P.910, for the mean opinion score and its standard deviation; Wilson (1927), JASA 22, for
    intervals of shares, which those of means on a bounded scale follow; Smyth (2004), Statistical
    Applications in Genetics and Molecular Biology 3, for moderated variances.

    Examples
    --------
    >>> scores = mean_opinion_scores([[1, 5], [2, float("nan")], [3, float("nan")]])
    >>> scores["rating", "0"]
    Estimate(2.000 [-0.484, 4.484], mean opinion score, pooled error; Student's
    interval; 1 items, 3 raters, 3 ratings)
    >>> scores.to_frame()["sd"].to_list()
    [1.0, nan]
    """
    check_confidence(confidence)
    check_choice("interval", interval, ("pooled", "student"))
    require_order(ratings, MEAN_OPINION)
    answers = answers_of(ratings)
    cells, inverse = np.unique(answers.cell, return_inverse=True)
    n, mean, sd = grouped_means(answers.value, inverse, cells.size)
    label, unit = np.divmod(cells, max(len(answers.units), 1))
    if interval == "student":
        se, low, high = student(mean, sd / np.sqrt(n), np.maximum(n, 2) - 1, confidence)
    else:
        spread = Spread.of(answers.scales, label)
        se, low, high = pooled_interval(
            answers.value, answers.rater, inverse, label, spread, confidence
        )
    table = Estimates.build(
        {
            "label": np.array(answers.labels, dtype=object)[label].tolist(),
            "stimulus": np.array(answers.units, dtype=object)[unit].tolist(),
        },
        value=mean,
        se=se,
        low=low,
        high=high,
        statistic=("mean opinion score", *(["pooled error"] if interval == "pooled" else [])),
        interval=IntervalFact("analytic", formula=Formula.STUDENT),
        target="raters",
        n_items=1,
        n_raters=n.tolist(),
        n_ratings=n.tolist(),
    )
    return table.with_columns(pl.Series("sd", sd, dtype=pl.Float64))


def opinion_histogram(
    ratings: Ratings | ArrayLike,
    *,
    scale: Scale | str | None = None,
    bins: int = 10,
    by_stimulus: bool = True,
) -> pl.DataFrame:
    """Count the opinions on every level of the scale.

    Parameters
    ----------
    ratings
        Ratings, or an array, as for :func:`mean_opinion_scores`.
    scale
        The declared scale; by default that of the ratings. An array needs it said.
    bins
        Equal bins from the low to the high end, for a scale without steps.
    by_stimulus
        Per label and stimulus, or per label.

    Returns
    -------
    Columns ``label``, ``stimulus`` (if asked for), ``low`` and ``high`` (the ends of the bin; both
    the level itself where the scale has steps), ``count``, and ``share`` of the label's (and
    stimulus') ratings in [0, 1]. Levels without a rating are there, with count 0.

    Raises
    ------
    InputError
        If a value is off the scale, or the scale has no bounds.

    Examples
    --------
    >>> opinion_histogram([[1, 2], [1, 3]], scale="1-3", by_stimulus=False)["count"].to_list()
    [2, 1, 1]
    """
    answers = answers_of(ratings)
    parts = [answers] if scale is not None else list(answers.by_scale())
    frames = [_histogram(part, scale, bins, by_stimulus) for part in parts]
    return frames[0] if len(frames) == 1 else in_label_order(pl.concat(frames), answers.labels)


def _histogram(
    answers: Answers, scale: Scale | str | None, bins: int, by_stimulus: bool
) -> pl.DataFrame:
    """Count the opinions on labels that share a scale."""
    low, high, index = _binned(answers, scale, bins)
    group = answers.cell if by_stimulus else answers.label
    groups, inverse = np.unique(group, return_inverse=True)
    counts = np.bincount(inverse * low.size + index, minlength=groups.size * low.size).reshape(
        groups.size, low.size
    )
    n_units = max(len(answers.units), 1)
    label = groups // n_units if by_stimulus else groups
    columns: dict[str, list[object]] = {
        "label": np.repeat(np.array(answers.labels, dtype=object)[label], low.size).tolist()
    }
    if by_stimulus:
        stimulus = np.array(answers.units, dtype=object)[groups % n_units]
        columns["stimulus"] = np.repeat(stimulus, low.size).tolist()
    return pl.DataFrame(
        {
            **columns,
            "low": np.tile(low, groups.size),
            "high": np.tile(high, groups.size),
            "count": counts.ravel(),
            "share": (counts / counts.sum(axis=1, keepdims=True)).ravel(),
        }
    )


def _binned(answers: Answers, scale: Scale | str | None, bins: int) -> tuple[Floats, Floats, Ints]:
    """Ends of the bins, and the bin of every answer."""
    declared = Scale.parse(scale) if isinstance(scale, str) else scale or answers.scale
    if declared is None:
        raise InputError("an array of ratings has no scale: scale is expected, such as '1-5'")
    if declared.low is None or declared.high is None:
        raise InputError(f"scale {declared}: a histogram needs a low and a high end")
    outside = (answers.value < declared.low) | (answers.value > declared.high)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"rater {answers.raters[answers.rater[row]]!r}, "
            f"stimulus {answers.units[answers.unit[row]]!r}: value {answers.value[row]:g} is off "
            f"the scale {declared.low:g}..{declared.high:g}"
        )
    if declared.step is not None:
        levels = np.asarray(declared.levels(), dtype=np.float64)
        middle = (levels[1:] + levels[:-1]) / 2
        return levels, levels, np.searchsorted(middle, answers.value, side="right")
    check_number("bins", bins, 1, whole=True)
    edges = np.linspace(declared.low, declared.high, bins + 1)
    return edges[:-1], edges[1:], np.searchsorted(edges[1:-1], answers.value, side="right")
