"""Parity with scikit-learn's confusion, P/R/F1 and kappa, and with statsmodels' tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.core.inference import holm
from affectlab.evaluation import (
    classification_metrics,
    confusion,
    multilabel_confusion,
    precision_recall_f1,
)
from affectlab.evaluation.paired_tests import exact_mcnemar

sklearn_metrics = pytest.importorskip("sklearn.metrics")

LABELS = ["anger", "awe", "fear", "joy", "love"]
codes = st.integers(0, 4)
single = st.integers(1, 40).flatmap(
    lambda n: st.tuples(arrays(np.int64, n, elements=codes), arrays(np.int64, n, elements=codes))
)
several = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        arrays(np.bool_, (n, 5), elements=st.booleans()),
        arrays(np.bool_, (n, 5), elements=st.booleans()),
    )
)


@given(single)
@settings(max_examples=60)
def test_confusion(pair):
    names = np.array(LABELS)
    true, predicted = names[pair[0]], names[pair[1]]
    expected = sklearn_metrics.confusion_matrix(true, predicted, labels=LABELS)
    assert np.array_equal(confusion(true, predicted, labels=LABELS).counts, expected)
    weights = np.arange(1, true.size + 1) / 3
    weighted = sklearn_metrics.confusion_matrix(
        true, predicted, labels=LABELS, sample_weight=weights
    )
    found = confusion(true, predicted, labels=LABELS, sample_weight=weights)
    assert np.allclose(found.counts, weighted)


@given(single, st.sampled_from([0.0, 1.0]))
@settings(max_examples=60)
def test_scores_of_one_label_per_item(pair, zero_division):
    true, predicted = (np.array(LABELS)[given_] for given_ in pair)
    result = precision_recall_f1(true, predicted, zero_division=zero_division)
    expected = sklearn_metrics.precision_recall_fscore_support(
        true, predicted, zero_division=np.nan, labels=result.labels
    )
    frame = result.to_frame()
    for name, values in zip(("precision", "recall"), expected, strict=False):
        assert np.allclose(frame[name].to_numpy(), values, equal_nan=True)
    assert np.array_equal(frame["support"].to_numpy(), expected[3])
    _averages(result, true, predicted, zero_division)
    assert result.exact_match.value == pytest.approx(
        sklearn_metrics.accuracy_score(true, predicted)
    )


def _averages(result, true, predicted, zero_division):
    for average in ("macro", "micro", "weighted"):
        expected = sklearn_metrics.precision_recall_fscore_support(
            true, predicted, average=average, zero_division=zero_division
        )
        for metric, value in zip(("precision", "recall", "f1"), expected, strict=False):
            assert result.averages[average, metric].value == pytest.approx(value), (average, metric)


def test_the_report_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    true = np.array(LABELS)[rng.integers(0, len(LABELS), 80)]
    predicted = np.where(rng.random(80) < 0.6, true, rng.permutation(true))
    expected = sklearn_metrics.classification_report(true, predicted, output_dict=True)
    report = precision_recall_f1(true, predicted, n_boot=0).table("report").frame
    assert report["label"].to_list() == list(expected)
    for row in report.iter_rows(named=True):
        if row["label"] == "accuracy":
            assert (row["precision"], row["recall"]) == (None, None)
            assert row["f1"] == pytest.approx(expected["accuracy"])
            continue
        names = {"precision": "precision", "recall": "recall", "f1": "f1-score"}
        for name, theirs in {**names, "support": "support"}.items():
            assert row[name] == pytest.approx(expected[row["label"]][theirs])
    both = (rng.random((40, 3)) < 0.5, rng.random((40, 3)) < 0.5)
    several = precision_recall_f1(*both, labels=["a", "b", "c"], n_boot=0).table("report").frame
    theirs = sklearn_metrics.classification_report(*both, output_dict=True, zero_division=0.0)
    assert several["label"].to_list() == ["a", "b", "c", *list(theirs)[3:6]]
    assert several["f1"].to_list() == pytest.approx(
        [theirs[name]["f1-score"] for name in [*"012", *list(theirs)[3:6]]]
    )


@given(several)
@settings(max_examples=60)
def test_scores_of_several_labels_per_item(pair):
    true, predicted = pair
    # A label that occurs nowhere has no part in our macro average, and scikit-learn takes a single
    # column for yes and no.
    used = (true | predicted).any(axis=0)
    assume(used.sum() > 1)
    labels = np.array(LABELS)[used].tolist()
    true, predicted = true[:, used], predicted[:, used]
    result = precision_recall_f1(true, predicted, labels=labels)
    _averages(result, true, predicted, 0.0)
    assert result.exact_match.value == pytest.approx(
        sklearn_metrics.accuracy_score(true, predicted)
    )
    two_by_two = sklearn_metrics.multilabel_confusion_matrix(true, predicted)
    assert np.array_equal(
        multilabel_confusion(true, predicted, labels=labels).per_label, two_by_two
    )


@pytest.mark.long
@given(single)
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore")
def test_table(pair):
    from affectlab.taxonomy import cost_from_ring

    true, predicted = (np.array(LABELS)[given_] for given_ in pair)
    sides = dict.fromkeys(LABELS, "all")
    costs = cost_from_ring(LABELS, sides)
    table = classification_metrics(true, predicted, costs, n_boot=0)
    expected = {
        "accuracy": sklearn_metrics.accuracy_score(true, predicted),
        "macro_f1": sklearn_metrics.f1_score(true, predicted, average="macro", zero_division=0),
        "micro_f1": sklearn_metrics.f1_score(true, predicted, average="micro"),
        "weighted_f1": sklearn_metrics.f1_score(
            true, predicted, average="weighted", zero_division=0
        ),
        "macro_recall": sklearn_metrics.recall_score(
            true, predicted, average="macro", zero_division=0
        ),
        "kappa": sklearn_metrics.cohen_kappa_score(true, predicted),
    }
    for name, value in expected.items():
        assert table[name].value == pytest.approx(value, abs=1e-10, nan_ok=True), name


def test_weighted_kappa_with_linear_costs():
    """Labels on a line cost 1 + steps, so the distances W - 1 are linear weights."""
    from affectlab.taxonomy import CostMatrix

    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 5, (2, 300))
    steps = np.abs(np.arange(5)[:, None] - np.arange(5))
    table = classification_metrics(
        true, predicted, CostMatrix(LABELS, 1 + steps), labels=LABELS, n_boot=0
    )
    expected = sklearn_metrics.cohen_kappa_score(true, predicted, weights="linear")
    assert table["weighted_kappa"].value == pytest.approx(expected)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60)
def test_mcnemar(b, c):
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    assume(b + c > 0)
    expected = contingency.mcnemar([[10, b], [c, 5]], exact=True).pvalue
    assert float(exact_mcnemar(np.array(b), np.array(c))) == pytest.approx(expected)


@pytest.mark.long
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=20)
def test_holm(p_values):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(expected)
