"""Conventions of scikit-learn, held by every estimator that is public."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import check_estimator

PACKAGES = ("differences", "preference_metric", "text")
QUICK: dict[str, dict[str, Any]] = {
    "PreferenceMetric": {"cs": (0.1, 1.0), "inner_folds": 2},
    "SiameseDistance": {"width": 2, "epochs": 1},
}
SLOW, LONG = {"SiameseDistance"}, pytest.mark.long
TAKE_PAIRS = {"ExpressionMetric"}
"""Those that take tables and pictures, not arrays."""


def estimators() -> list[Any]:
    found = {}
    for name in PACKAGES:
        package = import_module(f"affectlab.models.{name}")
        public = (getattr(package, one) for one in package.__all__)
        found |= {one.__name__: one for one in public if isinstance(one, type)}
    made = [
        pytest.param(kind(**QUICK.get(name, {})), marks=LONG if name in SLOW else (), id=name)
        for name, kind in sorted(found.items())
        if issubclass(kind, BaseEstimator)
    ]
    assert len(made) >= 7
    return made


# What is learned from a few rows of any numbers need not converge.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", estimators())
def test_an_estimator_is_one_of_scikit_learn(estimator: Any) -> None:
    assert str(clone(estimator)) == str(estimator)
    assert set(estimator.get_params(deep=False)) == set(type(estimator)._get_param_names())
    if type(estimator).__name__ not in TAKE_PAIRS:
        check_estimator(estimator, on_skip=None)
