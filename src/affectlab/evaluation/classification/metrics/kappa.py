"""Agreement with the truth beyond chance."""

from __future__ import annotations

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.facts import Cause, Reason
from affectlab.core.types import Floats
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally

_ONE_LABEL = Reason(Cause.ONE_LABEL)


def _kappa(observed: Floats, expected: Floats) -> Floats:
    """1 - observed / expected disagreement; ``nan`` where no disagreement is expected."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = 1 - observed / expected
    known: Floats = np.where(expected > 1e-12, value, np.nan)
    return known


@class_metric(title="kappa", bounds=(-1, 1), undefined=_ONE_LABEL)
def kappa(tally: Tally) -> Floats:
    """Compute Cohen's kappa of truth and prediction.

    Returns
    -------
    In [-1, 1]; ``nan`` where one label is all there is.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20.

    Examples
    --------
    >>> kappa(["joy", "fear", "fear", "joy"], ["joy", "joy", "fear", "joy"])
    0.5
    """
    shares = ratio(tally.label_true, tally.n[..., None])
    guesses = ratio(tally.label_predicted, tally.n[..., None])
    return _kappa(1 - ratio(tally.hits, tally.n), 1 - (shares * guesses).sum(axis=-1))


@class_metric(title="cost-weighted kappa", needs="costs", bounds=(-1, 1), undefined=_ONE_LABEL)
def weighted_kappa(tally: Tally) -> Floats:
    """Compute kappa weighted by the costs of mistakes less 1.

    Returns
    -------
    In [-1, 1]; ``nan`` where one label is all there is.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> round(weighted_kappa(["awe", "fear", "fear"], ["awe", "sadness", "fear"], "mikels"), 3)
    0.87
    """
    if tally.distances is None:
        return np.full(tally.n.shape, np.nan)
    shares = ratio(tally.label_true, tally.n[..., None])
    guesses = ratio(tally.label_predicted, tally.n[..., None])
    expected = ((shares @ tally.distances) * guesses).sum(axis=-1)
    return _kappa(ratio(tally.cost, tally.n) - 1, expected)
