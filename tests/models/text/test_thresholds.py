"""Thresholds: the exact search against plain loops and a grid, and the rules made of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab import InputError
from affectlab.models.text import best_global_threshold, best_thresholds, best_top_k, fit_decision
from affectlab.models.text.decisions import DecisionRule
from affectlab.models.text.warnings import TestSplitWarning

scored = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        # Few different scores, so that there are ties.
        arrays(np.float64, (n, 3), elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0])),
        arrays(np.int64, (n, 3), elements=st.integers(0, 1)),
    )
)


def f1(chosen, truth):
    hits = int((chosen & truth).sum())
    whole = int(chosen.sum() + truth.sum())
    return 2 * hits / whole if whole else 0.0


def cuts(scores):
    """Every threshold that makes a difference."""
    return [*np.unique(scores), np.inf]


@given(scored)
@settings(max_examples=150)
def test_no_threshold_of_a_label_is_better(pair):
    scores, truth = pair
    found, reached = best_thresholds(scores, truth)
    for label in range(3):
        own, true = scores[:, label], truth[:, label].astype(bool)
        if not true.any():
            assert found[label] == 0.5
            assert np.isnan(reached[label])
            continue
        best = max(f1(own >= cut, true) for cut in cuts(own))
        assert reached[label] == pytest.approx(best)
        assert f1(own >= found[label], true) == pytest.approx(best)


@given(scored, st.sampled_from(["macro", "micro"]))
@settings(max_examples=150)
def test_no_common_threshold_is_better(pair, average):
    scores, truth = pair
    true = truth.astype(bool)
    found, reached = best_global_threshold(scores, truth, average=average)
    if not true.any():
        assert found == 0.5
        assert np.isnan(reached)
        return

    def value(cut):
        if average == "micro":
            return f1(scores >= cut, true)
        return np.mean([f1(scores[:, k] >= cut, true[:, k]) for k in range(3) if true[:, k].any()])

    best = max(value(cut) for cut in cuts(scores))
    assert reached == pytest.approx(best)
    assert value(found) == pytest.approx(best)


@given(scored)
@settings(max_examples=150)
def test_no_number_of_labels_is_better(pair):
    scores, truth = pair
    true = truth.astype(bool)
    k, reached = best_top_k(scores, truth)
    if not true.any():
        assert k == 1
        return

    def value(k):
        chosen = DecisionRule("top_k", ("a", "b", "c"), k=k).decide(scores)
        return np.mean([f1(chosen[:, j], true[:, j]) for j in range(3) if true[:, j].any()])

    assert reached == pytest.approx(max(value(j) for j in (1, 2, 3)))
    assert value(k) == pytest.approx(reached)


def test_never_worse_than_a_grid():
    rng = np.random.default_rng(0)
    truth = rng.random((2000, 6)) < [0.3, 0.1, 0.05, 0.02, 0.01, 0.001]
    scores = 1 / (1 + np.exp(-(2 * truth + rng.normal(size=truth.shape) - 3)))
    _, reached = best_thresholds(scores, truth)
    for label in np.flatnonzero(truth.any(axis=0)):
        grid = [f1(scores[:, label] >= cut, truth[:, label]) for cut in np.arange(0.01, 1, 0.01)]
        assert reached[label] >= max(grid)


def test_threshold_lies_between_the_scores_that_it_parts():
    found, _ = best_thresholds([0.9, 0.6, 0.4, 0.1], [1, 0, 1, 0])
    assert found.tolist() == [0.25]
    # Next to each other as floats there is no middle: the upper one parts them.
    low = 0.3
    high = np.nextafter(low, 1)
    found, reached = best_thresholds([high, low], [1, 0])
    assert reached == [1.0]
    assert found[0] == high


def test_kinds_of_rules():
    scores = np.array([[0.9, 0.2, 0.1], [0.4, 0.3, 0.2], [0.1, 0.2, 0.15]])
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    labels = ["joy", "love", "fear"]
    per_label = fit_decision(scores, truth, labels)
    assert per_label.f1 == pytest.approx(np.mean([1.0, 1.0, 2 / 3]))
    assert per_label.to_thresholds().labels == dict(zip(labels, per_label.thresholds, strict=True))
    common = fit_decision(scores, truth, labels, "global")
    assert len(set(common.thresholds)) == 1
    assert common.to_thresholds().default == common.thresholds[0]
    first = fit_decision(scores, truth, labels, "top_k")
    assert (first.decide(scores).sum(axis=1) == first.k).all()
    assert first.to_thresholds() is None


def test_at_least_one_adds_the_label_that_comes_closest():
    rule = DecisionRule("per_label", ("joy", "fear"), (0.8, 0.1), at_least_one=True)
    # 0.5 of 0.8 is less than 0.09 of 0.1.
    assert rule.decide([[0.5, 0.09], [0.9, 0.0]]).tolist() == [[False, True], [True, False]]
    fitted = fit_decision(
        [[0.9, 0.1], [0.2, 0.1]], [[1, 0], [1, 0]], ["joy", "fear"], at_least_one=True
    )
    assert fitted.decide([[0.01, 0.001]]).any()
    assert fitted.unseen == ("fear",)


def test_rules_survive_as_plain_values():
    rule = fit_decision([[0.9, 0.1], [0.2, 0.4]], [[1, 0], [0, 1]], ["a", "b"], fitted_on="dev")
    assert DecisionRule.from_dict(rule.to_dict()) == rule
    unknown = DecisionRule("global", ("a",), (0.5,))
    again = DecisionRule.from_dict(unknown.to_dict())
    assert np.isnan(again.f1)


@pytest.mark.parametrize("split", ["test", "test.tsv", "goemotions-Test"])
def test_fitting_on_a_test_split_warns(split):
    with pytest.warns(TestSplitWarning, match="cannot be tested on it"):
        fit_decision([[0.9], [0.1]], [[1], [0]], ["a"], split=split)


@pytest.mark.parametrize("split", ["dev", "latest", "contest.csv", ""])
def test_other_splits_do_not(split):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_decision([[0.9], [0.1]], [[1], [0]], ["a"], split=split)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: best_thresholds([[0.1, 0.2]], [[1]]), r"shapes \(1, 2\) and \(1, 1\)"),
        (lambda: best_thresholds(np.zeros((0, 2)), np.zeros((0, 2))), "there is no text"),
        (lambda: best_thresholds([[np.nan]], [[1]]), "row 1, column 1: nan"),
        (lambda: best_thresholds([[0.5]], [[0.5]]), "expected 0 and 1"),
        (lambda: best_global_threshold([[0.5]], [[1]], average="mean"), "average 'mean'"),
        (lambda: fit_decision([[0.5]], [[1]], ["a"], "per_labl"), "did you mean 'per_label'"),
        (lambda: DecisionRule("top_k", ("a",), k=2), "k = 2: expected 1 to 1"),
        (lambda: DecisionRule("global", ("a", "b"), (0.5,)), "expected one for each of 2"),
        (lambda: DecisionRule("global", ("a",), (0.5,)).decide([[0.1, 0.2]]), "one column for"),
    ],
)
def test_bad_input_is_one_sentence(work, words):
    with pytest.raises(InputError, match=words):
        work()
