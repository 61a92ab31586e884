"""Scores of stimuli by any of the methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from numpy.typing import ArrayLike

from affectlab.core.result import Result
from affectlab.core.words import option, plural
from affectlab.ratings import Ratings, people_or_all, raters_are_known
from affectlab.reliability.duplicates import duplicate_raters
from affectlab.reliability.screening import careless_raters
from affectlab.reliability.subject_models import (
    mean_opinion_scores,
    scores_table,
    subject_model,
)
from affectlab.reliability.wording import careless_included, mean_counts_both


def stimulus_scores(
    ratings: Ratings | ArrayLike,
    *,
    method: Literal["mean", "reml", "p910", "mle"] = "mean",
    confidence: float = 0.95,
) -> Result:
    """Score each stimulus: what raters say of it on average, with an interval about other raters.

    Parameters
    ----------
    ratings
        Ratings, or an array, as for :func:`subject_model`.
    method
        The mean of the raters (mean), or a subject model, another estimate of the same quantity.

        Subject models weigh raters by their consistency, take their biases out, which helps where
        not everybody rated everything, and give bias and inconsistency of each rater. They are
        those of :func:`subject_model`, which has settings for each.
    confidence
        Coverage of the intervals.

    Returns
    -------
    The table ``scores`` of :func:`mean_opinion_scores`, or ``scores`` and ``raters`` of
    :func:`subject_model`, in the unit of the scale. Notes name raters who answer
    alike, and careless ones, who move the level of all scores.

    Raises
    ------
    InputError
        If the values have no order, or the method is unknown.

    Examples
    --------
    >>> found = stimulus_scores([[1, 5, 3], [2, 4, 3], [3, 5, 2]])
    >>> found.finding
    'mean, 3 scores'
    >>> found.to_frame("scores")["value"].round(2).to_list()
    [2.0, 4.67, 2.67]
    """
    careless = _careless(ratings)
    if method != "mean":
        found: Result = subject_model(ratings, method=method, confidence=confidence)
        return replace(found, notes=(*found.notes, *careless))
    means = mean_opinion_scores(ratings, confidence=confidence)
    known = raters_are_known(ratings)
    pairs = duplicate_raters(ratings).evidence if known else ()
    alike = (mean_counts_both(pair) for pair in pairs)
    return replace(
        means,
        tables=(scores_table(means),),
        sentences=(f"mean, {plural(len(means), 'score')}",),
        notes=(*alike, *careless),
    )


def _careless(ratings: Ratings | ArrayLike) -> tuple[str, ...]:
    """Warn of careless raters: they move the level of all scores."""
    if not isinstance(ratings, Ratings) or not ratings.raters_known:
        return ()
    names = careless_raters(people_or_all(ratings)).raters_to_drop()
    if not names:
        return ()
    verb = option("screen", cli="affectlab reliability screen")
    return (careless_included(names, verb),)
