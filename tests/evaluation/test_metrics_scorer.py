"""Our metrics inside scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from affectlab.core.errors import InputError
from affectlab.evaluation import affect_scorer, confusion, ecc
from affectlab.evaluation.classification import CLASSIFICATION_METRICS
from affectlab.taxonomy import load_taxonomy

MIKELS = load_taxonomy("mikels")


@pytest.fixture(scope="module")
def wheel():
    """Points on a circle, labelled by their sector."""
    rng = np.random.default_rng(0)
    sector = rng.integers(0, 8, 400)
    angle = (sector + rng.normal(0, 0.5, 400)) * 2 * np.pi / 8
    return np.stack([np.cos(angle), np.sin(angle)], axis=1), np.array(MIKELS.labels)[sector]


@pytest.mark.parametrize("name", CLASSIFICATION_METRICS)
def test_score_has_the_right_sign(wheel, name):
    features, labels = wheel
    model = LogisticRegression().fit(features, labels)
    expected = confusion(labels, model.predict(features), "mikels").metric(name)
    sign = 1 if CLASSIFICATION_METRICS[name].better == "higher" else -1
    assert affect_scorer(name, "mikels")(model, features, labels) == pytest.approx(sign * expected)


def test_cross_validation_and_grid_search(wheel):
    features, labels = wheel
    scores = cross_val_score(
        LogisticRegression(), features, labels, scoring=affect_scorer("ecc", MIKELS), cv=4
    )
    assert scores.shape == (4,)
    assert np.all((scores > 0.5) & (scores <= 1))
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 50]},
        scoring={
            "ecc": affect_scorer("ecc", "mikels"),
            "distance": affect_scorer("mean_emotional_distance", "mikels"),
            "emc": affect_scorer("emc", "mikels"),
        },
        refit="distance",
        cv=3,
    ).fit(features, labels)
    # The smaller distance wins, so the sign is right.
    distance = -search.cv_results_["mean_test_distance"]
    assert distance[search.best_index_] == distance.min()
    assert search.best_params_ == {"n_neighbors": 50}


def test_codes_in_place_of_names(wheel):
    features, labels = wheel
    order = sorted(MIKELS.labels)
    codes = np.array([order.index(label) for label in labels])
    by_name = LogisticRegression().fit(features, labels)
    by_code = LogisticRegression().fit(features, codes)
    assert affect_scorer("ecc", "mikels", labels=order)(by_code, features, codes) == pytest.approx(
        affect_scorer("ecc", "mikels")(by_name, features, labels)
    )


def test_weights_pickle_and_make_scorer(wheel):
    features, labels = wheel
    model = LogisticRegression().fit(features, labels)
    scorer = affect_scorer("ecc", "mikels")
    again = pickle.loads(pickle.dumps(scorer))
    assert again(model, features, labels) == scorer(model, features, labels)
    weights = np.r_[np.ones(200), np.zeros(200)]
    assert scorer(model, features, labels, sample_weight=weights) == pytest.approx(
        scorer(model, features[:200], labels[:200])
    )
    ours = make_scorer(ecc, taxonomy="mikels")
    assert ours(model, features, labels) == scorer(model, features, labels)


def test_options_are_checked_at_once():
    with pytest.raises(InputError, match="unknown metric 'eec'; did you mean"):
        affect_scorer("eec", "mikels")
    with pytest.raises(InputError, match="unknown taxonomy 'mikel'"):
        affect_scorer("ecc", "mikel")
