"""Logistic regression on standardised scores, its strength of shrinking chosen inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._auc import area
from affectlab.models.preference_metric._folds import grouped_folds

__all__ = ["Logistic", "best_single", "fit_logistic"]


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted logistic regression; larger scores are likelier good."""

    mean: Floats
    """Of the training items, shape (metrics,)."""
    sd: Floats
    """Of the training items, 1 where a metric does not vary, shape (metrics,)."""
    weights: Floats
    """Log odds per standard deviation, shape (metrics,)."""
    intercept: float
    c: float
    """The inverse strength of the penalty."""

    def score(self, x: Floats) -> Floats:
        """Give log odds of being good, shape (items,)."""
        found: Floats = ((x - self.mean) / self.sd) @ self.weights + self.intercept
        return found


def fit_logistic(
    x: Floats, good: Bools, clusters: Ints, cs: Sequence[float], inner_folds: int, seed: int
) -> Logistic:
    """Choose C by the log loss in grouped folds of these items, and fit to all of them.

    Means and standard deviations come from the items that are fitted to, in every inner fold, too:
    nothing of an item that is kept aside enters.
    """
    c = float(cs[0])
    if len(cs) > 1:
        loss = np.zeros(len(cs))
        for train, test in grouped_folds(good, clusters, inner_folds, seed):
            for k, one in enumerate(cs):
                odds = _fit(x[train], good[train], float(one)).score(x[test])
                loss[k] += np.logaddexp(0.0, np.where(good[test], -odds, odds)).sum()
        c = float(cs[int(np.argmin(loss))])
    return _fit(x, good, c)


def _fit(x: Floats, good: Bools, c: float) -> Logistic:
    from sklearn.linear_model import LogisticRegression

    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd = np.where(sd > 1e-12 * np.maximum(1.0, np.abs(mean)), sd, 1.0)
    # Few features: Newton's steps get to the optimum in a handful.
    learner = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-8, max_iter=200)
    fitted = learner.fit((x - mean) / sd, good)
    return Logistic(mean, sd, fitted.coef_[0].astype(np.float64), float(fitted.intercept_[0]), c)


def best_single(x: Floats, good: Bools) -> tuple[int, float]:
    """Choose the metric that tells good from poor best, and whether it must be turned round.

    Returns
    -------
    column, sign
        The column, and 1 or -1.
    """
    areas = np.array([area(x[:, k], good) for k in range(x.shape[1])])
    k = int(np.argmax(np.abs(areas - 0.5)))
    return k, 1.0 if areas[k] >= 0.5 else -1.0
