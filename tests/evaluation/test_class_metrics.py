"""What a metric of a classification declares, and where one that is added is seen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score

from affectlab.core.errors import InputError
from affectlab.evaluation import (
    affect_scorer,
    classification_metrics,
    compare_predictions,
    confusion,
    evaluate_classification,
)
from affectlab.evaluation.classification import (
    CLASSIFICATION_METRICS,
    class_metric,
    metrics_of_confusion,
)
from affectlab.evaluation.classification.metrics import metric as registry
from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy

LABELS = np.array(load_taxonomy("mikels").labels)


def drawn(n=80, seed=0):
    """True labels, and a prediction that is right about half the time."""
    rng = np.random.default_rng(seed)
    true = LABELS[rng.integers(0, 8, n)]
    return true, np.where(rng.random(n) < 0.5, true, LABELS[rng.integers(0, 8, n)])


@pytest.mark.parametrize("name", CLASSIFICATION_METRICS)
def test_what_a_metric_declares_is_true(name):
    metric = CLASSIFICATION_METRICS[name]
    true, predicted = drawn()
    value = metric(true, predicted, "mikels")
    low, high = metric.bounds
    assert low <= value <= high
    single = [metric([a], [b], "mikels") for a, b in zip(true, predicted, strict=True)]
    if metric.kind != "ratio":
        assert value == pytest.approx(np.mean(single))
    if metric.kind == "share":
        assert set(single) == {0, 1}
    wrong = true != predicted
    of_mistakes = metric(true[wrong], predicted[wrong], "mikels")
    assert (of_mistakes == pytest.approx(value)) == metric.of_mistakes
    assert metric(true, true, "mikels") != value


@pytest.mark.parametrize("name", ["accuracy", "acc2", "ecc", "emc", "mean_emotional_distance"])
def test_a_function_is_that_of_the_registry(name):
    from affectlab import evaluation

    function = getattr(evaluation, name)
    true, predicted = drawn()
    assert function(true, predicted, "mikels") == CLASSIFICATION_METRICS[name](
        true, predicted, "mikels"
    )


@pytest.fixture
def balanced():
    """A metric of one's own, for as long as a test."""
    known = dict(registry._METRICS)

    def recall(tally):
        return np.nanmean(tally.recall(), axis=-1)

    @class_metric(recall, title="balanced accuracy")
    def balanced_accuracy(y_true, y_pred):
        """Compute the mean recall of the classes that are true."""
        return balanced_accuracy.metric(y_true, y_pred)

    yield balanced_accuracy
    registry._METRICS.clear()
    registry._METRICS.update(known)


def test_a_metric_that_is_added_is_seen_everywhere(balanced):
    true, predicted = drawn()
    expected = balanced_accuracy_score(true, predicted)
    assert balanced(true, predicted) == pytest.approx(expected)
    table = classification_metrics(true, predicted, n_boot=50, seed=1)
    assert table["balanced_accuracy"].value == pytest.approx(expected)
    assert table["balanced_accuracy"].low < expected < table["balanced_accuracy"].high
    seen = confusion(true, predicted, "mikels")
    assert seen.metric("balanced_accuracy") == pytest.approx(expected)
    of_counts = metrics_of_confusion(seen.counts, seen.labels, metrics=["balanced_accuracy"])
    assert float(of_counts["balanced_accuracy"]) == pytest.approx(expected)
    pair = compare_predictions(
        true, true, predicted, metrics=["balanced_accuracy"], names=("right", "net"), n_boot=50
    )
    assert pair.to_frame()["value"][0] > 0

    features = np.zeros((len(true), 1))
    model = DummyClassifier().fit(features, true)
    scored = affect_scorer("balanced_accuracy")(model, features, true)
    assert scored == pytest.approx(balanced_accuracy_score(true, model.predict(features)))


def test_metrics_that_were_asked_for_are_shown(balanced):
    true, predicted = drawn()
    stimuli = [f"s{k}" for k in range(len(true))]
    table = Ratings(
        {"stimulus": stimuli, "rater": ["net"] * len(true), "value": predicted.tolist()},
        taxonomy="mikels",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    truth = dict(zip(stimuli, true.tolist(), strict=True))
    wanted = ["balanced_accuracy", "kappa"]
    result = evaluate_classification(table, truth=truth, metrics=wanted, n_boot=0)
    heads = [column.head for column in result.table("classification").columns]
    assert "balanced accuracy" in heads
    assert "kappa" in heads
    assert result.to_frame("classification")["balanced_accuracy"][0] == pytest.approx(
        balanced_accuracy_score(true, predicted)
    )
    every = evaluate_classification(table, truth=truth, n_boot=0).table("classification")
    assert "kappa" not in [column.head for column in every.columns]


def test_a_metric_needs_what_it_declares():
    with pytest.raises(InputError, match=r"^cost-weighted kappa: "):
        CLASSIFICATION_METRICS["weighted_kappa"](["a", "b"], ["a", "a"])
