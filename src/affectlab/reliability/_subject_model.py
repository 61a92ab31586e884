"""Scores that know how biased and how inconsistent each rater is."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

from numpy.typing import ArrayLike

from affectlab._resampling import check_confidence
from affectlab.errors import InputError, unknown_name
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import require_order
from affectlab.reliability._duplicates import likeness
from affectlab.reliability._subject_data import Grouped, panels_of
from affectlab.reliability._subject_fit import FITS, PRIOR_DF, Fit, fit_reml
from affectlab.reliability._subject_fitted import Fitted
from affectlab.reliability._subject_results import SubjectModel
from affectlab.reliability._subject_sources import as_one

__all__ = ["subject_model"]

_ERRORS = {"reml": ("model", "rater", "stimulus")}
_PUBLISHED = ("rater", "stimulus")


def subject_model(
    ratings: Ratings | ArrayLike,
    *,
    method: Literal["reml", "p910", "mle"] = "reml",
    se: Literal["model", "rater", "stimulus"] | None = None,
    by_label: bool = True,
    confidence: float = 0.95,
    prior_df: float | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> SubjectModel:
    r"""Score stimuli by a model of the people who rated them.

    .. math:: x_{ij} = s_j + b_i + v_i \varepsilon_{ij}, \qquad \varepsilon_{ij} \sim N(0, 1)

    with the score :math:`s_j` of a stimulus, the bias :math:`b_i` and the inconsistency
    :math:`v_i` of a rater. Given inconsistencies, scores and biases are weighted least squares
    with weights :math:`w_i = 1 / v_i^2`. The methods differ in how :math:`v_i` is estimated:

    ``reml``
        Restricted maximum likelihood with a weak prior. A group of ratings of equal variance
        solves :math:`SS_i / v_i^2 = n_i - \sum_j h_{ij} - c_i`, where the leverages of the score
        :math:`h_{ij} = w_i / W_j` and of the bias :math:`c_i` are what fitting takes away.
        Small designs get :math:`c_i` exactly. Others get :math:`1 - n_i w_i / \sum_k n_k w_k`,
        which is exact when everyone rated everything and adds up to the right total otherwise.
        The prior is worth ``prior_df`` ratings of the pooled variance; without it REML too gives
        one rater all the weight, in small panels.
    ``p910``
        ITU-T P.910 Annex E as in the package ``sureal``, equal to it up to rounding: no degrees
        of freedom, a constant of 1e-8 added to variances. **In panels of fewer than about ten
        raters it collapses**: the likelihood grows without bound as one rater's inconsistency
        goes to zero, and that rater becomes the answer.
    ``mle``
        The maximum of the same likelihood without the constant, so that it does not depend on
        the unit of the scale, and stopped when estimates (not scores) stop changing. Where there
        is no maximum a rater's inconsistency stops at 1e-6 of the pooled one.

    Parameters
    ----------
    ratings
        Ratings (every main trial with a valid answer counts, repeats too), or an array of shape
        (raters, units) with ``nan`` where there is no rating. No matrix is made of sparse ratings.
    method
        See above.
    se
        The standard error that intervals rest on. ``rater``: :math:`1 / \sqrt{\sum_i v_i^{-2}}`.
        ``stimulus``: the population SD of the unbiased ratings of a stimulus over
        :math:`\sqrt{n_j}`. Both are published; neither knows that weights are estimates.
        ``model`` (``reml`` only, and its default) adds the uncertainty of weights and biases, and
        uses Student's t. By default ``rater`` for the other methods.
    by_label
        Fit each label on its own, so that a rater may be biased on one and not on another; or all
        labels as one set of stimuli with one bias and inconsistency per rater.
    confidence
        Coverage of the intervals.
    prior_df
        Weight of the prior of ``reml``, in ratings; 2 by default, 0 for plain REML.
    max_iter
        Rounds after which fitting stops.
    tol
        ``p910``: Euclidean norm of the change of all scores at which fitting stops. Otherwise the
        largest change of a log variance, and of a bias in pooled standard deviations.

    Returns
    -------
    Scores and raters, with a diagnosis in ``collapsed``, ``duplicates`` and ``notes``. Raters too
    alike to count twice are one source to ``reml``, even where it is too little to call one a copy
    of the other: ``counted_as_one``. Biases of raters who are linked by shared stimuli average to
    zero (``p910``: those of all raters); raters who count as one enter with their mean bias. With
    two raters only the sum of their variances is known, so ``reml`` takes them as equal and says
    so; a rater whom nothing links with others has no bias, and the scores are undefined.

    Raises
    ------
    InputError
        If the values have no order, a name is unknown, or a number is out of range.

    References
    ----------
    Li, Bampis, Janowski, Katsavounidis (2020), "A simple model for subject behavior in subjective
    experiments"; ITU-T P.910 (2022), Annex E; Patterson and Thompson (1971) for REML; Meier
    (1953), "Variance of a weighted mean".

    Examples
    --------
    The third rater is half a point high, the fourth guesses.

    >>> model = subject_model([[1, 2, 3, 4, 5, 1], [1, 3, 3, 4, 4, 1], [2, 2, 4, 4, 5, 2],
    ...                        [5, 1, 2, 5, 1, 4]])
    >>> model.raters_frame()["inconsistency"].round(1).to_list()
    [1.0, 1.1, 1.0, 2.4]
    >>> model.to_frame()["value"].round(1).to_list()
    [1.6, 2.3, 3.3, 4.1, 4.5, 1.5]
    """
    if method not in FITS:
        raise unknown_name("method", method, FITS)
    check_confidence(confidence)
    require_order(ratings, "the subject model")
    error = _error(method, se)
    fit = _fitting(method, prior_df, max_iter, tol)
    panels = panels_of(ratings, by_label=by_label)
    alike = likeness(ratings)
    # The published methods stay as published, and say what they are worth with duplicates.
    groups = alike.similar.groups if method == "reml" else ()
    together = not by_label and len(panels[0].labels) > 1
    fitted = tuple(
        Fitted(
            panel,
            fit(panel.data if sources is None else sources.data),
            None if together or len(panel.labels) == 1 else code,
            method == "reml",
            sources,
        )
        for code, panel in enumerate(panels)
        if panel.data.value.size
        for sources in (as_one(panel, groups),)
    )
    if not fitted:
        raise InputError("no rating has a value; expected at least one")
    has_labels = isinstance(ratings, Ratings) and ratings.has_labels
    return SubjectModel(fitted, method, error, confidence, has_labels, alike)


def _error(method: str, se: str | None) -> str:
    known = _ERRORS.get(method, _PUBLISHED)
    if se is None:
        return known[0]
    if se == "model" and se not in known:
        raise InputError(f"se 'model' goes with method 'reml'; method {method!r} has {known}")
    if se not in known:
        raise unknown_name("standard error", se, known)
    return se


def _fitting(
    method: str, prior_df: float | None, max_iter: int, tol: float
) -> Callable[[Grouped], Fit]:
    if max_iter < 1:
        raise InputError(f"max_iter {max_iter}: expected at least 1")
    if not tol > 0:
        raise InputError(f"tol {tol!r}: expected a positive number")
    if method == "reml":
        prior = PRIOR_DF if prior_df is None else prior_df
        if not 0 <= prior < math.inf:
            raise InputError(f"prior_df {prior!r}: expected a number from 0")
        return partial(fit_reml, prior_df=prior, max_iter=max_iter, tol=tol)
    if prior_df is not None:
        raise InputError(f"prior_df goes with method 'reml', not with {method!r}")
    return partial(FITS[method], max_iter=max_iter, tol=tol)
