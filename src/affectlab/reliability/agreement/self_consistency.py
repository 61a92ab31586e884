"""Self-consistency: what raters answer when they see the same stimulus again."""

from __future__ import annotations

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence, infer
from affectlab.core.statistic import Ends, by_formula, student
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings, numeric_part, of_known_raters, one_scale, require_order
from affectlab.reliability.agreement.wording import MEASURES_OF_REPEATS
from affectlab.reliability.rank_correlation import (
    fisher_interval,
    grouped_means,
    grouped_spearman,
)

_MEASURES = ("absolute difference", "correlation")


@of_known_raters
def self_consistency(ratings: Ratings, *, confidence: float = 0.95) -> Estimates:
    """Compare the repeat trials of every rater with the main trials they repeat.

    Parameters
    ----------
    ratings
        Ratings with ``trial_kind``. A repeat is compared with the rater's first main answer to the
        same stimulus and label; a repeat without one is left out.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Two rows per rater, by ``rater`` and ``measure``. ``absolute difference``: the mean of
    |repeat - main| in the unit of the scale, 0 is best, with Student's interval over repeats.
    ``correlation``: Spearman over all repeats of the rater, in [-1, 1], with Fisher's interval.
    ``n_items`` counts repeats. Raters without repeats have ``nan`` and a status.

    Raises
    ------
    InputError
        If the ratings are on a text scale.

    Notes
    -----
    FaceExpressions-70k (section 3.4.5) repeats five pairs per session and tolerates a difference
    below 25 on a slider of 0 to 100.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({
    ...     "stimulus": ["a", "b", "c", "a", "b", "c"], "rater": ["r"] * 6,
    ...     "value": [10.0, 20.0, 30.0, 12.0, 20.0, 34.0],
    ...     "trial_kind": ["main"] * 3 + ["repeat"] * 3})
    >>> table = self_consistency(Ratings(frame, scale="0-100 interval"))
    >>> table["r", "absolute difference"].value, table["r", "correlation"].value
    (2.0, 1.0)
    """
    check_confidence(confidence)
    require_order(ratings, "self-consistency")
    ratings = numeric_part(ratings)
    one_scale(ratings.scales)
    names = tuple(ratings.rater_names)
    rater, main, repeat = _repeated(ratings, names)
    n, mean, sd = grouped_means(np.abs(repeat - main), rater, len(names))
    several = np.maximum(n, 2)
    rho, _ = grouped_spearman(main, repeat, rater, n.size)

    def closed(_: Floats, level: float) -> Ends:
        of_difference = student(mean, sd / np.sqrt(several), several - 1, level, (0, np.inf))
        of_correlation = fisher_interval(rho, n, level)
        se, low, high = np.stack([of_difference, of_correlation], axis=2).reshape(3, -1)
        return se, low, high

    undefined = np.full((len(names), 2), Reason(Cause.CONSTANT, of="ratings"), dtype=object)
    undefined[n == 1, 1] = Reason(Cause.FEWER, least=2, of="repeats")
    undefined[n == 0] = Reason(Cause.NONE, of="repeats")
    statistic = by_formula(
        np.stack([mean, rho], axis=1).ravel(),
        closed,
        keys={
            "rater": [name for name in names for _ in _MEASURES],
            "measure": list(_MEASURES) * len(names),
        },
        method=[*MEASURES_OF_REPEATS] * len(names),
        n_items=np.repeat(n, 2),
        n_raters=[1] * (2 * len(names)),
        n_ratings=np.repeat(2 * n, 2),
        undefined=undefined.ravel().tolist(),
    )
    return infer(statistic, interval="analytic", confidence=confidence)


def _repeated(ratings: Ratings, names: tuple[str, ...]) -> tuple[Ints, Floats, Floats]:
    """Rater code, main answer and repeat answer of every repeat that has a main answer."""
    frame = ratings.coded_frame.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())
    if "outcome" in frame.columns:
        frame = frame.filter(
            pl.col("outcome").is_null() | (pl.col("outcome").cast(pl.String) == "ok")
        )
    if "trial_kind" not in frame.columns:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    keys = ["rater", "stimulus"] + (["label"] if "label" in frame.columns else [])
    kind = pl.col("trial_kind").cast(pl.String).fill_null("main")
    first = frame.filter(kind == "main").unique(keys, keep="first", maintain_order=True)
    again = frame.filter(kind == "repeat").select(*keys, pl.col("value").alias("repeat"))
    both = again.join(first.select(*keys, "value"), on=keys, how="inner", maintain_order="left")
    code = {name: k for k, name in enumerate(names)}
    rater = np.array([code[name] for name in both["rater"].cast(pl.String)], dtype=np.int64)
    return rater, both["value"].to_numpy(), both["repeat"].to_numpy()
