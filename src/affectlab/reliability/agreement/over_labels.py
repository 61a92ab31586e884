"""One number over labels: the average of a coefficient, with an interval of its own."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.errors import check_choice
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.inference import (
    Uncertainty,
    check_confidence,
    left_out_uncertainty,
    summarise_one,
)
from affectlab.reliability.agreement.wording import average_over

Average: TypeAlias = Literal["mean", "median"]


def over_labels(
    estimates: Estimates, *, average: Average = "mean", confidence: float = 0.95
) -> Estimate:
    """Average a coefficient over the labels on which it is defined.

    Every bootstrap replicate, or value without a stimulus or a rater, gives one average over the
    same labels. Errors of labels that go together, since they rest on the same stimuli, are thus
    counted as such; the average of the ends of the intervals of labels would not do that.

    Parameters
    ----------
    estimates
        By label, such as :func:`krippendorff_alpha` gives them.
    average
        ``"mean"`` or ``"median"``.
    confidence
        Coverage of the interval, in (0, 1).

    Returns
    -------
    An estimate whose counts are those of the label with the most items, raters and ratings. Without
    replicates, or with replicates that labels do not share, there is no interval.

    Raises
    ------
    InputError
        If the average is not known.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> from affectlab.reliability import krippendorff_alpha
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater, label = (part.ravel() for part in np.indices((60, 3, 2)))
    >>> value = rng.integers(0, 6, (60, 1, 1)) + rng.integers(0, 2, (60, 3, 2))
    >>> ratings = Ratings({"stimulus": stimulus, "rater": rater,
    ...                    "label": np.array(["joy", "fear"])[label],
    ...                    "value": value.ravel()}, scale="0-7")
    >>> mean = over_labels(krippendorff_alpha(ratings, n_boot=200, seed=1))
    >>> mean.low < mean.value < mean.high
    True
    """
    check_choice("average", average, ("mean", "median"))
    check_confidence(confidence)
    frame = estimates.frame
    value = frame["value"].to_numpy()
    known = ~np.isnan(value)
    name = frame["statistic"][0]
    counts: dict[str, Any] = {
        "statistic": name,
        "options": (average_over(average, int(known.sum())),),
    }
    counts |= {of: int(frame[of].to_numpy().max()) for of in ("n_items", "n_raters", "n_ratings")}
    if not known.any():
        return Estimate(np.nan, reason=Reason(Cause.UNDEFINED_EVERYWHERE, of=name), **counts)
    of = np.mean if average == "mean" else np.median
    point = float(of(value[known]))
    spread, target, interval = Uncertainty.none(1), "none", None
    reason: Reason | None = None
    left_out = estimates.jackknife
    if left_out is not None:
        left_out = left_out.of_all(lambda values: np.asarray(of(values[:, known], axis=1)))
        spread = left_out_uncertainty(left_out, confidence)
        reason = spread.missing[0]
        if reason is None:
            reason, target = left_out.reasons()[0], left_out.targets()[0]
            interval = left_out.intervals()[0]
    elif estimates.replicates.size and estimates.joint:
        # A replicate that lacks a label would average other labels; it is left out as a whole.
        drawn = of(estimates.replicates[:, known], axis=1)
        spread = summarise_one(point, drawn, confidence)
        target = str(frame["target"][0])
        interval = IntervalFact(
            "percentile",
            replicates=drawn.size,
            undefined=int(spread.undefined[0]),
            redrawn="shared by labels",
        )
        reason = spread.missing[0]
    return Estimate(
        point, target=target, interval=interval, reason=reason, **spread.single, **counts
    )
